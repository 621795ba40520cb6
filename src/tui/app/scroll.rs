//! Where the conversation stands: at its end and following, or held at a line while more arrives below.

use crate::tui::transcript::{Anchor, Transcript};

/// The conversation's place.
#[derive(Debug, Default)]
pub(crate) struct Scroll {
    /// Number of the first row that is shown.
    pub(crate) top: usize,
    /// Rows of the pane.
    height: usize,
    held: Option<Held>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// The line that stays on top.
    top: Anchor,
    /// The last line when the end was left.
    seen: Anchor,
}

impl Scroll {
    /// Finds the first row again after the transcript or the pane changed.
    pub(crate) fn arrange(&mut self, transcript: &Transcript, height: usize) {
        self.height = height;
        let total = transcript.height();
        if let Some(held) = self.held {
            self.top = transcript.row_of(held.top);
            if self.top < total.saturating_sub(height) {
                return;
            }
            self.held = None;
        }
        self.top = following(total, height);
    }

    /// Moves by `rows`, down if positive; at the end it follows again.
    pub(crate) fn by(&mut self, transcript: &Transcript, rows: isize) {
        let total = transcript.height();
        let last = total.saturating_sub(self.height);
        let from = self.top.min(last);
        let to = from.saturating_add_signed(rows).min(last);
        if to >= last {
            self.go_last(transcript);
            return;
        }
        let seen = self.held.map_or_else(
            || transcript.anchor_at(total.saturating_sub(1)),
            |held| held.seen,
        );
        self.top = to;
        self.held = Some(Held {
            top: transcript.anchor_at(to),
            seen,
        });
    }

    /// Moves by a page less a line.
    pub(crate) fn page(&mut self, transcript: &Transcript, pages: isize) {
        let rows = isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(isize::MAX);
        self.by(transcript, rows.saturating_mul(pages));
    }

    /// To the first line.
    pub(crate) fn go_first(&mut self, transcript: &Transcript) {
        self.by(transcript, isize::MIN / 2);
    }

    /// To the end, following.
    pub(crate) fn go_last(&mut self, transcript: &Transcript) {
        self.held = None;
        self.top = following(transcript.height(), self.height);
    }

    /// How many rows have come since the end was left; `None` while following.
    pub(crate) fn unseen(&self, transcript: &Transcript) -> Option<usize> {
        let held = self.held?;
        Some(
            transcript
                .height()
                .saturating_sub(transcript.row_of(held.seen) + 1),
        )
    }
}

/// The first row while following: the text moves up by a third of the pane at a time, so that what is being read stays
/// put; where it stands depends on nothing but its length.
fn following(total: usize, height: usize) -> usize {
    let step = (height / 3).max(1);
    total.saturating_sub(height).div_ceil(step) * step
}
