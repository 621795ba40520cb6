//! How each event changes the picture. Exhaustive, so that a new event is placed here by whoever adds it.

use std::collections::HashMap;

use super::run::{Check, Fired, short};
use super::{Changed, Mirror, Row, Session, Source, Work, tool_line};
use crate::context::{Item, Kind, Reason, Stage};
use crate::event::{AgentEvent, Envelope, SkippedBy, StageReport, StageSkipped, TurnEnd};
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
            } => {
                self.begin(*call);
                self.run.set(
                    *stage,
                    Check {
                        lamp: Lamp::Running,
                        text: texts::summarising(*size),
                        ..Check::default()
                    },
                );
                self.work = Work::Summary { stage: *stage };
            }
            AgentEvent::StageFinished(report) => self.finished(report),
            AgentEvent::StageFailed { call, stage, error } => {
                self.begin(*call);
                let text = clean_line(error);
                self.row(short(*stage), Some(Lamp::Failed), text.clone());
                let check = Check {
                    lamp: Lamp::Failed,
                    text,
                    ..Check::default()
                };
                self.run.set(*stage, check);
                self.end_summary();
            }
            AgentEvent::ModelCallStarted {
                call,
                size,
                messages: _,
            } => self.call_started(*call, *size),
            AgentEvent::TextDelta { text: _ } => self.streaming(),
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
                let text = texts::limits_changed(&before, limits, &clean_line(reason));
                self.row("limits", None, text);
                if let Some(session) = &mut self.session {
                    session.limits = limits.clone();
                }
            }
            AgentEvent::TurnFinished { end, error, .. } => self.turn_finished(*end, error.as_ref()),
        }
    }

    fn start(&mut self, session: Session, started: &crate::event::SessionStarted) {
        *self = Self::new();
        self.context.start(&started.context);
        for item in &started.context.items {
            self.labels.learn(item);
        }
        self.row("session", None, texts::session(&session));
        self.session = Some(session);
    }

    /// Notes that the stages before `call` begin, unless they have.
    fn begin(&mut self, call: u64) {
        let size = self.context.size();
        if self.run.begin(call, size) {
            let text = texts::check(size, self.context.len(), self.limit());
            self.row("check", None, text);
        }
    }

    fn skipped(&mut self, skipped: &StageSkipped) {
        self.begin(skipped.call);
        let lamp = match (skipped.by, &skipped.skip.reason) {
            (SkippedBy::User, _) => Lamp::Skipped,
            (SkippedBy::Rule, Reason::NotSaved { .. } | Reason::Refused) => Lamp::Failed,
            (SkippedBy::Rule, _) => Lamp::Unneeded,
        };
        let text = clean_line(&skipped.reason);
        self.row(short(skipped.stage), Some(lamp), texts::skipped_row(&text));
        self.run.set(
            skipped.stage,
            Check {
                lamp,
                text,
                guards: skipped.guards,
                fired: None,
            },
        );
    }

    fn finished(&mut self, report: &StageReport) {
        self.begin(report.call);
        let largest = self.largest(report);
        let paths_lost = self.paths_lost(report);
        let gone = self.context.rewrite(
            report.stage,
            (&report.touched, &report.files),
            &report.after,
        );
        self.context.set_size(report.size_after);
        let mut fired = fired(report, gone);
        fired.paths_lost = paths_lost;
        match report.stage {
            Stage::SnipCompact => self.counts.snipped += gone,
            Stage::CompactHistory | Stage::ReactiveCompact => {
                self.counts.compactions += 1;
                self.growth = super::Growth::default();
            }
            Stage::ToolResultBudget | Stage::MicroCompact | Stage::FitResults => {}
        }
        let lamp = if report.api_calls > 0 {
            Lamp::FiredByCall
        } else {
            Lamp::Fired
        };
        self.log.push(Row {
            source: self.source(),
            name: short(report.stage),
            lamp: Some(lamp),
            change: Some(fired.change()),
            text: texts::fired_log(report.stage, &fired, largest.as_ref()),
        });
        for file in report.transcript.iter().chain(&report.files) {
            self.row("saved", None, clean_line(file));
        }
        let text = texts::fired_row(report.stage, &fired, self.counts.snipped);
        self.run.add(&fired, largest);
        self.run.set(
            report.stage,
            Check {
                lamp,
                text,
                guards: report.guards,
                fired: Some(fired),
            },
        );
        let context = &self.context;
        self.labels.keep(|id| context.position(id).is_some());
        self.end_summary();
    }

    /// Persisted results whose path went with the preview: a guard, or saving what is replaced, would have kept it.
    fn paths_lost(&self, report: &StageReport) -> usize {
        let kept = self
            .session
            .as_ref()
            .is_some_and(|session| session.limits.guards || session.limits.recoverable);
        if kept || report.stage != Stage::MicroCompact {
            return 0;
        }
        report
            .touched
            .iter()
            .filter(|change| self.context.sight(change.id, change.block) == super::Sight::Preview)
            .count()
    }

    /// The result that `report` made smaller by the most, with its label.
    fn largest(&self, report: &StageReport) -> Option<Changed> {
        let change = report
            .touched
            .iter()
            .max_by_key(|change| change.chars_before.saturating_sub(change.chars_after))?;
        let from = match self.context.sight(change.id, change.block) {
            super::Sight::Preview => Kind::Previews,
            super::Sight::Placeholder => Kind::Placeholders,
            super::Sight::Full
            | super::Sight::Summary
            | super::Sight::Summarised
            | super::Sight::Snipped
            | super::Sight::Gone => Kind::Results,
        };
        Some(Changed {
            id: change.id,
            kinds: (from, Changed::kind_after(report.stage)),
            label: self.labels.of(change.id, change.block).to_owned(),
            chars: (change.chars_before, change.chars_after),
        })
    }

    fn call_started(&mut self, call: u64, size: usize) {
        self.begin(call);
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

    fn end_summary(&mut self) {
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
    fn source(&self) -> Source {
        Source {
            call: self.run.call.max(self.counts.calls),
            task: None,
        }
    }

    fn row(&mut self, name: &'static str, lamp: Option<Lamp>, text: String) {
        self.log.push(Row {
            source: self.source(),
            name,
            lamp,
            change: None,
            text,
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
        });
    }
}

fn fired(report: &StageReport, gone: usize) -> Fired {
    let marker = report
        .after
        .markers
        .iter()
        .next_back()
        .map(|(at, messages)| (*at, *messages));
    Fired {
        trigger: report.trigger,
        size: (report.size_before, report.size_after),
        messages: (report.messages_before, report.messages_after),
        results: report.touched.len(),
        text: report
            .touched
            .iter()
            .map(|change| change.chars_before)
            .sum(),
        unseen: match report.stage {
            Stage::MicroCompact => report.touched.iter().filter(|change| change.unread).count(),
            Stage::ToolResultBudget
            | Stage::SnipCompact
            | Stage::FitResults
            | Stage::CompactHistory
            | Stage::ReactiveCompact => 0,
        },
        unread_lost: report.unread_lost,
        gone,
        kept: marker.map_or((0, 0), |(at, _)| {
            (at, report.messages_after.saturating_sub(at + 1))
        }),
        marker: marker.map_or(0, |(_, messages)| messages),
        paths_lost: 0,
        first: first_changed(report),
        api_calls: report.api_calls,
        duration_ms: report.duration_ms,
    }
}

/// The first message from which on the request differs from the one before it.
fn first_changed(report: &StageReport) -> Option<crate::context::MessageId> {
    match report.stage {
        Stage::SnipCompact => {
            let (at, _) = report.after.markers.iter().next_back()?;
            report.after.items.get(*at).map(|item| item.id)
        }
        Stage::MicroCompact => report
            .touched
            .iter()
            .min_by_key(|change| change.message)
            .map(|change| change.id),
        Stage::ToolResultBudget
        | Stage::FitResults
        | Stage::CompactHistory
        | Stage::ReactiveCompact => None,
    }
}
