//! A file's text as a recording: a list of messages, one message a line, or an object with `messages` and what is known
//! beside them.

use std::collections::BTreeMap;
use std::str;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::context::UnknownSetting;
use crate::message::Message;

/// Why a text is no recording, or cannot be played; says where and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It is not JSON.
    #[error("not JSON: line {line}, column {column}: {reason}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1; 0 at the end of the line before.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// An entry of the list is no message.
    #[error("message {index}: {reason}")]
    Message {
        /// Its index, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// It is JSON, but no recording.
    #[error(
        "found {found}: a recording is a JSON list of messages, one JSON message a line, or an object with `messages`"
    )]
    Shape {
        /// What it is.
        found: &'static str,
    },
    /// What it says beside the messages is wrong.
    #[error("`{name}`: {reason}")]
    State {
        /// The field.
        name: &'static str,
        /// What would be right.
        reason: String,
    },
    /// A setting of its `config`.
    #[error("`config`: {0}")]
    Config(UnknownSetting),
    /// A setting that was given beside it.
    #[error("--set: {0}")]
    Set(UnknownSetting),
}

/// A saved history with what it says beside the messages. What it does not say is taken from the text when it is played.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) config: Map<String, Value>,
    pub(super) request: Said<String>,
    pub(super) request_at: Said<usize>,
    pub(super) markers: Option<BTreeMap<usize, usize>>,
    pub(super) known_files: BTreeMap<String, String>,
    pub(super) lost_unread: bool,
}

/// What a recording says of something.
#[derive(Clone, Debug, Default)]
pub(super) enum Said<T> {
    /// Nothing: it is taken from the text.
    #[default]
    Nothing,
    /// That there is none (null).
    None,
    /// This.
    This(T),
}

impl Recording {
    /// Reads a recording in any of the three forms.
    ///
    /// # Errors
    /// If `text` is not JSON (with line and column), or no valid list of messages (with the index of the message).
    pub fn parse(text: &str) -> Result<Self, ReplayError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(ReplayError::NotJson {
                line: 1,
                column: 1,
                reason: "the file is empty".to_owned(),
            });
        }
        match serde_json::from_str(text) {
            Ok(value) => Self::from_value(value),
            Err(_) if is_lines(text) => Self::from_lines(text),
            Err(error) => Err(not_json(&error, 0)),
        }
    }

    /// [`parse`](Self::parse) of a file's bytes.
    ///
    /// # Errors
    /// As `parse`, and with line and column where a byte is not UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, ReplayError> {
        let error = match str::from_utf8(bytes) {
            Ok(text) => return Self::parse(text),
            Err(error) => error,
        };
        let good = &bytes[..error.valid_up_to()];
        let lines: Vec<&[u8]> = good.split(|&byte| byte == b'\n').collect();
        Err(ReplayError::NotJson {
            line: lines.len(),
            column: lines.last().map_or(0, |line| line.len()) + 1,
            reason: "not UTF-8; save the file as UTF-8".to_owned(),
        })
    }

    fn from_value(value: Value) -> Result<Self, ReplayError> {
        let mut map = match value {
            Value::Array(values) => return Self::from_messages(values),
            Value::Object(map) if map.contains_key("messages") => map,
            // A file with one JSON message on its only line.
            Value::Object(map) if map.contains_key("role") => {
                return Self::from_messages(vec![Value::Object(map)]);
            }
            other => {
                return Err(ReplayError::Shape {
                    found: found(&other),
                });
            }
        };
        let Some(Value::Array(messages)) = map.shift_remove("messages") else {
            return Err(wrong("messages", "must be a list of messages"));
        };
        let mut recording = Self::from_messages(messages)?;
        recording.read_state(&mut map)?;
        Ok(recording)
    }

    fn from_messages(values: Vec<Value>) -> Result<Self, ReplayError> {
        let mut recording = Self::default();
        for (index, value) in values.into_iter().enumerate() {
            recording.push(index, value)?;
        }
        Ok(recording)
    }

    fn from_lines(text: &str) -> Result<Self, ReplayError> {
        let mut recording = Self::default();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let value = serde_json::from_str(line).map_err(|error| not_json(&error, number))?;
            recording.push(recording.messages.len(), value)?;
        }
        Ok(recording)
    }

    fn push(&mut self, index: usize, value: Value) -> Result<(), ReplayError> {
        let message = Message::from_value(value).map_err(|invalid| ReplayError::Message {
            index,
            reason: invalid.0,
        })?;
        self.messages.push(Arc::new(message));
        Ok(())
    }

    fn read_state(&mut self, map: &mut Map<String, Value>) -> Result<(), ReplayError> {
        self.config = match map.shift_remove("config") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(config)) => config,
            Some(_) => return Err(wrong("config", "must be an object of pipeline settings")),
        };
        self.request = match map.shift_remove("request") {
            None => Said::Nothing,
            Some(Value::Null) => Said::None,
            Some(Value::String(text)) => Said::This(text),
            Some(_) => return Err(wrong("request", "must be the text of the request, or null")),
        };
        self.request_at = match map.get("request_at") {
            None => Said::Nothing,
            Some(Value::Null) => Said::None,
            Some(value) => Said::This(self.index("request_at", value.as_u64())?),
        };
        self.markers = match map.shift_remove("markers") {
            None => None,
            Some(Value::Object(markers)) => Some(self.read_markers(&markers)?),
            Some(_) => return Err(wrong("markers", MARKERS)),
        };
        self.known_files = match map.shift_remove("known_files") {
            None => BTreeMap::new(),
            Some(value) => serde_json::from_value(value).map_err(|_| {
                wrong(
                    "known_files",
                    "must be an object of file names and their texts",
                )
            })?,
        };
        self.lost_unread = match map.get("lost_unread") {
            None => false,
            Some(Value::Bool(lost)) => *lost,
            Some(_) => return Err(wrong("lost_unread", "must be true or false")),
        };
        Ok(())
    }

    fn read_markers(
        &self,
        map: &Map<String, Value>,
    ) -> Result<BTreeMap<usize, usize>, ReplayError> {
        map.iter()
            .map(|(key, value)| {
                let index = self.index("markers", key.parse().ok())?;
                let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
                Ok((index, count.ok_or_else(|| wrong("markers", MARKERS))?))
            })
            .collect()
    }

    /// `at` as the index of one of the messages.
    fn index(&self, name: &'static str, at: Option<u64>) -> Result<usize, ReplayError> {
        at.and_then(|at| usize::try_from(at).ok())
            .filter(|&at| at < self.messages.len())
            .ok_or_else(|| {
                let count = self.messages.len();
                wrong(
                    name,
                    &format!("must name one of the {count} messages, counted from 0"),
                )
            })
    }
}

const MARKERS: &str =
    "must be an object of message indexes and the numbers of messages that each marker stands for";

fn wrong(name: &'static str, reason: &str) -> ReplayError {
    ReplayError::State {
        name,
        reason: reason.to_owned(),
    }
}

/// Whether `text`, which is not one JSON value, is meant as one message a line: the first line is one by itself.
fn is_lines(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| {
        matches!(serde_json::from_str(line), Ok(Value::Object(map)) if !map.contains_key("messages"))
    })
}

fn not_json(error: &serde_json::Error, lines_before: usize) -> ReplayError {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    ReplayError::NotJson {
        line: lines_before + error.line(),
        column: error.column(),
        reason: text.strip_suffix(&place).unwrap_or(&text).to_owned(),
    }
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object without `messages`",
    }
}
