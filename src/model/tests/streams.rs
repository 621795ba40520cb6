//! Streams: captures cut everywhere, what is survived, and what fails.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};

use super::super::decode::Assembler;
use super::super::explain::Speaker;
use super::super::reading::Reading;
use super::super::retry::{Again, Failure};
use super::super::{Delta, Endpoint, Key, ModelError, Secret};
use crate::message::{ContentBlock, StopReason, Usage};

const STALL: Duration = Duration::from_mins(5);

type Piece = Result<Delta, Failure>;

fn speaker() -> Arc<Speaker> {
    let mut endpoint = Endpoint::new("http://host", "m");
    endpoint.key = Some(Key::ApiKey(Secret::new("sk-secret")));
    Arc::new(Speaker::new(&endpoint))
}

async fn read_chunks(chunks: BoxStream<'static, Result<Vec<u8>, Failure>>) -> Vec<Piece> {
    let taken = HashSet::from(["toolu_old".to_owned()]);
    Reading::new(speaker(), Assembler::new(taken), Some("req_1".to_owned()))
        .deltas(chunks, STALL)
        .collect()
        .await
}

/// What comes of `raw`, in chunks of `size` bytes.
fn read(raw: &[u8], size: usize) -> Vec<Piece> {
    let chunks: Vec<_> = raw.chunks(size).map(|chunk| Ok(chunk.to_vec())).collect();
    block_on(read_chunks(stream::iter(chunks).boxed()))
}

/// What comes of `raw`, in two chunks.
fn read_cut(raw: &[u8], at: usize) -> Vec<Piece> {
    let (a, b) = raw.split_at(at);
    block_on(read_chunks(
        stream::iter(vec![Ok(a.to_vec()), Ok(b.to_vec())]).boxed(),
    ))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

fn sse(events: &[Value]) -> String {
    let line = |event: &Value| format!("data: {event}\n\n");
    events.iter().map(line).collect::<Vec<_>>().concat()
}

fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "sse"))
        .collect();
    files.sort();
    files
}

fn finished(stop_reason: StopReason, input: Option<u64>, output: Option<u64>) -> Delta {
    Delta::Finished {
        stop_reason,
        usage: Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        },
    }
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

fn block(value: Value) -> Delta {
    Delta::Block(ContentBlock::from_value(value).unwrap())
}

/// The deltas of a reply that did not fail.
fn whole(pieces: Vec<Piece>) -> Vec<Delta> {
    pieces.into_iter().map(Result::unwrap).collect()
}

fn error_of(pieces: &[Piece]) -> ModelError {
    pieces.last().unwrap().as_ref().unwrap_err().error.clone()
}

#[test]
fn every_capture_gives_the_same_however_it_is_cut() {
    let files = captures();
    assert_eq!(files.len(), 22);
    for file in files {
        let raw = std::fs::read(&file).unwrap();
        let whole = read(&raw, raw.len());
        assert_eq!(read(&raw, 1), whole, "{} by bytes", file.display());
        let step = if raw.len() > 1_500 { 7 } else { 1 };
        for at in (1..raw.len()).step_by(step) {
            assert_eq!(read_cut(&raw, at), whole, "{} cut at {at}", file.display());
        }
        let name = file.file_stem().unwrap().to_str().unwrap();
        if name == "stream_disconnect" || name == "stream_truncate" {
            assert_eq!(
                error_of(&whole).to_string(),
                "http://host ended the stream before the reply was complete"
            );
        } else {
            assert!(
                matches!(whole.last(), Some(Ok(Delta::Finished { .. }))),
                "{name}: {whole:?}"
            );
        }
    }
}

