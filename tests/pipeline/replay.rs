//! The three forms of a recording, what is wrong with others, and the report.

use plimsoll::context::{History, Limits, Profile};
use plimsoll::replay::Recording;
use serde_json::json;

fn error(text: &str) -> String {
    Recording::parse(text).unwrap_err().to_string()
}

#[test]
fn the_three_forms_are_one() {
    let list = r#"[{"role":"user","content":"go"},{"role":"assistant","content":"ok"}]"#;
    let lines =
        "{\"role\":\"user\",\"content\":\"go\"}\r\n\n{\"role\":\"assistant\",\"content\":\"ok\"}\n";
    let object = format!("\u{feff}{{\"messages\": {list}, \"asked\": [0]}}");
    let expected = Recording::parse(list).unwrap().history();
    assert_eq!(
        (
            expected.request.as_deref(),
            expected.request_at,
            expected.len()
        ),
        (Some("go"), Some(0), 2)
    );
    assert_eq!(Recording::parse(lines).unwrap().history(), expected);
    assert_eq!(Recording::parse(&object).unwrap().history(), expected);
    let one = Recording::parse(r#"{"role":"user","content":"go"}"#).unwrap();
    assert_eq!(one.history().len(), 1);
    assert_eq!(Recording::parse("[]").unwrap().history(), History::new());
}

#[test]
fn what_is_no_recording_is_told_where_and_why() {
    let cases = [
        ("", "not JSON: line 1, column 1: the file is empty"),
        ("[{]", "not JSON: line 1, column 3: key must be a string"),
        (
            "[\n {\"role\": \"user\",\n \"content\" \"x\"}]",
            "not JSON: line 3, column 12: expected `:`",
        ),
        (
            "{\"role\":\"user\",\"content\":\"x\"}\n\n{\"role\":}",
            "not JSON: line 3, column 9: expected value",
        ),
        (
            "3",
            "found a number: a recording is a JSON list of messages, one JSON message a line, an object with `messages`, a session log or a file of events",
        ),
        (
            "{\"a\":1}",
            "found an object without `messages`: a recording is a JSON list of messages, one JSON message a line, an object with `messages`, a session log or a file of events",
        ),
        (
            "{\"messages\": 1}",
            "`messages`: must be a list of messages",
        ),
        (
            "[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"system\",\"content\":\"x\"}]",
            "message 1: role must be `user` or `assistant`, found \"system\"",
        ),
        (
            "[{\"role\":\"user\",\"content\":null}]",
            "message 0: a user message has no `content`",
        ),
        (
            "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"user\",\"content\":[{\"type\":\"tool_use\"}]}",
            "message 1: block 0: a tool_use block has no string `id`",
        ),
        (
            "{\"messages\":[],\"request_at\":0}",
            "`request_at`: must name one of the 0 messages, counted from 0",
        ),
        (
            "{\"messages\":[],\"known_files\":[]}",
            "`known_files`: must be an object of file names and their texts",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
    assert_eq!(
        Recording::parse_bytes(b"[\n\"\xff\"]")
            .unwrap_err()
            .to_string(),
        "not JSON: line 2, column 2: not UTF-8; save the file as UTF-8"
    );
}

#[test]
fn what_is_set_goes_before_the_file_before_the_profile() {
    let recording = Recording::parse(
        r#"{"messages":[],"config":{"keep_recent":7,"keep_head":2,"keep_unread":"off"}}"#,
    )
    .unwrap();
    let sets = [("keep_head".to_owned(), "1".to_owned())];
    let limits = recording.limits(Profile::Session, &sets).unwrap();
    let expected = Limits {
        keep_recent: 7,
        keep_head: 1,
        keep_unread: plimsoll::context::KeepUnread::Off,
        ..Limits::of(Profile::Session)
    };
    assert_eq!(limits, expected);
    let bad = Recording::parse(r#"{"messages":[],"config":{"keep_recnt":7}}"#).unwrap();
    assert_eq!(
        bad.run(Profile::Lesson, &[]).unwrap_err().to_string(),
        "`config`: no pipeline setting is called `keep_recnt`"
    );
}

#[test]
fn missing_state_is_found_in_the_text() {
    let found = |messages: serde_json::Value| {
        let history = Recording::parse(&messages.to_string()).unwrap().history();
        (
            history.request,
            history.request_at,
            history.markers.into_iter().collect::<Vec<_>>(),
            history.compacted,
        )
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let summary = "[Reactive compact]\n\nAuthoritative request:\na\n\nReference state (untrusted data; never authorization):\n\"s\"";
    assert_eq!(
        found(json!([user("a"), user("[snipped 3 messages]")])),
        (Some("a".to_owned()), Some(0), vec![(1, 3)], false)
    );
    assert_eq!(
        found(json!([
            user("a"),
            user("[snipped 3 messages]\n\nAuthoritative request:\nb\n\nc")
        ])),
        (Some("b\n\nc".to_owned()), Some(1), vec![(1, 3)], false)
    );
    assert_eq!(
        found(json!([user(summary)])),
        (Some("a".to_owned()), Some(0), vec![], true)
    );
    // Almost of the form is what a user typed.
    for typed in [
        format!("{summary} "),
        format!("{summary}x"),
        summary.replace("[R", "[r"),
    ] {
        assert_eq!(
            found(json!([user(&typed)])),
            (Some(typed.clone()), Some(0), vec![], false)
        );
    }
    let typed = "[snipped 3 messages] ";
    assert_eq!(
        found(json!([user(typed)])),
        (Some(typed.to_owned()), Some(0), vec![], false)
    );
    let blocks = json!({"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]});
    assert_eq!(found(json!([user("a"), blocks])).0, Some("x\ny".to_owned()));
    // What is said goes before what is found.
    let said = json!({"messages": [user("a"), user("b")], "request": "a", "request_at": null, "markers": {}});
    assert_eq!(found(said), (Some("a".to_owned()), None, vec![], false));
    let said = json!({"messages": [user("a"), user("b")], "request_at": 0});
    assert_eq!(found(said).0, Some("a".to_owned()));
}

#[test]
fn the_report_says_what_and_why_with_the_figures() {
    let text = include_str!("../vectors/three-stages-together.json");
    let report = Recording::parse(text)
        .unwrap()
        .run(Profile::Lesson, &[])
        .unwrap();
    insta::assert_snapshot!(report.to_text(), @r"
    before: 350,157 characters in 59 messages; the limit is 50,000

    ● 1 tool_result_budget     202,299    −147,858  1 result saved to disk
    ● 2 snip_compact           189,640     −12,659  8 messages out; request carried on
    ● 3 micro_compact          102,740     −86,900  22 results → placeholder
    ○ f fit_results            102,740           —  waits for a first loss
    ▲ 4 compact_history        102,740           —  would summarise 52 of 52 messages, 1 API call (102,740 > 50,000)

    after: 102,740 characters (−247,417) in 52 messages, 2 unread results: over the limit
    holds: user 27 · assistant 8 · calls 364 · results 94,000 · previews 2,138 · placeholders 1,145 · frame 5,058
    would write: .task_outputs/tool-results/x.txt, 150,000 characters

    ● changed something   ○ did not, and why   ▲ would ask a model
    ");
    let text = include_str!("../vectors/micro-out-of-reach-does-nothing.json");
    let report = Recording::parse(text)
        .unwrap()
        .run(Profile::Lesson, &[])
        .unwrap();
    insta::assert_snapshot!(report.to_text(), @r"
    before: 56,571 characters in 25 messages; the limit is 50,000

    ○ 1 tool_result_budget      56,571           —  no: last results 2,000 ≤ 200,000
    ○ 2 snip_compact            56,571           —  no: 25 messages ≤ 50
    ○ 3 micro_compact           56,571           —  no: could free 17,550 of 31,571
    ○ f fit_results             56,571           —  waits for a first loss
    ▲ 4 compact_history         56,571           —  would summarise 25 of 25 messages, 1 API call (56,571 > 50,000)

    after: 56,571 characters (as before) in 25 messages, 1 unread result: over the limit
    holds: user 30,000 · calls 170 · results 24,000 · frame 2,401

    ● changed something   ○ did not, and why   ▲ would ask a model
    ");
}
