//! How the stream tests read: bytes in chunks of any size in, pieces of a reply out.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};

use super::super::decode::Assembler;
use super::super::explain::Speaker;
use super::super::reading::Reading;
use super::super::retry::Failure;
use super::super::sse::{Decoder, Event};
use super::super::{Delta, Endpoint, Key, ModelError, Secret};
use crate::message::{ContentBlock, StopReason, Usage};

pub(super) const STALL: Duration = Duration::from_mins(5);

pub(super) type Piece = Result<Delta, Failure>;

pub(super) fn speaker() -> Arc<Speaker> {
    let mut endpoint = Endpoint::new("http://host", "m");
    endpoint.key = Some(Key::ApiKey(Secret::new("sk-secret")));
    Arc::new(Speaker::new(&endpoint))
}

pub(super) async fn read_chunks(
    chunks: BoxStream<'static, Result<Vec<u8>, Failure>>,
) -> Vec<Piece> {
    let taken = HashSet::from(["toolu_old".to_owned()]);
    Reading::new(speaker(), Assembler::new(taken), Some("req_1".to_owned()))
        .deltas(chunks, STALL)
        .collect()
        .await
}

/// What comes of `raw`, in chunks of `size` bytes.
pub(super) fn read(raw: &[u8], size: usize) -> Vec<Piece> {
    read_list(raw.chunks(size).map(|chunk| Ok(chunk.to_vec())).collect())
}

/// The events of a stream in these chunks.
pub(super) fn events_of_chunks(chunks: &[&[u8]]) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut events).unwrap();
    }
    events
}

/// What comes of these chunks.
pub(super) fn read_list(chunks: Vec<Result<Vec<u8>, Failure>>) -> Vec<Piece> {
    block_on(read_chunks(stream::iter(chunks).boxed()))
}

/// What comes of `raw`, in two chunks.
pub(super) fn read_cut(raw: &[u8], at: usize) -> Vec<Piece> {
    let (a, b) = raw.split_at(at);
    read_list(vec![Ok(a.to_vec()), Ok(b.to_vec())])
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

pub(super) fn sse(events: &[Value]) -> String {
    let line = |event: &Value| format!("data: {event}\n\n");
    events.iter().map(line).collect::<Vec<_>>().concat()
}

pub(super) fn finished(stop_reason: StopReason, input: Option<u64>, output: Option<u64>) -> Delta {
    Delta::Finished {
        stop_reason,
        usage: Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        },
    }
}

pub(super) fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

pub(super) fn block(value: Value) -> Delta {
    Delta::Block(ContentBlock::from_value(value).unwrap())
}

/// The deltas of a reply that did not fail.
pub(super) fn whole(pieces: Vec<Piece>) -> Vec<Delta> {
    pieces.into_iter().map(Result::unwrap).collect()
}

pub(super) fn error_of(pieces: &[Piece]) -> ModelError {
    pieces.last().unwrap().as_ref().unwrap_err().error.clone()
}

/// The start of the block `at`.
pub(super) fn start(at: u32, block: Value) -> Value {
    let mut event = json!({"type": "content_block_start", "index": at});
    event["content_block"] = block;
    event
}

/// A piece of the block `at`.
pub(super) fn delta(at: u32, delta: Value) -> Value {
    let mut event = json!({"type": "content_block_delta", "index": at});
    event["delta"] = delta;
    event
}

pub(super) fn text_delta(at: u32, text: &str) -> Value {
    delta(at, json!({"type": "text_delta", "text": text}))
}

pub(super) fn json_delta(at: u32, json: &str) -> Value {
    delta(
        at,
        json!({"type": "input_json_delta", "partial_json": json}),
    )
}

/// The end of the block `at`.
pub(super) fn stop(at: u32) -> Value {
    json!({"type": "content_block_stop", "index": at})
}

/// The end of the reply.
pub(super) fn end() -> Value {
    json!({"type": "message_stop"})
}

/// What comes of `events`: the same in one chunk, by seven bytes and byte by byte.
pub(super) fn whole_of(events: &[Value]) -> Vec<Delta> {
    whole_of_raw(&sse(events))
}

/// What comes of a stream: the same in one chunk, by seven bytes and byte by byte.
pub(super) fn whole_of_raw(raw: &str) -> Vec<Delta> {
    let deltas = whole(read(raw.as_bytes(), raw.len()));
    for size in [1, 7] {
        assert_eq!(
            whole(read(raw.as_bytes(), size)),
            deltas,
            "by {size}: {raw}"
        );
    }
    deltas
}
