//! Content blocks: the whole object as it came, and the typed look at it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::InvalidMessage;

/// One block of a message's content, in its wire form.
///
/// The whole object is kept as it came; [`ContentBlock::kind`] is the typed look at it.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentBlock(Map<String, Value>);

/// What a block is: a borrowed, typed view of a [`ContentBlock`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockKind<'a> {
    /// Plain text.
    Text(&'a str),
    /// A call of a tool by the model.
    ToolUse {
        /// The call's id.
        id: &'a str,
        /// The tool's name; empty where it is missing.
        name: &'a str,
        /// The tool's input; null where it is missing.
        input: &'a Value,
    },
    /// The answer to a call.
    ToolResult {
        /// The id of the call that it answers.
        tool_use_id: &'a str,
        /// What the tool said.
        content: ResultContent<'a>,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// Reasoning of the model (`thinking` or `redacted_thinking`), never edited.
    Thinking(&'a str),
    /// A block of a type that the program does not know; holds the type's name.
    Other(&'a str),
}

/// The content of a tool result as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResultContent<'a> {
    /// Absent or null.
    Empty,
    /// A string.
    Text(&'a str),
    /// A list of blocks.
    Blocks(&'a [Value]),
    /// Something else that a server or a recording put there.
    Other(&'a Value),
}

impl ContentBlock {
    /// Checks `value` and keeps it whole.
    ///
    /// # Errors
    /// If `value` is no object with a `type`, or a text block without text, or a result or call without an id.
    pub fn from_value(value: Value) -> Result<Self, InvalidMessage> {
        let Value::Object(map) = value else {
            return Err(InvalidMessage(format!(
                "a block must be an object, found {}",
                kind_of(&value)
            )));
        };
        let Some(kind) = map.get("type").and_then(Value::as_str) else {
            return Err(InvalidMessage("a block has no `type`".to_owned()));
        };
        let must = match kind {
            "text" => Some("text"),
            "tool_use" => Some("id"),
            "tool_result" => Some("tool_use_id"),
            _ => None,
        };
        if let Some(key) = must
            && !map.get(key).is_some_and(Value::is_string)
        {
            return Err(InvalidMessage(format!(
                "a {kind} block has no string `{key}`"
            )));
        }
        Ok(Self(map))
    }

    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let mut map = Map::new();
        map.insert("type".to_owned(), "text".into());
        map.insert("text".to_owned(), Value::String(text.into()));
        Self(map)
    }

    /// A call of a tool.
    #[must_use]
    pub fn tool_use(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        let mut map = Map::new();
        map.insert("type".to_owned(), "tool_use".into());
        map.insert("id".to_owned(), Value::String(id.into()));
        map.insert("name".to_owned(), Value::String(name.into()));
        map.insert("input".to_owned(), input);
        Self(map)
    }

    /// The result of a call that went well.
    #[must_use]
    pub fn tool_result(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let mut map = Map::new();
        map.insert("type".to_owned(), "tool_result".into());
        map.insert("tool_use_id".to_owned(), Value::String(tool_use_id.into()));
        map.insert("content".to_owned(), Value::String(text.into()));
        Self(map)
    }

    /// The result of a call that failed, was refused or was interrupted.
    #[must_use]
    pub fn tool_error(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let mut block = Self::tool_result(tool_use_id, text);
        block.0.insert("is_error".to_owned(), Value::Bool(true));
        block
    }

    /// The typed view.
    #[must_use]
    pub fn kind(&self) -> BlockKind<'_> {
        static NULL: Value = Value::Null;
        let string = |key: &str| self.0.get(key).and_then(Value::as_str).unwrap_or_default();
        match string("type") {
            "text" => BlockKind::Text(string("text")),
            "tool_use" => BlockKind::ToolUse {
                id: string("id"),
                name: string("name"),
                input: self.0.get("input").unwrap_or(&NULL),
            },
            "tool_result" => BlockKind::ToolResult {
                tool_use_id: string("tool_use_id"),
                content: match self.0.get("content") {
                    None | Some(Value::Null) => ResultContent::Empty,
                    Some(Value::String(text)) => ResultContent::Text(text),
                    Some(Value::Array(blocks)) => ResultContent::Blocks(blocks),
                    Some(other) => ResultContent::Other(other),
                },
                is_error: self
                    .0
                    .get("is_error")
                    .and_then(Value::as_bool)
                    .unwrap_or(false),
            },
            "thinking" | "redacted_thinking" => BlockKind::Thinking(string("thinking")),
            other => BlockKind::Other(other),
        }
    }

    /// This result with `text` as its content; every other field, and the order of all, stays.
    #[must_use]
    pub fn with_result_text(&self, text: impl Into<String>) -> Self {
        let mut map = self.0.clone();
        map.insert("content".to_owned(), Value::String(text.into()));
        Self(map)
    }

    /// This block with the string field `key` (an id) replaced; the order of the fields stays.
    #[must_use]
    pub fn with_field(&self, key: &str, text: impl Into<String>) -> Self {
        let mut map = self.0.clone();
        map.insert(key.to_owned(), Value::String(text.into()));
        Self(map)
    }

    /// The fields, in the order in which they came.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// What a value is, for an error.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
