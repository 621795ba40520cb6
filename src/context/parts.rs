//! What fills the context: the size of a history by kind. The eight kinds of any history add up to its `estimate_size`.
//!
//! A block goes by its owner, thinking is the assistant's, and what only JSON needs (keys, quotes, ids, escapes) is frame.

use std::ops::{Add, AddAssign};

use serde_json::{Map, Value};

use super::persisted::{PLACEHOLDER, placeholder_name};
use super::request::parse_marker;
use super::results::ResultRef;
use super::size::{BASE64_CHARS, is_base64, message_size};
use super::{History, Saved, results};
use crate::message::{BlockKind, Content, Message, ResultContent, Role};

/// A kind of content, in the order of the gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The `[Compacted]` or `[Reactive compact]` message.
    Summary,
    /// What the user wrote.
    User,
    /// What the model wrote and thought.
    Assistant,
    /// Names and inputs of tool calls.
    Calls,
    /// Tool results in full.
    Results,
    /// Results whose full text is a file.
    Previews,
    /// Placeholders of results, and snip markers.
    Placeholders,
    /// What JSON needs around all that.
    Frame,
}

impl Kind {
    /// All kinds, in the order of the gauge.
    pub const ALL: [Self; 8] = [
        Self::Summary,
        Self::User,
        Self::Assistant,
        Self::Calls,
        Self::Results,
        Self::Previews,
        Self::Placeholders,
        Self::Frame,
    ];

    /// The letter in map and legend, the same in every language.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Summary => 'S',
            Self::User => 'U',
            Self::Assistant => 'A',
            Self::Calls => 'C',
            Self::Results => 'R',
            Self::Previews => 'P',
            Self::Placeholders => 'c',
            Self::Frame => 'J',
        }
    }
}

/// The letter of a snip marker in the map; its size counts as [`Kind::Placeholders`].
pub const MARKER_LETTER: char = '~';

/// Characters by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([usize; 8]);

impl Parts {
    /// The parts of a whole history; their sum is its `estimate_size`.
    #[must_use]
    pub fn of(history: &History, saved: &Saved) -> Self {
        let mut sum = Self::default();
        let mut found = results(history).peekable();
        for (index, message) in history.messages().enumerate() {
            let mut own = Vec::new();
            while let Some(result) = found.next_if(|result| result.message == index) {
                own.push(result);
            }
            sum += message_parts(history, saved, index, message, &own);
        }
        let frame = 2 + 2 * history.len().saturating_sub(1);
        sum.add_to(Kind::Frame, frame);
        sum
    }

    /// The parts of the message at `index`, without the list around it; all zero if there is none.
    #[must_use]
    pub fn of_message(history: &History, saved: &Saved, index: usize) -> Self {
        let own: Vec<_> = results(history)
            .filter(|result| result.message == index)
            .collect();
        history.items.get(index).map_or_else(Self::default, |item| {
            message_parts(history, saved, index, &item.message, &own)
        })
    }

    /// The characters of `kind`.
    #[must_use]
    pub fn get(&self, kind: Kind) -> usize {
        self.0[kind as usize]
    }

    /// All of them together.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// The kind that has most, frame aside; the earlier one of two that have the same. `None` where there is only frame.
    #[must_use]
    pub fn largest(&self) -> Option<Kind> {
        Kind::ALL
            .into_iter()
            .rev()
            .filter(|&kind| kind != Kind::Frame && self.get(kind) > 0)
            .max_by_key(|&kind| self.get(kind))
    }

    fn add_to(&mut self, kind: Kind, chars: usize) {
        self.0[kind as usize] += chars;
    }
}

impl AddAssign for Parts {
    fn add_assign(&mut self, other: Self) {
        for (part, more) in self.0.iter_mut().zip(other.0) {
            *part += more;
        }
    }
}

