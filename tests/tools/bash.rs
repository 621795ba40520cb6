//! `bash`: what comes back, how it ends, and that nothing is left running.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll::tools::{MAX_CHARS, ToolCall, ToolOutput, ToolSettings};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{Place, err, ok};

/// Far below what the commands here would take if nobody ended them. What is promised is 200 ms, but that is for a bench to
/// say: a loaded machine may take its time.
const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn bash_says_what_was_written_and_how_it_ended() {
    let place = Place::new();
    let table = [
        ("echo hi", ok("hi")),
        ("true", ok("(no output)")),
        ("echo out; echo err >&2; echo out", ok("out\nerr\nout")),
        ("echo no; exit 3", err("no\n[exit status 3]")),
        ("false", err("(no output)\n[exit status 1]")),
        ("kill -9 $$", err("(no output)\n[ended by signal 9]")),
        ("printf 'a\\xffb'", ok("a\u{fffd}b")),
        ("printf '10%%\\r50%%\\r100%%\\nok\\r\\n'", ok("100%\nok")),
        ("read x; echo \"got=$x\"", ok("got=")),
        ("cat", ok("(no output)")),
        (
            "read x </dev/tty || echo none",
            ok("bash: line 1: /dev/tty: No such device or address\nnone"),
        ),
        ("echo $GIT_TERMINAL_PROMPT $PAGER $EDITOR", ok("0 cat true")),
        ("printf '  two\\n\\n'", ok("  two")),
    ];
    for (command, expected) in table {
        assert_eq!(place.bash(command).await, expected, "{command}");
    }
    let root = place.tools.workspace().root().display().to_string();
    assert_eq!(place.bash("pwd").await, ok(&root));
}

#[tokio::test]
async fn bash_hides_what_it_is_told_to_hide() {
    let name = "CARGO_MANIFEST_DIR"; // set by cargo for this test's own process
    let place = Place::new();
    assert_eq!(
        place.bash(&format!("echo ${{{name}:+seen}}")).await,
        ok("seen")
    );
    let hiding = Place::with(ToolSettings {
        hidden_env: vec![name.to_owned()],
        ..ToolSettings::default()
    });
    assert_eq!(
        hiding.bash(&format!("echo ${{{name}:-hidden}}")).await,
        ok("hidden")
    );
}

#[tokio::test]
async fn bash_keeps_beginning_and_end_of_much_output() {
    let place = Place::new();
    let exact = place.bash("head -c 400000 /dev/zero | tr '\\0' x").await;
    assert_eq!(exact, ok(&"x".repeat(MAX_CHARS)));
    let much = place
        .bash("echo begin; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end; exit 2")
        .await;
    assert!(much.is_error);
    assert!(much.text.starts_with("begin\nxxx"));
    assert!(
        much.text.ends_with("xxx\nend\n[exit status 2]"),
        "{}",
        &much.text[much.text.len() - 60..]
    );
    assert!(much.text.chars().count() <= MAX_CHARS);
    let mark = much
        .text
        .lines()
        .find(|line| line.starts_with('['))
        .unwrap();
    let kept = much.text.chars().count() - mark.chars().count() - 2 - "\n[exit status 2]".len();
    let left_out: usize = mark
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .unwrap();
    // All that was written but the line end at its end, which is taken away.
    assert_eq!(
        kept + left_out + 1,
        "begin\n".len() + 20_000_000 + "\nend\n".len()
    );
}

#[tokio::test]
async fn bash_survives_binary_output() {
    let place = Place::new();
    let output = place.bash("head -c 300000 /dev/urandom").await;
    assert!(!output.is_error);
    assert!(output.text.chars().count() <= MAX_CHARS);
}

#[tokio::test]
async fn a_background_process_does_not_hold_the_tool() {
    let place = Place::new();
    let still = "[something that the command started still runs in the background]";
    let commands = [
        (
            "sleep 60 & echo $! >pid; echo done",
            format!("done\n{still}"),
        ),
        (
            "setsid sleep 60 & echo $! >pid; echo hi",
            format!("hi\n{still}"),
        ),
        (
            "sleep 60 >/dev/null 2>&1 & echo $! >pid; echo quiet",
            "quiet".to_owned(),
        ),
    ];
    for (command, expected) in commands {
        let start = Instant::now();
        assert_eq!(place.bash(command).await, ok(&expected));
        assert!(start.elapsed() < SOON);
        end(&place);
    }
    let chatty = place
        .bash("(while :; do echo x; sleep .01; done) & echo $! >pid; echo done")
        .await;
    assert!(chatty.text.ends_with(still), "{}", chatty.text);
    end(&place);
}

