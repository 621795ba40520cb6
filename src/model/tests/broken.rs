//! What cannot be survived, one test each: every failure has a text of its own.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};

use super::super::retry::Again;
use super::super::{Delta, ModelError};
use super::reader::{
    delta, end, error_of, finished, json_delta, read, read_chunks, sse, start, stop, whole_of,
};
use crate::message::{ContentBlock, StopReason};

/// How the stream `raw` fails.
fn fails(raw: &str) -> (ModelError, Again) {
    let pieces = read(raw.as_bytes(), raw.len());
    for size in [1, 7] {
        assert_eq!(read(raw.as_bytes(), size), pieces, "by {size}");
    }
    let failure = pieces.last().unwrap().as_ref().unwrap_err();
    (failure.error.clone(), failure.again)
}

fn protocol(text: &str) -> ModelError {
    ModelError::Protocol(text.to_owned())
}

#[test]
fn a_stream_that_ends_without_its_end_however_complete_it_looks() {
    let complete = [
        start(0, json!({"type": "text", "text": "x"})),
        stop(0),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    ];
    let cut = protocol("http://host ended the stream before the reply was complete");
    for events in [&complete[..], &complete[..1], &[]] {
        let raw = format!(":\n\n{}", sse(events));
        assert_eq!(fails(&raw), (cut.clone(), Again::Yes(None)));
    }
    // The last event counts only with its blank line.
    let all_but_a_byte = format!("{}data: {}\n", sse(&complete), end());
    assert_eq!(fails(&all_but_a_byte), (cut, Again::Yes(None)));
}

#[test]
fn an_error_event() {
    let raw = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let text = "http://host broke its reply off with an error: Overloaded (overloaded_error, request req_1); the server cannot answer now; send the request again later";
    let expected = ModelError::Overloaded(text.to_owned());
    assert_eq!(fails(raw), (expected, Again::Yes(None)));
}

#[test]
fn an_error_event_whose_data_is_the_bare_object() {
    let raw =
        "event: error\ndata: {\"type\":\"invalid_request_error\",\"message\":\"no sk-secret\"}\n\n";
    let text = "http://host broke its reply off with an error: no [key] (invalid_request_error, request req_1)";
    assert_eq!(
        fails(raw),
        (ModelError::Rejected(text.to_owned()), Again::No)
    );
}

#[test]
fn an_error_without_a_name_or_a_type() {
    let raw = "data: {\"error\":{\"code\":500,\"message\":\"context size exceeded: the request exceeds the available context size\"}}\n\n";
    let expected = ModelError::PromptTooLong {
        message: "http://host broke its reply off with an error: context size exceeded: the request exceeds the available context size (request req_1); the conversation must get shorter: /compact".to_owned(),
        tokens: None,
        window: None,
    };
    assert_eq!(fails(raw), (expected, Again::No));
}

#[test]
fn an_error_event_that_is_no_json() {
    let text = "http://host broke its reply off with an error: upstream died (request req_1); the server cannot answer now; send the request again later";
    assert_eq!(
        fails("event: error\ndata: upstream died\n\n"),
        (ModelError::Overloaded(text.to_owned()), Again::Yes(None))
    );
}

#[test]
fn an_event_that_is_no_json() {
    let text = "http://host sent an event that is no JSON: {broken [key]";
    assert_eq!(
        fails("data: {broken sk-secret\x1b[2J\n\n"),
        (protocol(text), Again::Yes(None))
    );
}

#[test]
fn a_line_that_never_ends() {
    let raw = format!("data: {}", "x".repeat(9_000_000));
    let pieces = read(raw.as_bytes(), 1_000_000);
    let failure = pieces.last().unwrap().as_ref().unwrap_err();
    let text = "http://host sent more in one piece than any reply has";
    assert_eq!(
        (&failure.error, failure.again),
        (&protocol(text), Again::No)
    );
}

#[tokio::test(start_paused = true)]
async fn silence_and_a_comment_is_not_silence() {
    let begun = tokio::time::Instant::now();
    let chunks = stream::unfold(0, |n| async move {
        if n == 3 {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_secs(299)).await;
        Some((Ok(b":\n\n".to_vec()), n + 1))
    });
    let pieces = read_chunks(chunks.boxed()).await;
    let text = "http://host sent nothing for 300 s; the limit is the setting stall_timeout";
    assert_eq!(error_of(&pieces), ModelError::Network(text.to_owned()));
    assert_eq!(begun.elapsed().as_secs(), 3 * 299 + 300);
}

/// The deltas of a call with these pieces as its input, and the reason why the reply ended.
fn call_of(pieces: &[&str], reason: &str) -> Vec<Delta> {
    let mut events: Vec<Value> = vec![start(
        0,
        json!({"type": "tool_use", "id": "t", "name": "bash", "input": {}}),
    )];
    events.extend(pieces.iter().map(|piece| json_delta(0, piece)));
    if reason == "tool_use" {
        events.push(stop(0));
    }
    events.push(delta(0, json!({"type": "unknown"})));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
    events.push(end());
    whole_of(&events)
}

fn broken(raw: &str, reason: StopReason) -> Vec<Delta> {
    let call = Delta::BrokenCall {
        block: ContentBlock::tool_use("t", "bash", json!({})),
        raw: raw.to_owned(),
    };
    vec![call, finished(reason, None, None)]
}

#[test]
fn a_call_whose_input_is_no_json_is_kept_with_what_came_and_not_run() {
    let cut = "{\"command\": ";
    assert_eq!(
        call_of(&["{\"comm", "and\": "], "tool_use"),
        broken(cut, StopReason::ToolUse)
    );
    // JSON, but no object.
    assert_eq!(
        call_of(&["[1]"], "tool_use"),
        broken("[1]", StopReason::ToolUse)
    );
}

#[test]
fn a_call_that_the_output_limit_cut_is_kept_and_not_run() {
    assert_eq!(
        call_of(&["{}"], "max_tokens"),
        broken("{}", StopReason::MaxTokens)
    );
    assert_eq!(
        call_of(&["{\"a\""], "model_context_window_exceeded"),
        broken("{\"a\"", StopReason::WindowExceeded)
    );
}
