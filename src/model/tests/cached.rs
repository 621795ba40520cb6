//! What a prompt cache needs: a request begins with the bytes of the one before.
//!
//! While no stage fires the conversation only grows. Then, with the moved mark taken out, all of a request up to the end of
//! its newest block must stand at the start of the next one, byte for byte. The fields before the tools are not compared by
//! caches, but they are the same too.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::wire::{Form, Marks, body, call_ids};
use super::super::{Purpose, Request};
use crate::message::Message;

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
/// What closes the newest block's list, the message, the list of messages and the request.
const TAIL: &str = "]}]}";

fn sent(messages: &[Arc<Message>]) -> String {
    let request = Request {
        system: "be brief".into(),
        tools: [json!({"name": "bash", "input_schema": {"type": "object"}})].into(),
        messages: messages.to_vec(),
        purpose: Purpose::Turn,
    };
    let form = Form {
        model: "m",
        max_tokens: 100,
        marks: Marks::Set,
    };
    serde_json::to_string(&body(&request, form)).unwrap()
}

/// What a reply and the answer to it add: a call with its result, or a text with the next request; reasoning before it,
/// and a reminder of the program's own behind it.
fn step() -> impl Strategy<Value = (bool, bool, bool, String)> {
    let text = prop::sample::select(vec!["a", "é\n", "\"cache_control\"", "]}]}", "日本"]);
    (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        text.prop_map(ToOwned::to_owned),
    )
}

fn grow(
    messages: &mut Vec<Arc<Message>>,
    (calls, thinks, reminds, text): &(bool, bool, bool, String),
) {
    let mut reply = Vec::new();
    if *thinks {
        reply.push(json!({"type": "thinking", "thinking": text, "signature": "s"}));
    }
    let mut answer = Vec::new();
    if *calls {
        let id = format!("t{}", call_ids(messages).len());
        reply.push(
            json!({"type": "tool_use", "id": id, "name": "bash", "input": {"z": text, "a": 1}}),
        );
        answer.push(json!({"type": "tool_result", "tool_use_id": id, "content": text}));
    } else {
        reply.push(json!({"type": "text", "text": text}));
    }
    if *reminds || !*calls {
        answer.push(json!({"type": "text", "text": text}));
    }
    for message in [
        json!({"role": "assistant", "content": reply}),
        json!({"role": "user", "content": answer}),
    ] {
        messages.push(Arc::new(Message::from_value(message).unwrap()));
    }
}

/// The part of a request that the next one must begin with.
fn kept(request: &str) -> &str {
    request.strip_suffix(TAIL).unwrap()
}

fn unmarked(request: &str) -> String {
    request.replace(MARK, "")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_request_begins_with_the_bytes_of_the_one_before(steps in prop::collection::vec(step(), 1..10)) {
        let mut messages = vec![Arc::new(Message::user("begin"))];
        let mut before = sent(&messages);
        for step in &steps {
            grow(&mut messages, step);
            let now = sent(&messages);
            let plain = unmarked(&before);
            prop_assert!(unmarked(&now).starts_with(kept(&plain)), "{before}\n{now}");
            // The mark of the system prompt stays where it is; the other one moves to the newest block.
            let system = before.find("\"messages\"").unwrap();
            prop_assert_eq!(&now[..system], &before[..system]);
            prop_assert_eq!(now.matches(MARK).count(), 2);
            prop_assert!(now.ends_with(&format!("{MARK}}}{TAIL}")), "{now}");
            // The same messages again are the same bytes.
            prop_assert_eq!(&sent(&messages), &now);
            before = now;
        }
    }
}

#[test]
fn a_changed_old_message_is_what_breaks_it() {
    let mut messages = vec![Arc::new(Message::user("begin"))];
    for _ in 0..3 {
        grow(&mut messages, &(true, false, false, "long".to_owned()));
    }
    let before = unmarked(&sent(&messages));
    let rewritten: Value = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t0", "content": "short"}]});
    messages[2] = Arc::new(Message::from_value(rewritten).unwrap());
    grow(&mut messages, &(true, false, false, "long".to_owned()));
    assert!(!unmarked(&sent(&messages)).starts_with(kept(&before)));
}
