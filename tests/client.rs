//! The client against a loopback server that checks every request: conversations, errors, faults.
#![expect(clippy::unwrap_used)]

#[path = "client/errors.rs"]
mod errors;
#[path = "client/faults.rs"]
mod faults;
#[path = "client/network.rs"]
mod network;
#[path = "client/offers.rs"]
mod offers;
#[path = "client/program.rs"]
mod program;
#[path = "client/secrets.rs"]
mod secrets;
#[path = "client/session.rs"]
mod session;
#[path = "client/strict.rs"]
mod strict;
mod support;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use plimsoll::message::{ContentBlock, Message, StopReason, Usage};
use plimsoll::model::{
    AnthropicModel, Delta, Endpoint, Key, Model, ModelError, Purpose, Request, Secret,
};
use serde_json::{Value, json};
use support::reply::Reply;
use support::server::Server;

const KEY: &str = "sk-test-0123456789";

fn endpoint(url: &str) -> Endpoint {
    Endpoint {
        key: Some(Key::ApiKey(Secret::new(KEY))),
        key_from: Some("ANTHROPIC_API_KEY".to_owned()),
        stall_timeout: Duration::from_secs(20),
        ..Endpoint::new(url, "test-model")
    }
}

fn client(server: &Server) -> AnthropicModel {
    AnthropicModel::new(endpoint(&server.url()))
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        system: "You are a test.".into(),
        tools: [json!({"name": "bash", "input_schema": {"type": "object"}})].into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        purpose: Purpose::Turn,
    }
}

fn hello() -> Request {
    request(vec![Message::user("hello")])
}

async fn ask(model: &dyn Model, request: Request) -> Vec<Delta> {
    model.stream(request).collect().await
}

fn blocks(deltas: &[Delta]) -> Vec<ContentBlock> {
    let block = |delta: &Delta| match delta {
        Delta::Block(block) | Delta::BrokenCall { block, .. } => Some(block.clone()),
        _ => None,
    };
    deltas.iter().filter_map(block).collect()
}

/// The failure that the last delta is.
fn failure(deltas: &[Delta]) -> ModelError {
    match deltas.last() {
        Some(Delta::Failed(error)) => error.clone(),
        other => panic!("no failure: {other:?}"),
    }
}

/// What the only answer `reply` fails with.
async fn fails(reply: Reply) -> (ModelError, String) {
    let server = Server::start(vec![reply]);
    let error = failure(&ask(&client(&server), hello()).await);
    let text = error.to_string().replace(&server.url(), "SERVER");
    assert_eq!(server.violations(), [""; 0]);
    assert!(!text.contains(KEY), "{text}");
    (error, text)
}

