//! A file's text as a recording: a list of messages, one message a line, or an object with `messages` and what is known
//! beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::str;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::ReplayError;
use super::events;
use crate::context::{History, Limits};
use crate::message::Message;

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
    /// The numbers that were in force where it was logged.
    pub(super) logged: Option<Limits>,
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
    /// A context as a session log ends with it: the numbers in force there, and the names of the files that the program
    /// wrote.
    #[must_use]
    pub fn of_session(history: &History, limits: &Limits, known: &BTreeSet<String>) -> Self {
        let said = |request: &Option<String>| request.clone().map_or(Said::None, Said::This);
        Self {
            messages: history.messages().cloned().collect(),
            request: said(&history.request),
            request_at: history.request_at.map_or(Said::None, Said::This),
            markers: Some(history.markers.clone()),
            // The log does not hold their texts; no result that is saved is empty.
            known_files: known
                .iter()
                .map(|name| (name.clone(), String::new()))
                .collect(),
            lost_unread: history.lost_unread,
            logged: Some(limits.clone()),
            config: Map::new(),
        }
    }

    /// Forgets the numbers that were in force where it was logged: it is played with those of a profile.
    pub fn forget_limits(&mut self) {
        self.logged = None;
    }

    /// Reads a recording in any of its forms; a session log is read elsewhere.
    ///
    /// # Errors
    /// If `text` is not JSON (with line and column), or no valid list of messages (with the index of the message), or a
    /// file of events that do not hold the context at their end.
    pub fn parse(text: &str) -> Result<Self, ReplayError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(ReplayError::NotJson {
                line: 1,
                column: 1,
                reason: "the file is empty".to_owned(),
            });
        }
        if events::is_log(text) {
            return events::read(text);
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

pub(super) fn not_json(error: &serde_json::Error, lines_before: usize) -> ReplayError {
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
