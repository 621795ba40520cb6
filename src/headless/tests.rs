//! A played agent on the other side of the handle: what is sent to it, what comes out, and which code.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::context::{Limits, MessageId};
use crate::event::{COMMAND_CAPACITY, EVENT_CAPACITY};
use crate::message::{ContentBlock, Message, Usage};

/// The agent's side.
struct Agent {
    commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<Envelope>,
    seq: u64,
}

fn pair() -> (Handle, Agent) {
    let (command_sender, commands) = mpsc::channel(COMMAND_CAPACITY);
    let (events, event_receiver) = mpsc::channel(EVENT_CAPACITY);
    let handle = Handle {
        commands: command_sender,
        events: event_receiver,
    };
    let agent = Agent {
        commands,
        events,
        seq: 0,
    };
    (handle, agent)
}

impl Agent {
    async fn send(&mut self, event: AgentEvent) {
        self.send_for(None, event).await;
    }

    async fn send_for(&mut self, task: Option<&str>, event: AgentEvent) {
        self.seq += 1;
        let envelope = Envelope {
            seq: self.seq,
            task: task.map(ToOwned::to_owned),
            event,
        };
        self.events.send(envelope).await.unwrap();
    }

    async fn says(&mut self, blocks: Vec<ContentBlock>) {
        self.send(AgentEvent::MessageAppended {
            id: MessageId(1),
            message: Arc::new(Message::assistant(blocks)),
            size: 1,
        })
        .await;
    }
}

fn finished(end: TurnEnd, error: Option<&str>) -> AgentEvent {
    AgentEvent::TurnFinished {
        end,
        error: error.map(ToOwned::to_owned),
        usage: Usage::default(),
    }
}

fn gate(prompt: &str) -> Gate {
    Gate {
        say: String::new(),
        limits: None,
        prompt: prompt.to_owned(),
    }
}

/// Runs `drive` with text output against `agent`; what was printed, on both sides, and the code.
async fn text(
    gates: Vec<Gate>,
    agent: impl AsyncFnOnce(Agent),
    stop: impl Future<Output = u8>,
) -> (String, String, u8) {
    let (handle, other) = pair();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut sink = Text::new(&mut out, &mut err);
    let (code, ()) = tokio::join!(drive(handle, gates, &mut sink, stop), agent(other));
    let printed = |bytes| String::from_utf8(bytes).unwrap();
    (printed(out), printed(err), code.unwrap())
}

#[tokio::test]
async fn the_final_reply_goes_out_clean_and_all_else_to_the_other_side() {
    let agent = async |mut agent: Agent| {
        let prompt = Command::Prompt("hi".to_owned());
        assert_eq!(agent.commands.recv().await, Some(prompt));
        agent
            .says(vec![
                ContentBlock::text("I look."),
                ContentBlock::tool_use("t", "bash", json!({"command": "ls\u{1b}[2J"})),
            ])
            .await;
        agent
            .send(AgentEvent::ToolStarted {
                id: "t".to_owned(),
                tool: "bash".to_owned(),
                input: json!({"command": "ls"}),
            })
            .await;
        agent
            .send_for(
                Some("t"),
                AgentEvent::Notice {
                    text: "a\u{9b}2Jb".to_owned(),
                },
            )
            .await;
        agent
            .says(vec![ContentBlock::text("\u{1b}[31mDone.\u{1b}[0m")])
            .await;
        agent.send(finished(TurnEnd::Done, None)).await;
        assert_eq!(agent.commands.recv().await, Some(Command::Shutdown));
    };
    let (out, err, code) = text(vec![gate("hi")], agent, std::future::pending()).await;
    assert_eq!(out, "Done.\n");
    assert_eq!(err, "bash {\"command\":\"ls\"}\n  a\u{fffd}2Jb\n");
    assert_eq!(code, 0);
}

