//! The real binary: what it prints where, and with which exit code it ends.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot start the program fails"
)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use support::place::{Place, told};
use support::reply::Reply;
use support::server::Server;

fn events(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vectors/{name}.json"))
}

#[test]
fn help_names_every_command() {
    let (out, err, code) = Place::new().run(&["--help"]);
    for command in ["demo", "run", "replay", "config", "doctor", "completions"] {
        assert!(out.contains(&format!("\n  {command} ")), "{command}: {out}");
    }
    for said in [
        "a file that exists goes on at its end",
        "With --print: type KEYS before the frame is printed",
        "Print one frame as text once nothing moves, and end",
    ] {
        let words: Vec<&str> = out.split_whitespace().collect();
        assert!(words.join(" ").contains(said), "{said}: {out}");
    }
    assert_eq!((err.as_str(), code), ("", 0));
    let (version, _, code) = Place::new().run(&["--version"]);
    assert_eq!(
        (version.as_str(), code),
        (concat!("plimsoll ", env!("CARGO_PKG_VERSION"), "\n"), 0)
    );
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_would_be_right() {
    let place = Place::new();
    for (arguments, said) in [
        (&["--nonsense"][..], "unexpected argument '--nonsense'"),
        (&["run"], "<PROMPT>"),
        (
            &["run", "hi", "--format", "xml"],
            "possible values: text, json",
        ),
        (
            &["run", "hi", "--offline", "--set", "keep_recnt=5"],
            "--set keep_recnt: no setting is called `keep_recnt`; the nearest is `keep_recent`",
        ),
        (
            &["run", "hi", "--offline", "--profile", "lessen"],
            "--profile: profile: there is no `lessen`",
        ),
        (
            &["run", "hi", "--offline", "--workspace", "nowhere"],
            "nowhere: cannot work there",
        ),
        (&["run", " ", "--offline"], "the request is empty"),
        (
            &["run", "hi"],
            "set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
        ),
        (
            &["demo", "nothing", "--headless"],
            "no demo called `nothing`",
        ),
        (
            &["demo", "micro", "--headless", "--model", "x"],
            "leave out --model",
        ),
    ] {
        let (out, err, code) = place.run(arguments);
        assert!(err.contains(said), "{arguments:?}: {err}");
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}");
    }
}

#[test]
fn plain_http_to_another_machine_is_refused_before_anything_is_sent() {
    let place = Place::new();
    let (out, err, code) = told(
        place
            .command(&["run", "hi", "--base-url", "http://192.0.2.1"])
            .env("ANTHROPIC_API_KEY", "sk-very-secret")
            .output()
            .unwrap(),
    );
    assert!(err.contains("--set allow_http=true"), "{err}");
    assert!(!err.contains("secret"), "{err}");
    assert_eq!((out.as_str(), code), ("", 2));
}

#[test]
fn a_run_prints_the_final_reply_and_nothing_else() {
    let place = Place::new();
    place.file("notes.txt", "one\ntwo\n");
    let (out, err, code) = place.run(&["run", "read notes.txt", "--offline"]);
    assert!(
        out.starts_with("read_file notes.txt: 8 characters"),
        "{out}"
    );
    assert_eq!(out.matches('\n').count(), 1, "{out}");
    assert!(err.contains("read_file {\"path\":\"notes.txt\"}"), "{err}");
    assert_eq!(code, 0);

    let mut child = place
        .command(&["run", "-", "--offline"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"read notes.txt\n")
        .unwrap();
    let (piped, _, code) = told(child.wait_with_output().unwrap());
    assert_eq!((piped, code), (out, 0));
}

#[test]
fn a_run_in_json_begins_with_the_session_and_ends_with_the_turn() {
    let place = Place::new();
    let (out, _, code) = place.run(&[
        "run",
        "find *.txt",
        "--offline",
        "--format",
        "json",
        "--set",
        "keep_recent=5",
    ]);
    let events = events(&out);
    let numbers: Vec<u64> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    let first = events.first().unwrap();
    assert_eq!(first["event"], "session_started");
    assert_eq!(first["scripted"], true);
    assert_eq!(first["limits"]["keep_recent"], 5);
    assert_eq!(
        first["workspace"],
        place.work().canonicalize().unwrap().to_str().unwrap()
    );
    let last = events.last().unwrap();
    assert_eq!(
        (&last["event"], &last["end"]),
        (&json!("turn_finished"), &json!("done"))
    );
    assert_eq!(code, 0);
}

#[test]
fn what_would_ask_is_refused_and_the_run_goes_on() {
    let place = Place::new();
    let (_, err, _) = place.run(&["run", "write made.txt hello", "--offline"]);
    assert!(
        err.contains(
            "\n  write_file {\"path\":\"made.txt\",\"content\":\"hello\"}: failed: refused: "
        ),
        "{err}"
    );
    let (out, _, code) = place.run(&[
        "run",
        "write made.txt hello",
        "--offline",
        "--format",
        "json",
    ]);
    let finished: Vec<Value> = events(&out)
        .into_iter()
        .filter(|event| event["event"] == "tool_finished")
        .collect();
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0]["is_error"], true);
    assert!(!place.work().join("made.txt").exists());
    assert_eq!(code, 0);

    let allowed = [
        "run",
        "write made.txt hello",
        "--offline",
        "--permission",
        "edits",
    ];
    assert_eq!(place.run(&allowed).2, 0);
    assert_eq!(
        fs::read_to_string(place.work().join("made.txt")).unwrap(),
        "hello"
    );
}