#[tokio::test]
async fn a_conversation_with_tools_is_valid_from_end_to_end() {
    let server = Server::start(vec![
        Reply::message(
            &[
                json!({"type": "thinking", "thinking": "Which files?", "signature": "c2ln"}),
                json!({"type": "text", "text": "I look around: 日本語 👩‍👩‍👧."}),
                json!({"type": "tool_use", "id": "toolu_a", "name": "bash", "input": {"command": "ls"}}),
                json!({"type": "tool_use", "id": "toolu_b", "name": "bash", "input": {}}),
            ],
            "tool_use",
        )
        .byte_by_byte(),
        Reply::text("Two files."),
        Reply::text("Goodbye."),
    ]);
    let model = client(&server);
    let mut messages = vec![Message::user("what is here?")];

    let deltas = ask(&model, request(messages.clone())).await;
    let text: String = deltas
        .iter()
        .filter_map(|delta| match delta {
            Delta::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "I look around: 日本語 👩‍👩‍👧.");
    assert_eq!(
        deltas.last(),
        Some(&Delta::Finished {
            stop_reason: StopReason::ToolUse,
            usage: Usage {
                input_tokens: Some(100),
                output_tokens: Some(20),
                ..Usage::default()
            }
        })
    );
    let reply = blocks(&deltas);
    assert_eq!(reply.len(), 4);
    messages.push(Message::assistant(reply));
    messages.push(Message::user_blocks(vec![
        ContentBlock::tool_result("toolu_a", "a.txt b.txt"),
        ContentBlock::tool_error("toolu_b", "no command"),
    ]));
    messages.push(Message::user_blocks(vec![ContentBlock::text(
        "(a reminder)",
    )]));

    let deltas = ask(&model, request(messages.clone())).await;
    messages.push(Message::assistant(blocks(&deltas)));
    messages.push(Message::user("bye"));
    let mut summary = request(messages);
    summary.purpose = Purpose::Summary;
    summary.tools = [].into();
    let deltas = ask(&model, summary).await;
    assert_eq!(blocks(&deltas), [ContentBlock::text("Goodbye.")]);

    assert_eq!(server.violations(), [""; 0]);
    let requests = server.requests();
    assert_eq!((requests.len(), server.left()), (3, 0));
    assert_eq!(server.connections(), 1);
    assert_eq!(
        requests[1].body["messages"][1]["content"][0]["signature"],
        "c2ln"
    );
    assert_eq!(requests[2].body.get("tools"), None);
    for recorded in requests {
        assert_eq!(recorded.line, "POST /v1/messages");
        assert_eq!(recorded.header("x-api-key"), Some(KEY));
        assert_eq!(recorded.header("authorization"), None);
        assert_eq!(recorded.header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(recorded.header("anthropic-beta"), None);
        assert_eq!(recorded.body["model"], "test-model");
        assert_eq!(recorded.body["max_tokens"], 8_192);
    }
}

#[tokio::test]
async fn a_token_and_no_key_are_sent_as_such() {
    let server = Server::start(vec![Reply::text("a"), Reply::text("b")]);
    let mut with_token = endpoint(&server.url());
    with_token.key = Some(Key::Token(Secret::new("tok")));
    ask(&AnthropicModel::new(with_token), hello()).await;
    let mut without = endpoint(&server.url());
    without.key = None;
    ask(&AnthropicModel::new(without), hello()).await;
    let sent: Vec<_> = server
        .requests()
        .iter()
        .map(|r| {
            (
                r.header("authorization").map(str::to_owned),
                r.header("x-api-key").map(str::to_owned),
            )
        })
        .collect();
    assert_eq!(sent, [(Some("Bearer tok".to_owned()), None), (None, None)]);
}

#[tokio::test]
async fn a_base_url_works_in_all_its_forms() {
    for (tail, path) in [
        ("", "/v1/messages"),
        ("/", "/v1/messages"),
        ("/v1", "/v1/messages"),
        ("/v1/", "/v1/messages"),
        ("/v1/messages", "/v1/messages"),
        ("/anthropic", "/anthropic/v1/messages"),
        ("/anthropic/v1//", "/anthropic/v1/messages"),
    ] {
        let server = Server::start(vec![Reply::text("a")]);
        let model = AnthropicModel::new(endpoint(&format!(" {}{tail} ", server.url())));
        assert_eq!(
            blocks(&ask(&model, hello()).await),
            [ContentBlock::text("a")],
            "{tail}"
        );
        assert_eq!(server.requests()[0].line, format!("POST {path}"), "{tail}");
    }
}

#[tokio::test]
async fn a_reply_without_a_stream_is_a_reply() {
    let message = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "whole"}], "usage": {"input_tokens": 3, "output_tokens": 4}});
    let server = Server::start(vec![Reply::status(200, &message.to_string())]);
    let usage = Usage {
        input_tokens: Some(3),
        output_tokens: Some(4),
        ..Usage::default()
    };
    assert_eq!(
        ask(&client(&server), hello()).await,
        [
            Delta::Text("whole".to_owned()),
            Delta::Block(ContentBlock::text("whole")),
            Delta::Finished {
                stop_reason: StopReason::EndTurn,
                usage
            },
        ]
    );
}

#[tokio::test]
async fn a_server_that_refuses_cache_marks_gets_none_from_then_on() {
    let refusal = "messages.0.content.0.cache_control: Extra inputs are not permitted";
    let server = Server::start(vec![
        Reply::error(400, "invalid_request_error", refusal),
        Reply::text("a"),
        Reply::text("b"),
    ]);
    let model = client(&server);
    assert_eq!(
        blocks(&ask(&model, hello()).await),
        [ContentBlock::text("a")]
    );
    assert_eq!(
        blocks(&ask(&model, hello()).await),
        [ContentBlock::text("b")]
    );
    let marks: Vec<usize> = server
        .requests()
        .iter()
        .map(|request| request.raw.matches("cache_control").count())
        .collect();
    assert_eq!(marks, [2, 0, 0]);
}

#[tokio::test]
async fn less_output_is_asked_for_where_that_is_enough() {
    let refusal = |room: u64| {
        let text = format!(
            "input length and `max_tokens` exceed context limit: {} + 8192 > 200000, decrease input length",
            200_000 - room
        );
        Reply::error(400, "invalid_request_error", &text)
    };
    let server = Server::start(vec![refusal(5_000), Reply::text("a"), refusal(500)]);
    let model = client(&server);
    assert_eq!(
        blocks(&ask(&model, hello()).await),
        [ContentBlock::text("a")]
    );
    let error = failure(&ask(&model, hello()).await);
    let ModelError::PromptTooLong { tokens, window, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!((tokens, window), (Some(199_500), Some(200_000)));
    let asked: Vec<Value> = server
        .requests()
        .iter()
        .map(|request| request.body["max_tokens"].clone())
        .collect();
    assert_eq!(asked, [8_192, 5_000, 8_192]);
}
