//! What the loopback server answers: replies of a model, error statuses, raw streams, and faults on top of each.
#![expect(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

/// One scripted answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// The blocks that the body tells of, for the check of what comes back.
    pub(super) blocks: Vec<Value>,
    pub(super) paused: bool,
    pub(super) piece: usize,
    pub(super) end: End,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// As it should.
    Whole,
    /// The connection closes after so many bytes of the body.
    Cut(usize),
    /// The connection closes before any answer.
    HangUp,
    /// Nothing comes after so many bytes of the body, until the client closes.
    Stall(usize),
}

impl Reply {
    /// A text, streamed, that ends the turn.
    pub fn text(text: &str) -> Self {
        Self::message(&[json!({"type": "text", "text": text})], "end_turn")
    }

    /// One call of a tool, with an id of its own.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::tools(vec![(name, input)])
    }

    /// Several calls in one reply, each with an id of its own.
    pub fn tools(calls: Vec<(&str, Value)>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let block = |(name, input): (&str, Value)| {
            let id = format!("toolu_{:04}", NEXT.fetch_add(1, Ordering::Relaxed));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        };
        let blocks: Vec<Value> = calls.into_iter().map(block).collect();
        Self::message(&blocks, "tool_use")
    }

    /// Any blocks, in wire form, as a stream.
    pub fn message(blocks: &[Value], stop_reason: &str) -> Self {
        let mut events = vec![json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "test",
            "stop_reason": null, "usage": {"input_tokens": 100, "output_tokens": 1}
        }})];
        for (at, block) in blocks.iter().enumerate() {
            events.extend(block_events(at, block));
        }
        events.push(
            json!({"type": "message_delta", "delta": {"stop_reason": stop_reason},
            "usage": {"output_tokens": 20}}),
        );
        events.push(json!({"type": "message_stop"}));
        let mut reply = Self::events(&events);
        reply.blocks = blocks.to_vec();
        reply.paused = stop_reason == "pause_turn";
        reply
    }

    /// A stream of these events.
    pub fn events(events: &[Value]) -> Self {
        let line = |event: &Value| {
            let name = event["type"].as_str().unwrap();
            format!("event: {name}\ndata: {event}\n\n")
        };
        Self::sse(&events.iter().map(line).collect::<String>())
    }

    /// A stream, byte for byte.
    pub fn sse(raw: &str) -> Self {
        Self::new(200, "text/event-stream", raw)
    }

    /// Any status with any body; one that begins with `{` is sent as JSON.
    pub fn status(status: u16, body: &str) -> Self {
        let kind = match body.trim_start().chars().next() {
            Some('{' | '[' | '"') => "application/json",
            Some('<') => "text/html",
            _ => "text/plain",
        };
        Self::new(status, kind, body)
    }

    /// An error in the API's own form.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        Self::status(status, &body.to_string())
    }

    fn new(status: u16, kind: &str, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body: body.as_bytes().to_vec(),
            blocks: Vec::new(),
            paused: false,
            piece: usize::MAX,
            end: End::Whole,
        }
    }

    /// No answer at all: the connection closes once the request was read, as a kept one does that died meanwhile.
    pub fn hang_up() -> Self {
        Self {
            end: End::HangUp,
            ..Self::new(200, "text/plain", "")
        }
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// One byte a chunk.
    pub fn byte_by_byte(mut self) -> Self {
        self.piece = 1;
        self
    }

    /// The connection closes after `events` whole events of a stream.
    pub fn cut_after_events(self, events: usize) -> Self {
        let bytes = self.length_of(events);
        self.cut_after(bytes)
    }

    /// After `events` whole events nothing comes any more; the connection stays open until the client closes it.
    pub fn stall_after_events(self, events: usize) -> Self {
        let bytes = self.length_of(events);
        self.stall_after(bytes)
    }

    /// Whether the client gets all of it.
    pub(super) fn is_complete(&self) -> bool {
        self.status == 200 && matches!(self.end, End::Whole)
    }

    fn length_of(&self, events: usize) -> usize {
        let body = String::from_utf8_lossy(&self.body);
        let mut ends = body.match_indices("\n\n").map(|(at, _)| at + 2);
        events.checked_sub(1).map_or(0, |n| ends.nth(n).unwrap())
    }

    /// The connection closes after `bytes` of the body.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.end = End::Cut(bytes);
        self
    }

    /// After `bytes` of the body nothing comes any more; the connection stays open until the client closes it.
    pub fn stall_after(mut self, bytes: usize) -> Self {
        self.end = End::Stall(bytes);
        self
    }
}

fn block_events(at: usize, block: &Value) -> Vec<Value> {
    let mut start = block.clone();
    let mut deltas = Vec::new();
    match block["type"].as_str().unwrap() {
        "text" => {
            start["text"] = json!("");
            for piece in pieces(block["text"].as_str().unwrap()) {
                deltas.push(json!({"type": "text_delta", "text": piece}));
            }
        }
        "thinking" => {
            start["thinking"] = json!("");
            start["signature"] = json!("");
            for piece in pieces(block["thinking"].as_str().unwrap()) {
                deltas.push(json!({"type": "thinking_delta", "thinking": piece}));
            }
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        "tool_use" => {
            start["input"] = json!({});
            for piece in pieces(&block["input"].to_string()) {
                deltas.push(json!({"type": "input_json_delta", "partial_json": piece}));
            }
        }
        _ => {}
    }
    let mut events =
        vec![json!({"type": "content_block_start", "index": at, "content_block": start})];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": at, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": at}));
    events
}

/// `text` in pieces of seven characters, as a model streams it.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(7)
        .map(|piece| piece.iter().collect())
        .collect()
}
