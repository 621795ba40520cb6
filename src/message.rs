//! The words of the Messages API: roles, content blocks, messages, usage and stop reasons.
//!
//! A message is checked once, where it enters ([`Message::from_value`]), and never changes afterwards; its wire form,
//! unknown blocks and fields and their order included, is kept as it came. Nothing here knows a stage, a file or a screen.

mod block;
mod usage;

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use block::kind_of;
pub use block::{BlockKind, ContentBlock, ResultContent};
pub use usage::{StopReason, Usage};

/// Who a message is from, as the API names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, the program on the person's behalf, or tool results.
    User,
    /// The model.
    Assistant,
}

/// Why a value is not a message; says what was found, for an error with the index in front.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidMessage(pub String);

/// What a message holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// One string.
    Text(String),
    /// A list of blocks.
    Blocks(Vec<ContentBlock>),
    /// No content at all: an assistant message of a recording (missing, or null in the message's other fields).
    Absent,
}

/// How large one tool result of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultSize {
    /// Index of the block.
    pub block: usize,
    /// Characters of its text, or the `estimate_size` of its content where it holds anything but text.
    pub chars: usize,
    /// Whether it holds nothing but text.
    pub is_text: bool,
}

/// One message, immutable: a changed message is another message.
pub struct Message {
    role: Role,
    content: Content,
    /// Fields beside role and content, as they came.
    extra: Map<String, Value>,
    /// The size, measured at most once; filled by `context::size`, the only one who knows the measure.
    measured: OnceLock<usize>,
    /// The sizes of its results, likewise.
    result_sizes: OnceLock<Box<[ResultSize]>>,
}

impl Message {
    fn new(role: Role, content: Content) -> Self {
        Self {
            role,
            content,
            extra: Map::new(),
            measured: OnceLock::new(),
            result_sizes: OnceLock::new(),
        }
    }

