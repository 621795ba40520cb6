//! What the API says about a reply beside its content: why it ended and what it used.

use serde::{Deserialize, Serialize, Serializer};

/// Why the model stopped, as the API names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The reply is complete.
    EndTurn,
    /// The model waits for tool results.
    ToolUse,
    /// The output limit was hit.
    MaxTokens,
    /// A stop sequence was met.
    StopSequence,
    /// The server paused; the same messages are sent again.
    PauseTurn,
    /// The model declined.
    Refusal,
    /// The window was full in the middle of the reply.
    WindowExceeded,
    /// A reason that the program does not know.
    Other(String),
}

impl StopReason {
    /// The reason of that wire name.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "end_turn" => Self::EndTurn,
            "tool_use" => Self::ToolUse,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            "model_context_window_exceeded" => Self::WindowExceeded,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The wire name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::WindowExceeded => "model_context_window_exceeded",
            Self::Other(name) => name,
        }
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Tokens as the server reported them; `None` is unknown, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request that no cache held.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
    /// Tokens written to the server's cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// Tokens read from the server's cache.
    pub cache_read_input_tokens: Option<u64>,
}

impl Usage {
    /// Adds what another call used; unknown and unknown stay unknown.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.cache_creation_input_tokens = sum(
            self.cache_creation_input_tokens,
            other.cache_creation_input_tokens,
        );
        self.cache_read_input_tokens =
            sum(self.cache_read_input_tokens, other.cache_read_input_tokens);
    }
}