/// Ends the process that a test's command named in the file `pid`.
fn end(place: &Place) {
    let pid: i32 = fs::read_to_string(place.path("pid"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Whether the process that a test's command named in `file` is still there; one that is only unburied is not.
fn lives(path: &Path) -> bool {
    let pid = fs::read_to_string(path).unwrap();
    match fs::read_to_string(format!("/proc/{}/stat", pid.trim())) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim().starts_with('Z'),
        Err(_) => false,
    }
}

#[tokio::test]
async fn a_command_is_stopped_after_its_time() {
    let place = Place::with(ToolSettings {
        bash_timeout: Duration::from_millis(300),
        ..ToolSettings::default()
    });
    let start = Instant::now();
    let output = place
        .bash("echo $$ >pid; echo before; sleep 60; echo after")
        .await;
    assert_eq!(
        output,
        err(
            "before\n[stopped after 0.3 s: give a longer `timeout` (at most 600), or start it with `&` and its output in a file]"
        )
    );
    assert!(start.elapsed() < SOON);
    assert!(!lives(&place.path("pid")));
    let start = Instant::now();
    let endless = place.bash("yes").await;
    assert!(start.elapsed() < SOON);
    assert!(endless.is_error);
    assert!(endless.text.starts_with("y\ny\n"));
}

/// Runs `command`, interrupts it once it has written `ready`, and says what came and how long that took.
async fn interrupted(place: &Place, command: &str) -> (ToolOutput, Duration) {
    let call = ToolCall::parse("bash", &json!({"command": command})).unwrap();
    let cancel = CancellationToken::new();
    let run = place.tools.run(&call, &cancel);
    let ready = place.path("ready");
    let stop = async {
        while !ready.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        Instant::now()
    };
    let (output, since) = tokio::join!(run, stop);
    (output, since.elapsed())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_interrupt_ends_the_whole_tree() {
    let place = Place::new();
    let tree = "echo started; (sleep 60 & echo $! >grandchild; wait) & echo $$ >shell; until [ -s grandchild ]; do :; done; touch ready; sleep 60";
    let (output, took) = interrupted(&place, tree).await;
    assert_eq!(output, err("started\n[interrupted]"));
    assert!(took < SOON, "{took:?}");
    assert!(!lives(&place.path("shell")));
    assert!(!lives(&place.path("grandchild")));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_interrupt_ends_those_who_ignore_the_polite_signal() {
    let place = Place::new();
    let stubborn = "trap '' TERM; echo $$ >shell; touch ready; while :; do sleep 1; done";
    let (output, took) = interrupted(&place, stubborn).await;
    assert_eq!(output, err("(no output)\n[interrupted]"));
    assert!(took < SOON, "{took:?}");
    assert!(!lives(&place.path("shell")));
}

#[tokio::test]
async fn an_interrupt_ends_one_that_never_stops_writing() {
    let place = Place::new();
    let (output, took) = interrupted(&place, "touch ready; yes").await;
    assert!(output.is_error);
    assert!(output.text.ends_with("\n[interrupted]"), "{}", output.text);
    assert!(took < SOON, "{took:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dropped_run_leaves_nothing_behind() {
    let place = Place::new();
    let command = "echo $$ >shell; (sleep 60 & echo $! >child; wait) & until [ -s child ]; do :; done; touch ready; sleep 60";
    let call = ToolCall::parse("bash", &json!({"command": command})).unwrap();
    let cancel = CancellationToken::new();
    let ready = place.path("ready");
    tokio::select! {
        output = place.tools.run(&call, &cancel) => panic!("{output:?}"),
        () = async { while !ready.exists() { tokio::task::yield_now().await } } => {}
    }
    let gone = async {
        while lives(&place.path("shell")) || lives(&place.path("child")) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, gone).await.unwrap();
}

#[tokio::test]
async fn nothing_begins_after_an_interrupt() {
    let place = Place::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    for (name, input) in [
        ("bash", json!({"command": "touch hit"})),
        ("write_file", json!({"path": "hit", "content": "x"})),
    ] {
        let call = ToolCall::parse(name, &input).unwrap();
        assert_eq!(
            place.tools.run(&call, &cancel).await,
            err("interrupted before it began")
        );
    }
    assert!(!place.path("hit").exists());
}
