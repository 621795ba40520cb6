//! The way out: events get their number and wait for room in the channel; none is dropped.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

use crate::event::{AgentEvent, Envelope};

/// Sends events of one agent; clones share the numbering.
#[derive(Clone)]
pub(super) struct Emitter {
    events: mpsc::Sender<Envelope>,
    /// The last number given. Held over the send, so that numbers arrive in their order.
    seq: Arc<Mutex<u64>>,
    /// The `task` call whose subagent this is for.
    task: Option<String>,
}

impl Emitter {
    pub(super) fn new(events: mpsc::Sender<Envelope>) -> Self {
        Self {
            events,
            seq: Arc::default(),
            task: None,
        }
    }

    /// The emitter of the subagent of the call `id`.
    pub(super) fn for_task(&self, id: &str) -> Self {
        Self {
            task: Some(id.to_owned()),
            ..self.clone()
        }
    }

    /// Sends `event`; waits while the channel is full. A front end that has gone away needs no events.
    pub(super) async fn emit(&self, event: AgentEvent) {
        let mut seq = self.seq.lock().await;
        // Room first, number second: a number is never given to an event that is not sent.
        if let Ok(room) = self.events.reserve().await {
            *seq += 1;
            room.send(Envelope {
                seq: *seq,
                task: self.task.clone(),
                event,
            });
        }
    }
}
