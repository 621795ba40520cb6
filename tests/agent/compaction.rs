//! Stages carried out: files first, then the swap; what fails changes nothing.

use std::io::ErrorKind;

use plimsoll::context::{Limits, Stage, Trigger, parse_summary};
use plimsoll::event::{AgentEvent, Command, StageReport, TurnEnd};
use plimsoll::message::{ContentBlock, StopReason, Usage};
use plimsoll::model::{Delta, ModelError, Purpose};
use plimsoll::store::Store as _;
use serde_json::json;

use super::harness::{Reply, Run, Setup};

fn report(run: &Run, stage: Stage) -> &StageReport {
    let found = run
        .events
        .iter()
        .find_map(|envelope| match &envelope.event {
            AgentEvent::StageFinished(report) if report.stage == stage => Some(report),
            _ => None,
        });
    found.unwrap_or_else(|| panic!("{} did not fire", stage.name()))
}

#[tokio::test]
async fn a_result_over_the_budget_is_on_disk_before_its_preview_takes_its_place() {
    let mut run = Setup::turns(vec![Reply::print("t1", 200_001), Reply::text("ok")]).start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    let report = report(&run, Stage::ToolResultBudget);
    assert_eq!(report.files, [".task_outputs/tool-results/t1.txt"]);
    assert_eq!(
        (
            report.touched[0].chars_before,
            report.size_before - report.size_after
        ),
        (200_001, 197_858)
    );
    assert_eq!(
        run.files.files()[".task_outputs/tool-results/t1.txt"],
        "x".repeat(200_001)
    );
    assert!(
        run.results()[0]
            .2
            .starts_with("<persisted-output>\nFull output (200001 characters): .task_outputs/")
    );
}

#[tokio::test]
async fn a_name_that_something_else_has_taken_is_left_alone() {
    let mut run = Setup::turns(vec![Reply::print("t1", 200_001), Reply::text("ok")]).start();
    run.files
        .put(".task_outputs/tool-results/t1.txt", "of another session")
        .unwrap();
    run.prompt("go").await;
    assert_eq!(
        report(&run, Stage::ToolResultBudget).files,
        [".task_outputs/tool-results/t1-2.txt"]
    );
    assert_eq!(
        run.files.files()[".task_outputs/tool-results/t1.txt"],
        "of another session"
    );
    assert!(run.results()[0].2.contains("tool-results/t1-2.txt"));
}

#[tokio::test]
async fn a_result_that_cannot_be_saved_stays_whole() {
    let mut setup = Setup::turns(vec![Reply::print("t1", 200_001), Reply::text("ok")]);
    setup.limits.context_limit = 1_000_000;
    let mut run = setup.start();
    run.files.fail(".task_outputs/", ErrorKind::StorageFull);
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    assert!(run.fired().is_empty());
    assert_eq!(run.results()[0].2.len(), 200_001);
    let failed = run.events.iter().any(|envelope| matches!(&envelope.event,
        AgentEvent::StageFailed { stage: Stage::ToolResultBudget, error, .. } if error.starts_with("not saved: ")));
    assert!(failed, "{:?}", run.names());
}

#[tokio::test]
async fn nothing_leaves_the_context_while_the_session_log_cannot_be_written() {
    let mut run = Setup::turns(vec![
        Reply::print("t1", 500),
        Reply::print("t2", 500),
        Reply::print("t3", 500),
        Reply::print("t4", 500),
        Reply::text("ok"),
        Reply::text("ok"),
    ])
    .start();
    run.until(|event| matches!(event, AgentEvent::SessionStarted(_)))
        .await;
    run.logs.fail("", ErrorKind::StorageFull);
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::TurnFinished { .. }))
        .await;
    assert!(run.fired().is_empty());
    assert!(run.results().iter().all(|(.., text)| text.len() == 500));
    run.logs.heal();
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
    assert_eq!(
        run.fired(),
        [Stage::MicroCompact],
        "the disk has room again, and the log has no gap"
    );
}

#[tokio::test]
async fn over_the_limit_a_summary_takes_the_place_of_all_and_the_transcript_keeps_it() {
    let mut setup = Setup::turns(vec![
        Reply::print("t1", 29_000),
        Reply::print("t2", 29_000),
        Reply::text("done"),
    ]);
    setup.summaries = vec![Reply::text("Goal: compare.")];
    let mut run = setup.start();
    assert_eq!(run.prompt("compare the two").await.0, TurnEnd::Done);
    assert_eq!(run.fired(), [Stage::CompactHistory]);
    let report = report(&run, Stage::CompactHistory);
    assert_eq!(
        (
            report.messages_before,
            report.messages_after,
            report.api_calls
        ),
        (5, 1, 1)
    );
    assert_eq!((report.trigger, report.unread_lost), (Trigger::Pipeline, 1));
    let text = report.after.items[0].message.text().unwrap();
    assert_eq!(
        parse_summary(&text),
        Some(("compare the two", "Goal: compare.".to_owned()))
    );
    let transcript = &run.files.files()[report.transcript.as_ref().unwrap()];
    assert_eq!(transcript.lines().count(), 5);
    let requests = run.model.requests.lock().unwrap();
    let summary = requests
        .iter()
        .find(|request| request.purpose == Purpose::Summary)
        .unwrap();
    assert!(summary.tools.is_empty());
}

