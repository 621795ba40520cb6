//! Why a stage does nothing: the reasons with the figures that decided, and the words for them.

use super::Guards;
use crate::text::thousands;

/// Why a stage does nothing, with the figures that decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Skip {
    /// The reason.
    pub reason: Reason,
    /// What was measured; `None` where no figure decided.
    pub measured: Option<usize>,
    /// What it was held against.
    pub threshold: Option<usize>,
    /// What guards kept.
    pub guards: Guards,
}

impl Skip {
    /// A skip for `reason`, with its figures.
    #[must_use]
    pub fn new(reason: Reason) -> Self {
        let (measured, threshold) = reason.figures();
        Self {
            reason,
            measured,
            threshold,
            guards: Guards::default(),
        }
    }

    /// The same with what guards kept.
    #[must_use]
    pub fn guarded(self, guards: Guards) -> Self {
        Self { guards, ..self }
    }
}

/// The reasons for doing nothing; [`Reason::text`] is what the screen and the events say. Sizes are in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Budget: the last message holds no results.
    NoResults,
    /// Budget: the last results are within the budget.
    UnderBudget {
        /// What they hold together.
        total: usize,
        /// What they may hold.
        max: usize,
    },
    /// Budget: over it, but no result that could be persisted is long enough.
    NothingToPersist {
        /// The largest of them.
        largest: usize,
        /// Only a longer one is persisted.
        threshold: usize,
        /// What the last results hold together.
        total: usize,
    },
    /// Budget: over it, but all results hold more than text or are persisted already.
    NothingOfText {
        /// What the last results hold together.
        total: usize,
    },
    /// Snip: switched off.
    SnipOff,
    /// Snip: few enough messages.
    FewMessages {
        /// How many.
        messages: usize,
        /// How many there may be.
        max: usize,
    },
    /// Snip: only the marker itself would go.
    OnlyTheMarker {
        /// How many messages there are.
        messages: usize,
    },
    /// Snip: the first and the last messages are all there are.
    HeadMeetsTail,
    /// Snip: calls and results that belong together leave nothing between head and tail.
    CutSplitsPair,
    /// Micro, fit, history: the load is within the limit.
    UnderLimit {
        /// `estimate_size` of the history.
        load: usize,
        /// The limit.
        limit: usize,
    },
    /// Micro: no result is older than the newest ones.
    FewResults {
        /// How many.
        results: usize,
        /// How many stay whole.
        keep: usize,
    },
    /// Micro: the older results are short or placeholders already.
    OlderAreShort {
        /// Only a longer one is replaced.
        min: usize,
    },
    /// Micro: the older results are unread.
    OlderAreUnread,
    /// Micro: the older results hold more than text and cannot be replaced.
    OlderAreNotText,
    /// Budget, micro: what would stand there is no shorter.
    NotShorter,
    /// Budget, micro: the files could not be written before; the results stay whole.
    Refused,
    /// Micro over the limit: the target cannot be reached.
    OutOfReach {
        /// What could be freed.
        could_free: usize,
        /// What had to be.
        needed: usize,
    },
    /// Fit: switched off.
    KeepUnreadOff,
    /// Fit: waits until unread results were lost once.
    WaitsForLoss,
    /// Fit: the unread results are within their share.
    UnreadFits {
        /// What they hold together.
        unread: usize,
        /// What they may hold.
        share: usize,
    },
    /// Fit: nothing unread can be shortened.
    NothingToFit {
        /// What the unread results hold together.
        unread: usize,
        /// What they should hold at most.
        share: usize,
    },
    /// History: what would be summarised is one single summary already.
    AlreadyCompacted,
    /// History: paused after failed summaries.
    PausedByFailures {
        /// How many in a row.
        failures: usize,
    },
    /// History: paused, compactions in a row left it over the limit.
    StillOver {
        /// How many.
        rounds: usize,
    },
    /// Nothing at all to summarise.
    Empty,
    /// A file could not be written: the results stay whole.
    NotSaved {
        /// What the file system said.
        error: String,
    },
    /// Recovery: the provider has not refused anything.
    WaitsForRefusal,
    /// Recovery: this call was already made again.
    AlreadyRetried {
        /// How often.
        retries: usize,
    },
}