    /// A user message of one string.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, Content::Text(text.into()))
    }

    /// A user message of blocks: tool results first, text behind them.
    #[must_use]
    pub fn user_blocks(blocks: Vec<ContentBlock>) -> Self {
        Self::new(Role::User, Content::Blocks(blocks))
    }

    /// A reply of the model.
    #[must_use]
    pub fn assistant(blocks: Vec<ContentBlock>) -> Self {
        Self::new(Role::Assistant, Content::Blocks(blocks))
    }

    /// Checks `value` (the wire form) and keeps it whole.
    ///
    /// # Errors
    /// If the role is neither `user` nor `assistant`, the content is missing in a user message, or a block is none.
    pub fn from_value(value: Value) -> Result<Self, InvalidMessage> {
        let Value::Object(mut map) = value else {
            return Err(InvalidMessage(format!(
                "a message must be an object, found {}",
                kind_of(&value)
            )));
        };
        let role = match map.shift_remove("role") {
            Some(Value::String(role)) if role == "user" => Role::User,
            Some(Value::String(role)) if role == "assistant" => Role::Assistant,
            Some(other) => {
                return Err(InvalidMessage(format!(
                    "role must be `user` or `assistant`, found {}",
                    cut_json(&other)
                )));
            }
            None => return Err(InvalidMessage("a message has no `role`".to_owned())),
        };
        let content = match map.get("content") {
            None | Some(Value::Null) if role == Role::Assistant => Content::Absent,
            None | Some(Value::Null) => {
                return Err(InvalidMessage("a user message has no `content`".to_owned()));
            }
            Some(_) => match map.shift_remove("content") {
                Some(Value::String(text)) => Content::Text(text),
                Some(Value::Array(blocks)) => Content::Blocks(
                    blocks
                        .into_iter()
                        .enumerate()
                        .map(|(at, block)| {
                            ContentBlock::from_value(block)
                                .map_err(|why| InvalidMessage(format!("block {at}: {}", why.0)))
                        })
                        .collect::<Result<_, _>>()?,
                ),
                other => {
                    return Err(InvalidMessage(format!(
                        "`content` must be a string or a list of blocks, found {}",
                        other.as_ref().map_or("nothing", kind_of)
                    )));
                }
            },
        };
        Ok(Self {
            role,
            content,
            extra: map,
            measured: OnceLock::new(),
            result_sizes: OnceLock::new(),
        })
    }

    /// Who it is from.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// What it holds.
    #[must_use]
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Its blocks; none where the content is a string or absent.
    #[must_use]
    pub fn blocks(&self) -> &[ContentBlock] {
        match &self.content {
            Content::Blocks(blocks) => blocks,
            Content::Text(_) | Content::Absent => &[],
        }
    }

    /// Fields beside role and content.
    #[must_use]
    pub fn extra(&self) -> &Map<String, Value> {
        &self.extra
    }

    /// The same message with other blocks; role and other fields stay.
    #[must_use]
    pub fn with_blocks(&self, blocks: Vec<ContentBlock>) -> Self {
        Self {
            role: self.role,
            content: Content::Blocks(blocks),
            extra: self.extra.clone(),
            measured: OnceLock::new(),
            result_sizes: OnceLock::new(),
        }
    }

    /// Ids and names of the calls in it, in their order.
    pub fn tool_uses(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks().iter().filter_map(|block| match block.kind() {
            BlockKind::ToolUse { id, name, .. } => Some((id, name)),
            _ => None,
        })
    }

    /// Whether it holds a tool result.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.blocks()
            .iter()
            .any(|block| matches!(block.kind(), BlockKind::ToolResult { .. }))
    }

    /// Its text: the string, or the text blocks joined by a newline; `None` where there is none.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match &self.content {
            Content::Text(text) => Some(text.clone()),
            Content::Absent => None,
            Content::Blocks(blocks) => {
                let texts: Vec<&str> = blocks
                    .iter()
                    .filter_map(|block| match block.kind() {
                        BlockKind::Text(text) => Some(text),
                        _ => None,
                    })
                    .collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        }
    }

    /// The size that `measure` gives, computed at the first call only: a message never changes.
    pub fn measured(&self, measure: impl FnOnce(&Self) -> usize) -> usize {
        *self.measured.get_or_init(|| measure(self))
    }

    /// The sizes that `measure` gives its results, computed at the first call only.
    pub fn result_sizes(&self, measure: impl FnOnce(&Self) -> Box<[ResultSize]>) -> &[ResultSize] {
        self.result_sizes.get_or_init(|| measure(self))
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Self {
            role: self.role,
            content: self.content.clone(),
            extra: self.extra.clone(),
            measured: self.measured.clone(),
            result_sizes: self.result_sizes.clone(),
        }
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role && self.content == other.content && self.extra == other.extra
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("role", &self.role)
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        match &self.content {
            Content::Text(text) => map.serialize_entry("content", text)?,
            Content::Blocks(blocks) => map.serialize_entry("content", blocks)?,
            Content::Absent => {}
        }
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A value as JSON, cut to what fits in an error.
fn cut_json(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 {
        return text;
    }
    let mut cut: String = text.chars().take(40).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wire_form_stays_as_it_came() {
        let wire = r#"{"role":"assistant","content":[{"z":1,"type":"foo_block","a":{"y":2,"b":[]}},{"type":"thinking","thinking":"","signature":"c2ln"}],"id":"x","usage":null}"#;
        let message: Message = serde_json::from_str(wire).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), wire);
    }

    #[test]
    fn what_is_no_message_is_named() {
        let reason = |value: Value| Message::from_value(value).unwrap_err().0;
        assert_eq!(
            reason(json!([])),
            "a message must be an object, found a list"
        );
        assert_eq!(reason(json!({"content": "x"})), "a message has no `role`");
        assert_eq!(
            reason(json!({"role": "system", "content": "x"})),
            "role must be `user` or `assistant`, found \"system\""
        );
        assert_eq!(
            reason(json!({"role": "user", "content": null})),
            "a user message has no `content`"
        );
        assert_eq!(
            reason(json!({"role": "user", "content": 3})),
            "`content` must be a string or a list of blocks, found a number"
        );
        assert_eq!(
            reason(json!({"role": "user", "content": [{"type": "text", "text": "a"}, "b"]})),
            "block 1: a block must be an object, found a string"
        );
        assert_eq!(
            reason(json!({"role": "user", "content": [{"type": "tool_result", "content": "b"}]})),
            "block 0: a tool_result block has no string `tool_use_id`"
        );
    }

    #[test]
    fn an_assistant_message_without_content_is_kept() {
        for wire in [
            r#"{"role":"assistant"}"#,
            r#"{"role":"assistant","content":null}"#,
        ] {
            let message: Message = serde_json::from_str(wire).unwrap();
            assert_eq!(message.content(), &Content::Absent);
            assert_eq!(serde_json::to_string(&message).unwrap(), wire);
        }
    }

    #[test]
    fn unknown_usage_stays_unknown() {
        let mut sum = Usage::default();
        sum.add(&Usage {
            output_tokens: Some(3),
            ..Usage::default()
        });
        sum.add(&Usage {
            output_tokens: Some(4),
            ..Usage::default()
        });
        assert_eq!(
            sum,
            Usage {
                output_tokens: Some(7),
                ..Usage::default()
            }
        );
    }
}
