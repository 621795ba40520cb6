//! What servers do oddly and harmlessly, one test each: the reply is what was meant.

use serde_json::{Value, json};

use super::super::Delta;
use super::reader::{
    block, delta, end, finished, json_delta, read, sse, start, stop, text, text_delta, whole,
    whole_of, whole_of_raw,
};
use crate::message::{ContentBlock, StopReason, Usage};

fn empty_text() -> Value {
    json!({"type": "text", "text": ""})
}

fn call() -> Value {
    json!({"type": "tool_use", "id": "t", "name": "bash"})
}

fn called(id: &str, input: Value) -> Delta {
    Delta::Block(ContentBlock::tool_use(id, "bash", input))
}

/// The deltas of a reply that is the text "a" and nothing else.
fn only_a() -> Vec<Delta> {
    vec![
        text("a"),
        block(json!({"type": "text", "text": "a"})),
        finished(StopReason::EndTurn, None, None),
    ]
}

fn events_of_a() -> Vec<Value> {
    vec![start(0, empty_text()), text_delta(0, "a"), stop(0), end()]
}

/// The events of the text "a" with `more` put before the one at `place`.
fn a_with(place: usize, more: Vec<Value>) -> Vec<Value> {
    let mut events = events_of_a();
    events.splice(place..place, more);
    events
}

#[test]
fn events_without_names() {
    let raw = sse(&events_of_a());
    assert!(!raw.contains("event:"));
    assert_eq!(whole_of_raw(&raw), only_a());
}

#[test]
fn events_whose_type_is_only_in_their_name() {
    let mut named = String::new();
    for mut event in events_of_a() {
        let name = event.as_object_mut().unwrap().remove("type").unwrap();
        named = format!(
            "{named}event: {}\ndata: {event}\n\n",
            name.as_str().unwrap()
        );
    }
    assert_eq!(whole_of_raw(&named), only_a());
}

#[test]
fn pings_and_comments_before_the_reply_begins() {
    let waiting = ":\n\n: still reading\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n:\n\n";
    let begun = json!({"type": "message_start", "message": {}});
    let raw = format!("{waiting}{}", sse(&a_with(0, vec![begun])));
    assert_eq!(whole_of_raw(&raw), only_a());
}

#[test]
fn pings_and_comments_inside_a_block() {
    let (before, after) = (events_of_a(), events_of_a());
    let raw = format!(
        "{}:\n\ndata: {{\"type\": \"ping\"}}\n\n: x\n{}",
        sse(&before[..1]),
        sse(&after[1..])
    );
    assert_eq!(whole_of_raw(&raw), only_a());
}

#[test]
fn a_second_message_start() {
    let begun = |tokens: u64| json!({"type": "message_start", "message": {"usage": {"input_tokens": tokens}}});
    let mut expected = only_a();
    expected[2] = finished(StopReason::EndTurn, Some(7), None);
    assert_eq!(whole_of(&a_with(0, vec![begun(5), begun(7)])), expected);
    assert_eq!(whole_of(&a_with(2, vec![begun(7)])), expected);
}

#[test]
fn a_block_that_starts_at_an_index_still_open() {
    let events = [
        start(0, empty_text()),
        text_delta(0, "a"),
        start(0, call()),
        json_delta(0, "{\"b\": 1}"),
        stop(0),
        end(),
    ];
    let expected = [
        text("a"),
        block(json!({"type": "text", "text": "a"})),
        called("t", json!({"b": 1})),
        finished(StopReason::ToolUse, None, None),
    ];
    assert_eq!(whole_of(&events), expected);
}

#[test]
fn a_block_that_never_stops_or_never_starts() {
    let unstopped = [start(0, empty_text()), text_delta(0, "a"), end()];
    assert_eq!(whole_of(&unstopped), only_a());
    let unstarted = [text_delta(0, "a"), stop(0), end()];
    assert_eq!(whole_of(&unstarted), only_a());
    // What is neither text nor open belongs nowhere.
    let nowhere = vec![json_delta(7, "{}"), stop(9)];
    assert_eq!(whole_of(&a_with(1, nowhere)), only_a());
}

#[test]
fn pieces_for_another_type_than_the_blocks() {
    let odd = vec![
        json_delta(0, "{"),
        delta(0, json!({"type": "thinking_delta", "thinking": "x"})),
        delta(0, json!({"type": "signature_delta", "signature": "x"})),
        delta(0, json!({"type": "compaction_delta", "content": "x"})),
    ];
    assert_eq!(whole_of(&a_with(1, odd)), only_a());
    let call_with_text = [start(0, call()), text_delta(0, "not here"), stop(0), end()];
    assert_eq!(
        whole_of(&call_with_text),
        [
            called("t", json!({})),
            finished(StopReason::ToolUse, None, None)
        ]
    );
}