#[test]
fn a_demo_without_a_screen_ends_with_its_last_turn() {
    let place = Place::new();
    let (out, err, code) = place.run(&["demo", "micro", "--headless", "--format", "json"]);
    let events = events(&out);
    let fired = |stage: &str| {
        events
            .iter()
            .any(|event| event["event"] == "stage_finished" && event["stage"] == stage)
    };
    assert!(fired("micro_compact"));
    assert_eq!(events.last().unwrap()["event"], "turn_finished");
    assert!(!err.trim().is_empty());
    assert_eq!(code, 0);

    let (none, _, _) = place.run(&[
        "demo",
        "micro",
        "--headless",
        "--format",
        "json",
        "--set",
        "keep_recent=99",
    ]);
    assert!(!none.contains("\"event\":\"stage_finished\""));
}

#[test]
fn a_demo_with_other_numbers_says_so_before_it_begins() {
    let place = Place::new();
    let first_words = |more: &[&str]| {
        let arguments = [&["demo", "micro", "--headless"], more].concat();
        let (_, err, code) = place.run(&arguments);
        assert_eq!(code, 0);
        let mut says = err.lines().filter(|line| line.contains("Stage 3 keeps"));
        says.next().unwrap().to_owned()
    };
    let own = first_words(&[]);
    assert!(!own.contains("changed"), "{own}");
    assert_eq!(
        first_words(&["--set", "keep_recent=3"]),
        own,
        "the demo's own number"
    );
    assert_eq!(
        first_words(&[
            "--set",
            "keep_recent=1",
            "--set",
            "context_limit=60000",
            "--set",
            "keep_unread=off",
        ]),
        format!("{own} Numbers changed: keep_unread off, context_limit 60,000, keep_recent 1.")
    );
}

#[test]
fn a_frame_is_printed_without_a_terminal_and_the_events_are_written() {
    let place = Place::new();
    place.file("notes.txt", "one\ntwo\n");
    let log = place.work().join("events.jsonl");
    let (out, err, code) = place.run(&[
        "--print",
        "100x30",
        "--keys",
        "read notes.txt<enter>",
        "--events",
        log.to_str().unwrap(),
    ]);
    assert_eq!((err.as_str(), code), ("", 0));
    assert_eq!(out.lines().count(), 30, "{out}");
    assert!(out.contains("No key is set"), "{out}");
    assert!(out.contains("read_file notes.txt: 8 characters"), "{out}");
    let events = events(&fs::read_to_string(&log).unwrap());
    assert_eq!(events.first().unwrap()["event"], "session_started");
    assert_eq!(events.last().unwrap()["event"], "turn_finished");

    // Another run goes on behind the first.
    let log = log.to_str().unwrap();
    assert_eq!(place.run(&["--print", "--events", log]).2, 0);
    let both = fs::read_to_string(log).unwrap();
    assert_eq!(both.matches("\"event\":\"session_started\"").count(), 2);
    let (out, err, code) = place.run(&["--print", "--events", "nowhere/events.jsonl"]);
    assert!(
        err.starts_with("plimsoll: --events: nowhere/events.jsonl: cannot be written: "),
        "{err}"
    );
    assert_eq!((out.as_str(), code), ("", 2));

    let (out, err, code) = place.run(&["--print", "--keys", "<nokey>"]);
    assert!(err.contains("no key is called `<nokey>`"), "{err}");
    assert_eq!((out.as_str(), code), ("", 2));
}

