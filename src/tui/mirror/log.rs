//! What happened, as rows with the newest last; the oldest are dropped and counted.

use std::collections::VecDeque;

use crate::tui::theme::Lamp;

/// How many rows are kept.
const KEPT: usize = 2_000;
/// Characters of a row's text that are kept.
const TEXT: usize = 400;

/// Which call, and whose, a row belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// The model call of the main agent; 0 before the first.
    pub(crate) call: u64,
    /// Which of that call's subagents, from 1; `None` for the main agent.
    pub(crate) task: Option<usize>,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// Which call it belongs to.
    pub(crate) source: Source,
    /// What kind of row: `micro`, `send`, `notice`.
    pub(crate) name: &'static str,
    /// A stage's lamp.
    pub(crate) lamp: Option<Lamp>,
    /// By how much the load changed.
    pub(crate) change: Option<i64>,
    /// The rest, clean and on one line.
    pub(crate) text: String,
    /// What may stand behind it where there is room for all of it.
    pub(crate) more: Vec<String>,
    /// Why a stage did nothing, where that is of no consequence.
    pub(crate) idle: Option<Idle>,
}

/// Why a stage did nothing, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// There was no need.
    NotNeeded,
    /// It is switched off.
    Off,
    /// It waits for something.
    Waits,
}

/// The rows.
#[derive(Debug, Default)]
pub(crate) struct Log {
    rows: VecDeque<Row>,
    dropped: usize,
}

impl Log {
    /// Adds the newest row.
    pub(super) fn push(&mut self, mut row: Row) {
        if let Some((at, _)) = row.text.char_indices().nth(TEXT) {
            row.text.truncate(at);
            row.text.push('…');
        }
        if self.rows.len() == KEPT {
            self.rows.pop_front();
            self.dropped += 1;
        }
        self.rows.push_back(row);
    }

    /// The rows, newest first.
    pub(crate) fn newest_first(&self) -> impl DoubleEndedIterator<Item = &Row> {
        self.rows.iter().rev()
    }

    /// How many rows are kept.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many older rows were dropped.
    #[must_use]
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }
}
