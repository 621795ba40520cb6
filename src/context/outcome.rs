//! What a stage says it would do: the values between the pure pipeline and the agent that carries them out.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{History, MessageId, Reason, Skip};

/// The six stages, under the course's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// 1: large new results go to disk.
    ToolResultBudget,
    /// 2: the middle of a long list of messages goes.
    SnipCompact,
    /// 3: older results become placeholders.
    MicroCompact,
    /// The guard between 3 and 4: unread results are made to fit.
    FitResults,
    /// 4: a summary takes the history's place.
    CompactHistory,
    /// The recovery after "prompt too long".
    ReactiveCompact,
}

impl Stage {
    /// The stages of a pipeline run, in their order.
    pub const PIPELINE: [Self; 5] = [
        Self::ToolResultBudget,
        Self::SnipCompact,
        Self::MicroCompact,
        Self::FitResults,
        Self::CompactHistory,
    ];

    /// The name in events, log and settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolResultBudget => "tool_result_budget",
            Self::SnipCompact => "snip_compact",
            Self::MicroCompact => "micro_compact",
            Self::FitResults => "fit_results",
            Self::CompactHistory => "compact_history",
            Self::ReactiveCompact => "reactive_compact",
        }
    }
}

/// What made a stage run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The pipeline before a model call.
    Pipeline,
    /// The model called `compact`.
    Tool,
    /// The user typed `/compact`.
    Command,
    /// The provider said that the prompt is too long.
    PromptTooLong,
}

/// What a stage would do.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Nothing, and why.
    Skipped(Skip),
    /// This, once the files are written.
    Rewritten(Rewrite),
    /// A summary has to be asked for first.
    NeedsSummary(SummaryPlan),
}

impl Outcome {
    pub(super) fn skipped(reason: Reason) -> Self {
        Self::Skipped(Skip::new(reason))
    }
}

impl From<Result<SummaryPlan, Skip>> for Outcome {
    fn from(plan: Result<SummaryPlan, Skip>) -> Self {
        match plan {
            Ok(plan) => Self::NeedsSummary(plan),
            Err(skip) => Self::Skipped(skip),
        }
    }
}

/// A history with less in it, and what must be on disk before it may take the old one's place.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// The history afterwards.
    pub history: History,
    /// The blocks that changed, in the order of the history before.
    pub touched: Vec<Touched>,
    /// Files to write first, in their order.
    pub saves: Vec<Save>,
    /// What guards kept.
    pub guards: Guards,
}

/// One block that a stage changed, in characters of a result's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Touched {
    /// Index of the message.
    pub message: usize,
    /// Number of the message.
    pub id: MessageId,
    /// Index of the block in it.
    pub block: usize,
    /// Size of the result before.
    pub chars_before: usize,
    /// Size of the result after.
    pub chars_after: usize,
    /// Whether the model had not read it yet.
    pub unread: bool,
}

/// A file to write under `.task_outputs/tool-results/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save {
    /// The name there, `toolu_01.txt`.
    pub name: String,
    /// The full text.
    pub text: String,
    /// The result that it holds.
    pub result: (MessageId, usize),
}

/// What guards kept in one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guards {
    /// Unread results that were left alone.
    pub unread: usize,
    /// Paths of persisted results that stayed in a placeholder.
    pub paths: usize,
    /// Whether the current request was carried on by a marker.
    pub carried: bool,
}

/// A compaction that needs a summary: what is summarised, and what stays behind the summary.
#[derive(Clone, Debug)]
pub struct SummaryPlan {
    /// `compact_history` or `reactive_compact`.
    pub stage: Stage,
    /// What asked for it.
    pub trigger: Trigger,
    /// The messages to summarise, by index; the rest stays behind the summary.
    pub older: Range<usize>,
    /// Unread results among them, which the compaction takes away.
    pub unread_lost: usize,
    /// The history with the results among the kept messages persisted, where the recovery must: its files are written first.
    /// [`rebuild`](super::rebuild) builds on it.
    pub kept: Option<Rewrite>,
}
