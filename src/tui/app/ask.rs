//! Questions that wait for an answer: which choice is marked, and when a key may answer at all.
//!
//! Keys that were on their way when a question appeared were meant for something else, so a question is deaf for a while
//! after it was drawn and after every key that went to the draft. A letter only marks a choice, Enter gives it; whoever
//! goes on typing is writing a message, and nothing of it answers.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::style::Style;
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

    /// The words where there is little room.
    pub(crate) fn short(self) -> &'static str {
        match self {
            Self::Always => "always here",
            Self::Once | Self::No | Self::NoBecause => self.words(),
        }
    }

    /// The letter that marks it.
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
    /// The letter that marked the choice, while nothing followed it: it may be the first of a message.
    letter: Option<char>,
    /// What the model will be told; `Some` while it is being written.
    pub(crate) because: Option<String>,
    /// First row of the text that is shown.
    pub(crate) scroll: usize,
    read: Read,
    /// Its text as it is shown, and for how many cells that was laid out.
    pub(crate) laid: (usize, Vec<(String, Style)>),
    /// Rows of it that are shown.
    shown: usize,
    drawn: Option<Duration>,
}

/// Whether all of what would run or change has been in view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Read {
    /// Not yet: it cannot be allowed.
    #[default]
    Partly,
    ToTheEnd,
}

impl Ask {
    pub(crate) fn new(id: String, tool: String, input: Value, reason: String) -> Self {
        Self {
            id,
            tool,
            input,
            reason,
            choice: Choice::default(),
            letter: None,
            because: None,
            scroll: 0,
            read: Read::default(),
            laid: (0, Vec::new()),
            shown: 0,
            drawn: None,
        }
    }

    /// Marks the choice beside.
    pub(crate) fn choose(&mut self, step: isize) {
        self.choice = self.choice.beside(step);
        self.letter = None;
    }

    /// Marks the choice of a letter. What comes back was not meant as an answer and belongs into the draft: any letter
    /// that is none of ours, and a second one with the one before it.
    pub(crate) fn letter(&mut self, c: char) -> Option<String> {
        let choice = Choice::ALL.into_iter().find(|choice| choice.letter() == c);
        if let (None, Some(choice)) = (self.letter, choice) {
            self.choice = choice;
            self.letter = Some(c);
            return None;
        }
        let mut typed = self.withdraw();
        typed.push(c);
        Some(typed)
    }

    /// Back to No; hands out the letter that had marked another choice.
    pub(crate) fn withdraw(&mut self) -> String {
        self.choice = Choice::No;
        self.letter.take().map(String::from).unwrap_or_default()
    }

    /// The answer that Enter gives; `None` where it gives none: the reason has to be written first, or the end has not
    /// been seen.
    pub(crate) fn decide(&mut self) -> Option<Decision> {
        self.letter = None;
        match (self.choice, self.read) {
            (Choice::Once | Choice::Always, Read::Partly) => None,
            (Choice::Once, Read::ToTheEnd) => Some(Decision::Allow),
            (Choice::Always, Read::ToTheEnd) => Some(Decision::AllowAlways),
            (Choice::No, _) => Some(Decision::Deny { reason: None }),
            (Choice::NoBecause, _) => {
                self.because = Some(String::new());
                None
            }
        }
    }

    /// What stands in the way of the marked choice: it would allow what has not been seen whole.
    pub(crate) fn unread(&self) -> bool {
        match self.choice {
            Choice::Once | Choice::Always => self.read == Read::Partly,
            Choice::No | Choice::NoBecause => false,
        }
    }

    /// Scrolls by `rows`, down if positive; how far it can go is found when it is drawn.
    pub(crate) fn scroll_by(&mut self, rows: isize) {
        self.scroll = self.scroll.saturating_add_signed(rows);
    }

    /// Scrolls by pages less a row.
    pub(crate) fn page(&mut self, pages: isize) {
        let rows = isize::try_from(self.shown.saturating_sub(1).max(1)).unwrap_or(1);
        self.scroll_by(rows.saturating_mul(pages));
    }

    /// Fits it to what can be shown of its text: `shown` rows.
    pub(crate) fn fit(&mut self, shown: usize) {
        self.shown = shown;
        let last = self.laid.1.len().saturating_sub(shown);
        self.scroll = self.scroll.min(last);
        if shown > 0 && self.scroll == last {
            self.read = Read::ToTheEnd;
        }
    }
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
