//! Keys and addresses, with the real binary: which key goes where, and that it is in nothing that is shown or written.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use support::place::{Place, told};
use support::reply::Reply;
use support::server::Server;
use termlens::{Key, Terminal};

const KEY: &str = "sk-TEST-1234567890-abcdefghijklmnop";
/// What a piece of the key would show, too.
const PIECE: &str = "TEST-1234";
/// The variables that hold a key, and the header that carries each.
const FORMS: [(&str, &str); 2] = [
    ("ANTHROPIC_API_KEY", "x-api-key"),
    ("ANTHROPIC_AUTH_TOKEN", "authorization"),
];

/// The files below `folder` that hold a piece of the key, a `.env` aside.
fn leaks(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            leaks(&path, found);
        } else if !path.ends_with(".env") && holds(&fs::read(&path).unwrap()) {
            found.push(path.display().to_string());
        }
    }
}

fn holds(bytes: &[u8]) -> bool {
    bytes
        .windows(PIECE.len())
        .any(|window| window == PIECE.as_bytes())
}

/// Runs `command`; what it said and wrote is free of the key. Gives what it said, and its exit code.
#[track_caller]
fn without_key(place: &Place, command: &mut Command) -> (String, String, i32) {
    let (out, err, code) = told(command.output().unwrap());
    assert!(!holds(out.as_bytes()), "{out}");
    assert!(!holds(err.as_bytes()), "{err}");
    let mut found = Vec::new();
    leaks(place.home(), &mut found);
    assert_eq!(found, [""; 0]);
    (out, err, code)
}

/// A run against `server` with the key in `variable`.
fn run(place: &Place, server: &Server, variable: &str, more: &[&str]) -> Command {
    let url = server.url();
    let arguments = ["run", "hello", "--base-url", &url, "--set", "max_retries=1"];
    let mut command = place.command(&[&arguments, more].concat());
    command.env(variable, KEY);
    command
}

#[test]
fn whatever_a_server_echoes_of_the_key_is_masked() {
    let cut = format!("{}{KEY} and more", "x".repeat(490));
    let echoes = [
        Reply::error(
            401,
            "authentication_error",
            &format!("invalid x-api-key: {KEY}"),
        ),
        Reply::error(403, KEY, &format!("Bearer {KEY}")),
        Reply::status(401, &format!("no {KEY}\nno {KEY}")),
        Reply::status(404, &format!("<html><title>{KEY}</title></html>")),
        Reply::status(400, &format!("{{\"error\": \"{KEY}\"}}")),
        Reply::status(400, &cut),
        Reply::status(200, &format!("{{\"error\": {{\"message\": \"{KEY}\"}}}}")),
        Reply::status(200, &format!("not JSON: {KEY}")),
        Reply::error(400, "x", "y").header("request-id", KEY),
        Reply::status(302, "").header("location", &format!("http://127.0.0.1:9/{KEY}?{KEY}")),
        Reply::sse(&format!(
            "event: error\ndata: {{\"type\": \"error\", \"error\": {{\"type\": \"{KEY}\", \"message\": \"{KEY}\"}}}}\n\n"
        )),
        Reply::sse(&format!("event: {KEY}\ndata: {KEY}\n\n")),
        Reply::error(500, "api_error", KEY).header("retry-after-ms", "1"),
    ];
    for ((variable, header), format) in FORMS.into_iter().zip(["text", "json"]) {
        for echo in &echoes {
            let place = Place::new();
            // A retry may ask for it twice.
            let server = Server::start(vec![echo.clone(), echo.clone()]);
            let mut command = run(&place, &server, variable, &["--format", format]);
            let (out, err, code) = without_key(&place, &mut command);
            assert_eq!(code, 1, "{out}{err}");
            assert!(!err.is_empty() || !out.is_empty());
            let sent = server.requests()[0].header(header).unwrap().to_owned();
            assert!(sent.ends_with(KEY), "{sent}");
            assert_eq!(server.violations(), [""; 0]);
        }
    }
}

#[test]
fn a_redirect_takes_nothing_elsewhere() {
    for (variable, _) in FORMS {
        for status in [301, 302, 303, 307, 308] {
            let place = Place::new();
            let other = Server::start(vec![Reply::text("mine now")]);
            let location = format!("{}/v1/messages", other.url());
            let server = Server::start(vec![
                Reply::status(status, "").header("location", &location),
            ]);
            let (_, err, code) = without_key(&place, &mut run(&place, &server, variable, &[]));
            assert!(err.contains("redirects are not followed"), "{err}");
            assert_eq!((other.connections(), code), (0, 1));
        }
    }
}

/// A session with everything that writes: calls that run and that fail, a result on disk, a summary with its transcript.
fn session() -> Vec<Reply> {
    let bash = |command: &str| Reply::tool("bash", json!({"command": command}));
    vec![
        bash("env; set; printenv ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN; cat /proc/self/environ"),
        bash("env; seq 1 60000"),
        bash("env >&2; exit 3"),
        Reply::tool(
            "write_file",
            json!({"path": "env.sh", "content": "env > made.txt\n"}),
        ),
        bash("sh env.sh; wc -l made.txt"),
        Reply::tool("compact", json!({})),
        Reply::text("The summary."),
        Reply::text("Done."),
    ]
}