impl Reason {
    /// The reason in words, figures with a comma between thousands.
    #[must_use]
    pub fn text(&self) -> String {
        let n = |figure: &usize| thousands(*figure);
        match self {
            Self::NoResults => "no: last message has no tool results".to_owned(),
            Self::UnderBudget { total, max } => {
                format!("no: last results {} ≤ {}", n(total), n(max))
            }
            Self::NothingToPersist {
                largest,
                threshold,
                total,
            } => format!(
                "no: largest result {} ≤ {}, total {} stays over",
                n(largest),
                n(threshold),
                n(total)
            ),
            Self::NothingOfText { total } => {
                format!(
                    "no: last results are saved or not text, total {} stays over",
                    n(total)
                )
            }
            Self::SnipOff => "off: max_messages 0".to_owned(),
            Self::FewMessages { messages, max } => {
                format!("no: {} ≤ {}", count(*messages, "message"), n(max))
            }
            Self::OnlyTheMarker { messages } => {
                format!(
                    "no: {}, only the marker would go",
                    count(*messages, "message")
                )
            }
            Self::HeadMeetsTail => "no: head and tail meet".to_owned(),
            Self::CutSplitsPair => "no: cut would split a tool pair".to_owned(),
            Self::UnderLimit { load, limit } => format!("no: load {} ≤ {}", n(load), n(limit)),
            Self::FewResults { results, keep } => {
                format!("no: {} ≤ {}", count(*results, "result"), n(keep))
            }
            Self::OlderAreShort { min } => {
                format!("no: older results are all ≤ {}", count(*min, "char"))
            }
            Self::OlderAreUnread => "no: older results are unread".to_owned(),
            Self::OlderAreNotText => "no: older results are not text".to_owned(),
            Self::NotShorter => "no: nothing shorter could stand there".to_owned(),
            Self::Refused => "no: results that could not be saved stay whole".to_owned(),
            Self::OutOfReach { could_free, needed } => {
                format!("no: could free {} of {}", n(could_free), n(needed))
            }
            Self::KeepUnreadOff => "off: keep_unread".to_owned(),
            Self::WaitsForLoss => "waits for a first loss".to_owned(),
            Self::UnreadFits { unread, share } => {
                format!("no: unread {} ≤ {}", n(unread), n(share))
            }
            Self::NothingToFit { unread, share } => format!(
                "no: nothing unread could be shorter, {} stays over {}",
                n(unread),
                n(share)
            ),
            Self::AlreadyCompacted => "no: already one [Compacted]".to_owned(),
            Self::PausedByFailures { failures: 1 } => "paused: 1 summary failed".to_owned(),
            Self::PausedByFailures { failures } => {
                format!("paused: {} summaries failed", n(failures))
            }
            Self::StillOver { rounds } => {
                format!("paused: still over after {}", count(*rounds, "round"))
            }
            Self::Empty => "no: nothing to summarise".to_owned(),
            Self::NotSaved { error } => format!("not saved: {error}; kept whole"),
            Self::WaitsForRefusal => "waits for prompt_too_long".to_owned(),
            Self::AlreadyRetried { retries: 1 } => "used: already retried once".to_owned(),
            Self::AlreadyRetried { retries } => {
                format!("used: already retried {} times", n(retries))
            }
        }
    }

