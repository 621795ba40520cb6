//! Stopping: at every point the history stays valid, each call is answered once, and the next request goes on from there.

use std::time::Duration;

use plimsoll::context::Stage;
use plimsoll::event::{AgentEvent, Command, TurnEnd};
use plimsoll::message::ContentBlock;
use plimsoll::model::Delta;
use plimsoll::permission::Mode;
use serde_json::json;

use super::harness::{Reply, Setup};

fn three_calls() -> Reply {
    Reply::calls(&[
        ("a", "bash", json!({ "command": "printf a" })),
        ("b", "bash", json!({ "command": "sleep 60" })),
        ("c", "bash", json!({ "command": "printf c" })),
    ])
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_left_at_once_and_its_text_is_kept() {
    let hung = Reply::hanging(vec![Delta::Text("I was say".to_owned())]);
    let mut run = Setup::turns(vec![hung, Reply::text("again")]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::TextDelta { .. }))
        .await;
    let before = tokio::time::Instant::now();
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await, (TurnEnd::Interrupted, None));
    assert!(before.elapsed() < Duration::from_millis(200));
    assert_eq!(
        run.mirror.items[1].message.text().as_deref(),
        Some("I was say")
    );
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
}

#[tokio::test(start_paused = true)]
async fn a_hung_reply_with_a_complete_call_answers_it() {
    let hung = Reply::hanging(vec![
        Delta::Block(ContentBlock::tool_use(
            "t",
            "bash",
            json!({ "command": "touch hit" }),
        )),
        Delta::Text("and".to_owned()),
    ]);
    let mut run = Setup::turns(vec![hung, Reply::text("again")]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::TextDelta { .. }))
        .await;
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Interrupted);
    assert_eq!(
        run.results(),
        [(
            "t".to_owned(),
            true,
            "not run: the user stopped the reply".to_owned()
        )]
    );
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
}

#[tokio::test]
async fn a_running_command_ends_and_the_rest_of_the_batch_is_answered() {
    let mut run = Setup::turns(vec![three_calls(), Reply::text("again")]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::ToolStarted { id, .. } if id == "b"))
        .await;
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await, (TurnEnd::Interrupted, None));
    let results = run.results();
    let flags: Vec<(&str, bool)> = results
        .iter()
        .map(|(id, error, _)| (id.as_str(), *error))
        .collect();
    assert_eq!(flags, [("a", false), ("b", true), ("c", true)]);
    assert_eq!(results[2].2, "not run: interrupted by the user");
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
}

#[tokio::test]
async fn a_question_that_is_open_falls_away() {
    let mut setup = Setup::turns(vec![three_calls(), Reply::text("again")]);
    (setup.mode, setup.asks) = (Mode::Ask, true);
    let mut run = setup.start();
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::PermissionAsked { .. }))
        .await;
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Interrupted);
    let texts: Vec<String> = run.results().into_iter().map(|(.., text)| text).collect();
    assert_eq!(texts, ["not run: interrupted by the user"; 3]);
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
}

#[tokio::test]
async fn a_subagent_is_reached_too() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[
            ("a", "task", json!({ "prompt": "x" })),
            ("b", "task", json!({ "prompt": "y" })),
        ]),
        Reply::text("again"),
    ]);
    setup.tasks = vec![Reply::hanging(vec![]), Reply::hanging(vec![])];
    let mut run = setup.start();
    run.send(Command::Prompt("go".to_owned())).await;
    let mut begun = 0;
    while begun < 2 {
        let event = run.next().await;
        let of_task = run.events.last().unwrap().task.is_some();
        begun += usize::from(of_task && matches!(event, AgentEvent::ModelCallStarted { .. }));
    }
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Interrupted);
    let texts: Vec<String> = run.results().into_iter().map(|(.., text)| text).collect();
    assert_eq!(texts, ["interrupted by the user"; 2]);
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_hangs_is_left_and_counts_as_failed() {
    let mut setup = Setup::turns(vec![Reply::text("long"), Reply::text("again")]);
    setup.summaries = vec![Reply::hanging(vec![])];
    let mut run = setup.start();
    run.prompt("one").await;
    run.send(Command::Compact).await;
    run.until(|event| matches!(event, AgentEvent::StageStarted { .. }))
        .await;
    run.send(Command::Interrupt).await;
    let failed = run
        .until(|event| matches!(event, AgentEvent::StageFailed { .. }))
        .await;
    assert!(
        matches!(failed, AgentEvent::StageFailed { stage: Stage::CompactHistory, error, .. } if error == "stopped by the user")
    );
    assert_eq!(run.mirror.len(), 2, "the history stays as it was");
    assert_eq!(run.prompt("two").await.0, TurnEnd::Done);
}

