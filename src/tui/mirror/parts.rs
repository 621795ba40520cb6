//! Stand-in for `context::parts` until the pipeline's branch is merged.

use crate::message::{BlockKind, Content, Message, ResultContent, Role};

/// What the characters of a context belong to, in stack order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Summary,
    User,
    Assistant,
    Calls,
    Results,
    Previews,
    Placeholders,
    Frame,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Summary,
        Self::User,
        Self::Assistant,
        Self::Calls,
        Self::Results,
        Self::Previews,
        Self::Placeholders,
        Self::Frame,
    ];
    #[must_use]
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Summary => 'S',
            Self::User => 'U',
            Self::Assistant => 'A',
            Self::Calls => 'C',
            Self::Results => 'R',
            Self::Previews => 'P',
            Self::Placeholders => 'c',
            Self::Frame => 'J',
        }
    }
}

/// Characters by kind; their sum is `estimate_size`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts([usize; 8]);

impl Parts {
    pub(crate) fn of(&self, kind: Kind) -> usize {
        self.0[kind as usize]
    }
    pub(crate) fn add(&mut self, kind: Kind, n: usize) {
        self.0[kind as usize] += n;
    }
    pub(crate) fn total(&self) -> usize {
        self.0.iter().sum()
    }
    pub(crate) fn largest(&self) -> Kind {
        let mut best = Kind::Frame;
        for kind in Kind::ALL {
            if kind != Kind::Frame
                && self.of(kind)
                    > if best == Kind::Frame {
                        0
                    } else {
                        self.of(best)
                    }
            {
                best = kind;
            }
        }
        best
    }
}

pub(super) struct Written {
    pub(super) summary: bool,
    pub(super) marker: bool,
}

pub(super) fn total(parts: &Parts) -> usize {
    parts.total().max(2)
}

pub(super) fn with_message(all: &Parts, one: &Parts, at: usize) -> Parts {
    let mut sum = *all;
    for kind in Kind::ALL {
        sum.add(kind, one.of(kind));
    }
    sum.add(Kind::Frame, 2);
    let _ = at;
    sum
}

pub(super) fn of_message(
    message: &Message,
    written: Written,
    faded: &dyn Fn(usize) -> Option<Kind>,
) -> Parts {
    let mut parts = Parts::default();
    let own = match (written.summary, written.marker, message.role()) {
        (true, _, _) => Kind::Summary,
        (_, true, _) => Kind::Placeholders,
        (_, _, Role::User) => Kind::User,
        (_, _, Role::Assistant) => Kind::Assistant,
    };
    parts.add(Kind::Frame, 29);
    match message.content() {
        Content::Text(text) => parts.add(own, text.chars().count()),
        Content::Absent => {}
        Content::Blocks(blocks) => {
            for (at, block) in blocks.iter().enumerate() {
                parts.add(Kind::Frame, 30);
                match block.kind() {
                    BlockKind::Text(text) | BlockKind::Thinking(text) => {
                        parts.add(own, text.chars().count());
                    }
                    BlockKind::ToolUse { input, .. } => {
                        parts.add(Kind::Calls, input.to_string().chars().count());
                    }
                    BlockKind::ToolResult { content, .. } => {
                        let n = match content {
                            ResultContent::Text(text) => text.chars().count(),
                            _ => 0,
                        };
                        parts.add(faded(at).unwrap_or(Kind::Results), n);
                    }
                    BlockKind::Other(_) => {}
                }
            }
        }
    }
    parts
}
