//! Where events go without a screen: JSON lines, or the reply's text with a line on standard error for what happens.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};

use super::json_line;
use crate::context::Stage;
use crate::event::{AgentEvent, Envelope, StageReport, TurnEnd};
use crate::message::{BlockKind, Message, Role};
use crate::text::{clean, clean_line, cut, thousands};

/// How many characters of an input or of a failure one line shows.
const LINE_CHARS: usize = 160;
/// How many characters of its input tell a call from others in the line of its end.
const CALL_CHARS: usize = 60;

/// Something that is told all that happens.
pub trait Sink {
    /// An event.
    ///
    /// # Errors
    /// If it cannot be written.
    fn event(&mut self, envelope: &Envelope) -> io::Result<()>;

    /// What a demo has to say before its next request.
    ///
    /// # Errors
    /// If it cannot be written.
    fn say(&mut self, text: &str) -> io::Result<()>;
}

/// Each event as a line of JSON; a demo's words, which are no event, and why a turn did not end well to the other side.
pub struct JsonLines<'a> {
    /// Where the lines go.
    pub out: &'a mut dyn Write,
    /// Where all else goes.
    pub err: &'a mut dyn Write,
}

impl Sink for JsonLines<'_> {
    fn event(&mut self, envelope: &Envelope) -> io::Result<()> {
        self.out.write_all(json_line(envelope)?.as_bytes())?;
        self.out.flush()?;
        if let (None, AgentEvent::TurnFinished { end, error, .. }) =
            (&envelope.task, &envelope.event)
            && let Some(line) = finished(*end, error.as_deref())
        {
            aside(self.err, format_args!("{}", clean_line(&line)));
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        aside(self.err, format_args!("{}", clean(text)));
        Ok(())
    }
}

/// The text of each final reply; what happens meanwhile to the other side.
pub struct Text<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// The text of the turn's newest reply, if it had no calls.
    reply: Option<String>,
    /// The calls that have not ended, by their ids: tool and input. A call that is refused never starts.
    calls: HashMap<String, String>,
}

impl<'a> Text<'a> {
    /// Replies go to `out`, all else to `err`.
    #[must_use]
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self {
            out,
            err,
            reply: None,
            calls: HashMap::new(),
        }
    }

    /// Remembers the calls of a reply.
    fn called(&mut self, message: &Message) {
        for block in message.blocks() {
            if let BlockKind::ToolUse { id, name, input } = block.kind() {
                self.calls.insert(id.to_owned(), call(name, input));
            }
        }
    }

    /// How a call ended, and which.
    fn ended(&mut self, id: &str, output: &str, is_error: bool) -> String {
        let call = self.calls.remove(id).unwrap_or_else(|| id.to_owned());
        let call = cut(&call, CALL_CHARS);
        if is_error {
            format!("  {call}: failed: {}", cut(output, LINE_CHARS))
        } else {
            format!("  {call}: {} characters", thousands(output.chars().count()))
        }
    }

    /// Keeps the newest reply, and prints it once the turn has ended with it.
    fn replies(&mut self, event: &AgentEvent) -> io::Result<()> {
        if let AgentEvent::MessageAppended { message, .. } = event {
            let is_final =
                message.role() == Role::Assistant && message.tool_uses().next().is_none();
            self.reply = is_final.then(|| message.text()).flatten();
        } else if let AgentEvent::TurnFinished { end, .. } = event {
            let reply = self.reply.take().unwrap_or_default();
            match end {
                TurnEnd::Done | TurnEnd::MaxTokens => {
                    writeln!(self.out, "{}", clean(&reply))?;
                    self.out.flush()?;
                }
                TurnEnd::Interrupted | TurnEnd::Failed => {}
            }
        }
        Ok(())
    }
}

