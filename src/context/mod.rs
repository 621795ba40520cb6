//! The pure pipeline: six stages that look at a history and say what they would do with it.
//!
//! Values in, values out: no file, clock, environment, channel or model. A stage returns the new history and the files
//! that must be written first ([`Rewrite`]), a summary to ask for ([`SummaryPlan`]), or why it does nothing ([`Skip`]);
//! the agent carries it out.

mod compact_history;
mod diff;
mod edit;
mod fit_results;
mod history;
mod limits;
mod micro_compact;
mod outcome;
mod pairs;
mod parts;
mod pause;
mod persisted;
mod reactive_compact;
mod reason;
mod request;
mod results;
mod saved;
mod size;
mod snip_compact;
mod tool_result_budget;

pub use compact_history::{kept_messages, plan_compaction, rebuild, summary_input};
pub use diff::{Change, diff};
pub use history::{History, Item, MessageId};
pub use limits::{KeepUnread, Limits, MicroWhen, Profile, UnknownSetting};
pub use outcome::{Guards, Outcome, Rewrite, Save, Stage, SummaryPlan, Touched, Trigger};
pub use parts::{Kind, MARKER_LETTER, Parts, letter};
pub use pause::{Pause, what_fills};
pub use persisted::{PLACEHOLDER, Persisted, RESULTS_DIR, placeholder_name};
pub use reactive_compact::plan_recovery;
pub use reason::{Reason, Skip};
pub use request::{parse_marker, parse_summary};
pub use results::{ResultRef, results, unread};
pub use saved::{Digest, Saved};
pub use size::{estimate_size, value_size};

/// What a stage looks at.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The messages and the state beside them.
    pub history: &'a History,
    /// What is in the folder of persisted results.
    pub saved: &'a Saved,
    /// The numbers.
    pub limits: &'a Limits,
    /// Whether stage 4 is paused.
    pub pause: Pause,
}

/// What `stage` would do.
#[must_use]
pub fn apply(stage: Stage, input: &Input<'_>) -> Outcome {
    match stage {
        Stage::ToolResultBudget => tool_result_budget::apply(input),
        Stage::SnipCompact => snip_compact::apply(input),
        Stage::MicroCompact => micro_compact::apply(input),
        Stage::FitResults => fit_results::apply(input),
        Stage::CompactHistory => compact_history::apply(input),
        Stage::ReactiveCompact => plan_recovery(input).into(),
    }
}
