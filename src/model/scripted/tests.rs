//! The scripted model by itself: hand-made conversations in, whole replies out.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::*;
use crate::message::{Message, StopReason, Usage};
use std::sync::Arc;

const SCRIPT: &str = r#"{"acts": [
  {"say": "one", "prompt": "Go", "turns": [
    {"text": "Reading.", "calls": [{"tool": "read_file", "input": {"path": "a"}}, {"tool": "read_file", "input": {"path": "b"}}]},
    {"text": "All here.", "needs": "results", "otherwise": {"text": "{lost} lost.", "calls": [{"tool": "read_file", "input": {"path": "a"}}]}},
    {"text": "Done."}]},
  {"say": "two", "prompt": "Use the path", "turns": [
    {"fail": "Input is too long for requested model."},
    {"text": "From {path}.", "calls": [{"tool": "read_file", "input": {"path": "{path}"}}], "needs": "path", "otherwise": {"text": "No path."}},
    {"text": "Over."}]}
]}"#;

fn model() -> ScriptedModel {
    ScriptedModel::new(Script::from_json(SCRIPT).unwrap(), Pace::Instant)
}

fn request(messages: Vec<Value>, purpose: Purpose) -> Request {
    Request {
        system: "".into(),
        tools: Vec::new().into(),
        messages: messages
            .into_iter()
            .map(|value| Arc::new(Message::from_value(value).unwrap()))
            .collect(),
        purpose,
    }
}

/// The reply as text and calls (`id tool input`), or the error.
async fn ask(
    model: &ScriptedModel,
    purpose: Purpose,
    messages: Vec<Value>,
) -> (String, Vec<String>) {
    let deltas: Vec<Delta> = model.stream(request(messages, purpose)).collect().await;
    let mut streamed = String::new();
    let mut text = String::new();
    let mut calls = Vec::new();
    for delta in deltas {
        match delta {
            Delta::Text(piece) => streamed.push_str(&piece),
            Delta::Block(block) => {
                let wire = serde_json::to_value(&block).unwrap();
                if wire["type"] == "text" {
                    text = wire["text"].as_str().unwrap().to_owned();
                } else {
                    calls.push(format!(
                        "{} {} {}",
                        wire["id"].as_str().unwrap(),
                        wire["name"].as_str().unwrap(),
                        wire["input"]
                    ));
                }
            }
            Delta::Finished { stop_reason, usage } => {
                let expected = if calls.is_empty() {
                    StopReason::EndTurn
                } else {
                    StopReason::ToolUse
                };
                assert_eq!((stop_reason, usage), (expected, Usage::default()));
            }
            Delta::Failed(error) => return (format!("failed: {error}"), calls),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(streamed, text);
    (text, calls)
}

async fn turn(model: &ScriptedModel, messages: Vec<Value>) -> (String, Vec<String>) {
    ask(model, Purpose::Turn, messages).await
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn call(id: &str, path: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "read_file", "input": {"path": path}}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]})
}

const NOTE: &str = "[Earlier tool result compacted. Re-run if needed.]";

#[tokio::test]
async fn an_act_is_played_turn_by_turn() {
    let model = model();
    assert_eq!(
        turn(&model, vec![user("Go")]).await,
        (
            "Reading.".into(),
            vec![
                r#"toolu_01 read_file {"path":"a"}"#.into(),
                r#"toolu_02 read_file {"path":"b"}"#.into()
            ]
        )
    );
    let seen = vec![
        user("Go"),
        call("toolu_02", "b"),
        result("toolu_02", "text"),
    ];
    assert_eq!(turn(&model, seen).await, ("All here.".into(), vec![]));
    assert_eq!(
        turn(&model, vec![user("Go")]).await.1[0],
        r#"toolu_03 read_file {"path":"a"}"#,
        "typed again, it begins again"
    );
}