#[test]
fn captures_are_read_as_they_were_meant() {
    let capture = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/wire")
            .join(name);
        let raw = std::fs::read(path).unwrap();
        let pieces = read(&raw, raw.len());
        whole(pieces)
            .into_iter()
            .filter(|delta| !matches!(delta, Delta::Text(_) | Delta::Thinking(_)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        capture("aimock/thinking_then_text.sse"),
        [
            block(
                json!({"type": "thinking", "thinking": "The user wants a short greeting.",
                "signature": "aimock-placeholder-signature"})
            ),
            block(json!({"type": "text", "text": "Hello there."})),
            finished(StopReason::EndTurn, None, None),
        ]
    );
    assert_eq!(
        capture("llama-server/tool_cut_by_max_tokens_stream.sse"),
        [Delta::Finished {
            stop_reason: StopReason::MaxTokens,
            usage: Usage {
                input_tokens: Some(1),
                output_tokens: Some(12),
                cache_creation_input_tokens: None,
                cache_read_input_tokens: Some(308),
            }
        }]
    );
    let two = capture("fakellm/two_tools_stream.sse");
    assert_eq!(two.len(), 3);
    assert_eq!(
        two[0],
        block(
            json!({"type": "tool_use", "id": "toolu_aaa9d701660a", "name": "bash",
            "input": {"command": "ls -la"}})
        )
    );
}

#[test]
fn odd_streams_are_survived() {
    let start = |at: u32, block: Value| json!({"type": "content_block_start", "index": at, "content_block": block});
    let delta =
        |at: u32, delta: Value| json!({"type": "content_block_delta", "index": at, "delta": delta});
    let text_delta = |at: u32, text: &str| delta(at, json!({"type": "text_delta", "text": text}));
    let json_delta = |at: u32, json: &str| {
        delta(
            at,
            json!({"type": "input_json_delta", "partial_json": json}),
        )
    };
    let stop = |at: u32| json!({"type": "content_block_stop", "index": at});
    let end = json!({"type": "message_stop"});
    let empty_text = json!({"type": "text", "text": ""});
    let call = json!({"type": "tool_use", "id": "t", "name": "bash"});
    let called = |id: &str, input: Value| {
        block(json!({"type": "tool_use", "id": id, "name": "bash", "input": input}))
    };
    let cases: Vec<(&str, Vec<Value>, Vec<Delta>)> = vec![
        (
            "two starts, a block that was never opened, two message deltas, events after the end",
            vec![
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 5}}}),
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 7}}}),
                json!({"type": "ping"}),
                json!({"type": "something_new", "x": [1]}),
                text_delta(0, "a"),
                stop(0),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": null}),
                json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": {"output_tokens": 2}}),
                end.clone(),
                text_delta(0, "late"),
            ],
            vec![
                text("a"),
                block(json!({"type": "text", "text": "a"})),
                finished(StopReason::EndTurn, Some(7), Some(2)),
            ],
        ),
        (
            "a start at an index still open, deltas of another type, a call without deltas",
            vec![
                start(0, empty_text.clone()),
                text_delta(0, "one"),
                json_delta(0, "{"),
                start(0, call.clone()),
                text_delta(0, "not here"),
                delta(0, json!({"type": "unknown_delta"})),
                stop(0),
                stop(9),
                json_delta(7, "{}"),
                end.clone(),
            ],
            vec![
                text("one"),
                block(json!({"type": "text", "text": "one"})),
                called("t", json!({})),
                finished(StopReason::ToolUse, None, None),
            ],
        ),
        (
            "ids used before, twice, odd or missing; input at the start; a name that no API takes",
            vec![
                start(
                    0,
                    json!({"type": "tool_use", "id": "toolu_old", "name": "bash", "input": {"a": 1}}),
                ),
                stop(0),
                start(
                    1,
                    json!({"type": "tool_use", "id": "toolu_old", "name": "bash", "input": {}}),
                ),
                json_delta(1, "{\"b\":"),
                json_delta(1, "2}"),
                stop(1),
                start(
                    2,
                    json!({"type": "tool_use", "id": "a.b:c", "name": "bash", "input": "{\"c\":3}"}),
                ),
                stop(2),
                start(3, json!({"type": "tool_use", "name": "my tool"})),
                stop(3),
                end.clone(),
            ],
            vec![
                called("toolu_old_2", json!({"a": 1})),
                called("toolu_old_3", json!({"b": 2})),
                called("a_b_c", json!({"c": 3})),
                block(json!({"type": "tool_use", "name": "my_tool", "id": "call", "input": {}})),
                finished(StopReason::ToolUse, None, None),
            ],
        ),
        (
            "blank text, unknown and signed blocks kept whole, citations",
            vec![
                start(0, json!({"type": "text", "text": " \n"})),
                stop(0),
                start(1, json!({"z": 1, "type": "new_block", "a": {"y": [2]}})),
                stop(1),
                start(2, json!({"type": "redacted_thinking", "data": "xyz"})),
                stop(2),
                start(
                    3,
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                ),
                delta(3, json!({"type": "signature_delta", "signature": "c2ln"})),
                stop(3),
                start(4, json!({"type": "text", "text": "", "citations": null})),
                text_delta(4, "x"),
                delta(4, json!({"type": "citations_delta", "citation": {"n": 1}})),
                stop(4),
                start(5, json!({"type": "compaction", "content": null})),
                delta(5, json!({"type": "compaction_delta", "content": "short"})),
                stop(5),
                start(
                    6,
                    json!({"type": "server_tool_use", "id": "s", "name": "web", "input": {}}),
                ),
                json_delta(6, "{\"q\":1}"),
                stop(6),
                end.clone(),
            ],
            vec![
                text(" \n"),
                block(json!({"z": 1, "type": "new_block", "a": {"y": [2]}})),
                block(json!({"type": "redacted_thinking", "data": "xyz"})),
                block(json!({"type": "thinking", "thinking": "", "signature": "c2ln"})),
                text("x"),
                block(json!({"type": "text", "text": "x", "citations": [{"n": 1}]})),
                block(json!({"type": "compaction", "content": "short"})),
                block(
                    json!({"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": 1}}),
                ),
                finished(StopReason::EndTurn, None, None),
            ],
        ),
        (
            "a call whose input is no JSON, one that is no object, and one that the limit cut",
            vec![
                start(0, call.clone()),
                json_delta(0, "{\"command\": "),
                stop(0),
                start(1, call.clone()),
                json_delta(1, "[1]"),
                stop(1),
                start(2, call.clone()),
                json_delta(2, "{}"),
                json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
                end.clone(),
            ],
            [("t", "{\"command\": "), ("t_2", "[1]"), ("t_3", "{}")]
                .map(|(id, raw)| Delta::BrokenCall {
                    block: ContentBlock::tool_use(id, "bash", json!({})),
                    raw: raw.to_owned(),
                })
                .into_iter()
                .chain([finished(StopReason::MaxTokens, None, None)])
                .collect(),
        ),
        (
            "no block at all",
            vec![end.clone()],
            vec![finished(StopReason::EndTurn, None, None)],
        ),
    ];
    for (name, events, expected) in cases {
        let raw = sse(&events);
        assert_eq!(whole(read(raw.as_bytes(), raw.len())), expected, "{name}");
        for size in [1, 7] {
            assert_eq!(
                whole(read(raw.as_bytes(), size)),
                expected,
                "{name}, by {size}"
            );
        }
    }
    let raw = ": wait\n\ndata: [DONE]\n\nevent: message_stop\ndata: {}\n\n";
    assert_eq!(
        whole(read(raw.as_bytes(), 1)),
        [finished(StopReason::EndTurn, None, None)]
    );
}

