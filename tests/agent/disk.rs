//! A disk that is full or not writable, at each place where something is written: nothing is lost, and it is said.

use std::io::ErrorKind;

use plimsoll::context::Stage;
use plimsoll::event::{AgentEvent, Command, TurnEnd};
use plimsoll::model::Purpose;
use plimsoll::session::fold;
use serde_json::json;

use super::events;
use super::harness::{Reply, Run, Setup};

fn failures(run: &Run) -> Vec<(Stage, &str)> {
    let failures = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::StageFailed { stage, error, .. } => Some((*stage, error.as_str())),
            _ => None,
        });
    failures.collect()
}

fn summaries_asked(run: &Run) -> usize {
    let requests = run.model.requests.lock().unwrap();
    let summaries = requests
        .iter()
        .filter(|request| request.purpose == Purpose::Summary);
    summaries.count()
}

#[tokio::test]
async fn a_log_that_is_full_stops_every_rewrite_and_goes_on_without_a_gap() {
    let mut replies: Vec<Reply> = (0..8)
        .map(|n| Reply::print(&format!("t{n}"), 900))
        .collect();
    replies.extend([Reply::text("ok"), Reply::text("ok")]);
    let mut setup = Setup::turns(replies);
    (setup.limits.context_limit, setup.limits.keep_recent) = (2_000, 20);
    (setup.limits.max_messages, setup.limits.keep_tail) = (8, 4);
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    run.until(|event| matches!(event, AgentEvent::SessionStarted(_)))
        .await;
    run.logs.fail("", ErrorKind::StorageFull);
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::TurnFinished { .. }))
        .await;
    assert!(run.fired().is_empty());
    assert_eq!(run.mirror.len(), 18);
    assert_eq!(summaries_asked(&run), 0, "no summary is paid for in vain");
    let said = "the session log cannot be written: no storage space; until it can, nothing leaves the context";
    assert_eq!(run.notices(), [said]);
    let failed = failures(&run);
    assert!(failed.contains(&(
        Stage::CompactHistory,
        "the session log cannot be written: no storage space; nothing was replaced"
    )));
    run.logs.heal();
    assert_eq!(run.prompt("go on").await, (TurnEnd::Done, None));
    assert_eq!(run.fired(), [Stage::SnipCompact, Stage::CompactHistory]);
    events::assert_log_tells(&run.events, &run.log());
}

#[tokio::test]
async fn results_that_cannot_be_saved_are_said_once_a_run() {
    let command = |n: usize| json!({ "command": format!("head -c {n} /dev/zero | tr '\\0' x") });
    let mut setup = Setup::turns(vec![
        Reply::calls(&[
            ("a1", "bash", command(90_000)),
            ("a2", "bash", command(80_000)),
            ("b", "bash", command(70_000)),
        ]),
        Reply::text("ok"),
    ]);
    (setup.limits.context_limit, setup.limits.budget_max) = (1_000_000, 50_000);
    let mut run = setup.start();
    run.files
        .fail(".task_outputs/tool-results/a", ErrorKind::StorageFull);
    assert_eq!(run.prompt("go").await, (TurnEnd::Done, None));
    assert_eq!(run.fired(), [Stage::ToolResultBudget]);
    let path = ".task_outputs/tool-results/a1.txt";
    let said =
        format!("2 results stay whole, their files could not be written: {path}: no storage space");
    assert_eq!(run.notices(), [said]);
    let sizes: Vec<usize> = run
        .results()
        .iter()
        .map(|(.., text)| text.chars().count())
        .collect();
    assert_eq!((sizes[0], sizes[1]), (90_000, 80_000));
    assert!(sizes[2] < 3_000);
}