    /// What was measured and what it was held against, where figures decided.
    fn figures(&self) -> (Option<usize>, Option<usize>) {
        let pair = |measured: usize, threshold: usize| (Some(measured), Some(threshold));
        match *self {
            Self::UnderBudget { total, max } => pair(total, max),
            Self::NothingToPersist {
                largest, threshold, ..
            } => pair(largest, threshold),
            Self::FewMessages { messages, max } => pair(messages, max),
            Self::UnderLimit { load, limit } => pair(load, limit),
            Self::FewResults { results, keep } => pair(results, keep),
            Self::OutOfReach { could_free, needed } => pair(could_free, needed),
            Self::UnreadFits { unread, share } | Self::NothingToFit { unread, share } => {
                pair(unread, share)
            }
            Self::NothingOfText { total: measured }
            | Self::OnlyTheMarker { messages: measured }
            | Self::PausedByFailures { failures: measured }
            | Self::StillOver { rounds: measured }
            | Self::AlreadyRetried { retries: measured } => (Some(measured), None),
            Self::OlderAreShort { min } => (None, Some(min)),
            Self::NoResults
            | Self::SnipOff
            | Self::HeadMeetsTail
            | Self::CutSplitsPair
            | Self::OlderAreUnread
            | Self::OlderAreNotText
            | Self::NotShorter
            | Self::Refused
            | Self::KeepUnreadOff
            | Self::WaitsForLoss
            | Self::AlreadyCompacted
            | Self::Empty
            | Self::NotSaved { .. }
            | Self::WaitsForRefusal => (None, None),
        }
    }
}

/// `1 message`, `2 messages`.
fn count(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_says_its_figures() {
        let cases = [
            (
                Reason::UnderBudget {
                    total: 3_870,
                    max: 200_000,
                },
                "no: last results 3,870 ≤ 200,000",
            ),
            (Reason::NoResults, "no: last message has no tool results"),
            (
                Reason::NothingToPersist {
                    largest: 29_000,
                    threshold: 30_000,
                    total: 240_000,
                },
                "no: largest result 29,000 ≤ 30,000, total 240,000 stays over",
            ),
            (
                Reason::FewMessages {
                    messages: 1,
                    max: 50,
                },
                "no: 1 message ≤ 50",
            ),
            (
                Reason::FewMessages {
                    messages: 12,
                    max: 50,
                },
                "no: 12 messages ≤ 50",
            ),
            (
                Reason::OnlyTheMarker { messages: 51 },
                "no: 51 messages, only the marker would go",
            ),
            (Reason::HeadMeetsTail, "no: head and tail meet"),
            (Reason::CutSplitsPair, "no: cut would split a tool pair"),
            (Reason::SnipOff, "off: max_messages 0"),
            (
                Reason::FewResults {
                    results: 1,
                    keep: 3,
                },
                "no: 1 result ≤ 3",
            ),
            (
                Reason::FewResults {
                    results: 2,
                    keep: 3,
                },
                "no: 2 results ≤ 3",
            ),
            (
                Reason::OlderAreShort { min: 120 },
                "no: older results are all ≤ 120 chars",
            ),
            (Reason::OlderAreUnread, "no: older results are unread"),
            (Reason::OlderAreNotText, "no: older results are not text"),
            (
                Reason::OutOfReach {
                    could_free: 900,
                    needed: 6_571,
                },
                "no: could free 900 of 6,571",
            ),
            (
                Reason::UnderLimit {
                    load: 50_000,
                    limit: 50_000,
                },
                "no: load 50,000 ≤ 50,000",
            ),
            (Reason::KeepUnreadOff, "off: keep_unread"),
            (Reason::WaitsForLoss, "waits for a first loss"),
            (
                Reason::UnreadFits {
                    unread: 9_000,
                    share: 25_000,
                },
                "no: unread 9,000 ≤ 25,000",
            ),
            (Reason::AlreadyCompacted, "no: already one [Compacted]"),
            (
                Reason::PausedByFailures { failures: 3 },
                "paused: 3 summaries failed",
            ),
            (
                Reason::PausedByFailures { failures: 1 },
                "paused: 1 summary failed",
            ),
            (
                Reason::StillOver { rounds: 3 },
                "paused: still over after 3 rounds",
            ),
            (
                Reason::NotSaved {
                    error: "disk full".to_owned(),
                },
                "not saved: disk full; kept whole",
            ),
            (Reason::WaitsForRefusal, "waits for prompt_too_long"),
            (
                Reason::AlreadyRetried { retries: 1 },
                "used: already retried once",
            ),
        ];
        for (reason, text) in cases {
            assert_eq!(reason.text(), text);
        }
    }
}
