//! When stage 4 stops trying by itself.

use serde::{Deserialize, Serialize};

use super::compact_history::MAX_ROUNDS;
use super::{History, Limits, Reason, unread};
use crate::text::thousands;

/// What happened to the last summaries; the agent keeps it, stage 4 looks at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Summaries that failed, in a row.
    pub failures: usize,
    /// Automatic compactions, in a row, that left the history over the limit.
    pub still_over: usize,
}

impl Pause {
    /// A summary failed.
    pub fn failed(&mut self) {
        self.failures += 1;
    }

    /// An automatic compaction succeeded and left a history of `size` characters.
    pub fn compacted(&mut self, size: usize, limits: &Limits) {
        self.failures = 0;
        self.still_over = if size > limits.context_limit {
            self.still_over + 1
        } else {
            0
        };
    }

    /// A compaction that was asked for by hand succeeded, or the user started a new request: the stage may try again.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Why the stage is paused now, if it is.
    #[must_use]
    pub fn reason(&self, limits: &Limits) -> Option<Reason> {
        if self.failures >= limits.max_summary_failures.max(1) {
            return Some(Reason::PausedByFailures {
                failures: self.failures,
            });
        }
        (self.still_over >= MAX_ROUNDS).then_some(Reason::StillOver {
            rounds: self.still_over,
        })
    }
}

/// What fills a context that no summary brings under the limit, for the notice that says why stage 4 stopped trying.
#[must_use]
pub fn what_fills(history: &History, limits: &Limits) -> String {
    let load = history.size();
    let request = history
        .request
        .as_deref()
        .map_or(0, |request| request.chars().count());
    let waiting: usize = unread(history).map(|result| result.chars).sum();
    format!(
        "the context holds {} characters, the limit is {}: your request has {}, results not yet read have {}, all else {}; \
         raise context_limit or ask for less at once",
        thousands(load),
        thousands(limits.context_limit),
        thousands(request),
        thousands(waiting),
        thousands(load.saturating_sub(request + waiting))
    )
}