#[test]
fn the_order_of_fields_stays() {
    let raw = sse(&[
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"input": {}, "id": "t", "caller": {"type": "direct"}, "type": "tool_use", "name": "bash"}}),
        json!({"type": "content_block_delta", "index": 0, "delta":
            {"type": "input_json_delta", "partial_json": "{\"z\": 1, \"a\": \"\\u00e9\"}"}}),
        json!({"type": "content_block_stop", "index": 0}),
    ]);
    let pieces = read(raw.as_bytes(), 1);
    let Some(Ok(Delta::Block(block))) = pieces.first() else {
        panic!("{pieces:?}");
    };
    assert_eq!(
        serde_json::to_string(block).unwrap(),
        r#"{"input":{"z":1,"a":"é"},"id":"t","caller":{"type":"direct"},"type":"tool_use","name":"bash"}"#
    );
}

#[test]
fn each_failure_has_a_text_of_its_own() {
    let complete = sse(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    ]);
    let cases = [
        (
            complete,
            ModelError::Protocol("http://host ended the stream before the reply was complete".to_owned()),
            Again::Yes(None),
        ),
        (
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n".to_owned(),
            ModelError::Overloaded("http://host broke its reply off with an error: Overloaded (overloaded_error, request req_1); the server cannot answer now; send the request again later".to_owned()),
            Again::Yes(None),
        ),
        (
            "event: error\ndata: {\"type\":\"invalid_request_error\",\"message\":\"no sk-secret\"}\n\n".to_owned(),
            ModelError::Rejected("http://host broke its reply off with an error: no [key] (invalid_request_error, request req_1)".to_owned()),
            Again::No,
        ),
        (
            "data: {\"error\":{\"code\":500,\"message\":\"context size exceeded: the request exceeds the available context size\"}}\n\n".to_owned(),
            ModelError::PromptTooLong {
                message: "http://host broke its reply off with an error: context size exceeded: the request exceeds the available context size (request req_1); the conversation must get shorter: /compact".to_owned(),
                tokens: None,
                window: None,
            },
            Again::No,
        ),
        (
            "event: error\ndata: upstream died\n\n".to_owned(),
            ModelError::Overloaded("http://host broke its reply off with an error: upstream died (request req_1); the server cannot answer now; send the request again later".to_owned()),
            Again::Yes(None),
        ),
        (
            "data: {broken sk-secret\x1b[2J\n\n".to_owned(),
            ModelError::Protocol("http://host sent an event that is no JSON: {broken [key]".to_owned()),
            Again::Yes(None),
        ),
        (
            format!("data: {}", "x".repeat(9_000_000)),
            ModelError::Protocol("http://host sent more in one piece than any reply has".to_owned()),
            Again::No,
        ),
    ];
    for (raw, error, again) in cases {
        let pieces = read(raw.as_bytes(), 1_000_000);
        let failure = pieces.last().unwrap().as_ref().unwrap_err();
        assert_eq!((&failure.error, failure.again), (&error, again));
    }
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_failure_and_a_comment_is_not_silence() {
    let begun = tokio::time::Instant::now();
    let chunks = stream::unfold(0, |n| async move {
        if n == 3 {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_secs(299)).await;
        Some((Ok(b":\n\n".to_vec()), n + 1))
    });
    let pieces = read_chunks(chunks.boxed()).await;
    assert_eq!(
        error_of(&pieces),
        ModelError::Network(
            "http://host sent nothing for 300 s; the limit is the setting stall_timeout".to_owned()
        )
    );
    assert_eq!(begun.elapsed().as_secs(), 3 * 299 + 300);
}

#[test]
fn a_long_reply_and_a_huge_event_come_whole() {
    let piece = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ab"}});
    let mut raw = sse(&vec![piece; 30_000]);
    let huge = "é".repeat(2_500_000);
    raw.push_str(&sse(&[
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": huge}}),
        json!({"type": "message_stop"}),
    ]));
    let pieces = read(raw.as_bytes(), 8192);
    let blocks: Vec<usize> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Ok(Delta::Block(block)) => Some(block.fields()["text"].as_str().unwrap().len()),
            _ => None,
        })
        .collect();
    assert_eq!(blocks, [60_000, 5_000_000]);
}
