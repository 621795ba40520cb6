//! What happened, as items that can be drawn: the conversation as the person saw it, whatever the model still sees of it.
//!
//! Every item knows the message and block that it came from, so that a view can mark what became of it. Lines are kept for
//! what is in view, of all else only their number; of tool results only the size. Nothing is drawn here.

mod build;
mod compacted;
mod entry;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::context::{Limits, MessageId};

pub(crate) use compacted::Compacted;

/// Cells in front of an item's text: mark, space, and a label of four with its spaces.
pub(crate) const INDENT: usize = 9;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    /// Message and block that hold it; `None` for what the model never sees.
    pub(crate) at: Option<(MessageId, usize)>,
    /// Its text as it came; cleaned where it is wrapped.
    text: String,
    /// How many rows it takes; `None` where that has to be found out again.
    height: Option<usize>,
    /// Its rows, while it is in view or streams.
    rows: Vec<String>,
}

/// What kind of thing happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The person wrote.
    User,
    /// The model wrote.
    Reply(Reply),
    /// The model thought: one line, its text below it where that is wanted.
    Thinking(Thinking),
    /// A tool was called.
    Tool(Tool),
    /// A summary took the history's place.
    Compacted(Compacted),
    /// Something that the program says.
    Note,
    /// Something that went wrong.
    Warning,
}

/// How far a reply is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Streaming,
    Whole,
    /// It ended before its end; why, as far as that is known.
    Cut(String),
}

/// How far the model's reasoning is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// It streams; so many characters came.
    Streaming(usize),
    /// It is complete.
    Whole,
    /// It ended before its end, after so many characters, which are not kept.
    Cut(usize),
}

/// Whether the text of what the model thought is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fold {
    /// One line tells how much it is.
    #[default]
    Folded,
    /// All of it stands there.
    Open,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tool {
    pub(crate) id: String,
    /// What it does to what, on one clean line.
    pub(crate) line: String,
    pub(crate) state: ToolState,
    /// Model calls of the subagent that it started.
    pub(crate) calls: usize,
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolState {
    Waiting,
    Running,
    /// Characters of its result.
    Done(usize),
    /// It failed, was refused or was interrupted; characters of its result.
    Failed(usize),
}

/// The place of a line that stays the same while others come and go: an item, and a row in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Anchor {
    pub(crate) entry: usize,
    pub(crate) row: usize,
}

/// All that happened, in its order.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    entries: Vec<Entry>,
    /// The reply that is being streamed.
    streaming: Option<usize>,
    /// The reasoning that is being streamed.
    thinking: Option<usize>,
    /// The reply that was cut, while it is not known why.
    cut: Cut,
    fold: Fold,
    /// The pipeline's numbers in force.
    limits: Option<Limits>,
    /// How much of that reply is wrapped for good.
    wrapped: Wrapped,
    width: usize,
    /// For every entry the number of rows up to its end; it ends before the first that changed.
    ends: Vec<usize>,
    /// The entries whose rows are kept.
    shown: Range<usize>,
}

/// What is known of a reply that ended before its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cut {
    /// Nothing of the kind.
    #[default]
    Not,
    /// The call ended so; whether anything is kept of its reply comes next.
    Ended,
    /// This entry is what is kept of it.
    Kept(usize),
}

/// The part of a streamed text whose rows cannot change any more: up to the start of its last line.
#[derive(Clone, Copy, Debug, Default)]
struct Wrapped {
    bytes: usize,
    rows: usize,
}

impl Transcript {
    /// Adds what the program says.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.push(Entry::new(Kind::Note, None, text.into()));
    }

    /// Adds what went wrong.
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.push(Entry::new(Kind::Warning, None, text.into()));
    }

    fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Shows the text of all that the model thought, or hides it; says which.
    pub(crate) fn turn_thinking(&mut self) -> Fold {
        self.fold = match self.fold {
            Fold::Folded => Fold::Open,
            Fold::Open => Fold::Folded,
        };
        let thinks = |entry: &Entry| matches!(entry.kind, Kind::Thinking(_));
        let first = self.entries.iter().position(thinks);
        for entry in self.entries.iter_mut().filter(|entry| thinks(entry)) {
            entry.changed();
        }
        if let Some(first) = first {
            self.changed(first);
        }
        self.fold
    }

    /// Measures what is new or changed for panes of `width` cells.
    pub(crate) fn arrange(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            for entry in &mut self.entries {
                entry.changed();
            }
            self.wrapped = Wrapped::default();
            self.ends.clear();
        }
        let first = self.ends.len().min(self.entries.len());
        let fold = self.fold;
        self.ends.truncate(first);
        let mut end = self.ends.last().copied().unwrap_or(0);
        for (at, entry) in self.entries.iter_mut().enumerate().skip(first) {
            let height = match entry.height {
                Some(height) => height,
                None if self.streaming == Some(at) => entry.wrap_on(width, &mut self.wrapped),
                None => {
                    entry.rows = Vec::new();
                    entry.wrapped(width, fold).len()
                }
            };
            entry.height = Some(height);
            end += height;
            self.ends.push(end);
        }
    }

    /// Keeps the rows of what is seen in `height` rows from number `top` on, and those of nothing else.
    pub(crate) fn show(&mut self, top: usize, height: usize) {
        let first = self.anchor_at(top).entry;
        let behind = self.ends.partition_point(|&end| end < top + height) + 1;
        let shown = first..behind.min(self.entries.len()).max(first);
        for at in std::mem::replace(&mut self.shown, shown.clone()) {
            if !shown.contains(&at)
                && self.streaming != Some(at)
                && let Some(entry) = self.entries.get_mut(at)
            {
                entry.rows = Vec::new();
            }
        }
        for entry in self.entries.get_mut(shown).unwrap_or_default() {
            if entry.rows.is_empty() {
                entry.rows = entry.wrapped(self.width, self.fold);
            }
        }
    }

    /// The entry at `at`, and all that is known of how it is laid out, is out of date.
    fn changed(&mut self, at: usize) {
        self.ends.truncate(at);
        if let Some(entry) = self.entries.get_mut(at) {
            entry.changed();
        }
    }

    /// How many rows all of it takes.
    pub(crate) fn height(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The row number of `anchor`, from 0; of the last row before it where it is gone.
    pub(crate) fn row_of(&self, anchor: Anchor) -> usize {
        let Some(entry) = self.entries.get(anchor.entry) else {
            return self.height();
        };
        let start = self.start(anchor.entry);
        start + anchor.row.min(entry.height.unwrap_or(0).saturating_sub(1))
    }

    /// The anchor of the row with that number.
    pub(crate) fn anchor_at(&self, row: usize) -> Anchor {
        let entry = self.ends.partition_point(|&end| end <= row);
        Anchor {
            entry,
            row: row.saturating_sub(self.start(entry)),
        }
    }

    /// The rows from number `top` on that [`Self::show`] was told of, each with its item and its number in it.
    pub(crate) fn rows_from(
        &self,
        top: usize,
    ) -> impl Iterator<Item = (&Entry, usize, &str)> + use<'_> {
        let first = self.anchor_at(top);
        self.entries
            .iter()
            .enumerate()
            .skip(first.entry)
            .flat_map(move |(at, entry)| {
                let skip = if at == first.entry { first.row } else { 0 };
                entry
                    .rows
                    .iter()
                    .enumerate()
                    .skip(skip)
                    .map(move |(row, text)| (entry, row, text.as_str()))
            })
    }

    fn start(&self, entry: usize) -> usize {
        entry
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or(0)
    }
}
