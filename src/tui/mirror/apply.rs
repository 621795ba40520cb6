//! How each event changes the picture. Exhaustive, so that a new event is placed here by whoever adds it.

use std::collections::HashMap;

use super::run::short;
use super::stages::fired;
use super::{Mirror, Row, Session, Source, Work, tool_line};
use crate::context::Item;
use crate::event::{AgentEvent, Envelope, SessionStarted, TurnEnd};
use crate::message::Usage;
use crate::text::{clean_line, thousands};
use crate::tui::texts;
use crate::tui::theme::Lamp;

/// Tools at work, and the numbers of the subagents.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// Whether a turn runs.
    turn: bool,
    /// Id and line of each tool at work, in the order in which they began.
    running: Vec<(String, String)>,
    /// The numbers of the subagents at work, by the id of their `task` call.
    tasks: HashMap<String, Source>,
    /// The number that was given last.
    last: Source,
}

impl Tools {
    /// The number of the subagent of `task`, given at its first event.
    fn task(&mut self, task: &str, call: u64) -> Source {
        if let Some(known) = self.tasks.get(task) {
            return *known;
        }
        let next = if self.last.call == call {
            self.last.task.map_or(1, |last| last + 1)
        } else {
            1
        };
        let source = Source {
            call,
            task: Some(next),
        };
        self.last = source;
        self.tasks.insert(task.to_owned(), source);
        source
    }
}

impl Mirror {
    /// Takes in one event.
    pub(crate) fn apply(&mut self, envelope: &Envelope) {
        match &envelope.task {
            Some(task) => self.apply_task(task, &envelope.event),
            None => self.apply_main(&envelope.event),
        }
    }