#[test]
fn the_screen_needs_a_terminal_and_says_what_works_without() {
    let (out, err, code) = Place::new().run(&[]);
    assert!(err.contains("plimsoll run PROMPT"), "{err}");
    assert_eq!((out.as_str(), code), ("", 2));
}

#[test]
fn the_demos_are_listed() {
    let (out, _, code) = Place::new().run(&["demo", "--list"]);
    let names: Vec<&str> = out
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names,
        [
            "tour",
            "micro",
            "snip",
            "budget",
            "history",
            "reactive",
            "compact-tool",
            "unread",
            "lost-path"
        ]
    );
    assert_eq!(code, 0);
}

#[test]
fn a_replay_reports_in_text_and_in_json() {
    let place = Place::new();
    let path = vector("micro-plain");
    let file = path.to_str().unwrap();
    let (text, err, code) = place.run(&["replay", file]);
    let stages: Vec<&str> = text
        .lines()
        .skip(2)
        .take(5)
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    assert_eq!(
        stages,
        [
            "tool_result_budget",
            "snip_compact",
            "micro_compact",
            "fit_results",
            "compact_history"
        ]
    );
    assert_eq!((err.as_str(), code), ("", 0));

    let (out, err, code) = place.run(&["replay", file, "--format", "json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    let expected: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(found["messages"], expected["expect"]["messages"]);
    assert_eq!(
        found["compact_history"],
        expected["expect"]["compact_history"]
    );
    assert_eq!((out.matches('\n').count(), err.as_str(), code), (1, "", 0));

    // `--set` goes before the file's own settings.
    let (out, _, _) = place.run(&[
        "replay",
        file,
        "--format",
        "json",
        "--set",
        "keep_recent=99",
    ]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["stages"][2]["fired"], false);
}

/// The newest session log of `place`.
fn session_log(place: &Place) -> PathBuf {
    let logs = fs::read_dir(place.home().join("data/plimsoll/sessions")).unwrap();
    let only: Vec<PathBuf> = logs.map(|log| log.unwrap().path()).collect();
    assert_eq!(only.len(), 1, "one session was played");
    only[0].clone()
}

#[test]
fn a_session_log_is_replayed_from_the_context_that_it_ends_with() {
    let place = Place::new();
    place.run(&["demo", "snip", "--headless"]);
    let log = session_log(&place);
    let folded = plimsoll::session::fold(&fs::read_to_string(&log).unwrap()).unwrap();
    assert!(!folded.history.markers.is_empty());
    let replay = |more: &[&str]| -> Value {
        let arguments = [&["replay", log.to_str().unwrap(), "--format", "json"], more].concat();
        let (out, err, code) = place.run(&arguments);
        assert_eq!((err.as_str(), code), ("", 0));
        serde_json::from_str(&out).unwrap()
    };
    // Far limits: no stage has anything to do, and the report holds the context as it was taken.
    let taken = replay(&["--set", "keep_head=999", "--set", "keep_recent=999"]);
    let messages: Vec<_> = folded.history.messages().collect();
    let markers: serde_json::Map<String, Value> = folded
        .history
        .markers
        .iter()
        .map(|(at, count)| (at.to_string(), json!(count)))
        .collect();
    assert_eq!(taken["messages"], json!(messages));
    assert_eq!(taken["request_at"], json!(folded.history.request_at));
    assert_eq!(taken["markers"], json!(markers));
    assert_eq!(replay(&[])["limits"], json!(folded.limits));
    let profile = replay(&["--profile", "session"]);
    assert_eq!(profile["limits"]["context_limit"], 400_000);
}

#[test]
fn a_file_of_events_is_replayed_while_it_holds_the_context() {
    let place = Place::new();
    place.file("notes.txt", "one\ntwo\n");
    let json = ["--offline", "--format", "json", "--set", "keep_recent=7"];
    let (out, _, _) = place.run(&[&["run", "read notes.txt"], &json[..]].concat());
    let lines: Vec<&str> = out.split_inclusive('\n').collect();
    let appended = lines
        .iter()
        .position(|line| line.contains("message_appended"));
    let without = [&lines[..appended.unwrap()], &lines[appended.unwrap() + 1..]].concat();

    let log = session_log(&place);
    let (of_log, _, _) = place.run(&["replay", log.to_str().unwrap(), "--format", "json"]);
    for text in [
        out.clone(),
        // A session before it, broken off.
        format!("{}{{\"seq\":2,\n{out}", lines[0]),
        format!("{out}{{\"seq\":99,\"ev"),
    ] {
        place.file("events.jsonl", &text);
        let found = place.run(&["replay", "events.jsonl", "--format", "json"]);
        assert_eq!(found, (of_log.clone(), String::new(), 0));
    }

    let rewritten = out.replace(
        "\"event\":\"model_call_finished\"",
        "\"event\":\"stage_finished\",\"stage\":\"micro_compact\"",
    );
    for (text, said) in [
        (
            without.concat(),
            "a file of events that does not hold the whole context; replay",
        ),
        (
            rewritten,
            "a file of events, in which micro_compact changed the context (line 10)",
        ),
        (
            out.replacen("{\"seq\":3", "{seq", 1),
            "not JSON: line 3, column 2: ",
        ),
    ] {
        place.file("events.jsonl", &text);
        let (out, err, code) = place.run(&["replay", "events.jsonl"]);
        assert!(
            err.starts_with(&format!("plimsoll: events.jsonl: {said}")),
            "{err}"
        );
        let names_log = err.contains(&format!("instead: {}", log.display()));
        assert_eq!(names_log, said.contains("events"), "{err}");
        assert_eq!((out.as_str(), code), ("", 2));
    }
}

#[test]
fn a_file_that_cannot_be_replayed_is_named_with_the_place() {
    let place = Place::new();
    for (text, said) in [
        (
            "[{\"role\": \"system\", \"content\": \"x\"}]",
            "bad.json: message 0: role must be `user` or `assistant`, found \"system\"",
        ),
        (
            "[{\"role\": \"user\", \"content\": \"x\"},\n {\"role\": \"user\"}]",
            "bad.json: message 1: a user message has no `content`",
        ),
        (
            "[{\"role\": \"user\",\n  \"content\" \"x\"}]",
            "bad.json: not JSON: line 2, column 13: ",
        ),
        (
            "",
            "bad.json: not JSON: line 1, column 1: the file is empty",
        ),
    ] {
        place.file("bad.json", text);
        let (out, err, code) = place.run(&["replay", "bad.json"]);
        assert!(err.contains(said), "{err}");
        assert_eq!((out.as_str(), code), ("", 2));
    }
    let (_, err, code) = place.run(&["replay", "missing.json"]);
    assert!(err.contains("missing.json: cannot be read"), "{err}");
    assert_eq!(code, 2);
}

#[test]
fn settings_are_shown_with_where_they_came_from() {
    let place = Place::new();
    let (path, _, code) = place.run(&["config", "--init"]);
    let path = PathBuf::from(path.trim_end());
    assert_eq!(code, 0);
    assert_eq!(
        place.run(&["config", "--path"]).0.trim_end(),
        path.to_str().unwrap()
    );
    assert_eq!(place.run(&["config", "--init"]).2, 2);

    fs::write(&path, "keep_recent = 7\n").unwrap();
    let (out, err, code) = told(
        place
            .command(&["config", "--set", "keep_head=4"])
            .env("MODEL_ID", "mine")
            .env("ANTHROPIC_AUTH_TOKEN", "very-secret")
            .output()
            .unwrap(),
    );
    let line = |name: &str| {
        let line = out
            .lines()
            .find(|line| line.starts_with(&format!("{name} = ")));
        line.unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        line("keep_recent"),
        format!("keep_recent = 7 # {}:1", path.display())
    );
    assert_eq!(line("keep_head"), "keep_head = 4 # --set keep_head");
    assert_eq!(line("model"), "model = \"mine\" # MODEL_ID");
    assert_eq!(line("keep_tail"), "keep_tail = 47 # profile lesson");
    assert!(out.ends_with(
        "# key: ANTHROPIC_AUTH_TOKEN from the environment, sent as Authorization: Bearer\n"
    ));
    assert!(!out.contains("secret"));
    assert_eq!((err.as_str(), code), ("", 0));

    fs::write(&path, "keep_head = 3\nkeep_recnt = 7\n").unwrap();
    let (out, err, code) = place.run(&["run", "hi", "--offline"]);
    assert_eq!(
        err,
        format!(
            "plimsoll: {}:2:1: no setting is called `keep_recnt`; the nearest is `keep_recent`\n",
            path.display()
        )
    );
    assert_eq!((out.as_str(), code), ("", 2));
}

#[test]
fn settings_of_the_folder_are_left_out_with_a_word_or_trusted() {
    let place = Place::new();
    place.file(".plimsoll/config.toml", "keep_recent = 9\n");
    let (out, err, _) = place.run(&["config"]);
    assert!(out.contains("keep_recent = 3 "), "{out}");
    assert_eq!(
        err,
        "plimsoll: .plimsoll/config.toml of this folder was left out; --trust takes it for this run\n"
    );
    let (out, err, _) = place.run(&["config", "--trust"]);
    assert!(out.contains("keep_recent = 9 "), "{out}");
    assert_eq!(err, "");
}

#[test]
fn completions_are_made_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (out, err, code) = place.run(&["completions", shell]);
        assert!(out.contains("replay"), "{shell}");
        assert_eq!((err.as_str(), code), ("", 0), "{shell}");
    }
}

