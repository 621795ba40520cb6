//! Streams made by chance: whatever blocks, line ends and noise, and wherever they are cut, the same message comes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::Delta;
use super::reader::{
    delta, end, events_of_chunks, json_delta, read, read_list, start, stop, text_delta, whole,
};
use crate::message::{ContentBlock, StopReason};

/// A reply, and the way in which it is sent.
#[derive(Clone, Debug)]
struct Stream {
    blocks: Vec<Value>,
    raw: String,
}

fn words() -> impl Strategy<Value = String> {
    // Line ends of all kinds, quotes and characters of several bytes.
    let piece = prop::sample::select(vec![
        "a",
        "bc ",
        "\n",
        "\r",
        "\r\n",
        "\"",
        "\\",
        "é",
        "日本語",
        "👩‍👩‍👧",
        "\u{feff}",
        "data: ",
        ":",
        "\0",
        "{}",
    ]);
    prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        words()
            .prop_filter("blank text is left out", |text| !text.trim().is_empty())
            .prop_map(|text| json!({"type": "text", "text": text})),
        (words(), words()).prop_map(|(thinking, signature)| {
            json!({"type": "thinking", "thinking": thinking, "signature": signature})
        }),
        (words(), words(), any::<i32>()).prop_map(|(key, value, number)| {
            json!({"type": "tool_use", "name": "bash", "input": {key: value, "n": [number, null]}})
        }),
        words().prop_map(|text| json!({"type": "new_kind", "x": {"y": text}})),
    ]
}

/// `text` in pieces of `size` characters.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// The events of the block `at`, in pieces of `size` characters.
fn events_of(at: u32, block: &Value, size: usize) -> Vec<Value> {
    let mut begun = block.clone();
    let mut between = Vec::new();
    let field = |name: &str| block[name].as_str().unwrap_or_default();
    match field("type") {
        "text" => {
            begun["text"] = json!("");
            between.extend(
                pieces(field("text"), size)
                    .iter()
                    .map(|text| text_delta(at, text)),
            );
        }
        "thinking" => {
            begun["thinking"] = json!("");
            begun["signature"] = json!("");
            between.extend(
                pieces(field("thinking"), size)
                    .into_iter()
                    .map(|piece| delta(at, json!({"type": "thinking_delta", "thinking": piece}))),
            );
            let signature = field("signature");
            between.push(delta(
                at,
                json!({"type": "signature_delta", "signature": signature}),
            ));
        }
        "tool_use" => {
            begun["input"] = json!({});
            let input = block["input"].to_string();
            between.extend(pieces(&input, size).iter().map(|json| json_delta(at, json)));
        }
        _ => {}
    }
    [vec![start(at, begun)], between, vec![stop(at)]].concat()
}

prop_compose! {
    fn stream()(
        mut blocks in prop::collection::vec(block(), 0..5),
        size in 1_usize..9,
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        noise in prop::sample::select(vec!["", ":\n\n", ": wait\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n", "data: [DONE]\n\n", "id: 7\nretry: 9\n"]),
        named in any::<bool>(),
    ) -> Stream {
        for (at, block) in blocks.iter_mut().enumerate() {
            if block["type"] == "tool_use" {
                block["id"] = json!(format!("toolu_{at}"));
            }
        }
        let mut events = vec![json!({"type": "message_start", "message": {}})];
        for (at, block) in (0..).zip(&blocks) {
            events.extend(events_of(at, block, size));
        }
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
        events.push(end());
        let line = |event: &Value| {
            let name = if named { format!("event: {}\n", event["type"].as_str().unwrap()) } else { String::new() };
            format!("{noise}{name}data: {event}\n\n")
        };
        let raw = events.iter().map(line).collect::<String>().replace('\n', line_end);
        Stream { blocks, raw }
    }
}

/// The message of a stream: its blocks and why it ended, and what was shown meanwhile.
fn message(deltas: &[Delta]) -> (Vec<Value>, String, Option<StopReason>) {
    let (mut blocks, mut shown, mut reason) = (Vec::new(), String::new(), None);
    for delta in deltas {
        match delta {
            Delta::Block(block) => blocks.push(Value::Object(block.fields().clone())),
            Delta::Text(text) | Delta::Thinking(text) => shown.push_str(text),
            Delta::Finished { stop_reason, .. } => reason = Some(stop_reason.clone()),
            Delta::BrokenCall { .. } | Delta::Retrying { .. } | Delta::Failed(_) => {
                panic!("{delta:?}")
            }
        }
    }
    (blocks, shown, reason)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_stream_is_its_message_wherever_it_is_cut(stream in stream(), sizes in prop::collection::vec(1_usize..40, 1..20)) {
        let raw = stream.raw.as_bytes();
        let deltas = whole(read(raw, raw.len()));
        let (blocks, shown, reason) = message(&deltas);
        let expected: Vec<Value> = stream
            .blocks
            .iter()
            .map(|block| Value::Object(ContentBlock::from_value(block.clone()).unwrap().fields().clone()))
            .collect();
        prop_assert_eq!(&blocks, &expected);
        let said = |block: &Value| ["text", "thinking"].map(|key| block[key].as_str().unwrap_or_default().to_owned()).concat();
        prop_assert_eq!(shown, stream.blocks.iter().map(said).collect::<String>());
        prop_assert_eq!(reason, Some(StopReason::EndTurn));
        prop_assert_eq!(&whole(read(raw, 1)), &deltas);
        let events = events_of_chunks(&[raw]);
        for at in 1..raw.len() {
            // The message is made of the events alone, so the same events are the same message.
            let (before, behind) = raw.split_at(at);
            prop_assert!(events_of_chunks(&[before, behind]) == events, "cut at {}", at);
        }
        let mut rest = raw;
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, behind) = rest.split_at(rest.len().min(*size));
            chunks.push(Ok(chunk.to_vec()));
            rest = behind;
        }
        prop_assert_eq!(&whole(read_list(chunks)), &deltas);
    }
}