#[tokio::test]
async fn a_transcript_that_cannot_be_written_stops_the_compaction() {
    let mut setup = Setup::turns(vec![Reply::print("t1", 60_000), Reply::text("done")]);
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    run.files.fail(".transcripts/", ErrorKind::PermissionDenied);
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    assert!(run.fired().is_empty());
    assert_eq!(run.results()[0].2.len(), 60_000);
}

#[tokio::test]
async fn what_is_no_summary_leaves_the_history_as_it_is() {
    let bad = [
        Reply::failed(ModelError::Auth("401".to_owned())),
        Reply::stopped(vec![], StopReason::EndTurn),
        Reply::bash("t", "touch hit"),
        Reply::stopped(vec![ContentBlock::text("half")], StopReason::MaxTokens),
        Reply::deltas(vec![Delta::Text("cut".to_owned())]),
    ];
    for reply in bad {
        let mut setup = Setup::turns(vec![Reply::print("t1", 60_000), Reply::text("done")]);
        setup.summaries = vec![reply];
        let mut run = setup.start();
        assert_eq!(run.prompt("go").await.0, TurnEnd::Done, "the turn goes on");
        assert!(run.fired().is_empty());
        assert_eq!(run.results()[0].2.len(), 60_000);
        assert!(!run.folder.path().join("hit").exists());
    }
}

#[tokio::test]
async fn three_failures_pause_the_stage_and_a_new_request_wakes_it() {
    let refused = || Reply::failed(ModelError::Overloaded("busy".to_owned()));
    let mut setup = Setup::turns(vec![
        Reply::print("t1", 60_000),
        Reply::bash("t2", "true"),
        Reply::bash("t3", "true"),
        Reply::bash("t4", "true"),
        Reply::text("done"),
        Reply::text("done"),
    ]);
    // Above what keeps a result whole, so that the load stays over the limit.
    setup.limits.keep_recent = 10;
    setup.summaries = vec![refused(), refused(), refused(), Reply::text("Goal: x.")];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    let failures = run
        .names()
        .iter()
        .filter(|name| *name == "stage_failed compact_history")
        .count();
    assert_eq!(failures, 3);
    let paused = run.events.iter().any(|envelope| {
        matches!(&envelope.event,
        AgentEvent::StageSkipped(skipped) if skipped.reason == "paused: 3 summaries failed")
    });
    assert!(paused);
    assert_eq!(run.prompt("again").await.0, TurnEnd::Done);
    assert_eq!(run.fired(), [Stage::CompactHistory]);
}

#[tokio::test]
async fn compact_in_a_batch_runs_all_of_it_then_sums_up_once() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[
            ("a", "bash", json!({ "command": "printf a" })),
            ("k", "compact", json!({})),
            ("b", "bash", json!({ "command": "printf b" })),
        ]),
        Reply::text("done"),
    ]);
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    assert_eq!(run.fired(), [Stage::CompactHistory]);
    let report = report(&run, Stage::CompactHistory);
    assert_eq!(
        (
            report.trigger,
            report.messages_before,
            report.messages_after
        ),
        (Trigger::Tool, 3, 1)
    );
    let transcript = &run.files.files()[report.transcript.as_ref().unwrap()];
    for result in [
        "\"a\"",
        "\"b\"",
        "[Compaction requested. This completed turn will be summarized.]",
    ] {
        assert!(transcript.contains(result), "{result} in {transcript}");
    }
    assert!(!report.after.lost_unread, "the model asked for it itself");
}

