//! Histories for tests: builders, random valid ones, and the check of a strict server.

use std::sync::Arc;

use plimsoll::context::{
    History, Input, KeepUnread, Limits, MicroWhen, Outcome, Pause, Rewrite, Saved, Stage, apply,
};
use plimsoll::message::{BlockKind, Content, ContentBlock, Message, Role};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A user message that asks.
pub(crate) fn ask(history: &mut History, text: &str) {
    history.push_request(text.to_owned());
}

/// A reply with one `read_file` call for each of `ids`.
pub(crate) fn call(history: &mut History, ids: &[&str]) {
    let blocks = ids
        .iter()
        .map(|id| ContentBlock::tool_use(*id, "read_file", json!({"path": format!("{id}.md")})))
        .collect();
    history.push(Arc::new(Message::assistant(blocks)));
}

/// A user message with results.
pub(crate) fn answer(history: &mut History, results: &[(&str, &str)]) {
    let blocks = results
        .iter()
        .map(|(id, text)| ContentBlock::tool_result(*id, *text))
        .collect();
    history.push(Arc::new(Message::user_blocks(blocks)));
}

/// A reply of text.
pub(crate) fn say(history: &mut History, text: &str) {
    history.push(Arc::new(Message::assistant(vec![ContentBlock::text(text)])));
}

/// What `stage` would do, without a pause.
pub(crate) fn outcome(stage: Stage, history: &History, saved: &Saved, limits: &Limits) -> Outcome {
    let input = Input {
        history,
        saved,
        limits,
        pause: Pause::default(),
    };
    apply(stage, &input)
}

/// What `stage` does; panics if it does nothing.
pub(crate) fn fired(stage: Stage, history: &History, limits: &Limits) -> Rewrite {
    match outcome(stage, history, &Saved::default(), limits) {
        Outcome::Rewritten(rewrite) => rewrite,
        other => panic!("{} did nothing: {other:?}", stage.name()),
    }
}

/// The text of result `block` of message `index`.
pub(crate) fn result_text(history: &History, index: usize, block: usize) -> &str {
    let content = &history.items[index].message.blocks()[block].fields()["content"];
    content.as_str().unwrap()
}

/// What a strict server would say against the messages; `None` if it takes them.
pub(crate) fn invalid(history: &History) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for (index, message) in history.messages().enumerate() {
        if index == 0 && message.role() != Role::User {
            return Some("the first message is not the user's".to_owned());
        }
        if message.role() == Role::Assistant && !open.is_empty() {
            return Some(format!("m{index}: {open:?} not answered"));
        }
        match message.content() {
            Content::Text(text) if text.is_empty() => return Some(format!("m{index} is empty")),
            Content::Blocks(blocks) if blocks.is_empty() => {
                return Some(format!("m{index} is empty"));
            }
            Content::Text(_) | Content::Blocks(_) | Content::Absent => {}
        }
        for block in message.blocks() {
            match block.kind() {
                BlockKind::Text("") => return Some(format!("m{index} has an empty text")),
                BlockKind::ToolUse { id, .. } => open.push(id.to_owned()),
                BlockKind::ToolResult { tool_use_id, .. } => {
                    let Some(at) = open.iter().position(|id| id == tool_use_id) else {
                        return Some(format!("m{index}: {tool_use_id} answers no call"));
                    };
                    open.remove(at);
                }
                BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Other(_) => {}
            }
        }
    }
    (!open.is_empty()).then(|| format!("{open:?} not answered at the end"))
}

/// Any text: plain, with quotes and escapes, wide, and of what looks like the program's own words.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{1,30}",
        2 => "['\"\\\\\n\ta-z]{1,40}",
        2 => "[é─漢👩\u{200d}💻\u{7f}\u{feff}\u{e000}]{1,40}",
        1 => any::<String>().prop_map(|text| format!("x{text}")),
        1 => Just("[snipped 9 messages]".to_owned()),
        1 => Just("[Earlier tool result compacted. Re-run if needed.]".to_owned()),
        1 => (0..400_usize).prop_map(|n| "漢".repeat(n + 1)),
        1 => (0..400_usize).prop_map(|n| format!(
            "<persisted-output>\nFull output (9 characters): .task_outputs/tool-results/t.txt\nPreview (first {n} characters):\n{}\n</persisted-output>",
            "p".repeat(n)
        )),
    ]
}

/// The content of a result, of any form that the API has.
fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => text().prop_map(Value::from),
        4 => (0..900_usize).prop_map(|n| Value::from("r".repeat(n))),
        1 => Just(Value::Null),
        1 => Just(json!([])),
        1 => (text(), text()).prop_map(|(a, b)| json!([{"type": "text", "text": a}, {"type": "text", "text": b}])),
        1 => Just(json!([{"type": "tool_reference", "tool_name": "x".repeat(200)}])),
        1 => text().prop_map(|text| json!([{"type": "text", "text": text},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}])),
    ]
}

