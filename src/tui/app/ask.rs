//! Questions that wait for an answer: which choice is marked, and when a key may answer at all.
//!
//! Keys that were on their way when a question appeared were meant for something else, so a question is deaf for a while
//! after it was drawn and after every key that went to the draft.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use crate::event::Decision;

/// How long a question hears nothing.
pub(crate) const DEAF: Duration = Duration::from_millis(400);

/// What can be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Choice {
    Once,
    Always,
    #[default]
    No,
    NoBecause,
}

impl Choice {
    /// All, in the order in which they are shown.
    pub(crate) const ALL: [Self; 4] = [Self::No, Self::Once, Self::Always, Self::NoBecause];

    /// The words on the screen.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Once => "yes, once",
            Self::Always => "always in this project",
            Self::No => "no",
            Self::NoBecause => "no, because",
        }
    }

    /// The letter that answers with it.
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Once => 'y',
            Self::Always => 'a',
            Self::No => 'n',
            Self::NoBecause => 'w',
        }
    }

    fn beside(self, step: isize) -> Self {
        let at = Self::ALL.iter().position(|&choice| choice == self);
        let to = at.unwrap_or(0).saturating_add_signed(step);
        Self::ALL[to.min(Self::ALL.len() - 1)]
    }
}

/// A permission question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) input: Value,
    /// Why it asks.
    pub(crate) reason: String,
    pub(crate) choice: Choice,
    /// Whether the choice was moved: only then does Enter answer beside a draft.
    chosen: bool,
    /// What the model will be told; `Some` while it is being written.
    pub(crate) because: Option<String>,
    /// First row of the text that is shown.
    pub(crate) scroll: usize,
    drawn: Option<Duration>,
}

impl Ask {
    pub(crate) fn new(id: String, tool: String, input: Value, reason: String) -> Self {
        Self {
            id,
            tool,
            input,
            reason,
            choice: Choice::default(),
            chosen: false,
            because: None,
            scroll: 0,
            drawn: None,
        }
    }

    /// Marks the choice beside.
    pub(crate) fn choose(&mut self, step: isize) {
        self.choice = self.choice.beside(step);
        self.chosen = true;
    }

    /// The answer that Enter gives beside a draft or without one; `None` where it gives none.
    pub(crate) fn entered(&mut self, draft: Draft) -> Option<Decision> {
        if draft == Draft::Written && !self.chosen {
            return None;
        }
        self.decide(self.choice)
    }

    /// The answer of `choice`; the last one asks for the reason first.
    pub(crate) fn decide(&mut self, choice: Choice) -> Option<Decision> {
        match choice {
            Choice::Once => Some(Decision::Allow),
            Choice::Always => Some(Decision::AllowAlways),
            Choice::No => Some(Decision::Deny { reason: None }),
            Choice::NoBecause => {
                self.because = Some(String::new());
                None
            }
        }
    }
}

/// Whether something is written in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draft {
    Empty,
    Written,
}

/// The questions, oldest first; only the first is shown.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    waiting: VecDeque<Ask>,
    /// When a key last went elsewhere than to a question.
    typed: Option<Duration>,
}

impl Asks {
    pub(crate) fn push(&mut self, ask: Ask) {
        self.waiting.push_back(ask);
    }

    /// The question that is shown.
    pub(crate) fn front(&self) -> Option<&Ask> {
        self.waiting.front()
    }

    pub(crate) fn front_mut(&mut self) -> Option<&mut Ask> {
        self.waiting.front_mut()
    }

    /// How many wait behind the one that is shown.
    pub(crate) fn behind(&self) -> usize {
        self.waiting.len().saturating_sub(1)
    }

    /// Takes a question away, answered here or elsewhere.
    pub(crate) fn remove(&mut self, id: &str) {
        self.waiting.retain(|ask| ask.id != id);
    }

    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// A key went to the draft.
    pub(crate) fn typed(&mut self, now: Duration) {
        self.typed = Some(now);
    }

    /// A frame with the question was drawn.
    pub(crate) fn drawn(&mut self, now: Duration) {
        if let Some(ask) = self.waiting.front_mut() {
            ask.drawn.get_or_insert(now);
        }
    }

    /// When the shown question starts to hear; `None` if none is shown or it was not drawn yet.
    pub(crate) fn hears_at(&self) -> Option<Duration> {
        let drawn = self.waiting.front()?.drawn?;
        let typed = self.typed.unwrap_or_default();
        Some(drawn.max(typed) + DEAF)
    }

    /// Whether the shown question hears a key pressed now.
    pub(crate) fn hears(&self, now: Duration) -> bool {
        self.hears_at().is_some_and(|at| now >= at)
    }
}
