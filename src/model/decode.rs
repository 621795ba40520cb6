//! Events of the Messages API in, deltas out: the blocks of a reply are put together here.
//!
//! Pure. A block keeps the fields that came, in their order; what a server does oddly but harmlessly is accepted.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::Delta;
use super::block::{Open, free_id, input_of, kind_of, string_at, valid_name};
use super::errors::Said;
use super::sse::Event;
use crate::message::{ContentBlock, StopReason, Usage};

/// Why a stream cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wrong {
    /// The server sent an `error` event.
    Error(Box<Said>),
    /// The data of an event is no JSON; holds the data.
    NotJson(String),
}

/// What closes a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    /// Its own end.
    Stop,
    /// The end of a reply that the output limit cut: a call is not complete.
    Cut,
}

/// Puts one reply together.
#[derive(Debug)]
pub(crate) struct Assembler {
    /// Ids of calls that the conversation has already.
    taken: HashSet<String>,
    open: BTreeMap<u64, Open>,
    usage: Usage,
    stop_reason: Option<StopReason>,
    called: bool,
    finished: bool,
}

impl Assembler {
    /// For a reply in a conversation that has calls with the ids `taken`.
    pub(crate) fn new(taken: HashSet<String>) -> Self {
        Self {
            taken,
            open: BTreeMap::new(),
            usage: Usage::default(),
            stop_reason: None,
            called: false,
            finished: false,
        }
    }

    /// Whether `message_stop` came.
    pub(crate) fn finished(&self) -> bool {
        self.finished
    }

    /// Takes one event and appends what it completes to `out`.
    pub(crate) fn event(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Wrong> {
        let data = event.data.trim();
        if self.finished || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let named_error = event.name.as_deref() == Some("error");
        let Ok(value) = serde_json::from_str::<Value>(data) else {
            return Err(if named_error {
                Wrong::Error(Box::new(Said::from_body(data)))
            } else {
                Wrong::NotJson(data.to_owned())
            });
        };
        let kind = value.get("type").and_then(Value::as_str);
        if named_error || kind == Some("error") || (kind.is_none() && value.get("error").is_some())
        {
            return Err(Wrong::Error(Box::new(Said::from_value(&value))));
        }
        match kind.or(event.name.as_deref()).unwrap_or_default() {
            "message_start" => self.add_usage(value.pointer("/message/usage")),
            "content_block_start" => self.start(&value, out),
            "content_block_delta" => self.delta(&value, out),
            "content_block_stop" => {
                if let Some(open) = self.open.remove(&index(&value)) {
                    self.close(open, Close::Stop, out);
                }
            }
            "message_delta" => {
                self.add_usage(value.get("usage"));
                self.add_stop_reason(value.pointer("/delta/stop_reason"));
            }
            "message_stop" => self.finish(out),
            _ => {}
        }
        Ok(())
    }

    /// Takes a reply that came as one JSON object, from a server that does not stream. False if it is none.
    pub(crate) fn whole(&mut self, message: &Value, out: &mut Vec<Delta>) -> bool {
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            return false;
        };
        for block in blocks {
            self.start(
                &serde_json::json!({"index": 0, "content_block": block}),
                out,
            );
            if let Some(open) = self.open.remove(&0) {
                self.close(open, Close::Stop, out);
            }
        }
        self.add_usage(message.get("usage"));
        self.add_stop_reason(message.get("stop_reason"));
        self.finish(out);
        true
    }

    fn start(&mut self, value: &Value, out: &mut Vec<Delta>) {
        let Some(Value::Object(fields)) = value.get("content_block") else {
            return;
        };
        let at = index(value);
        if let Some(unclosed) = self.open.remove(&at) {
            self.close(unclosed, Close::Stop, out);
        }
        let open = Open::new(fields.clone());
        match kind_of(fields) {
            "text" => emit(out, Delta::Text, &open.text),
            "thinking" => emit(out, Delta::Thinking, &open.text),
            _ => {}
        }
        self.open.insert(at, open);
    }

