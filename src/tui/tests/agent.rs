//! For tests: an agent whose events a test writes, with a real history behind them.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::context::{Guards, History, Limits, Profile, Stage, Trigger, estimate_size};
use crate::event::{AgentEvent, Envelope, SessionStarted, StageReport, TurnEnd};
use crate::message::{ContentBlock, Message, Usage};

pub(super) struct Agent {
    history: History,
    seq: u64,
    events: mpsc::Sender<Envelope>,
}

impl Agent {
    pub(super) fn new(events: mpsc::Sender<Envelope>) -> Self {
        Self {
            history: History::new(),
            seq: 0,
            events,
        }
    }

    pub(super) async fn send(&mut self, event: AgentEvent) {
        self.seq += 1;
        let envelope = Envelope {
            seq: self.seq,
            task: None,
            event,
        };
        // A screen that has gone does not listen.
        let _ = self.events.send(envelope).await;
    }

    pub(super) async fn session(&mut self) {
        self.send(AgentEvent::SessionStarted(Box::new(SessionStarted {
            session: "s".to_owned(),
            log: None,
            workspace: "/home/me/parser-demo".to_owned(),
            model: "scripted".to_owned(),
            scripted: true,
            profile: Profile::Lesson,
            limits: Limits::default(),
            system_chars: 1_912,
            tools_chars: 5_240,
            context: History::new(),
        })))
        .await;
    }

    pub(super) async fn append(&mut self, message: Message) {
        let message = Arc::new(message);
        let id = self.history.push(Arc::clone(&message));
        let size = estimate_size(self.history.messages());
        self.send(AgentEvent::MessageAppended { id, message, size })
            .await;
    }

    /// Begins to work on a request.
    pub(super) async fn begin(&mut self, request: &str) {
        self.send(AgentEvent::TurnStarted {
            request: request.to_owned(),
        })
        .await;
        self.append(Message::user(request)).await;
        self.send(AgentEvent::ModelCallStarted {
            call: 1,
            size: 10,
            messages: 1,
        })
        .await;
    }

    pub(super) async fn says(&mut self, text: &str) {
        self.send(AgentEvent::TextDelta {
            text: text.to_owned(),
        })
        .await;
    }

    /// The reply that was streamed, whole, and the end of the turn.
    pub(super) async fn ends(&mut self, reply: &str) {
        self.append(Message::assistant(vec![ContentBlock::text(reply)]))
            .await;
        self.finish(TurnEnd::Done).await;
    }

    pub(super) async fn finish(&mut self, end: TurnEnd) {
        self.send(AgentEvent::TurnFinished {
            end,
            error: None,
            usage: Usage::default(),
        })
        .await;
    }

    /// Calls a tool and gets its result.
    pub(super) async fn tool(&mut self, command: &str, output: &str) {
        let input = json!({ "command": command });
        self.append(Message::assistant(vec![ContentBlock::tool_use(
            "toolu_1", "bash", input,
        )]))
        .await;
        self.append(Message::user_blocks(vec![ContentBlock::tool_result(
            "toolu_1", output,
        )]))
        .await;
    }

    /// A stage before `call` fired and changed nothing but the load.
    pub(super) async fn fires(&mut self, call: u64, stage: Stage, freed: usize) {
        let size = estimate_size(self.history.messages());
        self.send(AgentEvent::StageFinished(Box::new(StageReport {
            call,
            stage,
            trigger: Trigger::Pipeline,
            size_before: size + freed,
            size_after: size,
            messages_before: self.history.len(),
            messages_after: self.history.len(),
            touched: Vec::new(),
            files: Vec::new(),
            api_calls: 0,
            duration_ms: 0,
            transcript: None,
            guards: Guards::default(),
            unread_lost: 0,
            cache_from: None,
            before: self.history.clone(),
            after: self.history.clone(),
        })))
        .await;
    }

    pub(super) async fn asks(&mut self, tool: &str, input: Value) {
        self.send(AgentEvent::PermissionAsked {
            id: "toolu_9".to_owned(),
            tool: tool.to_owned(),
            input,
            reason: "bash asks in the mode `ask`".to_owned(),
        })
        .await;
    }
}