#[tokio::test(start_paused = true)]
async fn a_stop_gets_through_while_nobody_takes_the_events() {
    let deltas: Vec<Delta> = (0..2_000).map(|n| Delta::Text(format!("{n} "))).collect();
    let mut run = Setup::turns(vec![Reply::hanging(deltas)]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    // The channel of events is full long before the reply is through; the agent waits for the screen.
    while run.handle.events.len() < plimsoll::event::EVENT_CAPACITY {
        tokio::task::yield_now().await;
    }
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Interrupted);
    let deltas = run
        .events
        .iter()
        .filter(|envelope| matches!(envelope.event, AgentEvent::TextDelta { .. }))
        .count();
    assert!(deltas < 2_000, "{deltas}");
}

#[tokio::test]
async fn shutting_down_ends_what_runs_and_closes_the_events() {
    let mut run = Setup::turns(vec![Reply::bash("t", "sleep 60")]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::ToolStarted { .. }))
        .await;
    run.send(Command::Shutdown).await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Interrupted);
    assert!(run.handle.events.recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn shutting_down_gets_through_while_nobody_takes_the_events() {
    let deltas: Vec<Delta> = (0..2_000).map(|n| Delta::Text(format!("{n} "))).collect();
    let mut run = Setup::turns(vec![Reply::hanging(deltas)]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    while run.handle.events.len() < plimsoll::event::EVENT_CAPACITY {
        tokio::task::yield_now().await;
    }
    run.send(Command::Prompt("never begun".to_owned())).await;
    run.send(Command::Shutdown).await;
    assert_eq!(run.turn_end().await, (TurnEnd::Interrupted, None));
    assert!(run.handle.events.recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_front_end_that_goes_away_ends_the_agent() {
    let deltas: Vec<Delta> = (0..2_000).map(|n| Delta::Text(format!("{n} "))).collect();
    let run = Setup::turns(vec![Reply::hanging(deltas)]).start();
    run.send(Command::Prompt("go".to_owned())).await;
    while run.handle.events.len() < plimsoll::event::EVENT_CAPACITY {
        tokio::task::yield_now().await;
    }
    let plimsoll::event::Handle { commands, events } = run.handle;
    drop(events);
    commands.send(Command::Shutdown).await.unwrap();
    commands.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_turn_that_runs_and_the_request_behind_it_is_next() {
    let mut run = Setup::turns(vec![
        Reply::hanging(vec![Delta::Text("a".to_owned())]),
        Reply::failed(plimsoll::model::ModelError::Auth("no key".to_owned())),
        Reply::text("third"),
    ])
    .start();
    for request in ["one", "two", "three"] {
        run.send(Command::Prompt(request.to_owned())).await;
    }
    run.until(|event| matches!(event, AgentEvent::TextDelta { .. }))
        .await;
    run.send(Command::Interrupt).await;
    let mut ends = Vec::new();
    for _ in 0..3 {
        let ended = run
            .until(|event| matches!(event, AgentEvent::TurnFinished { .. }))
            .await;
        if let AgentEvent::TurnFinished { end, .. } = ended {
            ends.push(end);
        }
    }
    assert_eq!(ends, [TurnEnd::Interrupted, TurnEnd::Failed, TurnEnd::Done]);
    run.assert_log();
}

#[tokio::test]
async fn a_stop_in_the_summary_before_a_call_leaves_all_five_stages_said() {
    let command = "head -c 60000 /dev/zero | tr '\\0' x";
    let mut setup = Setup::turns(vec![Reply::bash("t", command), Reply::text("again")]);
    setup.summaries = vec![Reply::hanging(vec![]), Reply::text("Goal: x.")];
    let mut run = setup.start();
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::StageStarted { .. }))
        .await;
    run.send(Command::Interrupt).await;
    assert_eq!(run.turn_end().await, (TurnEnd::Interrupted, None));
    let names = run.names();
    assert_eq!(
        names[names.len() - 7..],
        [
            "stage_skipped tool_result_budget",
            "stage_skipped snip_compact",
            "stage_skipped micro_compact",
            "stage_skipped fit_results",
            "stage_started compact_history",
            "stage_failed compact_history",
            "turn_finished interrupted"
        ]
    );
    assert_eq!(run.prompt("go on").await, (TurnEnd::Done, None));
}
