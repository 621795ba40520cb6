//! The client against a loopback server that checks every request: conversations, errors, faults.
#![expect(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use plimsoll::message::{ContentBlock, Message, StopReason, Usage};
use plimsoll::model::{
    AnthropicModel, Delta, Endpoint, Key, Model, ModelError, Purpose, Request, Retrying, Secret,
};
use serde_json::{Value, json};
use support::reply::Reply;
use support::server::Server;

/// Whether an error is of the kind that is meant.
type Is = fn(&ModelError) -> bool;

const KEY: &str = "sk-test-0123456789";

fn endpoint(url: &str) -> Endpoint {
    Endpoint {
        base_url: url.to_owned(),
        model: "test-model".to_owned(),
        key: Some(Key::ApiKey(Secret::new(KEY))),
        max_tokens: 8_192,
        connect_timeout: Duration::from_secs(10),
        stall_timeout: Duration::from_secs(20),
        version: "2023-06-01".to_owned(),
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
async fn an_error_names_server_words_request_and_what_to_do() {
    let body = json!({"error": {"message": format!("bad\u{1b}[31m key {KEY}"), "type": "authentication_error", "code": 401}});
    let (error, text) =
        fails(Reply::status(401, &body.to_string()).header("request-id", "req_7")).await;
    assert!(matches!(error, ModelError::Auth(_)));
    assert_eq!(
        text,
        "SERVER answered 401: bad key [key] (authentication_error, request req_7); the key was sent as x-api-key; if it is right, the server may want Authorization: Bearer: set ANTHROPIC_AUTH_TOKEN instead of ANTHROPIC_API_KEY"
    );
    let (error, text) = fails(Reply::error(404, "not_found_error", "model: test-model")).await;
    assert!(matches!(error, ModelError::Rejected(_)));
    assert_eq!(
        text,
        "SERVER answered 404: model: test-model (not_found_error); the server does not know the model `test-model`: choose one that it offers with --model"
    );
    let (_, text) = fails(Reply::status(404, "")).await;
    assert_eq!(
        text,
        "SERVER answered 404: without a word; the request went to SERVER/v1/messages: is the base URL right, and does the server speak the Anthropic Messages API?"
    );
    let (error, text) = fails(Reply::status(500, &"é".repeat(600))).await;
    assert!(matches!(error, ModelError::Overloaded(_)));
    assert_eq!(
        text,
        format!(
            "SERVER answered 500: {}…; the server cannot answer now; send the request again later",
            "é".repeat(500)
        )
    );
    let (error, text) = fails(Reply::error(400, "invalid_request_error", "No.")).await;
    assert!(matches!(error, ModelError::Rejected(_)));
    assert_eq!(text, "SERVER answered 400: No. (invalid_request_error)");
    let (error, _) = fails(Reply::status(400, "")).await;
    assert!(matches!(error, ModelError::MaybeTooLong(_)));
    let (error, text) = fails(Reply::status(200, "<html>login</html>")).await;
    assert!(matches!(error, ModelError::Protocol(_)));
    assert_eq!(
        text,
        "SERVER answered with an HTML page instead of a reply: is the base URL right?"
    );
    let (error, _) = fails(Reply::status(200, "{\"hello\":1}")).await;
    assert!(matches!(error, ModelError::Protocol(_)));
    let (error, _) = fails(Reply::status(
        200,
        "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}",
    ))
    .await;
    assert!(matches!(error, ModelError::Overloaded(_)));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start(vec![Reply::text("stolen")]);
    let to = format!("{}/v1/messages?secret=1", other.url());
    let (error, text) = fails(Reply::status(307, "").header("location", &to)).await;
    assert!(matches!(error, ModelError::Rejected(_)));
    assert!(
        text.contains(&other.url()) && !text.contains("secret=1"),
        "{text}"
    );
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn captured_error_bodies_become_typed_errors() {
    let capture = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/");
        std::fs::read_to_string(format!("{folder}{name}")).unwrap()
    };
    let (error, _) = fails(Reply::status(
        400,
        &capture("llama-server/prompt_too_long_stream.json"),
    ))
    .await;
    let ModelError::PromptTooLong {
        message,
        tokens,
        window,
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!((tokens, window), (Some(40_031), Some(4_096)));
    assert!(message.contains("request (40031 tokens) exceeds the available context size"));
    let cases: [(u16, &str, Is); 9] = [
        (401, "llama-server/bad_api_key.json", |e| {
            matches!(e, ModelError::Auth(_))
        }),
        (400, "llama-server/bad_json.json", |e| {
            matches!(e, ModelError::Rejected(_))
        }),
        (404, "llama-server/unknown_path.json", |e| {
            matches!(e, ModelError::Rejected(_))
        }),
        (413, "llmock/http_413.json", |e| {
            matches!(e, ModelError::PromptTooLong { .. })
        }),
        (400, "llmock/prompt_too_long.json", |e| {
            matches!(e, ModelError::PromptTooLong { .. })
        }),
        (429, "fakellm/http_429_mock_error.json", |e| {
            matches!(e, ModelError::RateLimited(_))
        }),
        (529, "aimock/http_529.json", |e| {
            matches!(e, ModelError::Overloaded(_))
        }),
        (403, "llmock/http_403.json", |e| {
            matches!(e, ModelError::Auth(_))
        }),
        (503, "mock-ai-api/mock-503.json", |e| {
            matches!(e, ModelError::Overloaded(_))
        }),
    ];
    for (status, name, is) in cases {
        let (error, _) = fails(Reply::status(status, &capture(name))).await;
        assert!(is(&error), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn nothing_that_listens_and_no_address_are_told() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let told =
        async |base: &str| failure(&ask(&AnthropicModel::new(endpoint(base)), hello()).await);
    assert_eq!(
        told(&gone).await,
        ModelError::Network(format!("nothing listens at {gone}: is the server running?"))
    );
    assert_eq!(
        told("ftp://host").await,
        ModelError::Rejected("the base URL must begin with http:// or https://".to_owned())
    );
    assert!(matches!(told("no address").await, ModelError::Rejected(_)));
    let mut endpoint = endpoint(&gone);
    endpoint.key = Some(Key::ApiKey(Secret::new("line\nbreak")));
    assert_eq!(
        failure(&ask(&AnthropicModel::new(endpoint), hello()).await),
        ModelError::Rejected(
            "the key has characters that a header cannot hold: copy it again".to_owned()
        )
    );
}

#[tokio::test]
async fn a_secure_connection_that_fails_is_told() {
    let server = Server::start(Vec::new());
    let model = AnthropicModel::new(endpoint(&server.url().replace("http:", "https:")));
    // A system without certificates cannot even build the client; both are told, neither panics.
    match failure(&ask(&model, hello()).await) {
        ModelError::Network(text) => assert!(text.contains("https://127.0.0.1"), "{text}"),
        ModelError::Rejected(text) => assert!(text.contains("SSL_CERT_FILE"), "{text}"),
        other => panic!("{other:?}"),
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

#[tokio::test]
async fn a_busy_server_is_asked_again_and_a_half_reply_is_not() {
    let server = Server::start(vec![
        Reply::error(529, "overloaded_error", "Overloaded").header("retry-after-ms", "1"),
        Reply::text("whole"),
    ]);
    let model = Retrying::new(client(&server), 4);
    let deltas = ask(&model, hello()).await;
    let retries: Vec<_> = deltas
        .iter()
        .filter_map(|delta| match delta {
            Delta::Retrying {
                attempt,
                wait,
                reason,
            } => Some((*attempt, *wait, reason.replace(&server.url(), "SERVER"))),
            _ => None,
        })
        .collect();
    let reason = "SERVER answered 529: Overloaded (overloaded_error)".to_owned();
    assert_eq!(retries, [(1, Duration::from_millis(1), reason)]);
    assert_eq!(blocks(&deltas), [ContentBlock::text("whole")]);

    let call = json!({"type": "tool_use", "id": "t", "name": "bash", "input": {}});
    let text = json!({"type": "text", "text": "never complete"});
    let whole = Reply::message(&[call, text], "end_turn");
    let server = Server::start(vec![whole.cut_after_events(6)]);
    let deltas = ask(&Retrying::new(client(&server), 4), hello()).await;
    assert_eq!(
        blocks(&deltas),
        [ContentBlock::tool_use("t", "bash", json!({}))]
    );
    assert!(
        matches!(failure(&deltas), ModelError::Network(_)),
        "{deltas:?}"
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_ends_early_fails_with_a_text_of_its_own() {
    let (error, text) = fails(Reply::sse("event: ping\ndata: {\"type\": \"ping\"}\n\n")).await;
    assert!(matches!(error, ModelError::Protocol(_)));
    assert_eq!(
        text,
        "SERVER ended the stream before the reply was complete"
    );
    let (error, text) = fails(Reply::text("x").cut_after(100)).await;
    assert!(matches!(error, ModelError::Network(_)));
    assert!(
        text.starts_with("the connection to SERVER broke: "),
        "{text}"
    );
    let (error, text) = fails(Reply::events(&[
        json!({"type": "error", "error": {"type": "api_error", "message": format!("key {KEY} died")}}),
    ]))
    .await;
    assert!(matches!(error, ModelError::Overloaded(_)));
    assert!(
        text.starts_with("SERVER broke its reply off with an error: key [key] died (api_error)"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_falls_silent_is_given_up_and_hung_up_on() {
    for silent in [
        Reply::text("x").stall_after_events(2),
        Reply::text("x").stall_after(0),
    ] {
        let server = Server::start(vec![silent]);
        let mut endpoint = endpoint(&server.url());
        endpoint.stall_timeout = Duration::from_millis(50);
        let error = failure(&ask(&AnthropicModel::new(endpoint), hello()).await);
        let expected = format!(
            "{} sent nothing for 0.05 s; the limit is the setting stall_timeout",
            server.url()
        );
        assert_eq!(error, ModelError::Network(expected));
        assert!(server.wait_hung_up(1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_dropped_stream_closes_the_connection() {
    let server = Server::start(vec![
        Reply::text("some text that streams").stall_after_events(3),
    ]);
    let mut stream = Retrying::new(client(&server), 4).stream(hello());
    assert!(matches!(stream.next().await, Some(Delta::Text(_))));
    drop(stream);
    assert!(server.wait_hung_up(1));
}

#[tokio::test]
async fn the_key_is_in_no_form_of_the_client() {
    let endpoint = endpoint("http://user:pass@127.0.0.1:1");
    let shown = format!(
        "{endpoint:?} {:?}",
        Retrying::new(AnthropicModel::new(endpoint.clone()), 1)
    );
    assert!(!shown.contains(KEY), "{shown}");
    let error = failure(&ask(&AnthropicModel::new(endpoint), hello()).await);
    assert!(!error.to_string().contains("pass"), "{error}");
}

#[tokio::test]
async fn the_server_refuses_what_the_api_refuses() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = json!({"type": "tool_use", "id": "t", "name": "bash", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "x"});
    let user = |blocks: Value| json!({"role": "user", "content": blocks});
    let assistant = |blocks: Value| json!({"role": "assistant", "content": blocks});
    let thought = json!({"type": "thinking", "thinking": "x", "signature": "s", "cache_control": {"type": "ephemeral"}});
    let cases = [
        (json!([]), "at least one message"),
        (
            json!([assistant(json!("x")), user(json!("a"))]),
            "first message",
        ),
        (json!([user(json!(""))]), "non-empty content"),
        (json!([user(json!([text(" ")]))]), "non-whitespace"),
        (json!([user(json!("a")), assistant(json!("x"))]), "prefill"),
        (
            json!([user(json!("a")), assistant(json!([call])), user(json!("b"))]),
            "without `tool_result`",
        ),
        (
            json!([
                user(json!("a")),
                assistant(json!([call])),
                user(json!([text("b"), result]))
            ]),
            "before text",
        ),
        (json!([user(json!([result]))]), "unexpected `tool_use_id`"),
        (
            json!([
                user(json!("a")),
                assistant(json!([call])),
                user(json!([result, result]))
            ]),
            "unexpected `tool_use_id`",
        ),
        (
            json!([
                user(json!("a")),
                assistant(json!([call])),
                user(json!([result])),
                assistant(json!([call])),
                user(json!([result]))
            ]),
            "unique",
        ),
        (
            json!([
                user(json!("a")),
                assistant(json!([thought, text("x")])),
                user(json!("b"))
            ]),
            "cache_control",
        ),
        (
            json!([{"role": "user", "content": "a", "id": 1}]),
            "Extra inputs",
        ),
        (
            json!([{"role": "system", "content": "a"}]),
            "'user' or 'assistant'",
        ),
    ];
    let server = Server::start(Vec::new());
    for (messages, words) in &cases {
        let body = json!({"model": "m", "max_tokens": 1, "stream": true, "messages": messages});
        let answer = raw_post(&server, body.to_string()).await;
        assert!(
            answer.contains("HTTP/1.1 400") && answer.contains(words),
            "{words}: {answer}"
        );
    }
    assert_eq!(server.violations().len(), cases.len());
}

/// The answer to a body that the client would never send.
async fn raw_post(server: &Server, body: String) -> String {
    use std::io::{Read, Write};
    let address = server.url().replace("http://", "");
    let post = move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\ncontent-type: application/json\r\nanthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    tokio::task::spawn_blocking(post).await.unwrap()
}
