//! Stand-in for `context::parts` until the pipeline's branch is merged.

/// What the characters of a context belong to, in stack order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind { Summary, User, Assistant, Calls, Results, Previews, Placeholders, Frame }

impl Kind {
    pub(crate) const ALL: [Self; 8] = [Self::Summary, Self::User, Self::Assistant, Self::Calls, Self::Results, Self::Previews, Self::Placeholders, Self::Frame];
    #[must_use]
    pub(crate) fn letter(self) -> char {
        match self { Self::Summary => 'S', Self::User => 'U', Self::Assistant => 'A', Self::Calls => 'C', Self::Results => 'R', Self::Previews => 'P', Self::Placeholders => 'c', Self::Frame => 'J' }
    }
}

/// Characters by kind; their sum is `estimate_size`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts([usize; 8]);
