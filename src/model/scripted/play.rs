//! A reply as a stream: text in small pieces, then the blocks, then the end, at the pace that the caller chose.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use super::super::{Delta, ModelError};
use crate::message::{ContentBlock, StopReason, Usage};

/// Before a reply begins.
const THINKS: Duration = Duration::from_millis(400);
/// Between two pieces of text.
const PIECE: Duration = Duration::from_millis(20);
/// A piece ends at the first space from here on …
const PIECE_MIN: usize = 10;
/// … and here at the latest, in characters.
const PIECE_MAX: usize = 24;

/// How fast the scripted model answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// At once: headless runs, tests, printed frames.
    #[default]
    Instant,
    /// So that a viewer can follow.
    Learn,
}

/// What the model answers.
#[derive(Debug)]
pub(super) enum Reply {
    /// A complete reply.
    Complete {
        /// What it says; may be empty where it calls tools.
        text: String,
        /// The calls.
        calls: Vec<ContentBlock>,
    },
    /// The part of a server that refuses.
    Failed(ModelError),
}

impl Reply {
    /// A reply without calls.
    pub(super) fn text(text: String) -> Self {
        Self::Complete {
            text,
            calls: Vec::new(),
        }
    }
}

/// `reply` as deltas. How many tokens it took is not known and stays so: nothing was sent to a server.
pub(super) fn stream(reply: Reply, pace: Pace) -> BoxStream<'static, Delta> {
    let queue: VecDeque<(Duration, Delta)> = deltas(reply).into();
    stream::unfold(queue, move |mut queue| async move {
        let (wait, delta) = queue.pop_front()?;
        if pace == Pace::Learn && !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Some((delta, queue))
    })
    .boxed()
}

fn deltas(reply: Reply) -> Vec<(Duration, Delta)> {
    let (text, calls) = match reply {
        Reply::Failed(error) => return vec![(THINKS, Delta::Failed(error))],
        Reply::Complete { text, calls } => (text, calls),
    };
    let stop_reason = if calls.is_empty() {
        StopReason::EndTurn
    } else {
        StopReason::ToolUse
    };
    let mut out: Vec<(Duration, Delta)> = pieces(&text)
        .into_iter()
        .map(|piece| (PIECE, Delta::Text(piece)))
        .collect();
    if !text.trim().is_empty() {
        out.push((Duration::ZERO, Delta::Block(ContentBlock::text(text))));
    }
    out.extend(
        calls
            .into_iter()
            .map(|call| (Duration::ZERO, Delta::Block(call))),
    );
    let usage = Usage::default();
    out.push((Duration::ZERO, Delta::Finished { stop_reason, usage }));
    if let Some(first) = out.first_mut() {
        first.0 = THINKS;
    }
    out
}

/// `text` in pieces of a few words.
fn pieces(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        piece.push(c);
        let length = piece.chars().count();
        if length >= PIECE_MAX || (length >= PIECE_MIN && c.is_whitespace()) {
            out.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        out.push(piece);
    }
    out
}
