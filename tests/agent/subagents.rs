//! Subagents: several at once, their questions, their limits and what they hand back.

use plimsoll::context::{Limits, Stage};
use plimsoll::event::{AgentEvent, Command, Decision, TurnEnd};
use plimsoll::message::{ContentBlock, StopReason};
use plimsoll::model::{Delta, ModelError};
use plimsoll::permission::Mode;
use serde_json::json;

use super::events;
use super::harness::{Reply, Run, Setup};

/// Two tasks that each run the same command, under an id of their own choice: the same one.
fn two_that_ask(command: &str) -> Setup {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[
            ("a", "task", json!({ "prompt": "x" })),
            ("b", "task", json!({ "prompt": "y" })),
        ]),
        Reply::text("again"),
    ]);
    setup.tasks = vec![
        Reply::bash("q", command),
        Reply::bash("q", command),
        Reply::text("done"),
        Reply::text("done"),
    ];
    (setup.mode, setup.asks) = (Mode::Ask, true);
    setup
}

async fn question(run: &mut Run) -> String {
    let asked = run
        .until(|event| matches!(event, AgentEvent::PermissionAsked { .. }))
        .await;
    match asked {
        AgentEvent::PermissionAsked { id, .. } => id,
        _ => unreachable!(),
    }
}

fn count(run: &Run, name: &str) -> usize {
    let names = run.events.iter().map(|envelope| {
        let value = serde_json::to_value(envelope).unwrap();
        value["event"].as_str().unwrap().to_owned()
    });
    names.filter(|found| found == name).count()
}

#[tokio::test]
async fn two_questions_come_one_after_the_other_and_are_told_apart() {
    let mut run = two_that_ask("touch hit").start();
    run.send(Command::Prompt("go".to_owned())).await;
    let first = question(&mut run).await;
    // Twice: the second must not count for the question that comes next.
    for _ in 0..2 {
        run.send(Command::Decide {
            id: first.clone(),
            decision: Decision::Allow,
        })
        .await;
    }
    let second = question(&mut run).await;
    assert_eq!((first.as_str(), second.as_str()), ("q", "q-2"));
    run.send(Command::Decide {
        id: second,
        decision: Decision::Deny { reason: None },
    })
    .await;
    assert_eq!(run.turn_end().await, (TurnEnd::Done, None));
    assert_eq!(
        (
            count(&run, "permission_asked"),
            count(&run, "permission_answered")
        ),
        (2, 2)
    );
}

#[tokio::test]
async fn a_rule_answers_the_question_that_waits_behind_it() {
    let mut run = two_that_ask("touch hit").start();
    run.send(Command::Prompt("go".to_owned())).await;
    let id = question(&mut run).await;
    run.send(Command::Decide {
        id,
        decision: Decision::AllowAlways,
    })
    .await;
    assert_eq!(run.turn_end().await, (TurnEnd::Done, None));
    assert_eq!(count(&run, "permission_asked"), 1);
    // What was allowed for good is said, and where it is kept.
    let said = run
        .events
        .iter()
        .find_map(|envelope| match &envelope.event {
            AgentEvent::Notice { text } => Some(text.as_str()),
            _ => None,
        });
    assert_eq!(
        said,
        Some(
            "allowed in this project from now on: bash: touch hit (kept in rules.jsonl; delete its line to take it back)"
        )
    );
}

#[tokio::test]
async fn a_stop_ends_the_open_question_and_the_queued_one_was_never_asked() {
    let mut run = two_that_ask("touch hit").start();
    run.send(Command::Prompt("go".to_owned())).await;
    question(&mut run).await;
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Interrupted);
    events::assert_brackets(&run.events);
    assert_eq!(
        (
            count(&run, "permission_asked"),
            count(&run, "permission_answered")
        ),
        (1, 1)
    );
    assert_eq!(run.prompt("go on").await, (TurnEnd::Done, None));
}

#[tokio::test]
async fn numbers_that_come_while_a_subagent_works_are_for_the_main_agent_too() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[("a", "task", json!({ "prompt": "x" }))]),
        Reply::text("ok"),
    ]);
    setup.tasks = vec![Reply::bash("q", "touch hit"), Reply::text("done")];
    (setup.mode, setup.asks) = (Mode::Ask, true);
    let mut run = setup.start();
    run.send(Command::Prompt("go".to_owned())).await;
    let id = question(&mut run).await;
    let limits = Limits {
        context_limit: 12_345,
        ..Limits::default()
    };
    run.send(Command::SetLimits {
        limits: limits.clone(),
        reason: "/limit".to_owned(),
    })
    .await;
    run.send(Command::Decide {
        id,
        decision: Decision::Allow,
    })
    .await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Done);
    let thresholds: Vec<(bool, usize)> = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::StageSkipped(skipped) if skipped.stage == Stage::CompactHistory => {
                Some((envelope.task.is_some(), skipped.threshold?))
            }
            _ => None,
        })
        .collect();
    let expected = [
        (false, 50_000),
        (true, 50_000),
        (true, 12_345),
        (false, 12_345),
    ];
    assert_eq!(thresholds, expected);
    assert_eq!(run.live.limits, limits);
}

