//! What the screen costs in a long session: a key with its frame, an event, the first frame of a session that goes on.
//!
//! The whole loop runs, on a terminal in memory and in paused time; an agent's end is played here.

#![expect(
    clippy::expect_used,
    reason = "a bench that cannot start has nothing to tell"
)]

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use plimsoll::context::{History, Limits, MessageId, Profile};
use plimsoll::event::{
    AgentEvent, COMMAND_CAPACITY, Command, EVENT_CAPACITY, Envelope, Handle, SessionStarted,
};
use plimsoll::message::{ContentBlock, Message};
use plimsoll::tui::{Script, Setup, print};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// Messages of a long session.
const LONG: usize = 10_000;
/// Keys typed in one go: so many that starting is a small part of it.
const KEYS: usize = 1_000;
/// Events that come in one go.
const EVENTS: u32 = 20_000;

fn main() {
    divan::main();
}

/// A key with the frame that shows it.
#[divan::bench(
    args = [("80x24", 10), ("80x24", LONG), ("120x40", 10), ("120x40", LONG), ("200x60", 10), ("200x60", LONG)],
    sample_count = 10
)]
fn key(bencher: Bencher<'_, '_>, (size, messages): (&str, usize)) {
    // Short drafts: what is measured is not the text area.
    let keys: String = "typing<c-u>".repeat(KEYS / 7);
    let show = Show::new(messages, size, &keys);
    bencher
        .counter(ItemsCount::new(KEYS))
        .bench_local(|| show.run(0));
}

/// A message that is appended.
#[divan::bench(args = [10, LONG], sample_count = 10)]
fn event(bencher: Bencher<'_, '_>, messages: usize) {
    let show = Show::new(messages, "120x40", "");
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench_local(|| show.run(EVENTS));
}

/// The first frame of a session that goes on with so many messages.
#[divan::bench(args = [10, LONG], sample_count = 10)]
fn go_on(bencher: Bencher<'_, '_>, messages: usize) {
    let show = Show::new(messages, "120x40", "");
    bencher.bench_local(|| show.run(0));
}

/// A session to be shown.
struct Show {
    started: SessionStarted,
    script: Script,
    runtime: Runtime,
}

impl Show {
    fn new(messages: usize, size: &str, keys: &str) -> Self {
        let mut context = History::new();
        context.push_request("Fix the failing tests".to_owned());
        for n in 1..messages {
            context.push(Arc::new(message(n)));
        }
        divan::black_box(context.size());
        let profile = Profile::Session;
        Self {
            started: SessionStarted {
                log: None,
                session: "s1".to_owned(),
                workspace: "/home/u/parser".to_owned(),
                model: "model".to_owned(),
                scripted: false,
                profile,
                limits: Limits::of(profile),
                system_chars: 2_000,
                tools_chars: 5_000,
                context,
            },
            script: Script::parse(keys, Some(size)).expect("a script"),
            runtime: Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .expect("a runtime"),
        }
    }

    /// Shows it, types its keys, lets `events` more messages come in.
    fn run(&self, events: u32) {
        let started = AgentEvent::SessionStarted(Box::new(self.started.clone()));
        let (first, mut size) = (self.started.context.next_id, self.started.context.size());
        let appended = Arc::new(message(1));
        let start = async move {
            let (commands, mut queue) = mpsc::channel(COMMAND_CAPACITY);
            let (sender, receiver) = mpsc::channel(EVENT_CAPACITY);
            let more = (first..first + events).map(move |id| {
                size += 200;
                AgentEvent::MessageAppended {
                    id: MessageId(id),
                    message: Arc::clone(&appended),
                    size,
                }
            });
            tokio::spawn(async move {
                for (seq, event) in (1..).zip(std::iter::once(started).chain(more)) {
                    let task = None;
                    if sender.send(Envelope { seq, task, event }).await.is_err() {
                        return;
                    }
                }
                // The end of the commands is the end of the session.
                while queue
                    .recv()
                    .await
                    .is_some_and(|command| command != Command::Shutdown)
                {}
            });
            Ok(Handle {
                commands,
                events: receiver,
            })
        };
        let shown = print(start, Setup::default(), self.script.clone());
        divan::black_box(self.runtime.block_on(shown).expect("a frame"));
    }
}

/// A reply, a call or its result.
fn message(n: usize) -> Message {
    let id = format!("toolu_{}", n.div_ceil(3));
    match n % 3 {
        0 => Message::user_blocks(vec![ContentBlock::tool_result(id, "x".repeat(900))]),
        1 => Message::assistant(vec![ContentBlock::text(
            "The lexer counts a tab as one column, and the parser as four. I look at both. "
                .repeat(2),
        )]),
        _ => {
            let input = json!({"path": "src/lexer.rs"});
            Message::assistant(vec![ContentBlock::tool_use(id, "read_file", input)])
        }
    }
}