#[test]
fn a_reader_that_goes_away_is_nothing_to_report() {
    let place = Place::new();
    for arguments in [
        &["config"][..],
        &["demo", "micro", "--headless", "--format", "json"],
    ] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            !err.contains("plimsoll:") && !err.contains("panicked"),
            "{err}"
        );
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_with_its_number_and_the_turn_is_told() {
    use rustix::process::{Pid, Signal, kill_process};
    let place = Place::new();
    for (signal, expected) in [
        (Signal::TERM, 143),
        (Signal::INT, 130),
        (Signal::HUP, 129),
        (Signal::QUIT, 131),
    ] {
        let mut child = place
            .command(&[
                "run",
                "run sleep 60",
                "--offline",
                "--permission",
                "all",
                "--format",
                "json",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut last = Value::Null;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            last = serde_json::from_str(&line.unwrap()).unwrap();
            if last["event"] == "tool_started" {
                kill_process(Pid::from_child(&child), signal).unwrap();
            }
        }
        assert_eq!(
            (&last["event"], &last["end"]),
            (&json!("turn_finished"), &json!("interrupted"))
        );
        assert_eq!(child.wait().unwrap().code(), Some(expected));
    }
}

/// Mark and name of each line of `doctor`, and what it says.
fn checks(out: &str) -> Vec<(String, String)> {
    out.lines()
        .map(|line| {
            let (head, said) = line.split_at(18);
            let head: Vec<&str> = head.split_whitespace().collect();
            (head.join(" "), said.to_owned())
        })
        .collect()
}

fn said<'a>(checks: &'a [(String, String)], head: &str) -> &'a str {
    let found = checks.iter().find(|(found, _)| found == head);
    found.map_or_else(|| panic!("no `{head}` in {checks:#?}"), |(_, said)| said)
}