#[tokio::test]
async fn a_recovery_without_a_transcript_leaves_all_and_says_what_the_provider_said() {
    let mut setup = Setup::turns(vec![
        Reply::print("t1", 40_000),
        Reply::too_long(),
        Reply::text("ok"),
    ]);
    setup.limits.context_limit = 100_000;
    let mut run = setup.start();
    run.files.fail(".transcripts/", ErrorKind::PermissionDenied);
    let (end, error) = run.prompt("go").await;
    assert_eq!(end, TurnEnd::Failed);
    assert!(error.is_some_and(|error| error.contains("too long")));
    assert!(run.fired().is_empty());
    assert_eq!(run.results()[0].2.len(), 40_000);
    assert_eq!(
        failures(&run),
        [(
            Stage::ReactiveCompact,
            "the transcript could not be written: permission denied; nothing was replaced"
        )]
    );
    assert_eq!(run.prompt("go on").await, (TurnEnd::Done, None));
}

#[tokio::test]
async fn a_recovery_that_cannot_persist_goes_on_with_what_is_whole() {
    let mut setup = Setup::turns(vec![
        Reply::print("t1", 40_000),
        Reply::too_long(),
        Reply::text("ok"),
    ]);
    (setup.limits.context_limit, setup.limits.reactive_keep) = (100_000, 2);
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    run.files.fail(".task_outputs/", ErrorKind::StorageFull);
    assert_eq!(run.prompt("go").await, (TurnEnd::Done, None));
    assert_eq!(run.fired(), [Stage::ReactiveCompact]);
    assert_eq!(run.results()[0].2.len(), 40_000);
    let path = ".task_outputs/tool-results/t1.txt";
    let said =
        format!("a result stays whole, its file could not be written: {path}: no storage space");
    assert_eq!(run.notices(), [said]);
}

#[tokio::test]
async fn a_subagent_whose_log_cannot_be_begun_does_nothing_and_says_why() {
    let mut run = Setup::turns(vec![
        Reply::calls(&[("a", "task", json!({ "prompt": "look" }))]),
        Reply::text("ok"),
    ])
    .start();
    run.until(|event| matches!(event, AgentEvent::SessionStarted(_)))
        .await;
    run.logs.fail("", ErrorKind::StorageFull);
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::TurnFinished { .. }))
        .await;
    let text = "the subagent's log could not be begun: no storage space";
    assert_eq!(run.results(), [("a".to_owned(), true, text.to_owned())]);
}

#[tokio::test]
async fn a_subagent_that_ended_on_a_full_disk_is_logged_once_there_is_room() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[("a", "task", json!({ "prompt": "look" }))]),
        Reply::text("ok"),
        Reply::text("ok"),
    ]);
    setup.tasks = vec![Reply::hanging(vec![])];
    let mut run = setup.start();
    run.send(Command::Prompt("go".to_owned())).await;
    for _ in 0..2 {
        run.until(|event| matches!(event, AgentEvent::ModelCallStarted { .. }))
            .await;
    }
    run.logs.fail("", ErrorKind::StorageFull);
    run.send(Command::Interrupt).await;
    for _ in 0..2 {
        run.until(|event| matches!(event, AgentEvent::TurnFinished { .. }))
            .await;
    }
    let ended = |run: &Run| {
        let logs = run.logs.files();
        let ended = logs.values().filter(|log| !fold(log).unwrap().in_turn);
        (ended.count(), logs.len())
    };
    assert_eq!(ended(&run), (0, 2));
    run.logs.heal();
    assert_eq!(run.prompt("go on").await, (TurnEnd::Done, None));
    assert_eq!(ended(&run), (2, 2));
}

#[tokio::test]
async fn transcripts_have_the_session_in_their_name_and_a_number() {
    let mut setup = Setup::turns(vec![Reply::text("a"), Reply::text("b")]);
    setup.summaries = vec![Reply::text("one"), Reply::text("two")];
    let mut run = setup.start();
    for request in ["A", "B"] {
        run.prompt(request).await;
        run.send(Command::Compact).await;
        run.until(|event| matches!(event, AgentEvent::StageFinished(_)))
            .await;
    }
    let AgentEvent::SessionStarted(started) = &run.events[0].event else {
        panic!("no session")
    };
    let name = |n: usize| format!(".transcripts/{}-{n:03}.jsonl", started.session);
    let names: Vec<String> = run.files.files().into_keys().collect();
    assert_eq!(names, [name(1), name(2)]);
}
