//! The loopback server itself: it refuses what the API refuses.

use serde_json::{Value, json};

use super::support::reply::Reply;
use super::support::server::Server;

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

#[tokio::test]
async fn the_server_refuses_requests_of_another_form() {
    let server = Server::start(Vec::new());
    let message = json!([{"role": "user", "content": "a"}]);
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    let mark = json!({"type": "ephemeral"});
    let marked = json!({"type": "text", "text": "x", "cache_control": mark});
    let cases = [
        (json!({"temperature": 1}), "temperature"),
        (json!({"n_predict": 1}), "n_predict: Extra inputs"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"stream": false}), "stream"),
        (json!({"model": null}), "model: Field required"),
        (
            json!({"system": [{"type": "text", "text": " "}]}),
            "system: text content",
        ),
        (json!({"tools": [tool("a b")]}), "tools.0.name"),
        (json!({"tools": [tool("a"), tool("a")]}), "must be unique"),
        (
            json!({"tools": [{"name": "a", "input_schema": {}}]}),
            "input_schema.type",
        ),
        (
            json!({"messages": [{"role": "user", "content": [marked, marked, marked, marked, marked]}]}),
            "A maximum of 4 blocks",
        ),
        (
            json!({"messages": [{"role": "user", "content": "x".repeat(33 * 1024 * 1024)}]}),
            "maximum size",
        ),
    ];
    for (fields, words) in &cases {
        let mut body = json!({"model": "m", "max_tokens": 1, "stream": true, "messages": message});
        for (key, value) in fields.as_object().unwrap() {
            body[key] = value.clone();
        }
        let answer = raw_post(&server, body.to_string()).await;
        assert!(
            answer.contains("HTTP/1.1 400") && answer.contains(words),
            "{words}: {answer}"
        );
    }
    assert_eq!(server.violations().len(), cases.len());
}

#[tokio::test]
async fn the_server_knows_the_reasoning_that_it_gave() {
    let thought = json!({"type": "thinking", "thinking": "x", "signature": "c2ln"});
    let call = json!({"type": "tool_use", "id": "t", "name": "bash", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "1"});
    let text = json!({"type": "text", "text": "so"});
    let user = |blocks: Value| json!({"role": "user", "content": blocks});
    let assistant = |blocks: Value| json!({"role": "assistant", "content": blocks});
    let other = json!({"type": "thinking", "thinking": "y", "signature": "c2ln"});
    let first = json!([user(json!("a"))]);
    let with = |reply: Value| json!([user(json!("a")), assistant(reply), user(json!([result]))]);
    let server = Server::start(vec![
        Reply::message(&[thought.clone(), call.clone()], "tool_use"),
        Reply::message(&[thought.clone(), text.clone()], "pause_turn"),
        Reply::text("goes on"),
    ]);
    let post = async |messages: Value| {
        let body = json!({"model": "m", "max_tokens": 1, "stream": true, "messages": messages});
        raw_post(&server, body.to_string()).await
    };
    assert!(post(first).await.contains("HTTP/1.1 200"));
    for changed in [
        json!([call]),
        json!([other, call]),
        json!([call, thought, other, text]),
    ] {
        let answer = post(with(changed)).await;
        assert!(answer.contains("cannot be modified"), "{answer}");
    }
    assert!(
        post(with(json!([thought, call])))
            .await
            .contains("HTTP/1.1 200")
    );
    // That one was a pause: it goes back as it came, and as nothing else.
    let mut paused = with(json!([thought, call]));
    paused
        .as_array_mut()
        .unwrap()
        .push(assistant(json!([text])));
    let answer = post(paused.clone()).await;
    assert!(answer.contains("sent again as it came"), "{answer}");
    paused[3] = assistant(json!([thought, text]));
    assert!(post(paused).await.contains("HTTP/1.1 200"));
    assert_eq!(server.violations().len(), 4);
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
