//! A tool call as one line for people: `read src/lexer.rs`, `bash cargo test -p parser`.

use std::collections::HashMap;

use serde_json::Value;

use crate::context::{Item, MessageId};
use crate::message::{BlockKind, Message};
use crate::text::clean_line;

/// Characters of a label that are kept: more never fits on a row.
const KEPT: usize = 80;

/// The call of `tool` with `input` on one clean line: what it does to what.
#[must_use]
pub(crate) fn tool_line(tool: &str, input: &Value) -> String {
    let (verb, key) = match tool {
        "bash" => ("bash", "command"),
        "read_file" => ("read", "path"),
        "write_file" => ("write", "path"),
        "edit_file" => ("edit", "path"),
        "glob" => ("glob", "pattern"),
        "todo_write" => ("todos", ""),
        "load_skill" => ("skill", "name"),
        "task" => ("task", "prompt"),
        other => (other, ""),
    };
    let what = input.get(key).and_then(Value::as_str).unwrap_or_default();
    let line = format!("{verb} {}", crate::text::head(what, KEPT * 2));
    let line = clean_line(line.trim_end());
    crate::text::head(&line, KEPT).trim_end().to_owned()
}

/// The labels of the results that the context holds, by message and block.
#[derive(Debug, Default)]
pub(super) struct Labels {
    calls: HashMap<String, String>,
    results: HashMap<(MessageId, usize), String>,
}

impl Labels {
    /// Learns the labels of the calls in `item`, and which of its results answers which.
    pub(super) fn learn(&mut self, item: &Item) {
        let message: &Message = &item.message;
        for (block, content) in message.blocks().iter().enumerate() {
            match content.kind() {
                BlockKind::ToolUse { id, name, input } => {
                    self.calls.insert(id.to_owned(), tool_line(name, input));
                }
                BlockKind::ToolResult { tool_use_id, .. } => {
                    if let Some(label) = self.calls.remove(tool_use_id) {
                        self.results.insert((item.id, block), label);
                    }
                }
                BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Other(_) => {}
            }
        }
    }

    /// What the result is of; empty where that is not known.
    pub(super) fn of(&self, id: MessageId, block: usize) -> &str {
        self.results.get(&(id, block)).map_or("", String::as_str)
    }

    /// Forgets the results of messages that are not in the context any more.
    pub(super) fn keep(&mut self, held: impl Fn(MessageId) -> bool) {
        self.results.retain(|(id, _), _| held(*id));
    }
}
