//! Events become items of the transcript.

use std::sync::Arc;

use super::{Compacted, Cut, Entry, Kind, Reply, Thinking, Tool, ToolState, Transcript, Wrapped};
use crate::context::{History, Item, Limits, MessageId, Stage};
use crate::event::{AgentEvent, Envelope, StageReport, TurnEnd};
use crate::message::{BlockKind, Content, ContentBlock, Message, ResultContent, Role, StopReason};
use crate::text::head;
use crate::tui::mirror::tool_line;
use crate::tui::texts::limits_changed;

/// Characters of a failed tool's output that are kept to be shown.
const WHY: usize = 200;

impl Transcript {
    /// Takes in what happened. Of a subagent only the count of its model calls is shown, at the call that started it.
    pub(crate) fn apply(&mut self, envelope: &Envelope) {
        if let Some(task) = &envelope.task {
            if matches!(envelope.event, AgentEvent::ModelCallStarted { .. }) {
                self.with_tool(task, |tool| tool.calls += 1);
            }
            return;
        }
        match &envelope.event {
            AgentEvent::SessionStarted(started) => {
                self.limits = Some(started.limits.clone());
                self.resume(&started.context);
            }
            AgentEvent::MessageAppended { id, message, .. } => self.message(*id, message),
            AgentEvent::TextDelta { text } => self.delta(text),
            AgentEvent::ThinkingDelta { text } => self.thought(text.chars().count()),
            AgentEvent::ModelCallStarted { .. } => self.call_started(),
            AgentEvent::ModelCallFinished { stop_reason, .. } => match stop_reason {
                None | Some(StopReason::MaxTokens | StopReason::WindowExceeded) => {
                    self.cut = Cut::Ended;
                }
                Some(_) => {}
            },
            AgentEvent::Retrying { .. } => self.drop_streamed(),
            AgentEvent::ToolStarted { id, .. } => {
                self.with_tool(id, |tool| tool.state = ToolState::Running);
            }
            AgentEvent::ToolFinished {
                id,
                output,
                is_error,
                ..
            } => self.tool_finished(id, output, *is_error),
            AgentEvent::StageFinished(report) => self.stage_finished(report),
            AgentEvent::StageFailed { stage, error, .. } => self.warn(failed(*stage, error)),
            AgentEvent::Notice { text } => self.note(text.clone()),
            AgentEvent::LimitsChanged { limits, reason } => self.limits(limits, reason),
            AgentEvent::TurnFinished { end, error, .. } => {
                self.turn_finished(*end, error.as_deref());
            }
            AgentEvent::TurnStarted { .. }
            | AgentEvent::StageSkipped(_)
            | AgentEvent::StageStarted { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::PermissionAnswered { .. }
            | AgentEvent::TodosChanged { .. } => {}
        }
    }

    fn resume(&mut self, context: &History) {
        for (at, Item { id, message }) in context.items.iter().enumerate() {
            if (at == 0 && context.compacted) || context.markers.contains_key(&at) {
                let text = message.text().unwrap_or_default();
                self.push(Entry::new(Kind::User, Some((*id, 0)), text));
            } else {
                self.message(*id, message);
            }
        }
    }

    fn message(&mut self, id: MessageId, message: &Arc<Message>) {
        match (message.role(), message.content()) {
            (_, Content::Absent) => {}
            (Role::User, Content::Text(text)) => {
                self.push(Entry::new(Kind::User, Some((id, 0)), text.clone()));
            }
            (Role::User, Content::Blocks(blocks)) => {
                for (at, block) in blocks.iter().enumerate() {
                    self.user_block((id, at), block, message.has_results());
                }
            }
            (Role::Assistant, Content::Text(text)) => {
                let entry = Entry::new(Kind::Reply(Reply::Whole), Some((id, 0)), text.clone());
                self.replace_streamed(vec![entry]);
            }
            (Role::Assistant, Content::Blocks(blocks)) => {
                let entries = (blocks.iter().enumerate())
                    .filter_map(|(at, block)| reply_entry((id, at), block))
                    .collect();
                self.replace_streamed(entries);
            }
        }
    }

    fn user_block(&mut self, at: (MessageId, usize), block: &ContentBlock, with_results: bool) {
        match block.kind() {
            BlockKind::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => {
                let chars = result_chars(content);
                let known = self.with_tool(tool_use_id, |tool| {
                    tool.state = if is_error {
                        ToolState::Failed(chars)
                    } else {
                        ToolState::Done(chars)
                    };
                });
                if let Some(entry) = known {
                    self.entries[entry].at = Some(at);
                }
            }
            // Text behind results is the program's own: a reminder.
            BlockKind::Text(text) if with_results => {
                self.push(Entry::new(Kind::Note, Some(at), text.to_owned()));
            }
            BlockKind::Text(text) => {
                self.push(Entry::new(Kind::User, Some(at), text.to_owned()));
            }
            BlockKind::ToolUse { name, .. } => self.push(other_block(at, name)),
            BlockKind::Thinking(_) => self.push(other_block(at, "thinking")),
            BlockKind::Other(kind) => self.push(other_block(at, kind)),
        }
    }

    fn delta(&mut self, text: &str) {
        let at = self.streaming.unwrap_or_else(|| {
            let reply = Kind::Reply(Reply::Streaming);
            self.entries.push(Entry::new(reply, None, String::new()));
            self.entries.len() - 1
        });
        self.streaming = Some(at);
        self.ends.truncate(at);
        if let Some(entry) = self.entries.get_mut(at) {
            entry.text.push_str(text);
            entry.height = None;
        }
    }

    /// So many more characters of what the model thinks.
    fn thought(&mut self, chars: usize) {
        let at = self.thinking.unwrap_or_else(|| {
            let kind = Kind::Thinking(Thinking::Streaming(0));
            self.push(Entry::new(kind, None, String::new()));
            self.entries.len() - 1
        });
        self.thinking = Some(at);
        if let Some(Entry {
            kind: Kind::Thinking(Thinking::Streaming(so_far)),
            ..
        }) = self.entries.get_mut(at)
        {
            *so_far += chars;
        }
        self.changed(at);
    }

    /// The whole reply takes the place of what was streamed of it.
    fn replace_streamed(&mut self, entries: Vec<Entry>) {
        self.wrapped = Wrapped::default();
        let streamed = [self.thinking.take(), self.streaming.take()];
        let Some(first) = streamed.iter().flatten().min().copied() else {
            return self.keep_cut(self.entries.len(), entries);
        };
        let last = streamed.iter().flatten().max().copied();
        if let Some(last) = last.filter(|last| *last > first) {
            self.entries.remove(last);
        }
        self.entries.remove(first);
        self.ends.truncate(first);
        self.keep_cut(first, entries);
    }

    /// Puts `entries` in at `at`; the last thing said among them is marked where the reply was cut.
    fn keep_cut(&mut self, at: usize, mut entries: Vec<Entry>) {
        let said = |entry: &Entry| matches!(entry.kind, Kind::Reply(_));
        if self.cut == Cut::Ended
            && let Some(last) = entries.iter().rposition(said)
        {
            entries[last].kind = Kind::Reply(Reply::Cut(String::new()));
            self.cut = Cut::Kept(at + last);
        }
        if at < self.shown.end {
            self.shown.end += entries.len();
        }
        self.entries.splice(at..at, entries);
    }

    /// What a call before it left unfinished belongs to nothing that comes.
    fn call_started(&mut self) {
        self.cut = Cut::Not;
        self.end_streamed("");
    }

    /// What was streamed and came to nothing stays, marked as cut.
    fn end_streamed(&mut self, why: &str) {
        if let Some(at) = self.thinking.take() {
            if let Some(entry) = self.entries.get_mut(at)
                && let Kind::Thinking(Thinking::Streaming(chars)) = entry.kind
            {
                entry.kind = Kind::Thinking(Thinking::Cut(chars));
            }
            self.changed(at);
        }
        if let Some(at) = self.streaming.take() {
            self.mark_cut(at, why);
        }
        self.wrapped = Wrapped::default();
    }

    fn mark_cut(&mut self, at: usize, why: &str) {
        if let Some(entry) = self.entries.get_mut(at) {
            entry.kind = Kind::Reply(Reply::Cut(head(why.trim(), WHY).to_owned()));
        }
        self.changed(at);
    }

    fn drop_streamed(&mut self) {
        self.replace_streamed(Vec::new());
    }

    fn tool_finished(&mut self, id: &str, output: &str, is_error: bool) {
        let chars = output.chars().count();
        let known = self.with_tool(id, |tool| {
            tool.state = if is_error {
                ToolState::Failed(chars)
            } else {
                ToolState::Done(chars)
            };
        });
        if let Some(entry) = known.filter(|_| is_error) {
            head(output.trim(), WHY).clone_into(&mut self.entries[entry].text);
        }
    }

    fn stage_finished(&mut self, report: &StageReport) {
        match report.stage {
            Stage::CompactHistory | Stage::ReactiveCompact => {
                let summary = report.after.items.first().map(|item| (item.id, 0));
                let transcript = report.transcript.clone().unwrap_or_default();
                self.push(Entry::new(
                    Kind::Compacted(Compacted::of(report)),
                    summary,
                    transcript,
                ));
            }
            Stage::ToolResultBudget | Stage::FitResults => {
                if let Some(saved) = saved(&report.files) {
                    self.note(saved);
                }
            }
            Stage::SnipCompact | Stage::MicroCompact => {}
        }
    }

    fn limits(&mut self, limits: &Limits, reason: &str) {
        let before = self.limits.replace(limits.clone()).unwrap_or_default();
        let changes = limits_changed(&before, limits);
        self.note(format!("Changed: {changes} ({reason})."));
    }

    fn turn_finished(&mut self, end: TurnEnd, error: Option<&str>) {
        let why = match end {
            TurnEnd::Interrupted => "stopped",
            TurnEnd::MaxTokens => "the output limit (max_tokens)",
            TurnEnd::Done | TurnEnd::Failed => error.unwrap_or_default(),
        };
        if let Cut::Kept(at) = std::mem::take(&mut self.cut) {
            self.mark_cut(at, why);
        }
        self.end_streamed(why);
        match (end, error) {
            (TurnEnd::Done, None) => {}
            (TurnEnd::Done, Some(error)) => self.note(error),
            (TurnEnd::Interrupted, _) => self.note("Stopped."),
            (TurnEnd::MaxTokens, _) => {
                self.warn("The reply was cut by the output limit (max_tokens).");
            }
            (TurnEnd::Failed, Some(error)) => self.warn(format!("Failed: {error}")),
            (TurnEnd::Failed, None) => self.warn("Failed."),
        }
    }

    /// Changes the newest call of that id; where it stands.
    fn with_tool(&mut self, id: &str, change: impl FnOnce(&mut Tool)) -> Option<usize> {
        let found = (self.entries.iter_mut().enumerate().rev()).find_map(|(at, entry)| {
            match &mut entry.kind {
                Kind::Tool(tool) if tool.id == id => Some((at, tool)),
                Kind::Tool(_)
                | Kind::User
                | Kind::Reply(_)
                | Kind::Thinking(_)
                | Kind::Compacted(_)
                | Kind::Note
                | Kind::Warning => None,
            }
        });
        let (at, tool) = found?;
        change(tool);
        self.changed(at);
        Some(at)
    }
}

/// Where the full texts are of which only previews stay; `None` where none was written.
fn saved(files: &[String]) -> Option<String> {
    let (first, others) = files.split_first()?;
    Some(match others.len() {
        0 => format!("Saved in full: {first}"),
        n => format!("Saved in full: {first} and {n} more beside it"),
    })
}

fn failed(stage: Stage, error: &str) -> String {
    match stage {
        Stage::CompactHistory | Stage::ReactiveCompact => {
            format!("Summary failed: {error}. Nothing was replaced.")
        }
        Stage::ToolResultBudget | Stage::SnipCompact | Stage::MicroCompact | Stage::FitResults => {
            format!("{} failed: {error}. Nothing was replaced.", stage.name())
        }
    }
}

fn reply_entry(at: (MessageId, usize), block: &ContentBlock) -> Option<Entry> {
    match block.kind() {
        BlockKind::Text(text) => (!text.trim().is_empty())
            .then(|| Entry::new(Kind::Reply(Reply::Whole), Some(at), text.to_owned())),
        BlockKind::ToolUse { id, name, input } => Some(Entry::new(
            Kind::Tool(Tool {
                id: id.to_owned(),
                line: tool_line(name, input),
                state: ToolState::Waiting,
                calls: 0,
            }),
            Some(at),
            String::new(),
        )),
        BlockKind::Thinking(text) => Some(Entry::new(
            Kind::Thinking(Thinking::Whole),
            Some(at),
            text.to_owned(),
        )),
        BlockKind::ToolResult { .. } => Some(other_block(at, "tool_result")),
        BlockKind::Other(kind) => Some(other_block(at, kind)),
    }
}

/// A block that has no picture of its own: one line says that it is there.
fn other_block(at: (MessageId, usize), kind: &str) -> Entry {
    Entry::new(Kind::Note, Some(at), format!("[{kind}]"))
}

fn result_chars(content: ResultContent<'_>) -> usize {
    match content {
        ResultContent::Empty => 0,
        ResultContent::Text(text) => text.chars().count(),
        ResultContent::Blocks(blocks) => blocks
            .iter()
            .filter_map(|block| block.get("text").and_then(serde_json::Value::as_str))
            .map(|text| text.chars().count())
            .sum(),
        ResultContent::Other(value) => value.to_string().chars().count(),
    }
}
