//! The way to the agent: its start, commands that it does not take yet, its events, and its end.
//!
//! Nothing here waits for the agent longer than it says; the screen's loop selects over [`Link::next`].

use std::collections::VecDeque;
use std::time::Duration;

use tokio::task::JoinHandle;

use super::{End, Tee};
use crate::event::{AgentEvent, Command, Envelope, Handle};

/// Events taken in one go: keys are looked at in between.
const EVENTS: usize = 512;
/// How long the agent may take to end its session: after a signal, and else.
const GRACE: [Duration; 2] = [Duration::from_millis(150), Duration::from_secs(3)];

/// Whose time the screen shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Real,
    /// A script's, in which nothing takes any.
    Script,
}

/// The way to the agent.
pub(crate) struct Link {
    starting: Option<JoinHandle<anyhow::Result<Handle>>>,
    handle: Option<Handle>,
    outbox: VecDeque<Command>,
    tee: Option<Tee>,
    clock: Clock,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link")
            .field("outbox", &self.outbox)
            .finish_non_exhaustive()
    }
}

/// What came from the agent's side.
pub(crate) enum News {
    Started(anyhow::Result<()>),
    /// A command was taken.
    Sent,
    /// All events that are there, oldest first; empty once they have ended.
    Events(Vec<Envelope>),
}

impl Link {
    /// Not started yet.
    pub(crate) fn new(tee: Option<Tee>, clock: Clock) -> Self {
        Self {
            starting: None,
            handle: None,
            outbox: VecDeque::new(),
            tee,
            clock,
        }
    }

    /// Waits for what comes first of the agent's start, its taking a command, and its next event.
    pub(crate) async fn next(&mut self) -> News {
        if let Some(starting) = &mut self.starting {
            let started = starting.await;
            self.starting = None;
            let started = started.unwrap_or_else(|error| Err(error.into()));
            return News::Started(started.map(|handle| self.handle = Some(handle)));
        }
        let Some(handle) = &mut self.handle else {
            return std::future::pending().await;
        };
        let event = tokio::select! {
            biased;
            permit = handle.commands.reserve(), if !self.outbox.is_empty() => {
                match permit {
                    Ok(permit) => {
                        if let Some(command) = self.outbox.pop_front() {
                            permit.send(command);
                        }
                    }
                    // The agent is gone; its events say so.
                    Err(_) => self.outbox.clear(),
                }
                return News::Sent;
            }
            event = handle.events.recv() => event,
        };
        News::Events(self.events(event))
    }

    /// `first` and whatever else is there.
    fn events(&mut self, first: Option<Envelope>) -> Vec<Envelope> {
        let mut all = Vec::new();
        let mut next = first;
        while let Some(mut envelope) = next {
            if let Some(tee) = &mut self.tee {
                tee(&envelope);
            }
            if self.clock == Clock::Script {
                timeless(&mut envelope.event);
            }
            all.push(envelope);
            let more = self.handle.as_mut().filter(|_| all.len() < EVENTS);
            next = more.and_then(|handle| handle.events.try_recv().ok());
        }
        if all.is_empty() {
            self.handle = None;
        }
        all
    }

    /// Starts the agent on a task of its own.
    pub(crate) fn start(
        &mut self,
        start: impl Future<Output = anyhow::Result<Handle>> + Send + 'static,
    ) {
        self.starting = Some(tokio::spawn(start));
    }

    /// Sends a command as soon as the agent takes it.
    pub(crate) fn send(&mut self, command: Command) {
        self.outbox.push_back(command);
    }

    /// Whether something is on its way, here or there.
    pub(crate) fn waiting(&self) -> bool {
        self.starting.is_some()
            || !self.outbox.is_empty()
            || self
                .handle
                .as_ref()
                .is_some_and(|handle| !handle.events.is_empty())
    }

    /// Ends the session; what it still says within the grace goes to the event log.
    pub(crate) async fn close(mut self, end: &End) {
        if let Some(starting) = self.starting.take() {
            starting.abort();
        }
        let Some(mut handle) = self.handle.take() else {
            return;
        };
        // A full channel is fine: dropping the sender ends the session too.
        let _ = handle.commands.try_send(Command::Shutdown);
        drop(handle.commands);
        let grace = match end {
            End::Signal(_) => GRACE[0],
            End::Quit | End::SwitchTo(_) | End::Agree(_) => GRACE[1],
        };
        let tee = &mut self.tee;
        let rest = async {
            while let Some(envelope) = handle.events.recv().await {
                if let Some(tee) = tee {
                    tee(&envelope);
                }
            }
        };
        // What does not end in time is ended with the process.
        let _ = tokio::time::timeout(grace, rest).await;
    }
}

/// Leaves out how long something took.
fn timeless(event: &mut AgentEvent) {
    if let AgentEvent::StageFinished(report) = event {
        report.duration_ms = 0;
    }
    if let AgentEvent::ToolFinished { duration_ms, .. } = event {
        *duration_ms = 0;
    }
}