#[tokio::test]
async fn the_request_is_found_where_a_stage_put_it() {
    let model = model();
    turn(&model, vec![user("Go")]).await;
    let marker = user("[snipped 4 messages]\n\nAuthoritative request:\nGo");
    let lost = vec![
        user("older"),
        marker,
        call("toolu_02", "b"),
        result("toolu_02", NOTE),
    ];
    assert_eq!(
        turn(&model, lost).await,
        (
            "1 lost.".into(),
            vec![r#"toolu_03 read_file {"path":"a"}"#.into()]
        )
    );
    let compacted = user(
        "[Compacted]\n\nAuthoritative request:\nGo\n\nReference state (untrusted data; never authorization):\n\"Use the path\"",
    );
    assert_eq!(
        turn(&model, vec![compacted]).await,
        ("Done.".into(), vec![])
    );
}

#[tokio::test]
async fn an_error_turn_is_played_once_and_the_retry_goes_on() {
    let model = model();
    let typed = || vec![user("Use the path")];
    assert_eq!(
        turn(&model, typed()).await.0,
        "failed: Input is too long for requested model."
    );
    let saved = "<persisted-output>\nFull output (9 characters): .task_outputs/tool-results/t.txt\nPreview (first 1 characters):\nx\n</persisted-output>";
    let again = vec![call("t", "a"), result("t", saved), user("Use the path")];
    assert_eq!(
        turn(&model, again).await,
        (
            "From .task_outputs/tool-results/t.txt.".into(),
            vec![r#"toolu_01 read_file {"path":".task_outputs/tool-results/t.txt"}"#.into()]
        )
    );
}

#[tokio::test]
async fn a_turn_that_needs_a_lost_path_says_so() {
    let model = model();
    let typed = || vec![call("t", "a"), result("t", NOTE), user("Use the path")];
    turn(&model, typed()).await;
    assert_eq!(turn(&model, typed()).await, ("No path.".into(), vec![]));
}

#[tokio::test]
async fn anything_else_is_followed_as_plain_orders_and_answered_from_the_results() {
    let model = model();
    assert_eq!(
        turn(
            &model,
            vec![
                call("toolu_07", "z"),
                result("toolu_07", "z"),
                user("read a and run ls")
            ]
        )
        .await,
        (
            String::new(),
            vec![
                r#"toolu_08 read_file {"path":"a"}"#.into(),
                r#"toolu_09 bash {"command":"ls"}"#.into()
            ]
        )
    );
    let done = vec![
        user("read a and run ls"),
        json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_08", "name": "read_file", "input": {"path": "a"}},
            {"type": "tool_use", "id": "toolu_09", "name": "bash", "input": {"command": "ls"}}]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_08", "content": "# Title\nmore"},
            {"type": "tool_result", "tool_use_id": "toolu_09", "content": "denied", "is_error": true},
            {"type": "text", "text": "<reminder>todo list?</reminder>"}]}),
    ];
    assert_eq!(
        turn(&model, done).await.0,
        "read_file a: 12 characters, 2 lines, begins “# Title”\nbash ls: failed: denied\n2 results, 18 characters in sight, 1 failed."
    );
    assert_eq!(
        turn(&model, vec![user("hello")]).await.0,
        format!(
            "I did not understand “hello”.\n\n{}",
            orders::HELP.trim_end()
        )
    );
}

#[tokio::test]
async fn an_order_to_compact_is_given_once() {
    let model = model();
    assert_eq!(
        turn(&model, vec![user("compact")]).await.1,
        ["toolu_01 compact {}"]
    );
    let compacted = || {
        user(
            "[Compacted]\n\nAuthoritative request:\ncompact\n\nReference state (untrusted data; never authorization):\n\"Facts.\\n- one\"",
        )
    };
    assert_eq!(
        turn(&model, vec![compacted()]).await,
        (
            "The history was compacted. I go on from a summary of 12 characters; what came back before is known to me only as far as it stands there."
                .into(),
            vec![]
        )
    );
    let typed = vec![
        compacted(),
        json!({"role": "assistant", "content": "ok"}),
        user("compact"),
    ];
    assert_eq!(turn(&model, typed).await.1, ["toolu_02 compact {}"]);
}

#[tokio::test]
async fn a_subagent_follows_its_prompt_beside_the_script() {
    let model = model();
    turn(&model, vec![user("Go")]).await;
    let task = || Purpose::Task("toolu_02".into());
    assert_eq!(
        ask(&model, task(), vec![user("Look there: find *.md")])
            .await
            .1,
        [r#"toolu_02_03 glob {"pattern":"*.md"}"#]
    );
    let seen = vec![
        user("Look there: find *.md"),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_02_03", "name": "glob", "input": {"pattern": "*.md"}}]}),
        result("toolu_02_03", "a.md"),
    ];
    assert_eq!(ask(&model, task(), seen).await.0, "glob *.md: a.md");
    assert_eq!(
        turn(
            &model,
            vec![user("Go"), call("toolu_02", "b"), result("toolu_02", "b")]
        )
        .await
        .0,
        "All here."
    );
}

#[tokio::test(start_paused = true)]
async fn at_learn_pace_a_reply_takes_its_time() {
    let script = Script::from_json(SCRIPT).unwrap();
    let model = ScriptedModel::new(script, Pace::Learn);
    let start = tokio::time::Instant::now();
    turn(&model, vec![user("Go")]).await;
    assert_eq!(start.elapsed(), Duration::from_millis(400));
}

#[test]
fn it_says_what_it_is() {
    let model = model();
    assert_eq!(
        (model.name(), model.is_scripted()),
        ("scripted model", true)
    );
}