impl Sink for Text<'_> {
    fn event(&mut self, envelope: &Envelope) -> io::Result<()> {
        if envelope.task.is_none() {
            self.replies(&envelope.event)?;
        }
        let indent = if envelope.task.is_some() { "  " } else { "" };
        let line = match &envelope.event {
            AgentEvent::MessageAppended { message, .. } => {
                self.called(message);
                None
            }
            AgentEvent::ToolFinished {
                id,
                output,
                is_error,
                ..
            } => Some(self.ended(id, output, *is_error)),
            event => progress(event),
        };
        if let Some(line) = line {
            aside(self.err, format_args!("{indent}{}", clean_line(&line)));
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        aside(self.err, format_args!("\n{}", clean(text)));
        Ok(())
    }
}

/// A line for whoever watches. That nobody does (`2>` a pipe that was closed) must not cost the reply.
fn aside(err: &mut dyn Write, line: fmt::Arguments<'_>) {
    let _ = writeln!(err, "{line}");
}

/// What happens, in one line; `None` where it is not worth one.
fn progress(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::SessionStarted(started) => Some(format!(
            "session {} · {} · {} · {}",
            started.session,
            started.model,
            word(&started.profile),
            started.workspace
        )),
        AgentEvent::TurnStarted { request } => Some(format!("> {}", cut(request, LINE_CHARS))),
        AgentEvent::StageFinished(report) => Some(stage(report)),
        AgentEvent::StageFailed { stage, error, .. } => {
            Some(format!("{} failed: {error}", stage.name()))
        }
        AgentEvent::Retrying {
            attempt,
            wait_ms,
            reason,
        } => Some(format!(
            "retry {attempt} in {}.{} s: {reason}",
            wait_ms / 1_000,
            wait_ms % 1_000 / 100
        )),
        AgentEvent::PermissionAsked { tool, reason, .. } => Some(format!("{tool} asks: {reason}")),
        AgentEvent::ToolStarted { tool, input, .. } => {
            Some(cut(&call(tool, input), LINE_CHARS).into_owned())
        }
        AgentEvent::Notice { text } => Some(text.clone()),
        AgentEvent::LimitsChanged { limits, reason } => Some(format!(
            "limits changed, {} characters at most: {reason}",
            thousands(limits.context_limit)
        )),
        AgentEvent::TurnFinished { end, error, .. } => finished(*end, error.as_deref()),
        // Which call a result belongs to, only the sink knows.
        AgentEvent::MessageAppended { .. }
        | AgentEvent::ToolFinished { .. }
        | AgentEvent::StageSkipped(_)
        | AgentEvent::StageStarted { .. }
        | AgentEvent::ModelCallStarted { .. }
        | AgentEvent::TextDelta { .. }
        | AgentEvent::ThinkingDelta { .. }
        | AgentEvent::ModelCallFinished { .. }
        | AgentEvent::PermissionAnswered { .. }
        | AgentEvent::TodosChanged { .. } => None,
    }
}

fn stage(report: &StageReport) -> String {
    let wrote = report.files.iter().chain(&report.transcript);
    let wrote: Vec<&str> = wrote.map(String::as_str).collect();
    let messages = match report.stage {
        Stage::SnipCompact | Stage::CompactHistory | Stage::ReactiveCompact => format!(
            ", {} → {} messages",
            thousands(report.messages_before),
            thousands(report.messages_after)
        ),
        Stage::ToolResultBudget | Stage::MicroCompact | Stage::FitResults => String::new(),
    };
    let files = if wrote.is_empty() {
        String::new()
    } else {
        format!("; wrote {}", wrote.join(", "))
    };
    format!(
        "{}: {} → {} characters{messages}{files}",
        report.stage.name(),
        thousands(report.size_before),
        thousands(report.size_after)
    )
}

fn finished(end: TurnEnd, error: Option<&str>) -> Option<String> {
    let how = match end {
        TurnEnd::Done => return error.map(ToOwned::to_owned),
        TurnEnd::Interrupted => "interrupted",
        TurnEnd::MaxTokens => "the reply was cut at the output limit",
        TurnEnd::Failed => "the request failed",
    };
    Some(match error {
        Some(error) => format!("{how}: {error}"),
        None => how.to_owned(),
    })
}

/// A call as one line shows it.
fn call(tool: &str, input: &serde_json::Value) -> String {
    format!("{tool} {input}")
}

/// The word that a value is in JSON.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
