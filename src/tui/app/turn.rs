//! What the agent is doing for the person, as far as keys and the last row depend on it: since when, and what is queued.

use std::collections::VecDeque;
use std::time::Duration;

use crate::event::AgentEvent;

/// How long a stop may take before another Ctrl+C forces it.
const STUCK: Duration = Duration::from_secs(1);
const SECOND: Duration = Duration::from_secs(1);

/// The turn that runs, and those that wait.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    life: Life,
    /// Since when a turn runs.
    since: Option<Duration>,
    /// Requests that were sent and have not begun.
    queued: VecDeque<String>,
    /// Since when `/compact` is awaited.
    compacting: Option<Duration>,
    /// Since when the turn is asked to stop.
    stopping: Option<Duration>,
    /// When a failed call is made again.
    retry_at: Option<Duration>,
}

/// Whether there is an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    #[default]
    Starting,
    Ready,
    Ended,
}

/// What Ctrl+C finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nothing runs.
    Nothing,
    /// Something runs that was not asked to stop yet.
    Running,
    /// It was asked, and is still expected to stop.
    Stopping,
    /// It was asked and does not stop.
    Stuck,
}

impl Turn {
    pub(crate) fn started(&mut self) {
        if self.life == Life::Starting {
            self.life = Life::Ready;
        }
    }

    pub(crate) fn ended(&mut self) {
        *self = Self {
            life: Life::Ended,
            ..Self::default()
        };
    }

    /// Whether the agent is still being started.
    pub(crate) fn starting(&self) -> bool {
        self.life == Life::Starting
    }

    /// Whether there is no agent any more.
    pub(crate) fn over(&self) -> bool {
        self.life == Life::Ended
    }

    /// Whether something runs or is about to.
    pub(crate) fn busy(&self) -> bool {
        self.since.is_some() || !self.queued.is_empty() || self.compacting.is_some()
    }

    /// Requests that wait behind the turn that runs.
    pub(crate) fn queued(&self) -> usize {
        self.queued.len() - usize::from(self.since.is_none() && !self.queued.is_empty())
    }

    /// How long it has been at work.
    pub(crate) fn working(&self, now: Duration) -> Option<Duration> {
        let since = self.since.or(self.compacting)?;
        Some(now.saturating_sub(since))
    }

    /// How long until a failed call is made again.
    pub(crate) fn retry_in(&self, now: Duration) -> Option<Duration> {
        self.retry_at
            .map(|at| at.saturating_sub(now))
            .filter(|left| !left.is_zero())
    }

    /// A request was sent.
    pub(crate) fn request(&mut self, text: String) {
        self.queued.push_back(text);
    }

    /// `/compact` was sent.
    pub(crate) fn compact(&mut self, now: Duration) {
        self.compacting = Some(now);
    }

    /// What there is to stop.
    pub(crate) fn stop(&self, now: Duration) -> Stop {
        match self.stopping {
            Some(since) if self.busy() && now.saturating_sub(since) >= STUCK => Stop::Stuck,
            Some(_) if self.busy() => Stop::Stopping,
            Some(_) | None if self.busy() => Stop::Running,
            Some(_) | None => Stop::Nothing,
        }
    }

    /// It was asked to stop.
    pub(crate) fn stop_asked(&mut self, now: Duration) {
        self.stopping = Some(now);
    }

    /// The next moment at which the clock of the last row shows another second.
    pub(crate) fn next_second(&self, now: Duration) -> Option<Duration> {
        let since = self.since.or(self.compacting)?;
        let whole = now.saturating_sub(since).as_secs();
        Some(since + SECOND.saturating_mul(u32::try_from(whole + 1).unwrap_or(u32::MAX)))
    }

    /// Takes in what the main agent says.
    pub(crate) fn apply(&mut self, now: Duration, event: &AgentEvent) {
        match event {
            AgentEvent::SessionStarted(_) => self.started(),
            AgentEvent::TurnStarted { request } => {
                self.since = Some(now);
                self.stopping = None;
                if let Some(at) = self.queued.iter().position(|queued| queued == request) {
                    self.queued.remove(at);
                }
            }
            AgentEvent::TurnFinished { .. } => {
                self.since = None;
                self.stopping = None;
                self.retry_at = None;
                self.compacting = None;
            }
            AgentEvent::StageStarted { .. } if self.since.is_none() => {
                self.compacting.get_or_insert(now);
            }
            AgentEvent::Retrying { wait_ms, .. } => {
                self.retry_at = Some(now + Duration::from_millis(*wait_ms));
            }
            AgentEvent::TextDelta { .. }
            | AgentEvent::ThinkingDelta { .. }
            | AgentEvent::ModelCallFinished { .. } => {
                self.retry_at = None;
            }
            AgentEvent::StageFinished(_)
            | AgentEvent::StageSkipped(_)
            | AgentEvent::StageFailed { .. }
            | AgentEvent::Notice { .. } => {
                // Outside a turn there is nothing but `/compact` that a stage could answer.
                if self.since.is_none() {
                    self.compacting = None;
                    self.stopping = None;
                }
            }
            AgentEvent::MessageAppended { .. }
            | AgentEvent::StageStarted { .. }
            | AgentEvent::ModelCallStarted { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::PermissionAnswered { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::TodosChanged { .. }
            | AgentEvent::LimitsChanged { .. } => {}
        }
    }
}
