//! The program's screen in a real pseudo-terminal: what it takes it gives back, however it ends.
//!
//! Where a reply has to stream, a loopback server sends it; nothing here needs a network or a key that is one.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal as Posix, kill_process};
use serde_json::json;
use support::reply::Reply;
use support::server::Server;
use tempfile::TempDir;
use termlens::{Color, Key, Screen, Signal, Terminal, TerminalBuilder};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// What a test waits for at most; it goes on as soon as it is there.
const PATIENCE: Duration = Duration::from_secs(20);

/// A home and an empty folder to work in.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.work()).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// A terminal of 80x24 in which nothing of this machine's settings is seen.
    fn terminal(&self) -> TerminalBuilder {
        let home = self.0.path();
        let mut builder = Terminal::builder()
            .size(80, 24)
            .env_clear()
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home)
            .env("TMPDIR", home)
            .current_dir(self.work())
            .timeout(PATIENCE);
        for kind in ["CONFIG", "DATA", "STATE", "CACHE"] {
            builder = builder.env(format!("XDG_{kind}_HOME"), home.join(kind.to_lowercase()));
        }
        builder
    }

    /// The program by itself, with the scripted model.
    fn start(&self) -> Terminal {
        ready(self.terminal().arg("--offline").spawn(PROGRAM).unwrap())
    }

    /// The program as a shell's child, which says how it ended, looks at the terminal's modes and reads a line.
    fn start_in_a_shell(&self, server: &Server) -> Terminal {
        let script = r#"stty -g >"$HOME/before"
            sh -c 'echo $$ >"$HOME/pid"; exec "$0"' "$0"
            echo "left with $?"
            stty -g >"$HOME/after"
            read -r line; echo "the shell got: $line""#;
        let terminal = self
            .terminal()
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "test-key")
            .args(["-c", script, PROGRAM])
            .spawn("sh")
            .unwrap();
        ready(terminal)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Sends a signal to the program that runs in the shell.
    fn signal(&self, signal: Posix) {
        let pid = self.read("pid").trim().parse().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// The shell goes on: everything is given back, the modes are what they were, and what is typed arrives as it is.
    fn the_shell_is_sane(&self, terminal: &mut Terminal, code: &str) {
        terminal
            .wait_until(|screen| screen.contains(&format!("left with {code}")))
            .unwrap();
        given_back(&terminal.screen());
        terminal.send_str("echo ok\n").unwrap();
        terminal
            .wait_until(|screen| screen.contains("the shell got: echo ok"))
            .unwrap();
        terminal.wait_exit().unwrap();
        assert_eq!(self.read("after"), self.read("before"), "stty");
    }
}

/// Waits for the first frame with an agent behind it.
fn ready(mut terminal: Terminal) -> Terminal {
    terminal
        .wait_until(|screen| screen.contains("F2 demo tour") && screen.contains("model: "))
        .unwrap();
    terminal
}

/// A reply of many lines that is sent in single bytes and then never ends.
fn endless() -> Reply {
    let lines: Vec<String> = (0..2_000)
        .map(|n| format!("line {n} of a long answer"))
        .collect();
    let text = lines.join("\n");
    Reply::text(&text).byte_by_byte().stall_after(600_000)
}

fn streaming(terminal: &mut Terminal) {
    terminal.send_str("go").unwrap();
    terminal.send(Key::Enter).unwrap();
    terminal
        .wait_until(|screen| screen.contains("of a long answer"))
        .unwrap();
}

#[track_caller]
fn given_back(screen: &Screen) {
    assert!(!screen.alternate_screen(), "still on the alternate screen");
    assert!(screen.cursor_visible(), "no cursor");
    assert!(!screen.bracketed_paste(), "pastes still bracketed");
    assert!(screen.mouse_modes().is_empty(), "the mouse is still taken");
}

#[test]
fn it_takes_the_screen_but_not_the_mouse_and_quits_clean() {
    let place = Place::new();
    let server = Server::start(Vec::new());
    let mut terminal = place.start_in_a_shell(&server);
    let screen = terminal.screen();
    assert!(screen.alternate_screen() && screen.bracketed_paste());
    assert!(screen.mouse_modes().is_empty());
    assert_eq!(screen.cursor(), (22, 2, true));
    terminal.send(Key::Ctrl('d')).unwrap();
    place.the_shell_is_sane(&mut terminal, "0");
}