#[tokio::test]
async fn each_end_of_a_call_says_which_call_also_of_one_that_never_began() {
    let ended = |id: &str, is_error| AgentEvent::ToolFinished {
        id: id.to_owned(),
        output: "o".repeat(if is_error { 200 } else { 1_234 }),
        is_error,
        duration_ms: 0,
    };
    let agent = async |mut agent: Agent| {
        agent.commands.recv().await;
        let wide = json!({"path": "w".repeat(80)});
        agent
            .says(vec![
                ContentBlock::tool_use("a", "read_file", json!({"path": "a.md"})),
                ContentBlock::tool_use("b", "write_file", wide),
            ])
            .await;
        agent
            .send(AgentEvent::ToolStarted {
                id: "a".to_owned(),
                tool: "read_file".to_owned(),
                input: json!({"path": "a.md"}),
            })
            .await;
        agent.send(ended("b", true)).await;
        agent.send(ended("a", false)).await;
        agent.send(ended("c", true)).await;
        agent.send(finished(TurnEnd::Done, None)).await;
    };
    let (_, err, _) = text(vec![gate("hi")], agent, std::future::pending()).await;
    let said = format!("{}…", "o".repeat(159));
    assert_eq!(
        err,
        format!(
            "read_file {{\"path\":\"a.md\"}}\n  write_file {{\"path\":\"{}…: failed: {said}\n  \
             read_file {{\"path\":\"a.md\"}}: 1,234 characters\n  c: failed: {said}\n",
            "w".repeat(39)
        )
    );
}

#[tokio::test]
async fn gates_wait_for_the_turn_before_and_set_their_limits_first() {
    let limits = Limits {
        keep_recent: 1,
        ..Limits::default()
    };
    let gates = vec![
        Gate {
            say: "look".to_owned(),
            ..gate("one")
        },
        Gate {
            limits: Some(limits.clone()),
            ..gate("two")
        },
    ];
    let agent = async |mut agent: Agent| {
        let first = Command::Prompt("one".to_owned());
        assert_eq!(agent.commands.recv().await, Some(first));
        // A subagent's turn is not the turn.
        agent
            .send_for(Some("t"), finished(TurnEnd::Failed, None))
            .await;
        tokio::task::yield_now().await;
        agent.commands.try_recv().unwrap_err();
        agent.send(finished(TurnEnd::Done, None)).await;
        let set = Command::SetLimits {
            limits,
            reason: "the demo sets them".to_owned(),
        };
        assert_eq!(agent.commands.recv().await, Some(set));
        let second = Command::Prompt("two".to_owned());
        assert_eq!(agent.commands.recv().await, Some(second));
        agent.send(finished(TurnEnd::Done, None)).await;
    };
    let (out, err, code) = text(gates, agent, std::future::pending()).await;
    assert_eq!((out.as_str(), code), ("\n\n", 0));
    assert_eq!(err, "\nlook\n  the request failed\n");
}

#[tokio::test]
async fn a_turn_that_fails_is_the_last_and_gives_the_code() {
    for (end, expected, code) in [
        (TurnEnd::Failed, "the request failed: no route\n", 1),
        (
            TurnEnd::MaxTokens,
            "the reply was cut at the output limit: no route\n",
            1,
        ),
        (TurnEnd::Interrupted, "interrupted: no route\n", 130),
    ] {
        let agent = async |mut agent: Agent| {
            agent.commands.recv().await;
            agent.send(finished(end, Some("no route"))).await;
            assert_eq!(agent.commands.recv().await, Some(Command::Shutdown));
        };
        let gates = vec![gate("one"), gate("two")];
        let (_, err, found) = text(gates, agent, std::future::pending()).await;
        assert_eq!((err.as_str(), found), (expected, code));
    }
}

#[tokio::test]
async fn a_signal_interrupts_and_what_the_agent_still_says_is_written() {
    let agent = async |mut agent: Agent| {
        agent.commands.recv().await;
        assert_eq!(agent.commands.recv().await, Some(Command::Interrupt));
        assert_eq!(agent.commands.recv().await, Some(Command::Shutdown));
        agent.send(finished(TurnEnd::Interrupted, None)).await;
    };
    // Ready at its third poll: the prompt has gone out by then.
    let stop = async {
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        15
    };
    let (out, err, code) = text(vec![gate("hi")], agent, stop).await;
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("", "interrupted\n", 143)
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_hangs_is_left_behind() {
    let (handle, agent) = pair();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut sink = Text::new(&mut out, &mut err);
    let code = drive(handle, vec![gate("hi")], &mut sink, async { 1 }).await;
    assert_eq!(code.unwrap(), 129);
    drop(agent);
}

#[tokio::test]
async fn an_agent_that_goes_away_is_an_error() {
    let (handle, agent) = pair();
    drop(agent);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut sink = Text::new(&mut out, &mut err);
    let gone = drive(handle, vec![gate("hi")], &mut sink, std::future::pending()).await;
    assert_eq!(
        gone.unwrap_err().to_string(),
        "the agent ended in the middle of a turn"
    );
}

#[test]
fn why_a_turn_did_not_end_well_stands_beside_the_json_too() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut sink = JsonLines {
        out: &mut out,
        err: &mut err,
    };
    for (task, end, error) in [
        (Some("t"), TurnEnd::Failed, Some("a subagent's")),
        (None, TurnEnd::Done, None),
        (None, TurnEnd::Failed, Some("no route")),
    ] {
        let envelope = Envelope {
            seq: 1,
            task: task.map(ToOwned::to_owned),
            event: finished(end, error),
        };
        sink.event(&envelope).unwrap();
    }
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 3);
    assert_eq!(
        String::from_utf8(err).unwrap(),
        "the request failed: no route\n"
    );
}

