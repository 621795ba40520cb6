//! A file of events as a recording: the context that its last session ends with.
//!
//! Events hold each message as it came, but not what a stage made of the context: such a file only says whose log does.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::error::ReplayError;
use super::parse::{Recording, Said, not_json};
use crate::context::{History, Limits};
use crate::message::Message;

/// Whether `text` is a file of events: its first line is one.
pub(super) fn is_log(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        #[serde(rename = "seq")]
        _seq: u64,
        #[serde(rename = "event")]
        _event: String,
    }
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| serde_json::from_str::<Probe>(line).is_ok())
}

/// The context that the last session in `text` ends with, and the numbers in force there.
pub(super) fn read(text: &str) -> Result<Recording, ReplayError> {
    let is_cut_off = !text.ends_with('\n');
    let count = text.lines().count();
    let mut session = Session::default();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(event) => session.take(event, at)?,
            // What was being written when the program ended.
            Err(_) if is_cut_off && at + 1 == count => {}
            Err(error) => session.fail(not_json(&error, at)),
        }
    }
    session.recording()
}

/// What is known of a session after some of its events.
#[derive(Debug, Default)]
struct Session {
    /// Its id.
    id: String,
    history: History,
    /// `estimate_size` of its context as the events say it.
    size: usize,
    request: Said<String>,
    limits: Option<Limits>,
    /// Why its context is not known; the first reason.
    failure: Option<ReplayError>,
}

impl Session {
    fn fail(&mut self, error: ReplayError) {
        self.failure.get_or_insert(error);
    }

    /// Takes the event on line `at`, counted from 0.
    fn take(&mut self, mut event: Value, at: usize) -> Result<(), ReplayError> {
        // A subagent has a context of its own.
        if !event["task"].is_null() {
            return Ok(());
        }
        match event["event"].as_str().unwrap_or_default() {
            "session_started" => {
                *self = Self {
                    id: text(&event["session"]),
                    limits: limits(&mut event),
                    ..Self::default()
                }
            }
            "limits_changed" => self.limits = limits(&mut event),
            "turn_started" => self.request = Said::This(text(&event["request"])),
            "message_appended" => {
                let message = Message::from_value(event["message"].take()).map_err(|invalid| {
                    ReplayError::Message {
                        index: self.history.len(),
                        reason: invalid.0,
                    }
                })?;
                self.history.push(Arc::new(message));
                self.size = size(&event["size"]);
            }
            "stage_finished" => {
                let stage = text(&event["stage"]);
                let session = self.id.clone();
                self.fail(ReplayError::Rewritten {
                    session,
                    stage,
                    line: at + 1,
                });
            }
            // The other events change nothing in the context.
            _ => {}
        }
        Ok(())
    }

    fn recording(self) -> Result<Recording, ReplayError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.history.size() != self.size {
            return Err(ReplayError::Incomplete { session: self.id });
        }
        Ok(Recording {
            messages: self.history.messages().cloned().collect(),
            request: self.request,
            logged: self.limits,
            ..Recording::default()
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn size(value: &Value) -> usize {
    let size = value.as_u64().unwrap_or_default();
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn limits(event: &mut Value) -> Option<Limits> {
    serde_json::from_value(event["limits"].take()).ok()
}