    fn delta(&mut self, value: &Value, out: &mut Vec<Delta>) {
        let Some(delta) = value.get("delta") else {
            return;
        };
        let piece = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        let delta_kind = piece("type");
        let at = index(value);
        if delta_kind == "text_delta" {
            // Some servers begin a text without saying so.
            self.open
                .entry(at)
                .or_insert_with(|| Open::new(ContentBlock::text("").fields().clone()));
        }
        let Some(open) = self.open.get_mut(&at) else {
            return;
        };
        match (delta_kind, kind_of(&open.fields)) {
            ("text_delta", "text") => {
                open.text.push_str(piece("text"));
                emit(out, Delta::Text, piece("text"));
            }
            ("thinking_delta", "thinking") => {
                open.text.push_str(piece("thinking"));
                emit(out, Delta::Thinking, piece("thinking"));
            }
            ("signature_delta", "thinking") => open.signature.push_str(piece("signature")),
            ("input_json_delta", "text" | "thinking") => {}
            ("input_json_delta", _) => open.json.push_str(piece("partial_json")),
            ("citations_delta", "text") => {
                let list = open.fields.entry("citations").or_insert(Value::Null);
                if !list.is_array() {
                    *list = Value::Array(Vec::new());
                }
                if let (Value::Array(list), Some(citation)) = (list, delta.get("citation")) {
                    list.push(citation.clone());
                }
            }
            ("compaction_delta", "compaction") => open.text.push_str(piece("content")),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        let how = match self.stop_reason {
            Some(StopReason::MaxTokens | StopReason::WindowExceeded) => Close::Cut,
            _ => Close::Stop,
        };
        for open in std::mem::take(&mut self.open).into_values() {
            self.close(open, how, out);
        }
        self.finished = true;
        let stop_reason = self.stop_reason.take().unwrap_or(if self.called {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        });
        out.push(Delta::Finished {
            stop_reason,
            usage: known(self.usage),
        });
    }

    fn close(&mut self, mut open: Open, how: Close, out: &mut Vec<Delta>) {
        match kind_of(&open.fields) {
            // The API takes no blank text back.
            "text" if open.text.trim().is_empty() => return,
            "tool_use" => return self.close_call(open, how, out),
            _ => {}
        }
        let input = std::mem::take(&mut open.json);
        let mut fields = open.into_fields();
        if !input.trim().is_empty() {
            let input = serde_json::from_str(&input).unwrap_or_else(|_| Map::new());
            fields.insert("input".to_owned(), Value::Object(input));
        }
        out.extend(
            ContentBlock::from_value(Value::Object(fields))
                .ok()
                .map(Delta::Block),
        );
    }

    fn close_call(&mut self, open: Open, how: Close, out: &mut Vec<Delta>) {
        self.called = true;
        let mut fields = open.fields;
        let id = free_id(string_at(&fields, "id"), &mut self.taken);
        let name = valid_name(string_at(&fields, "name"));
        fields.insert("id".to_owned(), Value::String(id));
        fields.insert("name".to_owned(), Value::String(name));
        let (input, raw) = input_of(fields.get("input"), &open.json);
        let broken = input.is_none() || how == Close::Cut;
        let input = input.filter(|_| !broken).unwrap_or_default();
        fields.insert("input".to_owned(), Value::Object(input));
        let Ok(block) = ContentBlock::from_value(Value::Object(fields)) else {
            return;
        };
        out.push(if broken {
            Delta::BrokenCall { block, raw }
        } else {
            Delta::Block(block)
        });
    }

    /// Takes the figures that are there; those of a later event override.
    fn add_usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let set = |slot: &mut Option<u64>, key: &str| {
            if let Some(n) = usage.get(key).and_then(Value::as_u64) {
                *slot = Some(n);
            }
        };
        set(&mut self.usage.input_tokens, "input_tokens");
        set(&mut self.usage.output_tokens, "output_tokens");
        set(
            &mut self.usage.cache_creation_input_tokens,
            "cache_creation_input_tokens",
        );
        set(
            &mut self.usage.cache_read_input_tokens,
            "cache_read_input_tokens",
        );
    }

    fn add_stop_reason(&mut self, name: Option<&Value>) {
        if let Some(name) = name.and_then(Value::as_str) {
            self.stop_reason = Some(StopReason::from_name(name));
        }
    }
}

/// `usage` with zeros that cannot be true made unknown: no request has no tokens.
fn known(mut usage: Usage) -> Usage {
    let sent = [
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    ];
    if sent.iter().all(|n| n.unwrap_or(0) == 0) {
        usage.input_tokens = None;
        usage.cache_creation_input_tokens = None;
        usage.cache_read_input_tokens = None;
    }
    usage.output_tokens = usage.output_tokens.filter(|&n| n > 0);
    usage
}

fn index(value: &Value) -> u64 {
    value.get("index").and_then(Value::as_u64).unwrap_or(0)
}

fn emit(out: &mut Vec<Delta>, kind: fn(String) -> Delta, text: &str) {
    if !text.is_empty() {
        out.push(kind(text.to_owned()));
    }
}
