//! Where events go without a screen: JSON lines, or the reply's text with a line on standard error for what happens.

use std::fmt;
use std::io::{self, Write};

use super::json_line;
use crate::context::Stage;
use crate::event::{AgentEvent, Envelope, StageReport, TurnEnd};
use crate::message::Role;
use crate::text::{clean, clean_line, head, thousands};

/// How many characters of an input or of a failure one line shows.
const LINE_CHARS: usize = 160;

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

/// Each event as a line of JSON; a demo's words, which are no event, to the other side.
pub struct JsonLines<'a> {
    /// Where the lines go.
    pub out: &'a mut dyn Write,
    /// Where all else goes.
    pub err: &'a mut dyn Write,
}

impl Sink for JsonLines<'_> {
    fn event(&mut self, envelope: &Envelope) -> io::Result<()> {
        self.out.write_all(json_line(envelope)?.as_bytes())?;
        self.out.flush()
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
}

impl<'a> Text<'a> {
    /// Replies go to `out`, all else to `err`.
    #[must_use]
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self {
            out,
            err,
            reply: None,
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
        if let Some(line) = progress(&envelope.event) {
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
        AgentEvent::TurnStarted { request } => Some(format!("> {}", cut(request))),
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
            Some(format!("{tool} {}", cut(&input.to_string())))
        }
        AgentEvent::ToolFinished {
            output, is_error, ..
        } => Some(if *is_error {
            format!("  failed: {}", cut(output))
        } else {
            format!("  {} characters", thousands(output.chars().count()))
        }),
        AgentEvent::Notice { text } => Some(text.clone()),
        AgentEvent::LimitsChanged { limits, reason } => Some(format!(
            "limits changed, {} characters at most: {reason}",
            thousands(limits.context_limit)
        )),
        AgentEvent::TurnFinished { end, error, .. } => finished(*end, error.as_deref()),
        AgentEvent::MessageAppended { .. }
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
            report.messages_before, report.messages_after
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

/// The first characters, with a sign where some are missing.
fn cut(text: &str) -> String {
    let first = head(text, LINE_CHARS);
    if first.len() == text.len() {
        text.to_owned()
    } else {
        format!("{first}…")
    }
}

/// The word that a value is in JSON.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