#[test]
fn a_call_without_pieces() {
    for input in [None, Some(json!({})), Some(json!(null)), Some(json!(""))] {
        let mut call = call();
        if let Some(input) = input {
            call["input"] = input;
        }
        let deltas = whole_of(&[start(0, call), stop(0), end()]);
        assert_eq!(
            deltas,
            [
                called("t", json!({})),
                finished(StopReason::ToolUse, None, None)
            ]
        );
    }
}

#[test]
fn a_call_whose_input_came_at_its_start() {
    let with = |input: Value| {
        let mut call = call();
        call["input"] = input;
        whole_of(&[start(0, call), stop(0), end()])[0].clone()
    };
    assert_eq!(with(json!({"a": 1})), called("t", json!({"a": 1})));
    assert_eq!(with(json!("{\"a\": 1}")), called("t", json!({"a": 1})));
}

#[test]
fn texts_without_a_character_that_is_seen() {
    let events = a_with(
        0,
        vec![
            start(3, empty_text()),
            stop(3),
            start(4, json!({"type": "text", "text": " \n"})),
            stop(4),
        ],
    );
    let mut expected = only_a();
    expected.insert(0, text(" \n"));
    assert_eq!(whole_of(&events), expected);
}

#[test]
fn events_after_the_end() {
    let late = vec![
        text_delta(0, "late"),
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal"}}),
        json!({"type": "error", "error": {"type": "api_error", "message": "late"}}),
    ];
    assert_eq!(whole_of(&a_with(4, late)), only_a());
    let noise = format!("{}data: {{no json\n\n", sse(&events_of_a()));
    assert_eq!(whole_of_raw(&noise), only_a());
}

#[test]
fn usage_at_the_start_at_the_end_zero_or_nowhere() {
    let usage = |at_start: Value, at_end: Value| {
        let begun = json!({"type": "message_start", "message": {"usage": at_start}});
        let ended = json!({"type": "message_delta", "delta": {}, "usage": at_end});
        match whole_of(&[begun, ended, end()]).as_slice() {
            [Delta::Finished { usage, .. }] => *usage,
            other => panic!("{other:?}"),
        }
    };
    let both = Usage {
        input_tokens: Some(5),
        output_tokens: Some(2),
        ..Usage::default()
    };
    let full = json!({"input_tokens": 5, "output_tokens": 2});
    assert_eq!(usage(full.clone(), json!(null)), both);
    assert_eq!(usage(json!(null), full.clone()), both);
    let early = json!({"input_tokens": 4, "output_tokens": 1});
    assert_eq!(usage(early, full), both, "the later figures count");
    let zero = json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0});
    assert_eq!(usage(zero.clone(), json!(null)), Usage::default());
    assert_eq!(usage(zero.clone(), zero), Usage::default());
    assert_eq!(usage(json!({}), json!("none")), Usage::default());
    // All from the cache: that is a figure.
    let cached = json!({"input_tokens": 0, "cache_read_input_tokens": 9});
    let expected = Usage {
        input_tokens: Some(0),
        cache_read_input_tokens: Some(9),
        ..Usage::default()
    };
    assert_eq!(usage(cached, json!(null)), expected);
}

#[test]
fn a_done_mark() {
    let done = format!("{}data: [DONE]\n\n", sse(&events_of_a()));
    assert_eq!(whole_of_raw(&done), only_a());
    let early = format!("data: [DONE]\n\n{}", sse(&events_of_a()));
    assert_eq!(whole_of_raw(&early), only_a());
}

#[test]
fn every_kind_of_line_end() {
    for line_end in ["\r", "\r\n"] {
        let raw = sse(&events_of_a()).replace('\n', line_end);
        assert_eq!(whole_of_raw(&raw), only_a(), "{line_end:?}");
    }
}

#[test]
fn characters_of_several_bytes_cut_anywhere() {
    let words = "é 日本語 👩‍👩‍👧 \u{10ffff}";
    let raw = sse(&[start(0, empty_text()), text_delta(0, words), stop(0), end()]);
    let expected = [
        text(words),
        block(json!({"type": "text", "text": words})),
        finished(StopReason::EndTurn, None, None),
    ];
    for at in 1..raw.len() {
        let pieces = super::reader::read_cut(raw.as_bytes(), at);
        assert_eq!(whole(pieces), expected, "cut at {at}");
    }
}