#[tokio::test]
async fn the_request_survives_compactions_word_for_word() {
    let mut setup = Setup::turns(vec![Reply::text("a"), Reply::text("b"), Reply::text("c")]);
    setup.summaries = vec![Reply::text("Goal: A, then B.")];
    let mut run = setup.start();
    run.prompt("request A").await;
    run.prompt("request B").await;
    run.send(Command::Compact).await;
    run.until(|event| matches!(event, AgentEvent::StageFinished(_)))
        .await;
    let text = run.mirror.items[0].message.text().unwrap();
    assert_eq!(
        parse_summary(&text).map(|(request, _)| request),
        Some("request B")
    );
    assert_eq!(run.prompt("request C").await.0, TurnEnd::Done);
    assert_eq!(run.mirror.len(), 3);
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_shortened_and_sent_once_more() {
    let mut setup = Setup::turns(vec![
        Reply::bash("t1", "true"),
        Reply::bash("t2", "true"),
        Reply::bash("t3", "true"),
        Reply::too_long(),
        Reply::text("done"),
    ]);
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    assert_eq!(run.fired(), [Stage::ReactiveCompact]);
    let report = report(&run, Stage::ReactiveCompact);
    assert_eq!(
        (
            report.trigger,
            report.messages_before,
            report.messages_after
        ),
        (Trigger::PromptTooLong, 7, 7)
    );
    assert!(
        report.after.items[0]
            .message
            .text()
            .unwrap()
            .starts_with("[Reactive compact]\n")
    );
}

#[tokio::test]
async fn a_second_rejection_goes_to_the_user() {
    let mut setup = Setup::turns(vec![
        Reply::bash("t1", "true"),
        Reply::too_long(),
        Reply::too_long(),
        Reply::text("ok"),
    ]);
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    let (end, error) = run.prompt("go").await;
    assert_eq!(end, TurnEnd::Failed);
    assert!(error.is_some_and(|error| error.contains("too long")));
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
}

#[tokio::test]
async fn large_results_that_stay_are_persisted_so_that_the_retry_can_fit() {
    let mut setup = Setup::turns(vec![
        Reply::print("t1", 40_000),
        Reply::too_long(),
        Reply::text("done"),
    ]);
    setup.limits.context_limit = 100_000;
    setup.limits.reactive_keep = 2;
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    let report = report(&run, Stage::ReactiveCompact);
    assert_eq!(report.files, [".task_outputs/tool-results/t1.txt"]);
    assert!(run.mirror.size() < 5_000, "{}", run.mirror.size());
}

#[tokio::test]
async fn the_window_that_a_rejection_names_becomes_the_limit() {
    let too_long = ModelError::PromptTooLong {
        message: "too long".to_owned(),
        tokens: Some(8_000),
        window: Some(4_000),
    };
    let mut setup = Setup::turns(vec![
        Reply::print("t1", 20_000),
        Reply::failed(too_long),
        Reply::text("done"),
    ]);
    setup.summaries = vec![Reply::text("Goal: x.")];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    let changed = run
        .events
        .iter()
        .find_map(|envelope| match &envelope.event {
            AgentEvent::LimitsChanged { limits, reason } => {
                Some((limits.context_limit, reason.clone()))
            }
            _ => None,
        });
    let (limit, reason) = changed.unwrap();
    assert!(
        reason.starts_with("the server takes 4,000 tokens, at "),
        "{reason}"
    );
    assert!(limit < 20_000, "{limit}");
}

#[tokio::test]
async fn a_summary_request_that_is_too_long_itself_is_halved() {
    let mut setup = Setup::turns(vec![Reply::print("t1", 60_000), Reply::text("done")]);
    setup.summaries = vec![
        Reply::too_long(),
        Reply::too_long(),
        Reply::text("Goal: x."),
    ];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    assert_eq!(report(&run, Stage::CompactHistory).api_calls, 3);
    let requests = run.model.requests.lock().unwrap();
    let sizes: Vec<usize> = requests
        .iter()
        .filter(|request| request.purpose == Purpose::Summary)
        .map(|request| request.messages[0].text().unwrap().len())
        .collect();
    assert!(
        sizes[1] < sizes[0] * 6 / 10 && sizes[2] < sizes[1] * 6 / 10,
        "{sizes:?}"
    );
}

#[tokio::test]
async fn what_cannot_come_under_the_limit_stops_trying_and_says_what_fills_the_context() {
    let mut replies: Vec<Reply> = (0..6)
        .map(|n| Reply::bash(&format!("t{n}"), "true"))
        .collect();
    replies.push(Reply::text("done"));
    let mut setup = Setup::turns(replies);
    setup.limits = Limits {
        context_limit: 5_000,
        ..Limits::default()
    };
    setup.summaries = (0..6).map(|_| Reply::text("s")).collect();
    let mut run = setup.start();
    let long = "request ".repeat(7_500);
    assert_eq!(run.prompt(&long).await.0, TurnEnd::Done);
    assert!(run.fired().len() <= 3, "{:?}", run.fired());
    let said = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::Notice { text } => Some(text.as_str()),
            _ => None,
        });
    let said: Vec<&str> = said.collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("60,000"), "{said:?}");
}

/// A text whose request the server counted as so many tokens.
fn counted(tokens: u64) -> Reply {
    Reply::deltas(vec![
        Delta::Block(ContentBlock::text("ok")),
        Delta::Finished {
            stop_reason: StopReason::EndTurn,
            usage: Usage {
                input_tokens: Some(tokens),
                ..Usage::default()
            },
        },
    ])
}

#[tokio::test]
async fn the_window_that_a_server_tells_becomes_the_limit_once_its_tokens_are_measured() {
    let mut setup = Setup::turns(vec![
        counted(2_500),
        counted(2_550),
        counted(2_650),
        counted(2_600),
    ]);
    setup.window = Some(4_000);
    let mut run = setup.start();
    run.prompt("one").await;
    run.prompt("two").await;
    run.prompt("three").await;
    run.prompt("four").await;
    let limits: Vec<(usize, &str)> = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::LimitsChanged { limits, reason } => {
                Some((limits.context_limit, reason.as_str()))
            }
            _ => None,
        })
        .collect();
    let [(limit, reason)] = limits[..] else {
        panic!("it moves once, not with every call: {limits:?}")
    };
    assert!(
        reason.starts_with("the server takes 4,000 tokens, at 3."),
        "{reason}"
    );
    assert!((1_000..5_000).contains(&limit), "{limit}");
}
