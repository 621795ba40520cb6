//! Whatever a model answers and whenever the user stops it: the history stays valid, the log tells the same story, every
//! beginning has its end, and the next request goes through.

use std::io::ErrorKind;
use std::time::Duration;

use plimsoll::event::{AgentEvent, Command, Decision, TurnEnd};
use plimsoll::message::{ContentBlock, StopReason, Usage};
use plimsoll::model::{Delta, ModelError};
use plimsoll::permission::Mode;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::events;
use super::harness::{Reply, Run, Setup};

/// A block of a reply.
#[derive(Clone, Debug)]
enum Piece {
    Text(&'static str),
    Thinking,
    Call(&'static str, Value),
    Broken,
}

/// How a reply ends.
#[derive(Clone, Debug)]
enum End {
    Well,
    Stopped(StopReason),
    Failed(ModelError),
    Retried,
    Hangs,
    Nothing,
}

/// What is sent to the agent when an event comes.
#[derive(Clone, Debug)]
enum Told {
    Interrupt,
    Compact,
    Prompt,
    Limits(usize),
    LogFull,
    DiskFull,
    Room,
}

type Script = Vec<(Vec<Piece>, End)>;

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => prop::sample::select(vec!["Aye.", "I look.", " \n", "漢 é"]).prop_map(Piece::Text),
        1 => Just(Piece::Thinking),
        1 => Just(Piece::Broken),
        8 => prop::sample::select(vec![
            ("read_file", json!({ "path": "long.txt" })),
            ("read_file", json!({ "path": "short.txt" })),
            ("read_file", json!({ "path": "none.txt" })),
            ("read_file", json!({ "pat": 1 })),
            ("write_file", json!({ "path": "new.txt", "content": "x" })),
            ("glob", json!({ "pattern": "*" })),
            ("launch", json!({})),
            ("compact", json!({})),
            ("compact", json!({ "now": true })),
            ("task", json!({ "prompt": "look" })),
            ("todo_write", json!({ "todos": [{ "content": "a", "status": "pending" }] })),
        ])
        .prop_map(|(name, input)| Piece::Call(name, input)),
    ]
}

fn end() -> impl Strategy<Value = End> {
    let too_long = |window| ModelError::PromptTooLong {
        message: "too long".to_owned(),
        tokens: None,
        window,
    };
    prop_oneof![
        8 => Just(End::Well),
        1 => prop::sample::select(vec![
            StopReason::MaxTokens,
            StopReason::Refusal,
            StopReason::PauseTurn,
            StopReason::WindowExceeded,
        ]).prop_map(End::Stopped),
        2 => prop::sample::select(vec![
            too_long(None),
            too_long(Some(900)),
            ModelError::MaybeTooLong("no".to_owned()),
            ModelError::Network("broke".to_owned()),
        ]).prop_map(End::Failed),
        1 => Just(End::Retried),
        1 => Just(End::Hangs),
        1 => Just(End::Nothing),
    ]
}

fn script(most: usize) -> impl Strategy<Value = Script> {
    prop::collection::vec((prop::collection::vec(piece(), 0..4), end()), 0..most)
}

fn told() -> impl Strategy<Value = Vec<(u64, Told)>> {
    let what = prop_oneof![
        4 => Just(Told::Interrupt),
        1 => Just(Told::Compact),
        1 => Just(Told::Prompt),
        1 => (1_000..9_000_usize).prop_map(Told::Limits),
        1 => prop::sample::select(vec![Told::LogFull, Told::DiskFull, Told::Room]),
    ];
    prop::collection::vec((1..150_u64, what), 0..6)
}

fn answers() -> impl Strategy<Value = Vec<Option<Decision>>> {
    let deny = |reason: Option<&str>| Decision::Deny {
        reason: reason.map(ToOwned::to_owned),
    };
    let answer = prop::sample::select(vec![
        None,
        Some(Decision::Allow),
        Some(Decision::AllowAlways),
        Some(deny(None)),
        Some(deny(Some("not there"))),
    ]);
    prop::collection::vec(answer, 1..5)
}

fn replies(script: &Script, name: &str) -> Vec<Reply> {
    let reply = |(at, (pieces, end)): (usize, &(Vec<Piece>, End))| {
        let mut deltas = Vec::new();
        for piece in pieces {
            // The same ids again and again, as some servers give them.
            piece.add(&mut deltas, &format!("{name}{}", at % 3));
        }
        end.close(deltas)
    };
    script.iter().enumerate().map(reply).collect()
}

impl Piece {
    fn add(&self, deltas: &mut Vec<Delta>, id: &str) {
        match self {
            Self::Text(text) => {
                deltas.push(Delta::Text((*text).to_owned()));
                deltas.push(Delta::Block(ContentBlock::text(*text)));
            }
            Self::Thinking => {
                let block = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
                deltas.push(Delta::Block(ContentBlock::from_value(block).unwrap()));
            }
            Self::Call(name, input) => {
                let block = ContentBlock::tool_use(id, *name, input.clone());
                deltas.push(Delta::Block(block));
            }
            Self::Broken => deltas.push(Delta::BrokenCall {
                block: ContentBlock::tool_use(id, "write_file", json!({})),
                raw: "{\"path".to_owned(),
            }),
        }
    }
}