#[test]
fn the_doctor_looks_at_everything_here_and_asks_nobody_offline() {
    let place = Place::new();
    let (out, err, code) = place.run(&["doctor", "--offline"]);
    let found = checks(&out);
    let heads: Vec<&str> = found.iter().map(|(head, _)| head.as_str()).collect();
    assert_eq!(
        heads,
        [
            "warn terminal",
            "ok colours",
            "ok characters",
            "ok folder",
            "ok sessions",
            "ok settings",
            "warn key",
            "ok address",
            "ok tools",
            "- server",
            "- model",
            "- answer",
            "ok window"
        ]
    );
    assert_eq!((err.as_str(), code), ("", 0));
}

#[test]
fn the_doctor_tries_server_and_model() {
    let place = Place::new();
    let server = Server::start(vec![Reply::message(&[], "max_tokens")]);
    let doctor = |url: &str| {
        let mut command = place.command(&["doctor", "--base-url", url, "--model", "m"]);
        told(
            command
                .env("ANTHROPIC_AUTH_TOKEN", "a-token")
                .output()
                .unwrap(),
        )
    };
    let (out, err, code) = doctor(&server.url());
    let found = checks(&out);
    assert_eq!(
        said(&found, "ok key"),
        "ANTHROPIC_AUTH_TOKEN from the environment, sent as Authorization: Bearer"
    );
    assert_eq!(
        said(&found, "ok address"),
        format!("{} (--base-url): this machine", server.url())
    );
    assert_eq!(
        said(&found, "ok server"),
        "reached, and it has no list of models (status 404)"
    );
    assert!(said(&found, "ok answer").starts_with("m answered after "));
    assert_eq!((err.as_str(), code), ("", 0));
    let lines: Vec<String> = server
        .requests()
        .into_iter()
        .map(|request| request.line)
        .collect();
    assert_eq!(lines, ["GET /v1/models", "POST /v1/messages"]);
    assert_eq!(server.requests()[1].body["max_tokens"], 1);
    assert_eq!(server.violations(), [""; 0]);

    server.push(vec![Reply::error(
        401,
        "authentication_error",
        "bad a-token",
    )]);
    let (out, _, code) = doctor(&server.url());
    let answer = checks(&out);
    let answer = said(&answer, "fail answer");
    assert!(
        answer.contains("401: bad [key]") && answer.contains("set ANTHROPIC_API_KEY"),
        "{answer}"
    );
    assert_eq!(code, 1);

    let gone = server.url();
    drop(server);
    let (out, _, code) = doctor(&gone);
    let found = checks(&out);
    assert!(said(&found, "fail server").contains("is the server running"));
    assert_eq!(said(&found, "- answer"), "the server was not reached");
    assert_eq!(code, 1);
}

