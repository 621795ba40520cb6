//! When each lamp is shown. Stages take no time that an eye could follow, so a learner sees them light one by one.
//!
//! Only lamps wait; figures, log and agent go on at once.

use std::time::Duration;

use crate::context::Stage;
use crate::event::AgentEvent;
use crate::tui::mirror::ROWS;

/// How long a lamp that was lit has the eye for itself.
const HOLD: Duration = Duration::from_millis(400);

/// Whether lamps light one by one or at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Held,
    AtOnce,
}

/// When the lamps of the newest call are shown.
#[derive(Debug, Default)]
pub(crate) struct Lamps {
    /// The call that the stages precede.
    call: u64,
    /// From when on each is shown, in the order of the rows; 0 for one that nothing was said of.
    from: [Duration; 6],
    /// Until when the newest lamp that was lit has the eye for itself.
    held: Duration,
    /// Whether Esc has put the lit ones out.
    out: bool,
}

/// The lamps at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lit {
    /// Which rows still look as if nothing had been said of them.
    waiting: [bool; 6],
    /// Whether those that fired are no longer lit.
    out: bool,
}

impl Lamps {
    /// Takes in an event of the main agent.
    pub(crate) fn apply(&mut self, now: Duration, event: &AgentEvent, hold: Hold) {
        let (call, stage, fired) = match event {
            AgentEvent::StageStarted { call, stage, .. }
            | AgentEvent::StageFailed { call, stage, .. } => (*call, *stage, false),
            AgentEvent::StageSkipped(skipped) => (skipped.call, skipped.stage, false),
            AgentEvent::StageFinished(report) => (report.call, report.stage, true),
            AgentEvent::SessionStarted(_)
            | AgentEvent::TurnStarted { .. }
            | AgentEvent::MessageAppended { .. }
            | AgentEvent::ModelCallStarted { .. }
            | AgentEvent::TextDelta { .. }
            | AgentEvent::ThinkingDelta { .. }
            | AgentEvent::Retrying { .. }
            | AgentEvent::ModelCallFinished { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::PermissionAnswered { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::TodosChanged { .. }
            | AgentEvent::Notice { .. }
            | AgentEvent::LimitsChanged { .. }
            | AgentEvent::TurnFinished { .. } => return,
        };
        // The recovery belongs to the call that was refused; any other new call ends the hold.
        if call != self.call && stage != Stage::ReactiveCompact {
            *self = Self::default();
        }
        self.call = call;
        self.out = false;
        let from = match hold {
            Hold::Held => now.max(self.held),
            Hold::AtOnce => now,
        };
        if let Some(row) = ROWS.iter().position(|row| *row == stage) {
            self.from[row] = from;
        }
        if fired {
            self.held = from + HOLD;
        }
    }

    /// Puts out what is lit: it was seen.
    pub(crate) fn put_out(&mut self) {
        self.out = true;
        self.from = Default::default();
    }

    /// What is lit now.
    pub(crate) fn lit(&self, now: Duration) -> Lit {
        Lit {
            waiting: self.from.map(|from| from > now),
            out: self.out,
        }
    }

    /// When the next lamp is shown; `None` if all are.
    pub(crate) fn next(&self, now: Duration) -> Option<Duration> {
        self.from.into_iter().filter(|from| *from > now).min()
    }
}

impl Lit {
    /// Whether the lamp of `stage` still waits for those before it.
    pub(crate) fn waits(self, stage: Stage) -> bool {
        ROWS.iter()
            .zip(self.waiting)
            .any(|(row, waiting)| *row == stage && waiting)
    }

    /// Whether those that fired are no longer lit.
    pub(crate) fn out(self) -> bool {
        self.out
    }
}
