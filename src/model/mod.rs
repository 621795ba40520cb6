//! The one door to a model: a request goes in, a stream of deltas comes out.
//!
//! Knows neither an agent nor a tool. [`Model::stream`] never fails outside its stream, and the stream ends with exactly
//! one [`Delta::Finished`] or [`Delta::Failed`]; a stream that is dropped closes the connection at once.

mod advice;
mod anthropic;
mod block;
mod decode;
mod endpoint;
mod errors;
mod explain;
mod header;
mod http;
mod offers;
mod reading;
pub mod retry;
pub mod scripted;
mod secret;
mod sse;
mod summaries;
#[cfg(test)]
mod tests;
mod too_long;
mod trouble;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::message::{ContentBlock, Message, StopReason, Usage};

pub use anthropic::AnthropicModel;
pub use endpoint::{Endpoint, Key};
pub use header::Header;
pub(crate) use http::without_userinfo;
pub use retry::Retrying;
pub use secret::Secret;
pub use summaries::WithSummaries;

/// Something that answers conversations.
pub trait Model: Send + Sync {
    /// The name that the screen shows and the request carries.
    fn name(&self) -> &str;

    /// Whether it is the scripted model, which plays a part and says so.
    fn is_scripted(&self) -> bool {
        false
    }

    /// How many tokens of conversation the server says that it takes. Asks it where it has not been asked; not to be
    /// called before the first frame. A server that does not say, or cannot be asked, is no failure.
    fn window(&self) -> BoxFuture<'static, Option<u64>> {
        ready(None).boxed()
    }

    /// Asks for a reply.
    fn stream(&self, request: Request) -> BoxStream<'static, Delta>;
}

/// What is asked of a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the model is told first.
    pub system: Arc<str>,
    /// The tools that it may call, as sent; empty for a summary.
    pub tools: Arc<[Value]>,
    /// The conversation.
    pub messages: Vec<Arc<Message>>,
    /// What the reply is for.
    pub purpose: Purpose,
}

/// What a reply is for. A real model answers all alike; the scripted one plays its script for the first only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The main conversation.
    Turn,
    /// A subagent's, by the id of its `task` call.
    Task(String),
    /// A summary.
    Summary,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// Text as it comes, for the screen; the block follows whole.
    Text(String),
    /// Reasoning as it comes; the block follows whole.
    Thinking(String),
    /// A complete block, in the order of the reply.
    Block(ContentBlock),
    /// A complete call whose input is no JSON: it is answered, never run.
    BrokenCall {
        /// The call, with an empty input.
        block: ContentBlock,
        /// What came instead of JSON.
        raw: String,
    },
    /// The request is made again after `wait`; all that came before is void.
    Retrying {
        /// 1 for the first retry.
        attempt: u32,
        /// How long until then.
        wait: Duration,
        /// Why.
        reason: String,
    },
    /// The reply is complete.
    Finished {
        /// Why the model stopped.
        stop_reason: StopReason,
        /// What the call used.
        usage: Usage,
    },
    /// There is no complete reply; what came before stays valid block by block.
    Failed(ModelError),
}

/// Why there is no reply. The text is for the user: what happened, where, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The provider says that the prompt is too long.
    #[error("{message}")]
    PromptTooLong {
        /// What it said.
        message: String,
        /// Tokens that it counted, where it says so.
        tokens: Option<u64>,
        /// Tokens that it takes, where it says so.
        window: Option<u64>,
    },
    /// The server refused without any reason; a prompt that is too long is a common one. Worth one compaction where the
    /// conversation is above half of its limit, else a plain refusal.
    #[error("{0}")]
    MaybeTooLong(String),
    /// Too many requests, or a spend limit.
    #[error("{0}")]
    RateLimited(String),
    /// The server cannot answer now.
    #[error("{0}")]
    Overloaded(String),
    /// The key was missing or not taken.
    #[error("{0}")]
    Auth(String),
    /// The server refused the request for another reason.
    #[error("{0}")]
    Rejected(String),
    /// The server could not be reached, or the connection broke.
    #[error("{0}")]
    Network(String),
    /// What came is no reply of the Messages API.
    #[error("{0}")]
    Protocol(String),
}
