//! The screen in a real pseudo-terminal: what it takes it gives back, however it ends.
//!
//! The screen runs in a process of its own: this test binary, started again for [`the_screen`].

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use plimsoll::context::{History, Limits, Profile};
use plimsoll::event::{
    AgentEvent, COMMAND_CAPACITY, Command, EVENT_CAPACITY, Envelope, Handle, SessionStarted,
    TurnEnd,
};
use plimsoll::message::Usage;
use plimsoll::tui::{NoTerminal, Setup, run};
use rustix::process::{Pid, Signal as Posix, kill_process};
use termlens::{Key, Screen, Signal, Terminal};
use tokio::sync::mpsc;
use tokio::time::sleep;

const CHILD: &str = "PLIMSOLL_TEST_SCREEN";
/// What a test waits for at most; it goes on as soon as it is there.
const PATIENCE: Duration = Duration::from_secs(20);

/// Not a test by itself: the process that the others look at.
#[test]
#[ignore = "started by the other tests, in a terminal of its own"]
fn the_screen() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let setup = Setup {
        first: vec!["ready".to_owned()],
        tee: Some(Box::new(|envelope| {
            if let AgentEvent::Notice { text } = &envelope.event {
                assert!(text != "break", "the screen breaks");
            }
        })),
        ..Setup::default()
    };
    let code = match runtime.block_on(run(async { Ok(agent()) }, setup)) {
        Ok(left) => left.end.code(),
        Err(error) => {
            eprintln!("{error:#}");
            if error.is::<NoTerminal>() { 2 } else { 1 }
        }
    };
    std::process::exit(code.into());
}

/// An agent that streams until it is stopped, and says `break` where it is asked to.
fn agent() -> Handle {
    let (commands, mut inbox) = mpsc::channel(COMMAND_CAPACITY);
    let (events, outbox) = mpsc::channel(EVENT_CAPACITY);
    tokio::spawn(async move {
        let mut seq = 0;
        let mut say = async |event| {
            seq += 1;
            let task = None;
            events.send(Envelope { seq, task, event }).await.is_ok()
        };
        say(AgentEvent::SessionStarted(Box::new(SessionStarted {
            session: "s".to_owned(),
            log: None,
            workspace: "/home/me/demo".to_owned(),
            model: "scripted".to_owned(),
            scripted: true,
            profile: Profile::Lesson,
            limits: Limits::default(),
            system_chars: 0,
            tools_chars: 0,
            context: History::new(),
        })))
        .await;
        while let Some(command) = inbox.recv().await {
            let Command::Prompt(request) = command else {
                continue;
            };
            if request == "break" {
                say(AgentEvent::Notice { text: request }).await;
                continue;
            }
            say(AgentEvent::TurnStarted { request }).await;
            let mut n = 0;
            loop {
                let text = format!("line {n} of a long answer\n");
                if !say(AgentEvent::TextDelta { text }).await {
                    return;
                }
                n += 1;
                tokio::select! {
                    command = inbox.recv() => match command {
                        Some(Command::Interrupt) => break,
                        Some(_) => {}
                        None => return,
                    },
                    () = sleep(Duration::from_millis(5)) => {}
                }
            }
            say(AgentEvent::TurnFinished {
                end: TurnEnd::Interrupted,
                error: None,
                usage: Usage::default(),
            })
            .await;
        }
    });
    Handle {
        commands,
        events: outbox,
    }
}

const ARGUMENTS: [&str; 4] = ["--exact", "the_screen", "--ignored", "--nocapture"];

/// Starts the screen and waits for its first frame.
fn start() -> Terminal {
    let mut terminal = Terminal::builder()
        .size(80, 24)
        .env_clear()
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .env(CHILD, "1")
        .timeout(PATIENCE)
        .args(ARGUMENTS)
        .spawn(std::env::current_exe().unwrap())
        .unwrap();
    terminal
        .wait_until(|screen| screen.contains("F2 demo tour"))
        .unwrap();
    terminal
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
    let mut terminal = start();
    let screen = terminal.screen();
    assert!(screen.alternate_screen() && screen.bracketed_paste());
    assert!(screen.mouse_modes().is_empty());
    assert_eq!(screen.cursor(), (22, 2, true));
    terminal.send(Key::Ctrl('d')).unwrap();
    let status = terminal.wait_exit().unwrap();
    assert_eq!(status.code(), Some(0));
    given_back(&terminal.screen());
}

#[test]
fn each_ending_signal_gives_the_terminal_back_while_a_reply_streams() {
    for (signal, number) in [(Signal::Term, 15), (Signal::Hup, 1), (Signal::Int, 2)] {
        let mut terminal = start();
        streaming(&mut terminal);
        let sent = Instant::now();
        terminal.signal(signal).unwrap();
        let status = terminal.wait_exit().unwrap();
        // 0.3 s is what is promised; a busy machine may take its time to notice the end.
        assert!(
            sent.elapsed() < Duration::from_secs(2),
            "{:?}",
            sent.elapsed()
        );
        assert_eq!(status.code(), Some(128 + number));
        given_back(&terminal.screen());
    }
}

#[test]
fn a_panic_gives_the_terminal_back_before_its_message() {
    let mut terminal = start();
    terminal.send_str("break").unwrap();
    terminal.send(Key::Enter).unwrap();
    let status = terminal.wait_exit().unwrap();
    assert_eq!(status.code(), Some(101));
    let screen = terminal.screen();
    given_back(&screen);
    assert!(screen.full_text().contains("the screen breaks"));
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_going_on_takes_it_again() {
    let mut terminal = start();
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
    let mut terminal = start();
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
fn bytes_of_the_keyboard_are_understood_as_they_come() {
    let mut terminal = start();
    // A line feed is Ctrl+J; Shift+Enter as terminals that know it report it; a key that is let go types nothing.
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
}

#[test]
fn without_a_terminal_it_says_so_and_writes_nothing_else() {
    let output = Process::new(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .env(CHILD, "1")
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        error,
        "the screen needs a terminal on standard input and output; `plimsoll run PROMPT` works without one\n"
    );
    assert!(!output.stdout.contains(&0x1b));
}