#[test]
fn each_ending_signal_gives_the_terminal_back_while_a_reply_streams() {
    for (signal, code) in [
        (Posix::TERM, "143"),
        (Posix::HUP, "129"),
        (Posix::INT, "130"),
        (Posix::QUIT, "131"),
    ] {
        let place = Place::new();
        let server = Server::start(vec![endless()]);
        let mut terminal = place.start_in_a_shell(&server);
        streaming(&mut terminal);
        let sent = Instant::now();
        place.signal(signal);
        terminal
            .wait_until(|screen| screen.contains("left with"))
            .unwrap();
        // 0.3 s is what is promised; a busy machine may take its time to notice the end.
        let took = sent.elapsed();
        assert!(took < Duration::from_secs(10), "{signal:?}: {took:?}");
        place.the_shell_is_sane(&mut terminal, code);
    }
}

#[test]
fn ctrl_c_stops_a_reply_that_never_ends_and_twice_leaves() {
    let place = Place::new();
    let server = Server::start(vec![Reply::text("stuck for good").stall_after_events(4)]);
    let mut terminal = place.start_in_a_shell(&server);
    terminal.send_str("go").unwrap();
    terminal.send(Key::Enter).unwrap();
    terminal
        .wait_until(|screen| screen.contains("stuck"))
        .unwrap();
    terminal.send(Key::Ctrl('c')).unwrap();
    terminal
        .wait_until(|screen| screen.contains("Stopped."))
        .unwrap();
    assert!(server.wait_hung_up(1));
    terminal.send(Key::Ctrl('c')).unwrap();
    terminal
        .wait_until(|screen| screen.contains("Ctrl+C again to quit"))
        .unwrap();
    terminal.send(Key::Ctrl('c')).unwrap();
    place.the_shell_is_sane(&mut terminal, "0");
    // Where what was said can be read again.
    assert!(terminal.screen().contains("plimsoll: session log: "));
}