#[derive(Clone, Debug)]
enum Part {
    Ask(String, bool),
    Say(String),
    /// Results, and how many of them stand in a message of their own.
    Batch(Vec<Value>, usize, bool),
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        2 => (text(), any::<bool>()).prop_map(|(text, blocks)| Part::Ask(text, blocks)),
        1 => text().prop_map(Part::Say),
        5 => (prop::collection::vec(content(), 1..5), 0..3_usize, any::<bool>())
            .prop_map(|(results, split, thinks)| Part::Batch(results, split, thinks)),
    ]
}

/// Valid histories with their state: parallel calls, batches in two messages, odd blocks, any text.
pub(crate) fn history() -> impl Strategy<Value = History> {
    let known = prop_oneof![3 => Just(true), 1 => Just(false)];
    (
        text(),
        prop::collection::vec(part(), 0..24),
        known,
        any::<bool>(),
    )
        .prop_map(|(first, parts, known, lost)| {
            let mut history = History::new();
            ask(&mut history, &first);
            for (number, part) in parts.into_iter().enumerate() {
                add(&mut history, number, part);
            }
            if !known {
                history.request_at = None;
            }
            history.lost_unread = lost;
            history
        })
}

fn add(history: &mut History, number: usize, part: Part) {
    match part {
        Part::Ask(text, false) => ask(history, &text),
        Part::Ask(text, true) => {
            history.push(Arc::new(Message::user_blocks(vec![ContentBlock::text(
                text.clone(),
            )])));
            history.request = Some(text);
            history.request_at = Some(history.len() - 1);
        }
        Part::Say(text) => say(history, &text),
        Part::Batch(results, split, thinks) => {
            let id = |at: usize| format!("call/{number}_{at}");
            let mut blocks: Vec<Value> = (0..results.len())
                .map(|at| json!({"type": "tool_use", "id": id(at), "name": "bash", "input": {"command": "ls 'x'"}}))
                .collect();
            if thinks {
                blocks.insert(
                    0,
                    json!({"type": "thinking", "thinking": "", "signature": "c2ln"}),
                );
                blocks.push(json!({"type": "odd_block", "z": [1.5, null], "a": {"b": false}}));
            }
            push(
                history,
                json!({"role": "assistant", "content": blocks, "model": "m"}),
            );
            let answers: Vec<Value> = results
                .into_iter()
                .enumerate()
                .map(|(at, content)| json!({"type": "tool_result", "tool_use_id": id(at), "content": content, "is_error": at == 1}))
                .collect();
            let (one, two) = answers.split_at(split.min(answers.len()));
            for answers in [one, two] {
                if !answers.is_empty() {
                    push(history, json!({"role": "user", "content": answers}));
                }
            }
        }
    }
}

fn push(history: &mut History, wire: Value) {
    history.push(Arc::new(Message::from_value(wire).unwrap()));
}

/// Small numbers with guards on, so that every stage gets to act on a small history.
pub(crate) fn limits() -> impl Strategy<Value = Limits> {
    let budget = (100..1_500_usize, 60..500_usize, 0..60_usize, 0..60_usize);
    let snip = (prop_oneof![Just(0), 6..16_usize], 0..4_usize, 1..12_usize);
    let micro = (
        0..5_usize,
        0..150_usize,
        any::<bool>(),
        any::<bool>(),
        0.1..0.9_f64,
    );
    let fit = (
        prop_oneof![
            Just(KeepUnread::Off),
            Just(KeepUnread::AfterLoss),
            Just(KeepUnread::Always)
        ],
        300..6_000_usize,
        0.1..0.9_f64,
        0..7_usize,
    );
    (budget, snip, micro, fit).prop_map(|(budget, snip, micro, fit)| Limits {
        guards: true,
        keep_unread: fit.0,
        context_limit: fit.1,
        budget_max: budget.0,
        persist_threshold: budget.1,
        preview_chars: budget.2,
        fit_share: fit.2,
        fit_preview_chars: budget.3,
        max_messages: snip.0,
        keep_head: snip.1,
        keep_tail: snip.2,
        micro_when: if micro.2 {
            MicroWhen::OverLimit
        } else {
            MicroWhen::Always
        },
        micro_target: micro.4,
        keep_recent: micro.0,
        placeholder_min: micro.1,
        recoverable: micro.3,
        reactive_keep: fit.3,
        ..Limits::default()
    })
}