impl End {
    fn close(&self, mut deltas: Vec<Delta>) -> Reply {
        let finished = |stop_reason| Delta::Finished {
            stop_reason,
            usage: Usage {
                input_tokens: Some(7),
                output_tokens: Some(1),
                ..Usage::default()
            },
        };
        match self {
            Self::Well => deltas.push(finished(StopReason::EndTurn)),
            Self::Stopped(reason) => deltas.push(finished(reason.clone())),
            Self::Failed(error) => deltas.push(Delta::Failed(error.clone())),
            Self::Retried => {
                let again = deltas.clone();
                deltas.push(Delta::Retrying {
                    attempt: 1,
                    wait: Duration::from_secs(1),
                    reason: "busy".to_owned(),
                });
                deltas.extend(again);
                deltas.push(finished(StopReason::EndTurn));
            }
            Self::Hangs => {
                deltas.push(Delta::Text("and".to_owned()));
                return Reply::hanging(deltas);
            }
            Self::Nothing => {}
        }
        Reply::deltas(deltas)
    }
}

/// Plays until nothing moves any more; what hangs for good is stopped.
async fn rest(run: &mut Run, told: &[(u64, Told)], answers: &[Option<Decision>]) {
    let mut stops = 0;
    let mut asked = 0;
    loop {
        let next = tokio::time::timeout(Duration::from_mins(10), run.handle.events.recv());
        let Ok(envelope) = next.await else {
            let begun = |event: &AgentEvent| {
                !matches!(
                    event,
                    AgentEvent::TurnFinished { .. }
                        | AgentEvent::SessionStarted(_)
                        | AgentEvent::LimitsChanged { .. }
                        | AgentEvent::StageFinished(_)
                        | AgentEvent::StageSkipped(_)
                        | AgentEvent::StageFailed { .. }
                )
            };
            let last = run.events.last().unwrap();
            if last.task.is_none() && !begun(&last.event) {
                return;
            }
            stops += 1;
            assert!(stops < 100, "a stop does not stop: {last:?}");
            run.send(Command::Interrupt).await;
            continue;
        };
        let event = run.see(envelope.expect("the agent lives"));
        let seq = run.events.len() as u64;
        if let AgentEvent::PermissionAsked { id, .. } = event {
            asked += 1;
            if let Some(decision) = answers[asked % answers.len()].clone() {
                run.send(Command::Decide { id, decision }).await;
            }
        }
        for (_, what) in told.iter().filter(|(at, _)| *at == seq) {
            run.send(match what {
                Told::LogFull => {
                    run.logs.fail("", ErrorKind::StorageFull);
                    continue;
                }
                Told::DiskFull => {
                    run.files.fail("", ErrorKind::StorageFull);
                    continue;
                }
                Told::Room => {
                    run.logs.heal();
                    run.files.heal();
                    continue;
                }
                Told::Interrupt => Command::Interrupt,
                Told::Compact => Command::Compact,
                Told::Prompt => Command::Prompt("meanwhile".to_owned()),
                Told::Limits(limit) => {
                    let mut limits = run.live.limits.clone();
                    limits.context_limit = *limit;
                    let reason = "typed".to_owned();
                    Command::SetLimits { limits, reason }
                }
            })
            .await;
        }
    }
}

async fn play(mut setup: Setup, told: Vec<(u64, Told)>, answers: Vec<Option<Decision>>) {
    (setup.mode, setup.asks, setup.endless) = (Mode::Ask, true, true);
    let mut run = setup.start();
    let file = |name: &str, n: usize| {
        std::fs::write(run.folder.path().join(name), "0123456789\n".repeat(n)).unwrap();
    };
    file("long.txt", 400);
    file("short.txt", 20);
    for text in ["request A", "request B"] {
        run.send(Command::Prompt(text.to_owned())).await;
    }
    rest(&mut run, &told, &answers).await;

    run.model.forget_the_rest();
    run.logs.heal();
    run.files.heal();
    let end = run.prompt("go on").await;
    assert_eq!(end, (TurnEnd::Done, None));
    rest(&mut run, &[], &answers).await;
    events::assert_brackets(&run.events);
    events::assert_five_stages(&run.events);
    events::assert_log_tells(&run.events, &run.log());
    for log in run.logs.files().values() {
        let folded = plimsoll::session::fold(log).unwrap();
        assert!(!folded.in_turn && !folded.torn);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_a_model_or_a_user_does_breaks_the_session(
        turns in script(14),
        tasks in script(6),
        summaries in script(4),
        told in told(),
        answers in answers(),
        limit in 800..12_000_usize,
        budget in 1_000..9_000_usize,
    ) {
        let mut setup = Setup::turns(replies(&turns, "t"));
        setup.tasks = replies(&tasks, "t");
        setup.summaries = replies(&summaries, "s");
        setup.limits.context_limit = limit;
        setup.limits.budget_max = budget;
        setup.limits.persist_threshold = 1_000;
        setup.limits.preview_chars = 100;
        setup.limits.fit_preview_chars = 50;
        setup.limits.max_messages = 12;
        setup.limits.keep_tail = 8;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(play(setup, told, answers));
    }
}