#[test]
fn no_run_writes_the_key_anywhere() {
    for (variable, header) in FORMS {
        for format in ["text", "json"] {
            let place = Place::new();
            let server = Server::start(session());
            let more = [
                "--permission",
                "all",
                "--format",
                format,
                "--set",
                "budget_max=50000",
            ];
            let mut command = run(&place, &server, variable, &more);
            command.env("PLIMSOLL_TEST", "it is there");
            let (out, err, code) = without_key(&place, &mut command);
            assert_eq!(
                (server.violations(), server.left(), code),
                (vec![], 0, 0),
                "{out}{err}"
            );
            // What the key would have been in was written.
            let work = place.work();
            assert!(
                fs::read_to_string(work.join("made.txt"))
                    .unwrap()
                    .contains("it is there")
            );
            assert!(work.join(".transcripts").is_dir() && work.join(".task_outputs").is_dir());
            assert!(place.home().join("data/plimsoll/sessions").is_dir());
            assert!(server.requests()[0].header(header).unwrap().ends_with(KEY));
            let bodies: String = server
                .requests()
                .into_iter()
                .map(|request| request.raw)
                .collect();
            assert!(bodies.contains("it is there") && !holds(bodies.as_bytes()));
        }
    }
}

#[test]
fn no_screen_and_no_event_shows_the_key() {
    let place = Place::new();
    let mut script = session();
    script.push(Reply::error(401, "authentication_error", KEY));
    let server = Server::start(script);
    let log = place.work().join("events.jsonl");
    let url = server.url();
    let mut command = place.command(&[
        "--base-url",
        &url,
        "--permission",
        "all",
        "--events",
        log.to_str().unwrap(),
        "--print",
        "120x40",
        "--keys",
        "hello<enter>again<enter>",
    ]);
    let (out, err, code) = without_key(&place, command.env("ANTHROPIC_API_KEY", KEY));
    assert_eq!((err.as_str(), code, server.left()), ("", 0, 0));
    assert!(out.contains("[key]"), "{out}");
    assert!(
        fs::read_to_string(log)
            .unwrap()
            .contains("\"turn_finished\"")
    );
}

#[test]
fn config_and_doctor_name_the_key_by_its_variable_only() {
    let place = Place::new();
    let server = Server::start(vec![Reply::text("ok")]);
    let url = server.url();
    for command in ["config", "doctor"] {
        let mut command = place.command(&[command, "--base-url", &url]);
        let (out, _, code) = without_key(&place, command.env("ANTHROPIC_API_KEY", KEY));
        assert!(
            out.contains("ANTHROPIC_API_KEY from the environment, sent as x-api-key"),
            "{out}"
        );
        assert_eq!(code, 0);
    }
    let sent = server.requests();
    assert!(
        sent.iter()
            .all(|request| request.header("x-api-key") == Some(KEY))
    );
    assert_eq!(sent.len(), 2);
}

#[test]
fn a_cloned_project_cannot_send_the_users_key_elsewhere() {
    let own = |n: usize| Server::start((0..n).map(|_| Reply::text("ok")).collect());
    let (mine, theirs) = (own(3), own(3));
    for (name, text) in [
        (
            ".env",
            format!(
                "ANTHROPIC_BASE_URL={}\nANTHROPIC_API_KEY=theirs\n",
                theirs.url()
            ),
        ),
        (".env", format!("ANTHROPIC_BASE_URL={}\n", theirs.url())),
        (
            ".plimsoll/config.toml",
            format!("base_url = '{}'\n", theirs.url()),
        ),
    ] {
        let place = Place::new();
        place.file(name, &text);
        let mut command = place.command(&["run", "hello", "--trust"]);
        command
            .env("ANTHROPIC_API_KEY", KEY)
            .env("ANTHROPIC_BASE_URL", mine.url());
        let (_, err, code) = without_key(&place, &mut command);
        assert!(
            err.contains("was left out: one from the workspace"),
            "{err}"
        );
        assert!(
            err.contains(&format!("server {} (ANTHROPIC_BASE_URL)", mine.url())),
            "{err}"
        );
        assert_eq!(code, 0);
    }
    assert_eq!((mine.requests().len(), theirs.connections()), (3, 0));
}

