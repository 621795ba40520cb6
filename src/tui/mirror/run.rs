//! The stages before the newest call: what each found, did and said. A lamp stays lit until the next call's first stage.

use super::difference;
use crate::context::{Guards, Kind, MessageId, Stage, Trigger};
use crate::tui::theme::Lamp;

/// The six stages, in the order of their rows.
pub(crate) const ROWS: [Stage; 6] = [
    Stage::ToolResultBudget,
    Stage::SnipCompact,
    Stage::MicroCompact,
    Stage::FitResults,
    Stage::CompactHistory,
    Stage::ReactiveCompact,
];

/// The short name of a stage, for rows.
#[must_use]
pub(crate) fn short(stage: Stage) -> &'static str {
    match stage {
        Stage::ToolResultBudget => "budget",
        Stage::SnipCompact => "snip",
        Stage::MicroCompact => "micro",
        Stage::FitResults => "fit",
        Stage::CompactHistory => "history",
        Stage::ReactiveCompact => "reactive",
    }
}

/// The stages before one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// The call that they precede; 0 before the first.
    pub(crate) call: u64,
    /// The load before the first of them; `None` before the first run.
    pub(crate) before: Option<usize>,
    /// The load after the newest of them.
    pub(crate) after: Option<usize>,
    /// Model calls that they made.
    pub(crate) api_calls: u32,
    /// How long those took that did something, in milliseconds.
    pub(crate) duration_ms: u64,
    /// What the request held when it went out; `None` until then.
    pub(crate) sent: Option<usize>,
    /// The largest change to a result.
    pub(crate) largest: Option<Changed>,
    checks: [Check; 6],
}

/// What one stage found and did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Check {
    /// Its lamp.
    pub(crate) lamp: Lamp,
    /// What it says: why not, or what it did. Clean, on one line.
    pub(crate) text: String,
    /// What guards kept.
    pub(crate) guards: Guards,
    /// What it did.
    pub(crate) fired: Option<Fired>,
}

/// The figures of a stage that fired.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fired {
    /// What asked for it.
    pub(crate) trigger: Trigger,
    /// The load before and after.
    pub(crate) size: (usize, usize),
    /// Messages before and after.
    pub(crate) messages: (usize, usize),
    /// Results that changed.
    pub(crate) results: usize,
    /// Characters of their text before.
    pub(crate) text: usize,
    /// How many of them were replaced by a note before the model had read them.
    pub(crate) unseen: usize,
    /// Unread results that went into a summary.
    pub(crate) unread_lost: usize,
    /// Messages that left the context, markers not counted.
    pub(crate) gone: usize,
    /// First and newest messages that a snip kept, on either side of its marker.
    pub(crate) kept: (usize, usize),
    /// What that marker says: how many messages it stands for.
    pub(crate) marker: usize,
    /// Persisted results whose path went with them.
    pub(crate) paths_lost: usize,
    /// The message from which on a prompt cache no longer fits; `None` where only what is new changed, or all.
    pub(crate) first: Option<MessageId>,
    /// Files that hold the text that it took away, clean.
    pub(crate) files: Vec<String>,
    /// Model calls that it made.
    pub(crate) api_calls: u32,
    /// How long it took, in milliseconds.
    pub(crate) duration_ms: u64,
}

impl Fired {
    /// By how much the load changed.
    #[must_use]
    pub(crate) fn change(&self) -> i64 {
        difference(self.size.0, self.size.1)
    }
}

/// A result that a stage replaced.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Changed {
    /// The message.
    pub(crate) id: MessageId,
    /// What it was and what it is.
    pub(crate) kinds: (Kind, Kind),
    /// The call that it is of, as one line; empty where that is not known.
    pub(crate) label: String,
    /// Characters of its text before and after.
    pub(crate) chars: (usize, usize),
}

impl Changed {
    /// What `stage` makes of a result that it touches.
    #[must_use]
    pub(crate) fn kind_after(stage: Stage) -> Kind {
        match stage {
            Stage::MicroCompact => Kind::Placeholders,
            Stage::ToolResultBudget | Stage::FitResults | Stage::ReactiveCompact => Kind::Previews,
            Stage::SnipCompact | Stage::CompactHistory => Kind::Results,
        }
    }

    /// What a result of that kind is called in a row.
    #[must_use]
    pub(crate) fn word(kind: Kind) -> &'static str {
        match kind {
            Kind::Placeholders => "placeholder",
            Kind::Previews => "preview",
            Kind::Summary
            | Kind::User
            | Kind::Assistant
            | Kind::Calls
            | Kind::Results
            | Kind::Frame => "result",
        }
    }
}

impl Run {
    /// Makes room for the stages before `call`, unless they have begun; says whether it did.
    ///
    /// The recovery belongs to the run of the call that was refused, whatever number the call has that follows it.
    pub(super) fn begin(&mut self, call: u64, stage: Option<Stage>, size: usize) -> bool {
        let begun = self.before.is_some();
        if begun && (self.call == call || stage == Some(Stage::ReactiveCompact)) {
            self.call = call;
            return false;
        }
        *self = Self {
            call,
            before: Some(size),
            after: Some(size),
            ..Self::default()
        };
        true
    }

    /// What `stage` found and did.
    #[must_use]
    pub(crate) fn check(&self, stage: Stage) -> &Check {
        &self.checks[row(stage)]
    }

    /// Sets what `stage` found; a lamp that was lit before this call stays lit where there was no need a second time.
    pub(super) fn set(&mut self, stage: Stage, check: Check) {
        let known = &mut self.checks[row(stage)];
        if !(known.lamp.fired() && check.lamp == Lamp::Unneeded) {
            *known = check;
        }
    }

    /// Adds what a stage that fired did to the load.
    pub(super) fn add(&mut self, fired: &Fired, largest: Option<Changed>) {
        self.after = Some(fired.size.1);
        self.api_calls += fired.api_calls;
        self.duration_ms += fired.duration_ms;
        let weight = |change: &Option<Changed>| {
            change
                .as_ref()
                .map_or(0, |change| change.chars.0.saturating_sub(change.chars.1))
        };
        if weight(&largest) > weight(&self.largest) {
            self.largest = largest;
        }
    }

    /// What guards kept in `stage`, as far as no later stage of the run took it after all.
    #[must_use]
    pub(crate) fn kept(&self, stage: Stage) -> Guards {
        let mut kept = self.check(stage).guards;
        for later in &ROWS[row(stage) + 1..] {
            let Some(fired) = &self.check(*later).fired else {
                continue;
            };
            match later {
                // All that it does not keep itself is gone.
                Stage::CompactHistory | Stage::ReactiveCompact => return Guards::default(),
                // What became a preview is not kept whole.
                Stage::FitResults => kept.unread = kept.unread.saturating_sub(fired.results),
                Stage::ToolResultBudget | Stage::SnipCompact | Stage::MicroCompact => {}
            }
        }
        kept
    }

    /// The stage that is at work now.
    #[must_use]
    pub(crate) fn running(&self) -> Option<Stage> {
        ROWS.into_iter()
            .find(|stage| self.check(*stage).lamp == Lamp::Running)
    }
}

/// The place of a stage in [`ROWS`].
pub(super) fn row(stage: Stage) -> usize {
    match stage {
        Stage::ToolResultBudget => 0,
        Stage::SnipCompact => 1,
        Stage::MicroCompact => 2,
        Stage::FitResults => 3,
        Stage::CompactHistory => 4,
        Stage::ReactiveCompact => 5,
    }
}