#[test]
fn the_doctor_says_what_is_wrong_and_what_to_do() {
    let place = Place::new();
    place.file(".plimsoll/config.toml", "keep_recnt = 9\n");
    let doctor = |options: &[&str]| place.run(&[&["doctor", "--offline"], options].concat());
    let (out, _, code) = doctor(&[]);
    assert!(said(&checks(&out), "warn settings").contains("--trust"));
    assert_eq!(code, 0);
    let (out, _, code) = doctor(&["--trust"]);
    assert!(said(&checks(&out), "fail settings").contains("config.toml:1:1: no setting is called"));
    assert_eq!(code, 1);
    let (out, _, code) = doctor(&["--base-url", "http://192.0.2.1"]);
    assert!(said(&checks(&out), "fail address").contains("--set allow_http=true"));
    assert_eq!(code, 1);
    let (out, _, code) = doctor(&["--base-url", "http://192.0.2.1", "--set", "allow_http=true"]);
    assert!(said(&checks(&out), "warn address").contains("allowed by --set allow_http"));
    assert_eq!(code, 0);
    let (out, _, code) = doctor(&["--workspace", "nowhere"]);
    assert!(said(&checks(&out), "fail folder").contains("nowhere: cannot work there"));
    assert_eq!(code, 1);
    let home = place.home().to_str().unwrap().to_owned();
    let (out, _, _) = doctor(&["--workspace", &home]);
    assert!(said(&checks(&out), "warn folder").contains("more than one project"));
    let mut ascii = place.command(&["doctor", "--offline"]);
    let (out, _, _) = told(
        ascii
            .env("LC_ALL", "C")
            .env("NO_COLOR", "1")
            .output()
            .unwrap(),
    );
    assert!(said(&checks(&out), "warn characters").contains("C.UTF-8"));
    assert!(said(&checks(&out), "ok colours").contains("NO_COLOR"));
    // Tools that need a bash, on a path that has none.
    let mut bare = place.command(&["doctor", "--offline"]);
    let (out, _, code) = told(bare.env("PATH", place.home()).output().unwrap());
    assert!(said(&checks(&out), "fail tools").contains("is bash installed"));
    assert_eq!(code, 1);
}