#[test]
fn a_key_of_the_folder_goes_to_its_own_address_and_to_no_other() {
    let (theirs, mine) = (
        Server::start(vec![Reply::text("ok")]),
        Server::start(vec![]),
    );
    let place = Place::new();
    place.file(
        ".env",
        &format!(
            "ANTHROPIC_BASE_URL={}\nANTHROPIC_API_KEY={KEY}\n",
            theirs.url()
        ),
    );
    let (_, err, code) = without_key(&place, &mut place.command(&["run", "hello"]));
    assert!(
        err.contains(".env of this folder was left out; --trust takes it"),
        "{err}"
    );
    assert_eq!((code, theirs.connections()), (2, 0));

    let (_, err, code) = without_key(&place, &mut place.command(&["run", "hello", "--trust"]));
    let env = place.work().canonicalize().unwrap().join(".env");
    let route = format!(
        "server {} ({env}:1), model claude-sonnet-5-5 (default), key ANTHROPIC_API_KEY from {env}:2, sent as x-api-key",
        theirs.url(),
        env = env.display()
    );
    assert!(err.contains(&route), "{err}");
    assert_eq!(
        (code, theirs.requests()[0].header("x-api-key")),
        (0, Some(KEY))
    );

    let elsewhere = mine.url();
    let mut command = place.command(&["run", "hello", "--trust", "--base-url", &elsewhere]);
    let (_, err, code) = without_key(&place, &mut command);
    assert!(err.contains("the key in .env was left out"), "{err}");
    assert_eq!((code, mine.connections()), (2, 0));
}

/// The screen in a terminal, in `place` with `options`; the key is set.
fn screen(place: &Place, options: &[&str]) -> Terminal {
    let home = place.home();
    let mut builder = Terminal::builder()
        .size(120, 30)
        .current_dir(place.work())
        .env_clear()
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .env("HOME", home)
        .env("ANTHROPIC_API_KEY", KEY)
        .timeout(Duration::from_secs(20));
    for kind in ["CONFIG", "DATA", "STATE", "CACHE"] {
        builder = builder.env(format!("XDG_{kind}_HOME"), home.join(kind.to_lowercase()));
    }
    builder
        .args(options)
        .spawn(env!("CARGO_BIN_EXE_plimsoll"))
        .unwrap()
}

fn enter(terminal: &mut Terminal, text: &str) {
    terminal.send_str(text).unwrap();
    terminal.send(Key::Enter).unwrap();
}

#[track_caller]
fn leave(mut terminal: Terminal) {
    terminal.send(Key::Ctrl('d')).unwrap();
    assert_eq!(terminal.wait_exit().unwrap().code(), Some(0));
    assert!(!holds(terminal.screen().full_text().as_bytes()));
}

#[test]
fn trust_is_asked_for_once_and_again_when_a_file_changes() {
    let place = Place::new();
    place.file(".plimsoll/config.toml", "context_limit = 31000\n");
    let server = Server::start(vec![Reply::text("ok"), Reply::text("ok")]);
    let url = server.url();
    let options = ["--base-url", &url];
    let mut terminal = screen(&place, &options);
    terminal
        .wait_until(|screen| screen.contains("/trust takes them") && screen.contains("50,000"))
        .unwrap();
    enter(&mut terminal, "/trust");
    terminal
        .wait_until(|screen| screen.contains("31,000") && !screen.contains("/trust"))
        .unwrap();
    leave(terminal);

    let (_, err, code) = without_key(&place, &mut run(&place, &server, "ANTHROPIC_API_KEY", &[]));
    assert!(!err.contains("left out"), "{err}");
    assert_eq!(code, 0);
    place.file(".plimsoll/config.toml", "context_limit = 32000\n");
    let (_, err, code) = without_key(&place, &mut run(&place, &server, "ANTHROPIC_API_KEY", &[]));
    assert!(
        err.contains(".plimsoll/config.toml of this folder was left out"),
        "{err}"
    );
    assert_eq!(code, 0);
    let mut terminal = screen(&place, &options);
    terminal
        .wait_until(|screen| screen.contains("/trust takes them"))
        .unwrap();
    leave(terminal);
}

#[test]
fn plain_http_to_another_machine_is_asked_about_once() {
    let place = Place::new();
    // An address for documentation: nobody has it, and nothing is sent to it.
    let options = ["--base-url", "http://192.0.2.1", "--model", "m"];
    let mut terminal = screen(&place, &options);
    terminal
        .wait_until(|screen| screen.contains("/allow-http"))
        .unwrap();
    enter(&mut terminal, "find *.txt");
    terminal
        .wait_until(|screen| screen.contains("glob"))
        .unwrap();
    enter(&mut terminal, "/allow-http");
    terminal
        .wait_until(|screen| screen.contains("Begin a new session"))
        .unwrap();
    terminal.send_str("y").unwrap();
    terminal
        .wait_until(|screen| screen.contains("server http://192.0.2.1 (--base-url)"))
        .unwrap();
    leave(terminal);
    let mut terminal = screen(&place, &options);
    terminal
        .wait_until(|screen| screen.contains("server http://192.0.2.1 (--base-url)"))
        .unwrap();
    leave(terminal);
    let mut terminal = screen(&place, &["--base-url", "http://192.0.2.2"]);
    terminal
        .wait_until(|screen| screen.contains("/allow-http"))
        .unwrap();
    leave(terminal);
}