#[test]
fn an_event_of_several_megabytes() {
    let huge = "é".repeat(2_500_000);
    let raw = sse(&[
        start(0, json!({"type": "text", "text": huge})),
        stop(0),
        end(),
    ]);
    let expected = [
        text(&huge),
        block(json!({"type": "text", "text": huge})),
        finished(StopReason::EndTurn, None, None),
    ];
    for size in [1_000, raw.len()] {
        // Not `assert_eq`: a failure would print megabytes.
        assert!(whole(read(raw.as_bytes(), size)) == expected, "by {size}");
    }
}

#[test]
fn unknown_events_pieces_and_fields() {
    let odd = vec![
        json!({"type": "something_new", "x": [1]}),
        delta(0, json!({"type": "unknown_delta", "text": "x"})),
        json!({"type": "content_block_delta", "index": 0}),
        json!([1, 2]),
        json!("text"),
    ];
    assert_eq!(whole_of(&a_with(1, odd)), only_a());
}

#[test]
fn unknown_and_signed_blocks_are_kept_whole() {
    let events = [
        start(1, json!({"z": 1, "type": "new_block", "a": {"y": [2]}})),
        stop(1),
        start(2, json!({"type": "redacted_thinking", "data": "xyz"})),
        stop(2),
        start(
            3,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(3, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(3),
        start(5, json!({"type": "compaction", "content": null})),
        delta(5, json!({"type": "compaction_delta", "content": "short"})),
        stop(5),
        start(
            6,
            json!({"type": "server_tool_use", "id": "s", "name": "web", "input": {}}),
        ),
        json_delta(6, "{\"q\":1}"),
        stop(6),
        end(),
    ];
    let expected = [
        block(json!({"z": 1, "type": "new_block", "a": {"y": [2]}})),
        block(json!({"type": "redacted_thinking", "data": "xyz"})),
        block(json!({"type": "thinking", "thinking": "", "signature": "c2ln"})),
        block(json!({"type": "compaction", "content": "short"})),
        block(json!({"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": 1}})),
        finished(StopReason::EndTurn, None, None),
    ];
    assert_eq!(whole_of(&events), expected);
}

#[test]
fn citations_are_collected() {
    let cite = |n: u32| delta(4, json!({"type": "citations_delta", "citation": {"n": n}}));
    let events = [
        start(4, json!({"type": "text", "text": "", "citations": null})),
        text_delta(4, "x"),
        cite(1),
        cite(2),
        stop(4),
        end(),
    ];
    let cited = json!({"type": "text", "text": "x", "citations": [{"n": 1}, {"n": 2}]});
    assert_eq!(
        whole_of(&events),
        [
            text("x"),
            block(cited),
            finished(StopReason::EndTurn, None, None)
        ]
    );
}

#[test]
fn ids_used_before_twice_odd_or_missing() {
    let with = |at: u32, id: Value| {
        let mut call = call();
        call["id"] = id;
        [start(at, call), stop(at)]
    };
    let mut events = [
        with(0, json!("toolu_old")),
        with(1, json!("toolu_old")),
        with(2, json!("a.b:c")),
        with(3, json!(null)),
    ]
    .concat();
    events.push(end());
    let ids = ["toolu_old_2", "toolu_old_3", "a_b_c", "call"];
    let mut expected: Vec<Delta> = ids.iter().map(|id| called(id, json!({}))).collect();
    expected.push(finished(StopReason::ToolUse, None, None));
    assert_eq!(whole_of(&events), expected);
}

#[test]
fn a_name_that_no_tool_can_have() {
    let named = |name: Value| {
        let call = json!({"type": "tool_use", "id": "t", "name": name});
        match &whole_of(&[start(0, call), stop(0), end()])[0] {
            Delta::Block(block) => block.fields()["name"].clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(named(json!("my tool")), "my_tool");
    assert_eq!(named(json!(null)), "unnamed");
    assert_eq!(named(json!("é".repeat(99))), "_".repeat(64));
}

#[test]
fn a_reply_without_any_block() {
    let cut = json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}});
    assert_eq!(
        whole_of(&[cut, end()]),
        [finished(StopReason::MaxTokens, None, None)]
    );
    assert_eq!(
        whole_of(&[end()]),
        [finished(StopReason::EndTurn, None, None)]
    );
}

#[test]
fn several_message_deltas_of_which_one_has_the_reason() {
    let reason = |reason: Value| json!({"type": "message_delta", "delta": {"stop_reason": reason}});
    let events = [
        reason(json!("stop_sequence")),
        reason(json!(null)),
        json!({"type": "message_delta", "usage": {"output_tokens": 3}}),
        end(),
    ];
    assert_eq!(
        whole_of(&events),
        [finished(StopReason::StopSequence, None, Some(3))]
    );
}