impl Add for Parts {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// The letter of the message at `index` in the map: its largest kind, `~` for a snip marker.
#[must_use]
pub fn letter(history: &History, saved: &Saved, index: usize) -> char {
    if history.markers.contains_key(&index) {
        return MARKER_LETTER;
    }
    let largest = Parts::of_message(history, saved, index).largest();
    largest.map_or_else(|| empty_letter(history, index), Kind::letter)
}

/// The letter of a message without any text of its own.
fn empty_letter(history: &History, index: usize) -> char {
    let kind = match history.items.get(index).map(|item| &item.message) {
        Some(message) if message.has_results() => Kind::Results,
        Some(message) if message.tool_uses().next().is_some() => Kind::Calls,
        Some(message) if message.role() == Role::Assistant => Kind::Assistant,
        Some(_) | None => Kind::User,
    };
    kind.letter()
}

fn message_parts(
    history: &History,
    saved: &Saved,
    index: usize,
    message: &Message,
    own: &[ResultRef<'_>],
) -> Parts {
    let owner = match message.role() {
        Role::Assistant => Kind::Assistant,
        Role::User if index == 0 && history.compacted => Kind::Summary,
        Role::User => Kind::User,
    };
    let mut parts = Parts::default();
    match message.content() {
        Content::Absent => {}
        Content::Text(text) if history.markers.contains_key(&index) => {
            let chars = text.chars().count();
            let request = parse_marker(text)
                .and_then(|(_, request)| request)
                .map_or(0, |request| request.chars().count());
            parts.add_to(Kind::User, request);
            parts.add_to(Kind::Placeholders, chars - request);
        }
        Content::Text(text) => parts.add_to(owner, text.chars().count()),
        Content::Blocks(blocks) => {
            for block in blocks {
                match block.kind() {
                    BlockKind::ToolUse { name, input, .. } => {
                        parts.add_to(Kind::Calls, name.chars().count() + leaves(input));
                    }
                    BlockKind::ToolResult { .. } => {}
                    BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Other(_) => {
                        parts.add_to(owner, block_leaves(block.fields()));
                    }
                }
            }
        }
    }
    for result in own {
        parts.add_to(result_kind(result, saved), result_chars(result));
    }
    let content = parts.total();
    parts.add_to(Kind::Frame, message_size(message) - content);
    parts
}

fn result_kind(result: &ResultRef<'_>, saved: &Saved) -> Kind {
    if let ResultContent::Text(text) = result.content
        && (text == PLACEHOLDER || placeholder_name(text).is_some_and(|name| saved.is_known(name)))
    {
        return Kind::Placeholders;
    }
    match result.persisted(saved) {
        Some(_) => Kind::Previews,
        None => Kind::Results,
    }
}

/// What a result's content holds, without keys, quotes and escapes.
fn result_chars(result: &ResultRef<'_>) -> usize {
    match result.content {
        ResultContent::Empty => 0,
        ResultContent::Text(_) => result.chars,
        ResultContent::Blocks(blocks) => blocks
            .iter()
            .map(|block| match block {
                Value::Object(map) => block_leaves(map),
                other => leaves(other),
            })
            .sum(),
        ResultContent::Other(value) => leaves(value),
    }
}

/// The characters of all values of a block but those that say what it is and where it belongs.
fn block_leaves(map: &Map<String, Value>) -> usize {
    map.iter()
        .filter(|(key, _)| {
            !matches!(
                key.as_str(),
                "type" | "id" | "tool_use_id" | "cache_control"
            )
        })
        .map(|(key, value)| leaf_of(map, key, value))
        .sum()
}

/// The characters of all values in `value`, without keys, quotes and escapes.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.chars().count(),
        Value::Array(values) => values.iter().map(leaves).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| leaf_of(map, key, value))
            .sum(),
    }
}

fn leaf_of(map: &Map<String, Value>, key: &str, value: &Value) -> usize {
    if key == "data" && value.is_string() && is_base64(map) {
        BASE64_CHARS
    } else {
        leaves(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn push(history: &mut History, wire: Value) {
        let message = Message::from_value(wire).unwrap();
        history.push(Arc::new(message));
    }

    #[test]
    fn every_block_goes_to_its_kind() {
        let mut history = History::new();
        push(
            &mut history,
            json!({"role": "user", "content": "sum'm'ary"}),
        );
        history.compacted = true;
        push(
            &mut history,
            json!({"role": "user", "content": "[snipped 4 messages]\n\nAuthoritative request:\nfive!"}),
        );
        history.markers.insert(1, 4);
        push(
            &mut history,
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "text", "text": "ok\n"},
                {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls", "n": 12}}]}),
        );
        let preview = "<persisted-output>\nFull output (9 characters): .task_outputs/tool-results/a.txt\n\
                       Preview (first 1 characters):\nx\n</persisted-output>";
        push(
            &mut history,
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": preview},
                {"type": "tool_result", "tool_use_id": "t2", "content": PLACEHOLDER},
                {"type": "tool_result", "tool_use_id": "t3", "content": [{"type": "text", "text": "abcd"},
                    {"type": "image", "source": {"type": "base64", "data": "AAAA"}}]},
                {"type": "text", "text": "todo"}]}),
        );
        let mut saved = Saved::default();
        saved.record("a.txt", "123456789");
        let parts = Parts::of(&history, &saved);
        let base64 = "base64".len() + BASE64_CHARS;
        let by_kind: Vec<(Kind, usize)> = Kind::ALL
            .into_iter()
            .map(|kind| (kind, parts.get(kind)))
            .collect();
        let frame = history.size() - (9 + 9 + 8 + 8 + 4 + base64 + preview.len() + 45 + 50);
        assert_eq!(
            by_kind,
            [
                (Kind::Summary, 9),
                (Kind::User, 5 + 4),
                (Kind::Assistant, 2 + 3 + 3),
                (Kind::Calls, 4 + 2 + 2),
                (Kind::Results, 4 + base64),
                (Kind::Previews, preview.len()),
                (Kind::Placeholders, 45 + 50),
                (Kind::Frame, frame),
            ]
        );
        let letters: String = (0..4).map(|at| letter(&history, &saved, at)).collect();
        assert_eq!(letters, "S~AR");
    }
}