    fn apply_main(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::SessionStarted(started) => self.start(Session::of(started), started),
            AgentEvent::TurnStarted { request: _ } => {
                self.tools.turn = true;
                self.pause.reset();
                self.work = Work::Busy;
            }
            AgentEvent::MessageAppended { id, message, size } => {
                let item = Item {
                    id: *id,
                    message: std::sync::Arc::clone(message),
                };
                self.labels.learn(&item);
                self.context.append(item, *size);
            }
            AgentEvent::StageSkipped(skipped) => self.skipped(skipped),
            AgentEvent::StageStarted {
                call, stage, size, ..
            } => self.summarising((*call, *stage), *size),
            AgentEvent::StageFinished(report) => self.finished(report),
            AgentEvent::StageFailed {
                call,
                stage,
                error,
                api_calls,
            } => {
                self.failed((*call, *stage), &clean_line(error));
                self.run.api_calls += api_calls;
                if *api_calls > 0 {
                    self.pause.failed();
                }
            }
            AgentEvent::ModelCallStarted {
                call,
                size,
                messages: _,
            } => self.call_started(*call, *size),
            AgentEvent::TextDelta { text: _ } | AgentEvent::ThinkingDelta { text: _ } => {
                self.streaming();
            }
            AgentEvent::Retrying {
                attempt,
                wait_ms,
                reason,
            } => {
                let reason = clean_line(reason);
                self.row("retry", None, texts::retry(*attempt, *wait_ms, &reason));
                self.work = Work::Retry {
                    call: self.counts.calls,
                    attempt: *attempt,
                    wait_ms: *wait_ms,
                    reason,
                };
            }
            AgentEvent::ModelCallFinished {
                stop_reason: _,
                usage,
            } => self.call_finished(usage),
            AgentEvent::PermissionAsked {
                id, tool, input, ..
            } => self.asking(id, tool, input),
            AgentEvent::PermissionAnswered { .. } => self.work = self.tool_or_rest(),
            AgentEvent::ToolStarted { id, tool, input } => {
                if tool == "task" {
                    self.tools.task(id, self.counts.calls);
                }
                self.tools
                    .running
                    .push((id.clone(), tool_line(tool, input)));
                self.work = self.tool_or_rest();
            }
            AgentEvent::ToolFinished { id, .. } => {
                self.tools.running.retain(|(running, _)| running != id);
                self.tools.tasks.remove(id);
                self.work = self.tool_or_rest();
            }
            AgentEvent::TodosChanged { todos } => self.todos.clone_from(todos),
            AgentEvent::Notice { text } => self.row("notice", None, clean_line(text)),
            AgentEvent::LimitsChanged { limits, reason } => {
                let before = self.limits();
                let changes = texts::limits_changed(&before, limits);
                let text = format!("{changes}   {}", clean_line(reason));
                self.row("limits", None, text);
                if let Some(session) = &mut self.session {
                    session.limits = limits.clone();
                }
            }
            AgentEvent::TurnFinished { end, error, .. } => self.turn_finished(*end, error.as_ref()),
        }
    }

    fn start(&mut self, session: Session, started: &SessionStarted) {
        *self = Self::new();
        self.context.start(&started.context);
        for item in &started.context.items {
            self.labels.learn(item);
        }
        self.row("session", None, texts::session(&session));
        let log = session.log.as_deref();
        self.row("log", None, log.unwrap_or(texts::NO_LOG).to_owned());
        self.session = Some(session);
    }

    fn call_started(&mut self, call: u64, size: usize) {
        self.begin(call, None);
        self.counts.calls = call;
        self.growth.add(size);
        self.run.sent = Some(size);
        self.context.sent();
        self.work = Work::Call { call };
        let text = texts::send(size, self.session.as_ref());
        self.row("send", None, text);
    }

    fn streaming(&mut self) {
        if let Work::Retry { call, .. } = self.work {
            self.work = Work::Call { call };
        }
    }

    fn call_finished(&mut self, usage: &Usage) {
        self.usage.add(usage);
        self.work = Work::Busy;
        let uncounted = self
            .session
            .as_ref()
            .map_or(0, |session| session.system_chars + session.tools_chars);
        let sent = self.run.sent.map(|sent| sent + uncounted);
        if let (Some(sent), Some(tokens @ 1..)) = (sent, texts::input_tokens(usage)) {
            self.measured.0 += sent;
            self.measured.1 += tokens;
        }
        if let Some(text) = texts::usage(usage, sent) {
            self.row("usage", None, text);
        }
    }

    fn turn_finished(&mut self, end: TurnEnd, error: Option<&String>) {
        self.work = Work::Idle;
        self.tools = Tools::default();
        let error = error.map(|error| clean_line(error));
        if let Some(text) = texts::turn_end(end, error.as_deref()) {
            self.row("turn", None, text);
        }
    }

    pub(super) fn end_summary(&mut self) {
        if matches!(self.work, Work::Summary { .. }) {
            self.work = self.tool_or_rest();
        }
    }

    fn asking(&mut self, id: &str, tool: &str, input: &serde_json::Value) {
        self.work = Work::Asking {
            id: id.to_owned(),
            line: tool_line(tool, input),
        };
    }

    fn tool_or_rest(&self) -> Work {
        match self.tools.running.last() {
            Some((id, line)) => Work::Tool {
                id: id.clone(),
                line: line.clone(),
            },
            None if self.tools.turn => Work::Busy,
            None => Work::Idle,
        }
    }

    /// The call that a row of the main agent belongs to.
    pub(super) fn source(&self) -> Source {
        Source {
            call: self.run.call.max(self.counts.calls),
            task: None,
        }
    }

    pub(super) fn row(&mut self, name: &'static str, lamp: Option<Lamp>, text: String) {
        self.log.push(Row {
            source: self.source(),
            name,
            lamp,
            change: None,
            text,
            more: Vec::new(),
            idle: None,
        });
    }

    /// An event of a subagent: a row in the log at most; the gauge never moves for it.
    fn apply_task(&mut self, task: &str, event: &AgentEvent) {
        let source = self.tools.task(task, self.counts.calls);
        // The agent as a whole waits for the answer, whoever asks.
        if let AgentEvent::PermissionAsked {
            id, tool, input, ..
        } = event
        {
            self.asking(id, tool, input);
        } else if let AgentEvent::PermissionAnswered { .. } = event {
            self.work = self.tool_or_rest();
        }
        let (lamp, change, text) = match event {
            AgentEvent::StageFinished(report) => {
                let fired = fired(
                    report,
                    report.messages_before.saturating_sub(report.messages_after),
                );
                let lamp = if report.api_calls > 0 {
                    Lamp::FiredByCall
                } else {
                    Lamp::Fired
                };
                let text = format!(
                    "{} {}",
                    short(report.stage),
                    texts::fired_log(report.stage, &fired, None)
                );
                (Some(lamp), Some(fired.change()), text)
            }
            AgentEvent::StageFailed { stage, error, .. } => (
                Some(Lamp::Failed),
                None,
                format!("{} {}", short(*stage), clean_line(error)),
            ),
            AgentEvent::ModelCallStarted { call, size, .. } => (
                None,
                None,
                format!("its call {call}: {} chars", thousands(*size)),
            ),
            AgentEvent::ToolStarted { tool, input, .. } => (None, None, tool_line(tool, input)),
            AgentEvent::Retrying {
                attempt,
                wait_ms,
                reason,
            } => (
                None,
                None,
                texts::retry(*attempt, *wait_ms, &clean_line(reason)),
            ),
            AgentEvent::Notice { text } => (None, None, clean_line(text)),
            AgentEvent::TurnFinished { end, error, .. } => {
                let error = error.as_ref().map(|error| clean_line(error));
                let text = texts::turn_end(*end, error.as_deref());
                (None, None, text.unwrap_or_else(|| "done".to_owned()))
            }
            AgentEvent::SessionStarted(_)
            | AgentEvent::TurnStarted { .. }
            | AgentEvent::MessageAppended { .. }
            | AgentEvent::StageSkipped(_)
            | AgentEvent::StageStarted { .. }
            | AgentEvent::TextDelta { .. }
            | AgentEvent::ThinkingDelta { .. }
            | AgentEvent::ModelCallFinished { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::PermissionAnswered { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::TodosChanged { .. }
            | AgentEvent::LimitsChanged { .. } => return,
        };
        self.log.push(Row {
            source,
            name: "task",
            lamp,
            change,
            text,
            more: Vec::new(),
            idle: None,
        });
    }
}