#[test]
fn a_closed_standard_error_costs_nothing() {
    let (mut out, mut err) = (Vec::new(), Closed);
    let mut sink = Text::new(&mut out, &mut err);
    sink.say("look").unwrap();
    for event in [
        AgentEvent::Notice {
            text: "a".to_owned(),
        },
        AgentEvent::MessageAppended {
            id: MessageId(1),
            message: Arc::new(Message::assistant(vec![ContentBlock::text("Done.")])),
            size: 1,
        },
        finished(TurnEnd::Done, None),
    ] {
        let task = None;
        sink.event(&Envelope {
            seq: 1,
            task,
            event,
        })
        .unwrap();
    }
    assert_eq!(String::from_utf8(out).unwrap(), "Done.\n");
}

/// Fails as a closed pipe does.
struct Closed;

impl io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_closed_pipe_ends_the_agent() {
    let (handle, mut agent) = pair();
    let (mut out, mut err) = (Closed, Vec::new());
    let mut sink = JsonLines {
        out: &mut out,
        err: &mut err,
    };
    let other = async {
        agent.commands.recv().await;
        agent
            .send(AgentEvent::TextDelta {
                text: "a".to_owned(),
            })
            .await;
        let told = agent.commands.recv().await;
        drop(agent);
        told
    };
    let (code, told) = tokio::join!(
        drive(handle, vec![gate("hi")], &mut sink, std::future::pending()),
        other
    );
    assert_eq!(code.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(told, Some(Command::Shutdown));
}

fn delta(text: &str) -> Envelope {
    Envelope {
        seq: 7,
        task: None,
        event: AgentEvent::TextDelta {
            text: text.to_owned(),
        },
    }
}

#[test]
fn a_line_of_json_holds_nothing_that_a_terminal_acts_on_and_says_the_same() {
    let text = "a\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{2028}é漢\n";
    let line = json_line(&delta(text)).unwrap();
    assert_eq!(
        line,
        "{\"seq\":7,\"task\":null,\"event\":\"text_delta\",\"text\":\"a\\u001b[2J\\u007f\\u009b31m\\u202e\\u2028é漢\\n\"}\n"
    );
    let back: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(back["text"], text);
}

#[test]
fn the_log_gets_the_same_lines_behind_what_it_holds_and_is_for_the_user_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let mut log = EventLog::append(&path).unwrap();
    let both = [delta("a"), delta("\u{9b}b")];
    for envelope in &both {
        log.record(envelope);
    }
    let lines = both.map(|envelope| json_line(&envelope).unwrap()).concat();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
    assert!(log.failure().is_none());
    drop(log);

    // Another run goes on behind it, and behind a line that was cut off.
    let cut = &lines[..lines.len() - 3];
    std::fs::write(&path, cut).unwrap();
    for _ in 0..2 {
        EventLog::append(&path).unwrap().record(&delta("c"));
    }
    let line = json_line(&delta("c")).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        format!("{cut}\n{line}{line}")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_on_a_full_disk_keeps_its_first_error() {
    let mut log = EventLog::append(std::path::Path::new("/dev/full")).unwrap();
    log.record(&delta("a"));
    log.record(&delta("b"));
    let failure = log.failure().map(|error| error.kind());
    assert_eq!(failure, Some(io::ErrorKind::StorageFull));
}
