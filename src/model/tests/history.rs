//! Histories as requests: merged, paired, stripped, marked.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::wire::{self, Form, Marks};
use super::super::{Purpose, Request};
use crate::message::Message;

fn request(messages: &[Value]) -> Request {
    let parse = |value: &Value| Arc::new(Message::from_value(value.clone()).unwrap());
    Request {
        system: "be brief".into(),
        tools: [
            json!({"name": "a", "input_schema": {}}),
            json!({"name": "b", "input_schema": {}}),
        ]
        .into(),
        messages: messages.iter().map(parse).collect(),
        purpose: Purpose::Turn,
    }
}

fn form(marks: Marks) -> Form<'static> {
    Form {
        model: "m",
        max_tokens: 100,
        marks,
    }
}

/// The body as it is sent, read again.
fn body(request: &Request, form: Form<'_>) -> Value {
    serde_json::to_value(wire::body(request, form)).unwrap()
}

/// The messages as they are sent, without marks.
fn sent(messages: &[Value]) -> Value {
    body(&request(messages), form(Marks::Left))["messages"].clone()
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "bash", "input": {}})
}

fn result(id: &str, text: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": text})
}

#[test]
fn neighbours_are_one_turn_and_results_come_first() {
    assert_eq!(
        sent(&[
            user(json!("a")),
            user(json!("b")),
            assistant(json!([text("x"), call("t1")])),
            assistant(json!([call("t2")])),
            user(json!([text("before"), result("t2", "2")])),
            user(json!([result("t1", "1"), text("after")])),
        ]),
        json!([
            user(json!([text("a"), text("b")])),
            assistant(json!([text("x"), call("t1"), call("t2")])),
            user(json!([
                result("t2", "2"),
                result("t1", "1"),
                text("before"),
                text("after")
            ])),
        ])
    );
}

#[test]
fn blank_and_empty_things_are_not_sent() {
    assert_eq!(
        sent(&[
            user(json!("a")),
            assistant(json!("")),
            json!({"role": "assistant"}),
            assistant(json!([text(" \n"), text("x")])),
            user(json!([])),
            user(
                json!([text("\t"), {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}])
            ),
            json!({"role": "assistant", "content": [text("y")], "id": "msg_1", "usage": null}),
            user(json!("c")),
        ]),
        json!([
            user(json!([text("a")])),
            assistant(json!([text("x")])),
            user(json!([text("b")])),
            assistant(json!([text("y")])),
            user(json!([text("c")])),
        ])
    );
}

#[test]
fn every_call_is_answered_once() {
    let missing = json!({"type": "tool_result", "tool_use_id": "t1",
        "content": "(no result was recorded)", "is_error": true});
    assert_eq!(
        sent(&[
            user(json!("a")),
            assistant(json!([call("t1"), call("t2")])),
            user(json!([
                result("t2", "2"),
                result("t2", "again"),
                result("other", "")
            ])),
            assistant(
                json!([call("t1"), {"type": "tool_use", "id": "x.y", "name": "n n", "input": "{"}])
            ),
            user(
                json!([result("x.y", "5"), {"type": "tool_result", "tool_use_id": "t1", "content": null}])
            ),
            assistant(json!([call("t9")])),
        ]),
        json!([
            user(json!([text("a")])),
            assistant(json!([call("t1"), call("t2")])),
            user(json!([result("t2", "2"), missing, text("again")])),
            assistant(
                json!([call("t1_2"), {"type": "tool_use", "id": "x_y", "name": "n_n", "input": {}}])
            ),
            user(json!([result("x_y", "5"), {"type": "tool_result", "tool_use_id": "t1_2"}])),
            assistant(json!([call("t9")])),
            user(json!([{"type": "tool_result", "tool_use_id": "t9",
                "content": "(no result was recorded)", "is_error": true}])),
        ])
    );
}

#[test]
fn a_beginning_by_the_model_gets_one_by_the_user() {
    let start = "(the beginning of the conversation is missing)";
    assert_eq!(
        sent(&[assistant(json!("x")), user(json!("a"))]),
        json!([
            user(json!([text(start)])),
            assistant(json!([text("x")])),
            user(json!([text("a")]))
        ])
    );
}

#[test]
fn reasoning_stays_whole_and_never_ends_a_reply() {
    let thought = json!({"type": "thinking", "thinking": "", "signature": "s", "more": 1});
    assert_eq!(
        sent(&[
            user(json!("a")),
            assistant(json!([thought, text("x"), thought])),
            user(json!("b")),
            assistant(json!([thought])),
            user(json!("c")),
            assistant(json!([thought, call("t")])),
            user(json!([result("t", "1")])),
        ]),
        json!([
            user(json!([text("a")])),
            assistant(json!([thought, text("x")])),
            user(json!([text("b"), text("c")])),
            assistant(json!([thought, call("t")])),
            user(json!([result("t", "1")])),
        ])
    );
    // A reply that the server paused goes back as it came.
    let paused = [user(json!("a")), assistant(json!([text("x"), thought]))];
    assert_eq!(sent(&paused)[1], assistant(json!([text("x"), thought])));
}

#[test]
fn the_request_is_stable_and_marks_its_end() {
    let mut messages = vec![
        user(json!("a")),
        assistant(json!([call("t")])),
        user(json!([result("t", "1")])),
    ];
    let bytes = |messages: &[Value]| {
        serde_json::to_string(&wire::body(&request(messages), form(Marks::Set))).unwrap()
    };
    let first = bytes(&messages);
    assert_eq!(
        first,
        concat!(
            r#"{"model":"m","max_tokens":100,"stream":true,"#,
            r#""system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"#,
            r#""tools":[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"a"}]},"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"bash","input":{}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1","cache_control":{"type":"ephemeral"}}]}]}"#,
        )
    );
    messages.push(assistant(json!("x")));
    messages.push(user(json!("b")));
    let second = bytes(&messages);
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let (first, second) = (first.replace(mark, ""), second.replace(mark, ""));
    let common = first.trim_end_matches("]}");
    assert!(second.starts_with(common), "{second}");
}

#[test]
fn without_a_system_prompt_the_last_tool_is_marked_and_reasoning_never_is() {
    let thought = json!({"type": "thinking", "thinking": "x", "signature": "s"});
    let mut request = request(&[user(json!("a")), assistant(json!([text("x"), thought]))]);
    request.system = " ".into();
    let sent = body(&request, form(Marks::Set));
    let mark = json!({"type": "ephemeral"});
    assert_eq!(sent.get("system"), None);
    assert_eq!(sent["tools"][1]["cache_control"], mark);
    assert_eq!(sent["messages"][1]["content"][0]["cache_control"], mark);
    assert_eq!(sent.to_string().matches("cache_control").count(), 2);
    request.tools = [].into();
    request.messages.clear();
    assert_eq!(
        body(&request, form(Marks::Set)),
        json!({"model": "m", "max_tokens": 100, "stream": true, "messages": []})
    );
}
