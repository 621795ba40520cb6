//! The pure pipeline: six stages that look at a history and say what they would do with it.
//!
//! Values in, values out: no file, clock, environment, channel or model. A stage returns the new history and the files
//! that must be written first ([`Rewrite`]), a summary to ask for ([`SummaryPlan`]), or why it does nothing ([`Skip`]);
//! the agent carries it out.

mod history;
mod limits;
mod outcome;
mod saved;

pub use history::{History, Item, MessageId};
pub use limits::{KeepUnread, Limits, MicroWhen, Profile, UnknownSetting};
pub use outcome::{
    Guards, Outcome, Reason, Rewrite, Save, Skip, Stage, SummaryPlan, Touched, Trigger,
};
pub use saved::{Digest, Saved};