#[test]
fn an_agent_that_cannot_start_is_told_on_the_screen_and_the_terminal_comes_back() {
    let place = Place::new();
    let server = Server::start(Vec::new());
    // A file stands where the folder of the sessions should be.
    for folder in ["data", "state"] {
        fs::write(place.path(folder), "").unwrap();
    }
    let mut terminal = place
        .terminal()
        .env("ANTHROPIC_BASE_URL", server.url())
        .arg("--offline")
        .spawn(PROGRAM)
        .unwrap();
    terminal
        .wait_until(|screen| screen.contains("The agent did not start"))
        .unwrap();
    terminal.send(Key::Ctrl('d')).unwrap();
    assert_eq!(terminal.wait_exit().unwrap().code(), Some(0));
    given_back(&terminal.screen());
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_going_on_takes_it_again() {
    let place = Place::new();
    let mut terminal = place.start();
    terminal.send_str("a draft").unwrap();
    terminal
        .wait_until(|screen| screen.contains("> a draft"))
        .unwrap();
    terminal.send(Key::Ctrl('z')).unwrap();
    terminal
        .wait_until(|screen| !screen.alternate_screen())
        .unwrap();
    given_back(&terminal.screen());
    let pid = i32::try_from(terminal.pid().unwrap()).unwrap();
    // It may not have stopped yet: it is told to go on until it has.
    let back = (0..50).any(|_| {
        kill_process(Pid::from_raw(pid).unwrap(), Posix::CONT).unwrap();
        let patience = Duration::from_millis(200);
        let drawn = |screen: &Screen| screen.alternate_screen() && screen.contains("> a draft");
        terminal.wait_until_for(drawn, patience).is_ok()
    });
    assert!(back);
    terminal.send(Key::Ctrl('c')).unwrap();
    terminal
        .wait_until(|screen| screen.contains("Up brings it back"))
        .unwrap();
    terminal.send(Key::Ctrl('d')).unwrap();
    assert_eq!(terminal.wait_exit().unwrap().code(), Some(0));
    given_back(&terminal.screen());
}

#[test]
fn a_paste_comes_in_as_lines_and_a_resize_is_followed() {
    let place = Place::new();
    let mut terminal = place.start();
    terminal.paste("one\ntwo\nthree").unwrap();
    terminal
        .wait_until(|screen| screen.contains("three"))
        .unwrap();
    assert!(!terminal.screen().contains("working"));
    terminal.resize(120, 40).unwrap();
    terminal
        .wait_until(|screen| {
            screen.contains("Pipeline   before every call") && screen.contains("three")
        })
        .unwrap();
    terminal.resize(10, 3).unwrap();
    terminal
        .wait_until(|screen| screen.contains("Plimsoll"))
        .unwrap();
    terminal.signal(Signal::Term).unwrap();
    assert_eq!(terminal.wait_exit().unwrap().code(), Some(143));
}

#[test]
fn a_storm_of_resizes_while_a_reply_streams_ends_in_the_frame_that_belongs_there() {
    let place = Place::new();
    let server = Server::start(vec![endless()]);
    let mut terminal = place.start_in_a_shell(&server);
    streaming(&mut terminal);
    let sizes = [(120, 40), (41, 11), (2, 2), (200, 60), (80, 24), (10, 3)];
    // A key that comes at the moment of a resize must not wait for the next one.
    let letters: String = ('a'..='z').cycle().take(60).collect();
    for ((width, height), letter) in sizes.into_iter().cycle().zip(letters.chars()) {
        terminal.resize(width, height).unwrap();
        terminal.send_str(&letter.to_string()).unwrap();
    }
    terminal.resize(80, 24).unwrap();
    terminal
        .wait_until(|screen| {
            screen.row_text(0).starts_with(" Plimsoll ")
                && screen.row_text(6).starts_with("─ Conversation ──")
                && screen.contains("of a long answer")
                && screen.row_text(22).starts_with(&format!("> {letters}"))
        })
        .unwrap();
    place.signal(Posix::TERM);
    place.the_shell_is_sane(&mut terminal, "143");
}

#[test]
fn bytes_of_the_keyboard_are_understood_as_they_come() {
    let place = Place::new();
    let mut terminal = place.start();
    // A line feed is Ctrl+J; Shift+Enter as terminals that know it report it, in both ways; a key that is let go types
    // nothing.
    terminal
        .send_str("a\nb\x1b[13;2uc\x1b\rd\x1b[97;1:3u")
        .unwrap();
    terminal
        .wait_until(|screen| screen.contains("  d"))
        .unwrap();
    let rows: Vec<String> = (19..23)
        .map(|row| terminal.screen().row_text(row))
        .collect();
    let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
    assert_eq!(rows, ["> a", "  b", "  c", "  d"]);
    // A notch of the wheel is three arrows at once: the draft stays as it is.
    terminal.send_str("\x1b[A\x1b[A\x1b[Ae").unwrap();
    terminal
        .wait_until(|screen| screen.contains("  de"))
        .unwrap();
    // What an input method commits comes in one piece.
    terminal.send_str("\n2つ1人").unwrap();
    terminal
        .wait_until(|screen| screen.contains("  2つ1人"))
        .unwrap();
    assert_eq!(terminal.screen().cursor(), (22, 2 + 6, true));
}

#[test]
fn a_paste_without_brackets_sends_nothing() {
    let place = Place::new();
    let mut terminal = place.start();
    terminal.send_str("one\rtwo\tx\rthree\r4\r").unwrap();
    terminal
        .wait_until(|screen| screen.contains("  three"))
        .unwrap();
    assert!(!terminal.screen().contains("working"));
    assert!(
        terminal.screen().contains("  two x"),
        "{:?}",
        terminal.screen()
    );
}

#[test]
fn what_models_tools_and_files_say_cannot_act_on_the_terminal() {
    let evil = "x\u{1b}]0;PWN\u{7}\u{1b}]52;c;ZWNobyBoaQ==\u{7}\u{1b}[2J\u{1b}[10;10H\u{1b}[?1003h\u{9b}31m\u{202e}\ty";
    let place = Place::new();
    fs::write(
        place.work().join(format!("name{}", evil.replace('\t', ""))),
        evil,
    )
    .unwrap();
    let server = Server::start(vec![
        Reply::tools(vec![
            ("glob", json!({"pattern": "name*"})),
            (
                "bash",
                json!({"command": format!("printf '{evil}'; cat name*")}),
            ),
        ]),
        Reply::text(evil),
        Reply::error(400, "invalid_request_error", evil),
    ]);
    let mut terminal = place.start_in_a_shell(&server);
    terminal.send_str("go").unwrap();
    terminal.send(Key::Enter).unwrap();
    terminal
        .wait_until(|screen| screen.contains("May the model use bash?"))
        .unwrap();
    harmless(&terminal.screen());
    // The question is deaf at first: the answer is given until it is taken.
    terminal
        .wait_until(|screen| screen.contains("Enter answers"))
        .unwrap();
    terminal.send_str("y").unwrap();
    terminal.send(Key::Enter).unwrap();
    terminal
        .wait_until(|screen| screen.contains("asst   x"))
        .unwrap();
    harmless(&terminal.screen());
    terminal.send_str("again").unwrap();
    // Together with the text Enter would be a part of a paste.
    terminal
        .wait_until(|screen| screen.contains("> again"))
        .unwrap();
    terminal.send(Key::Enter).unwrap();
    terminal
        .wait_until(|screen| screen.contains("Failed: "))
        .unwrap();
    harmless(&terminal.screen());
    place.signal(Posix::TERM);
    place.the_shell_is_sane(&mut terminal, "143");
    harmless(&terminal.screen());
}

#[track_caller]
fn harmless(screen: &Screen) {
    assert_eq!(screen.title(), "");
    assert!(screen.clipboard().is_none(), "{:?}", screen.clipboard());
    assert!(screen.mouse_modes().is_empty());
    let text = screen.full_text();
    for residue in ["PWN", "]52;", "[2J", "ZWNo", "\u{202e}"] {
        assert!(!text.contains(residue), "{residue} in\n{text}");
    }
}

#[test]
fn a_terminal_that_can_do_nothing_gets_one_line_and_no_escape() {
    let no_terminal = "plimsoll: the screen needs a terminal on standard input and output; `plimsoll run PROMPT` works \
                       without one\n";
    let place = Place::new();
    let output = Process::new(PROGRAM)
        .arg("--offline")
        .current_dir(place.work())
        .env_clear()
        .env("HOME", place.0.path())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), no_terminal);
    assert_eq!(output.stdout, b"");
    for term in ["dumb", ""] {
        let mut terminal = place
            .terminal()
            .env("TERM", term)
            .arg("--offline")
            .spawn(PROGRAM)
            .unwrap();
        assert_eq!(terminal.wait_exit().unwrap().code(), Some(2), "{term:?}");
        let screen = terminal.screen();
        assert!(screen.contains("this terminal cannot show a screen"));
        assert!(!screen.alternate_screen());
    }
}

#[test]
fn without_colour_and_without_utf_8_the_screen_says_the_same() {
    let place = Place::new();
    let mut terminal = place
        .terminal()
        .env("NO_COLOR", "1")
        .env("LANG", "C")
        .args(["demo", "micro", "--set", "keep_recent=1"])
        .spawn(PROGRAM)
        .unwrap();
    terminal
        .wait_until(|screen| screen.contains("Enter goes on"))
        .unwrap();
    terminal.send(Key::Enter).unwrap();
    terminal
        .wait_until(|screen| screen.contains("3micro *"))
        .unwrap();
    let screen = terminal.screen();
    // The model's own quotation marks stay: only what the program draws is ASCII.
    let drawn = screen.text().replace(['“', '”'], "");
    assert!(drawn.is_ascii(), "{drawn}");
    assert_eq!(
        screen
            .find_by(|cell| (cell.style().fg, cell.style().bg) != (Color::Default, Color::Default)),
        None
    );
    terminal.send(Key::Ctrl('c')).unwrap();
    terminal.signal(Signal::Term).unwrap();
    terminal.wait_exit().unwrap();
}
