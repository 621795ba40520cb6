//! Keys in, screen out: the whole screen without a terminal, against an agent whose events are written here.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use plimsoll::context::{History, Limits, Profile};
use plimsoll::event::{
    AgentEvent, COMMAND_CAPACITY, Command, EVENT_CAPACITY, Envelope, Gate, Handle, SessionStarted,
    TurnEnd,
};
use plimsoll::message::{ContentBlock, Message, Usage};
use plimsoll::tui::{Learn, Look, Script, Setup, print};
use serde_json::json;
use tokio::sync::mpsc;

/// An agent that answers every request with the next of its turns.
struct Agent {
    history: History,
    seq: u64,
    events: mpsc::Sender<Envelope>,
}

impl Agent {
    async fn send(&mut self, event: AgentEvent) {
        self.seq += 1;
        let envelope = Envelope {
            seq: self.seq,
            task: None,
            event,
        };
        // The screen may be gone already.
        let _ = self.events.send(envelope).await;
    }

    async fn append(&mut self, message: Message) {
        let message = Arc::new(message);
        let id = self.history.push(Arc::clone(&message));
        let size = plimsoll::context::estimate_size(self.history.messages());
        self.send(AgentEvent::MessageAppended { id, message, size })
            .await;
    }

    async fn turn(&mut self, request: String) {
        self.send(AgentEvent::TurnStarted {
            request: request.clone(),
        })
        .await;
        self.append(Message::user(request)).await;
        self.send(AgentEvent::ModelCallStarted {
            call: 1,
            size: 10,
            messages: 1,
        })
        .await;
        for piece in ["Let me ", "look at 漢字 ", "first."] {
            self.send(AgentEvent::TextDelta {
                text: piece.to_owned(),
            })
            .await;
        }
        let input = json!({"command": "cargo test -p parser"});
        self.append(Message::assistant(vec![
            ContentBlock::text("Let me look at 漢字 first."),
            ContentBlock::tool_use("toolu_1", "bash", input.clone()),
        ]))
        .await;
        self.send(AgentEvent::ToolStarted {
            id: "toolu_1".to_owned(),
            tool: "bash".to_owned(),
            input,
        })
        .await;
        let output = "ok\n".repeat(700);
        self.send(AgentEvent::ToolFinished {
            id: "toolu_1".to_owned(),
            output: output.clone(),
            is_error: false,
            duration_ms: 5,
        })
        .await;
        self.append(Message::user_blocks(vec![ContentBlock::tool_result(
            "toolu_1", output,
        )]))
        .await;
        self.append(Message::assistant(vec![ContentBlock::text(
            "All 700 tests say ok. \x1b[31mNothing\x1b[0m else to do.",
        )]))
        .await;
        self.send(AgentEvent::TurnFinished {
            end: TurnEnd::Done,
            error: None,
            usage: Usage::default(),
        })
        .await;
    }
}

/// Starts the agent.
async fn start() -> anyhow::Result<Handle> {
    let (commands, mut inbox) = mpsc::channel(COMMAND_CAPACITY);
    let (events, outbox) = mpsc::channel(EVENT_CAPACITY);
    let mut agent = Agent {
        history: History::new(),
        seq: 0,
        events,
    };
    tokio::spawn(async move {
        agent
            .send(AgentEvent::SessionStarted(Box::new(SessionStarted {
                session: "s".to_owned(),
                workspace: "/home/me/parser-demo".to_owned(),
                model: "scripted".to_owned(),
                scripted: true,
                profile: Profile::Lesson,
                limits: Limits::default(),
                system_chars: 1_912,
                tools_chars: 5_240,
                context: History::new(),
            })))
            .await;
        while let Some(command) = inbox.recv().await {
            match command {
                Command::Prompt(request) => agent.turn(request).await,
                Command::Shutdown => break,
                Command::Interrupt
                | Command::Decide { .. }
                | Command::Compact
                | Command::SetLimits { .. } => {}
            }
        }
    });
    Ok(Handle {
        commands,
        events: outbox,
    })
}

fn setup() -> Setup {
    Setup {
        look: Look::default(),
        learn: Some(Learn::On),
        first: vec![
            "There is no API key, so this is the scripted model: no network, nothing to pay."
                .to_owned(),
            "Try: F2 for the tour, or type `read README.md`.".to_owned(),
        ],
        gates: Vec::new(),
        demos: vec!["tour".to_owned(), "micro".to_owned()],
        tee: None,
    }
}

async fn screen(keys: &str, size: &str) -> String {
    let script = Script::parse(keys, Some(size)).unwrap();
    print(start(), setup(), script).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn show() {
    for size in ["80x24", "120x40", "60x12"] {
        for keys in [
            "",
            "test it<enter>",
            "<f1>",
            "/c",
            "test<enter><tab><tab><tab>",
        ] {
            eprintln!("== {keys} {size}\n{}", screen(keys, size).await);
        }
    }
}
#[tokio::test(start_paused = true)]
async fn gate() {
    let mut s = setup();
    s.gates = vec![Gate {
        say: "Now the model reads five files. Watch the lamp of stage 3.".to_owned(),
        limits: None,
        prompt: "read".to_owned(),
    }];
    let script = Script::parse("x", Some("120x40")).unwrap();
    eprintln!("{}", print(start(), s, script).await.unwrap());
}
