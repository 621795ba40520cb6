//! The loopback server itself: it refuses what the API refuses.

use serde_json::{Value, json};

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
