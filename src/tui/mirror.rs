//! What the screen knows of the run: a picture of the agent's context, kept up by its events alone.
//!
//! An event costs what it brings, never what is already there. No drawing, no clock, no command; text that left the context
//! is not kept.

mod apply;
mod context;
mod label;
mod log;
#[cfg(test)]
pub(crate) mod play;
mod run;
mod stages;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::context::{Limits, MessageId, Pause, Profile, Stage};
use crate::event::{SessionStarted, Todo};
use crate::message::Usage;

pub(crate) use context::{Context, Mark, Sight};
pub(crate) use label::tool_line;
pub(crate) use log::{Idle, Log, Row, Source};
pub(crate) use run::{Changed, Check, Fired, ROWS, Run, short};

use super::theme::Level;
use apply::Tools;
use label::Labels;

/// What the screen knows of the run.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    /// The facts that came first; `None` before `session_started`.
    pub(crate) session: Option<Session>,
    /// What the model sees.
    pub(crate) context: Context,
    /// The stages before the newest call.
    pub(crate) run: Run,
    /// What happened, in rows.
    pub(crate) log: Log,
    /// What the agent does now.
    pub(crate) work: Work,
    /// What the pipeline did in this session.
    pub(crate) counts: Counts,
    /// How the load grows: for the forecast.
    pub(crate) growth: Growth,
    /// Tokens of all model calls that ended.
    pub(crate) usage: Usage,
    /// Characters that were sent and the tokens that servers counted for them, over the calls that tell both.
    pub(crate) measured: (usize, u64),
    /// What makes stage 4 stop trying.
    pub(crate) pause: Pause,
    /// The todo list.
    pub(crate) todos: Vec<Todo>,
    /// When each stage fired last, in the order of [`ROWS`].
    last: [Option<Last>; 6],
    labels: Labels,
    tools: Tools,
}

/// When a stage fired last, and what it did to the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Last {
    /// The call that it preceded.
    pub(crate) call: u64,
    /// By how much the load changed.
    pub(crate) change: i64,
}

/// What a session is, for the header and the figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Session {
    /// The session's id.
    pub(crate) id: String,
    /// The last part of the workspace's path: the name in the header.
    pub(crate) name: String,
    /// The folder that the agent works in.
    pub(crate) workspace: String,
    /// The session's log; `None` where it is in memory only.
    pub(crate) log: Option<String>,
    /// The model's name.
    pub(crate) model: String,
    /// Whether the model is the scripted one.
    pub(crate) scripted: bool,
    /// The profile in force.
    pub(crate) profile: Profile,
    /// The pipeline's numbers in force.
    pub(crate) limits: Limits,
    /// Characters of the system prompt, sent but not counted.
    pub(crate) system_chars: usize,
    /// Characters of the tool specifications, sent but not counted.
    pub(crate) tools_chars: usize,
}

/// What the agent does now. Whoever draws a clock starts it when this changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing: it is the user's turn.
    #[default]
    Idle,
    /// Between two of the others.
    Busy,
    /// A model call runs.
    Call {
        /// Its number.
        call: u64,
    },
    /// The call failed and is made again after a wait.
    Retry {
        /// The call's number.
        call: u64,
        /// 1 for the first retry.
        attempt: u32,
        /// How long the wait is, in milliseconds.
        wait_ms: u64,
        /// Why, clean and on one line.
        reason: String,
    },
    /// A stage asks the model for a summary.
    Summary {
        /// `compact_history` or `reactive_compact`.
        stage: Stage,
    },
    /// A tool runs.
    Tool {
        /// The call's id.
        id: String,
        /// The call as one line, `bash cargo test`.
        line: String,
    },
    /// The agent waits for an answer.
    Asking {
        /// The call's id.
        id: String,
        /// The call as one line.
        line: String,
    },
}

/// What the pipeline did in this session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Messages that snips took out.
    pub(crate) snipped: usize,
    /// Summaries that took a history's place.
    pub(crate) compactions: usize,
    /// Model calls that were sent.
    pub(crate) calls: u64,
    /// How often each stage changed the context, in the order of [`ROWS`].
    pub(crate) fired: [usize; 6],
}

/// How the size of what is sent moves from one call to the next, over the newest calls since the last summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Growth {
    last: Option<usize>,
    steps: VecDeque<i64>,
}

impl Growth {
    const KEPT: usize = 5;

    /// Adds a call that sent `size`.
    fn add(&mut self, size: usize) {
        if let Some(last) = self.last.replace(size) {
            if self.steps.len() == Self::KEPT {
                self.steps.pop_front();
            }
            self.steps.push_back(difference(last, size));
        }
    }

    /// How many calls it takes to grow by `room` at this pace; `None` where it does not grow, or that is not known yet.
    #[must_use]
    pub(crate) fn calls_for(&self, room: usize) -> Option<usize> {
        let sum: i64 = self.steps.iter().sum();
        let sum = usize::try_from(sum).ok().filter(|sum| *sum > 0)?;
        (self.steps.len() >= 2).then(|| (room * self.steps.len()).div_ceil(sum))
    }
}

/// `to - from`, signed.
fn difference(from: usize, to: usize) -> i64 {
    let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    signed(to).saturating_sub(signed(from))
}

impl Mirror {
    /// Nothing known yet.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// `estimate_size` of the context; `None` until the session has started.
    #[must_use]
    pub(crate) fn load(&self) -> Option<usize> {
        self.session.as_ref().map(|_| self.context.size())
    }

    /// The pipeline's numbers in force (the defaults until the session has started).
    #[must_use]
    pub(crate) fn limits(&self) -> Limits {
        self.session
            .as_ref()
            .map_or_else(Limits::default, |session| session.limits.clone())
    }

    /// The load line.
    #[must_use]
    pub(crate) fn limit(&self) -> usize {
        self.session.as_ref().map_or_else(
            || Limits::default().context_limit,
            |session| session.limits.context_limit,
        )
    }

    /// Where the load stands to the line.
    #[must_use]
    pub(crate) fn level(&self) -> Level {
        Level::of(self.load(), self.limit())
    }

    /// When `stage` fired last.
    #[must_use]
    pub(crate) fn last(&self, stage: Stage) -> Option<Last> {
        self.last[run::row(stage)]
    }

    /// What the model still sees of a block of a message (block 0 of a message of one string).
    #[must_use]
    pub(crate) fn sight(&self, id: MessageId, block: usize) -> Sight {
        self.context.sight(id, block)
    }
}

impl Session {
    fn of(started: &SessionStarted) -> Self {
        let name = started
            .workspace
            .rsplit(['/', '\\'])
            .find(|part| !part.is_empty())
            .unwrap_or(&started.workspace);
        Self {
            id: started.session.clone(),
            name: crate::text::clean_line(name),
            workspace: crate::text::clean_line(&started.workspace),
            log: started.log.as_deref().map(crate::text::clean_line),
            model: crate::text::clean_line(&started.model),
            scripted: started.scripted,
            profile: started.profile,
            limits: started.limits.clone(),
            system_chars: started.system_chars,
            tools_chars: started.tools_chars,
        }
    }
}
