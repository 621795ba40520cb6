//! What is wrong with a text that should be a recording: where, and what would be right.

use crate::context::UnknownSetting;

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
        "found {found}: a recording is a JSON list of messages, one JSON message a line, an object with `messages`, a \
         session log or a file of events"
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
    /// It is a file of events, in which a stage changed the context.
    #[error(
        "a file of events, in which {stage} changed the context (line {line}): events do not say into what; replay the \
         log of session {session} instead"
    )]
    Rewritten {
        /// The session's id.
        session: String,
        /// The stage's name.
        stage: String,
        /// The line, from 1.
        line: usize,
    },
    /// It is a file of events that does not hold all messages of the context.
    #[error(
        "a file of events that does not hold the whole context; replay the log of session {session} instead"
    )]
    Incomplete {
        /// The session's id.
        session: String,
    },
    /// A setting of its `config`.
    #[error("`config`: {0}")]
    Config(UnknownSetting),
    /// A setting that was given beside it.
    #[error("--set: {0}")]
    Set(UnknownSetting),
}

impl ReplayError {
    /// The session whose log can be replayed instead, where there is one.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Rewritten { session, .. } | Self::Incomplete { session } => Some(session),
            Self::NotJson { .. }
            | Self::Message { .. }
            | Self::Shape { .. }
            | Self::State { .. }
            | Self::Config(_)
            | Self::Set(_) => None,
        }
    }
}
