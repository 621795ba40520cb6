//! What the agent's events do to the screen beside the mirror and the transcript: questions, lamps, hints.

use super::{App, Ask};
use crate::event::{AgentEvent, Envelope};

impl App {
    pub(super) fn agent(&mut self, envelope: &Envelope) {
        self.mirror.apply(envelope);
        self.transcript.apply(envelope);
        if envelope.task.is_none() {
            self.turn.apply(self.now, &envelope.event);
            let hold = self.hold();
            self.lamps.apply(self.now, &envelope.event, hold);
        }
        match &envelope.event {
            AgentEvent::PermissionAsked {
                id,
                tool,
                input,
                reason,
            } => {
                self.asks.push(Ask::new(
                    id.clone(),
                    tool.clone(),
                    input.clone(),
                    reason.clone(),
                ));
            }
            AgentEvent::PermissionAnswered { id, .. } => self.asks.remove(id),
            AgentEvent::TurnFinished { .. } if envelope.task.is_none() => {
                self.asks.clear();
                self.drop_stop_hint();
            }
            AgentEvent::SessionStarted(_)
            | AgentEvent::TurnStarted { .. }
            | AgentEvent::MessageAppended { .. }
            | AgentEvent::StageSkipped(_)
            | AgentEvent::StageStarted { .. }
            | AgentEvent::StageFinished(_)
            | AgentEvent::StageFailed { .. }
            | AgentEvent::ModelCallStarted { .. }
            | AgentEvent::TextDelta { .. }
            | AgentEvent::ThinkingDelta { .. }
            | AgentEvent::Retrying { .. }
            | AgentEvent::ModelCallFinished { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::TodosChanged { .. }
            | AgentEvent::Notice { .. }
            | AgentEvent::LimitsChanged { .. }
            | AgentEvent::TurnFinished { .. } => {}
        }
    }
}
