//! A whole session of the built program against the strict server: valid requests, cached beginnings, exit codes.

use serde_json::{Value, json};

use super::KEY;
use super::program::{Home, Said};
use super::support::reply::Reply;
use super::support::server::{Recorded, Server};

fn run(server: &Server, home: &Home, more: &[&str]) -> Said {
    let url = server.url();
    let mut arguments = vec!["run", "look around", "--base-url", &url];
    arguments.extend(["--permission", "all"]);
    arguments.extend(more);
    home.run(&arguments, &[("ANTHROPIC_API_KEY", KEY)])
}

/// A request without its cache marks, up to the end of its newest block.
fn beginning(request: &Recorded) -> String {
    let plain = request
        .raw
        .replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    plain.strip_suffix("]}]}").unwrap().to_owned()
}

#[test]
fn while_no_stage_fires_each_request_begins_with_the_one_before() {
    let thought = json!({"type": "thinking", "thinking": "Which?", "signature": "c2ln"});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"timeout": 9, "command": "echo é"}});
    let server = Server::start(vec![
        Reply::message(&[thought, call], "tool_use"),
        Reply::tools(vec![
            ("glob", json!({"pattern": "*"})),
            ("bash", json!({"command": "false"})),
        ]),
        Reply::error(529, "overloaded_error", "Overloaded").header("retry-after-ms", "1"),
        Reply::tool("bash", json!({"command": "echo two"})).byte_by_byte(),
        Reply::text("Nothing here."),
    ]);
    let said = run(&server, &Home::new(), &[]);
    assert_eq!(
        (said.out.as_str(), said.code),
        ("Nothing here.\n", 0),
        "{said:?}"
    );
    assert_eq!(server.violations(), [""; 0]);
    // The question for the server's window comes beside them.
    let mut requests = server.requests();
    requests.retain(|request| request.line.starts_with("POST "));
    assert_eq!((requests.len(), server.left()), (5, 0));
    for pair in requests.windows(2) {
        let (before, now) = (beginning(&pair[0]), beginning(&pair[1]));
        let same = before.bytes().zip(now.bytes()).take_while(|(a, b)| a == b);
        let at = before.floor_char_boundary(same.count());
        assert!(
            now.starts_with(&before),
            "{} is not in {now}",
            &before[at..]
        );
    }
    assert_eq!(
        requests[2].raw, requests[3].raw,
        "a retry is the same request"
    );
}

#[test]
fn every_end_has_its_exit_code_and_the_history_stays_valid() {
    let call = json!({"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "echo never > ran"}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let cases: Vec<(&str, Vec<Reply>, i32)> = vec![
        (
            "refused",
            vec![Reply::message(&[text("No.")], "refusal")],
            1,
        ),
        (
            "unknown reason",
            vec![Reply::message(&[text("x")], "brand_new")],
            0,
        ),
        ("empty", vec![Reply::message(&[], "end_turn")], 1),
        (
            "paused",
            vec![
                Reply::message(&[text("on the way")], "pause_turn"),
                Reply::text("there"),
            ],
            0,
        ),
        (
            "cut behind a complete call",
            vec![Reply::message(&[call, text("never whole")], "tool_use").cut_after_events(9)],
            1,
        ),
        (
            "no key",
            vec![Reply::error(401, "authentication_error", "no")],
            1,
        ),
    ];
    for (name, script, code) in cases {
        let server = Server::start(script);
        let home = Home::new();
        let said = run(&server, &home, &["--format", "json"]);
        assert_eq!(said.code, code, "{name}: {said:?}");
        assert_eq!(
            (server.violations(), server.left()),
            (Vec::new(), 0),
            "{name}"
        );
        assert!(
            !home.work().join("ran").exists(),
            "{name}: a cut call was run"
        );
        let events: Vec<Value> = said
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let types: Vec<&str> = events
            .iter()
            .map(|e| e["event"].as_str().unwrap())
            .collect();
        assert_eq!(types.first(), Some(&"session_started"), "{name}");
        assert_eq!(types.last(), Some(&"turn_finished"), "{name}");
        let ids: Vec<u64> = events.iter().filter_map(|e| e["seq"].as_u64()).collect();
        assert!(ids.is_sorted(), "{name}");
    }
}