#[tokio::test]
async fn numbers_that_came_after_the_last_call_do_not_undo_later_ones() {
    let limits = |context_limit| Limits {
        context_limit,
        ..Limits::default()
    };
    let hung = Reply::hanging(vec![Delta::Text("a".to_owned())]);
    let mut run = Setup::turns(vec![hung, Reply::text("ok")]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::TextDelta { .. }))
        .await;
    for command in [
        Command::SetLimits {
            limits: limits(20_000),
            reason: "first".to_owned(),
        },
        Command::Interrupt,
    ] {
        run.send(command).await;
    }
    run.until(|event| matches!(event, AgentEvent::LimitsChanged { .. }))
        .await;
    run.send(Command::SetLimits {
        limits: limits(30_000),
        reason: "second".to_owned(),
    })
    .await;
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
    assert_eq!(run.live.limits, limits(30_000));
}

#[tokio::test]
async fn a_turn_adds_up_what_its_subagents_and_summaries_used() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[
            ("a", "task", json!({ "prompt": "x" })),
            ("k", "compact", json!({})),
        ]),
        Reply::text("ok"),
        Reply::text("ok"),
    ]);
    setup.tasks = vec![Reply::bash("q", "true"), Reply::text("done")];
    setup.summaries = vec![Reply::text("Goal: x."), Reply::text("Goal: y.")];
    let mut run = setup.start();
    run.prompt("go").await;
    // What is used between turns belongs to none.
    run.send(Command::Compact).await;
    run.prompt("go on").await;
    let used: Vec<(bool, Option<u64>)> = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::TurnFinished { usage, .. } => {
                Some((envelope.task.is_some(), usage.output_tokens))
            }
            _ => None,
        })
        .collect();
    // Two calls of the subagent; these, two of its own and a summary; one.
    assert_eq!(
        used,
        [(true, Some(20)), (false, Some(50)), (false, Some(10))]
    );
}

#[tokio::test]
async fn what_a_subagent_hands_back_is_bounded_and_never_empty() {
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
    let thinking = ContentBlock::from_value(thinking).unwrap();
    let broke = |why: String| {
        Reply::deltas(vec![
            Delta::Block(ContentBlock::text("é".repeat(30_000))),
            Delta::Failed(ModelError::Network(why)),
        ])
    };
    let cases = [
        (Reply::text(&"漢".repeat(30_000)), false, "漢漢"),
        (
            Reply::blocks(vec![thinking]),
            false,
            "(the subagent ended without an answer)",
        ),
        (broke("w".repeat(30_000)), true, "www"),
        (
            Reply::stopped(vec![], StopReason::EndTurn),
            true,
            "the model's reply was empty",
        ),
    ];
    for (reply, is_error, start) in cases {
        let mut setup = Setup::turns(vec![
            Reply::calls(&[("a", "task", json!({ "prompt": "x" }))]),
            Reply::text("ok"),
        ]);
        setup.tasks = vec![reply];
        let mut run = setup.start();
        run.prompt("go").await;
        let (_, failed, text) = &run.results()[0];
        assert_eq!(*failed, is_error, "{start}");
        assert!(text.starts_with(start) && text.chars().count() <= 20_000);
    }
}

#[tokio::test]
async fn a_subagent_goes_through_the_pipeline_and_its_events_carry_its_call() {
    let big = "head -c 200001 /dev/zero | tr '\\0' x";
    let mut setup = Setup::turns(vec![
        Reply::calls(&[("a", "task", json!({ "prompt": "x" }))]),
        Reply::text("ok"),
    ]);
    setup.tasks = vec![Reply::bash("q", big), Reply::text("done")];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await, (TurnEnd::Done, None));
    let fired: Vec<(Option<&str>, Stage, &[String])> = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::StageFinished(report) => Some((
                envelope.task.as_deref(),
                report.stage,
                report.files.as_slice(),
            )),
            _ => None,
        })
        .collect();
    let file = [".task_outputs/tool-results/q.txt".to_owned()];
    assert_eq!(
        fired,
        [(Some("a"), Stage::ToolResultBudget, file.as_slice())]
    );
    let log = run
        .logs
        .files()
        .into_values()
        .find(|log| log.contains("\"call\":\"a\""))
        .unwrap();
    let folded = plimsoll::session::fold(&log).unwrap();
    assert_eq!(folded.header.task.unwrap().call, "a");
    assert_eq!(folded.history.request.as_deref(), Some("x"));
    assert_eq!(folded.history.len(), 4);
}
