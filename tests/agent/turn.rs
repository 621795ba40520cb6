//! Turns that go well, and calls that do not.

use plimsoll::context::Stage;
use plimsoll::event::{AgentEvent, Command, Decision, TodoStatus, TurnEnd};
use plimsoll::message::{ContentBlock, StopReason};
use plimsoll::model::{Delta, ModelError};
use plimsoll::permission::Mode;
use serde_json::json;

use super::harness::{Reply, Setup};

#[tokio::test]
async fn a_turn_is_pipeline_call_tools_and_again() {
    let mut run = Setup::turns(vec![
        Reply::bash("t1", "printf hello"),
        Reply::text("It says hello."),
    ])
    .start();
    assert_eq!(run.prompt("say hello").await, (TurnEnd::Done, None));
    let pipeline = [
        "stage_skipped tool_result_budget",
        "stage_skipped snip_compact",
        "stage_skipped micro_compact",
        "stage_skipped fit_results",
        "stage_skipped compact_history",
        "model_call_started",
    ];
    let mut expected = vec!["session_started", "turn_started", "message_appended"];
    expected.extend(pipeline);
    expected.extend([
        "model_call_finished",
        "message_appended",
        "tool_started bash",
        "tool_finished",
        "message_appended",
    ]);
    expected.extend(pipeline);
    expected.extend([
        "text_delta",
        "model_call_finished",
        "message_appended",
        "turn_finished done",
    ]);
    assert_eq!(run.names(), expected);
    assert_eq!(
        run.results(),
        [("t1".to_owned(), false, "hello".to_owned())]
    );
}

#[tokio::test]
async fn every_call_is_answered_whatever_is_wrong_with_it() {
    let broken = Delta::BrokenCall {
        block: ContentBlock::tool_use("b", "write_file", json!({})),
        raw: "{\"path\":\"a.txt\",\"content\":\"xxx".to_owned(),
    };
    let calls = [
        ("u", "launch", json!({})),
        ("i", "bash", json!({ "cmd": "ls" })),
        ("f", "read_file", json!({ "path": "no.txt" })),
    ];
    let mut deltas: Vec<Delta> = calls
        .iter()
        .map(|(id, name, input)| Delta::Block(ContentBlock::tool_use(*id, *name, input.clone())))
        .collect();
    deltas.push(broken);
    deltas.push(Delta::Finished {
        stop_reason: StopReason::MaxTokens,
        usage: plimsoll::message::Usage::default(),
    });
    let mut run = Setup::turns(vec![Reply::deltas(deltas), Reply::text("ok")]).start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    let results = run.results();
    let ids: Vec<(&str, bool)> = results
        .iter()
        .map(|(id, error, _)| (id.as_str(), *error))
        .collect();
    assert_eq!(ids, [("u", true), ("i", true), ("f", true), ("b", true)]);
    assert!(
        results[0].2.contains("launch") && results[0].2.contains("edit_file"),
        "{}",
        results[0].2
    );
    assert!(results[1].2.contains("cmd"), "{}", results[1].2);
    assert!(
        results[3]
            .2
            .starts_with("not run: the input is not valid JSON; it began: {\"path\""),
        "{}",
        results[3].2
    );
    assert!(!run.folder.path().join("a.txt").exists());
}

#[tokio::test]
async fn what_would_need_a_question_is_refused_where_nobody_can_be_asked() {
    let mut setup = Setup::turns(vec![
        Reply::bash("t1", "touch hit"),
        Reply::text("I was not allowed to."),
    ]);
    setup.mode = Mode::Ask;
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    let results = run.results();
    assert!(
        results[0].1 && results[0].2.starts_with("refused: "),
        "{results:?}"
    );
    assert!(
        results[0].2.ends_with("nobody can be asked here"),
        "{results:?}"
    );
    assert!(!run.folder.path().join("hit").exists());
}

#[tokio::test]
async fn an_answer_counts_for_its_own_question_only() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[
            ("a", "bash", json!({ "command": "touch a" })),
            ("b", "bash", json!({ "command": "touch b" })),
        ]),
        Reply::text("ok"),
    ]);
    (setup.mode, setup.asks) = (Mode::Ask, true);
    let mut run = setup.start();
    run.send(Command::Decide {
        id: "a".to_owned(),
        decision: Decision::Allow,
    })
    .await;
    run.send(Command::Prompt("go".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::PermissionAsked { id, .. } if id == "a"))
        .await;
    // For another question than the one that is open, then twice for the open one: only the first of these counts.
    run.send(Command::Decide {
        id: "b".to_owned(),
        decision: Decision::Allow,
    })
    .await;
    run.send(Command::Decide {
        id: "a".to_owned(),
        decision: Decision::Allow,
    })
    .await;
    run.send(Command::Decide {
        id: "a".to_owned(),
        decision: Decision::Allow,
    })
    .await;
    run.until(|event| matches!(event, AgentEvent::PermissionAsked { id, .. } if id == "b"))
        .await;
    let reason = Some("use a file name that says more".to_owned());
    run.send(Command::Decide {
        id: "b".to_owned(),
        decision: Decision::Deny { reason },
    })
    .await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Done);
    assert!(run.folder.path().join("a").exists() && !run.folder.path().join("b").exists());
    assert_eq!(
        run.results()[1].2,
        "refused by the user, who says: use a file name that says more"
    );
}

#[tokio::test]
async fn a_request_that_comes_while_a_turn_runs_waits_for_its_end() {
    let mut run = Setup::turns(vec![
        Reply::bash("t", "true"),
        Reply::text("one"),
        Reply::text("two"),
    ])
    .start();
    run.send(Command::Prompt("first".to_owned())).await;
    run.send(Command::Prompt("second".to_owned())).await;
    run.until(|event| matches!(event, AgentEvent::TurnFinished { .. }))
        .await;
    assert_eq!(run.turn_end().await.0, TurnEnd::Done);
    let typed: Vec<String> = run
        .mirror
        .messages()
        .filter(|message| !message.has_results())
        .filter_map(|message| message.text())
        .collect();
    assert_eq!(typed, ["first", "one", "second", "two"]);
}

#[tokio::test]
async fn an_id_that_a_server_uses_twice_is_made_unique() {
    let mut run = Setup::turns(vec![
        Reply::bash("t", "printf 1"),
        Reply::bash("t", "printf 2"),
        Reply::text("ok"),
    ])
    .start();
    run.prompt("go").await;
    let ids: Vec<String> = run.results().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["t", "t-2"]);
}

#[tokio::test]
async fn an_open_todo_list_is_brought_to_mind_after_three_rounds() {
    let todos = json!({ "todos": [{ "content": "look", "status": "in_progress" }] });
    let mut replies = vec![Reply::calls(&[("t0", "todo_write", todos)])];
    replies.extend((1..=4).map(|n| Reply::bash(&format!("t{n}"), "true")));
    replies.push(Reply::text("done"));
    let mut run = Setup::turns(replies).start();
    run.prompt("go").await;
    let reminded: Vec<bool> = run
        .mirror
        .messages()
        .filter(|message| message.has_results())
        .map(|message| {
            message
                .text()
                .is_some_and(|text| text.starts_with("<reminder>"))
        })
        .collect();
    assert_eq!(reminded, [false, false, false, true, false]);
    assert!(run.events.iter().any(|envelope| matches!(&envelope.event,
        AgentEvent::TodosChanged { todos } if todos[0].status == TodoStatus::InProgress)));
}

#[tokio::test]
async fn subagents_have_a_context_of_their_own_and_work_side_by_side() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[
            ("a", "task", json!({ "prompt": "look here" })),
            ("b", "task", json!({ "prompt": "look there" })),
        ]),
        Reply::text("both looked"),
    ]);
    setup.tasks = vec![
        Reply::bash("x", "printf 1"),
        Reply::bash("x", "printf 2"),
        Reply::text("found"),
        Reply::text("found"),
    ];
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    let found = |id: &str| (id.to_owned(), false, "found".to_owned());
    assert_eq!(run.results(), [found("a"), found("b")]);
    assert_eq!(
        run.mirror.len(),
        4,
        "nothing of the subagents is in the main context"
    );
    for id in ["a", "b"] {
        let of_task: Vec<_> = run
            .events
            .iter()
            .filter(|envelope| envelope.task.as_deref() == Some(id))
            .collect();
        assert!(matches!(of_task[0].event, AgentEvent::TurnStarted { .. }));
        assert!(matches!(
            of_task[of_task.len() - 1].event,
            AgentEvent::TurnFinished {
                end: TurnEnd::Done,
                ..
            }
        ));
    }
    let requests = run.model.requests.lock().unwrap();
    let names = |specs: &[serde_json::Value]| specs.iter().any(|spec| spec["name"] == "task");
    assert!(
        names(&requests[0].tools) && !names(&requests[1].tools),
        "no subagent of a subagent"
    );
    assert_eq!(run.logs.files().len(), 3, "each has a log");
}

#[tokio::test]
async fn a_subagent_ends_after_thirty_calls() {
    let mut setup = Setup::turns(vec![
        Reply::calls(&[("a", "task", json!({ "prompt": "for ever" }))]),
        Reply::text("ok"),
    ]);
    setup.tasks = (0..40)
        .map(|n| Reply::bash(&format!("x{n}"), "true"))
        .collect();
    let mut run = setup.start();
    assert_eq!(run.prompt("go").await.0, TurnEnd::Done);
    assert_eq!(
        run.results(),
        [(
            "a".to_owned(),
            true,
            "stopped after 30 model calls".to_owned()
        )]
    );
}

#[tokio::test]
async fn replies_that_end_otherwise_leave_a_valid_history_and_a_sentence() {
    let cases: [(Reply, TurnEnd, &str); 6] = [
        (
            Reply::stopped(vec![ContentBlock::text("half")], StopReason::WindowExceeded),
            TurnEnd::MaxTokens,
            "what came before is a summary now",
        ),
        (
            Reply::stopped(vec![ContentBlock::text("half")], StopReason::MaxTokens),
            TurnEnd::MaxTokens,
            "max_tokens",
        ),
        (
            Reply::stopped(vec![ContentBlock::text("no")], StopReason::Refusal),
            TurnEnd::Failed,
            "declined",
        ),
        (
            Reply::stopped(vec![], StopReason::EndTurn),
            TurnEnd::Failed,
            "empty",
        ),
        (
            Reply::stopped(vec![ContentBlock::text(" \n")], StopReason::EndTurn),
            TurnEnd::Failed,
            "empty",
        ),
        (
            Reply::failed(ModelError::Auth("key not taken".to_owned())),
            TurnEnd::Failed,
            "key not taken",
        ),
    ];
    for (reply, end, word) in cases {
        let full = word.contains("summary");
        let mut setup = Setup::turns(vec![reply, Reply::text("again")]);
        setup.summaries = vec![Reply::text("Goal: x.")];
        let mut run = setup.start();
        let (ended, error) = run.prompt("go").await;
        assert_eq!(ended, end);
        let expected: &[Stage] = if full { &[Stage::ReactiveCompact] } else { &[] };
        assert_eq!(run.fired(), expected);
        assert!(
            error.as_deref().is_some_and(|error| error.contains(word)),
            "{error:?}"
        );
        assert_eq!(run.prompt("go on").await, (TurnEnd::Done, None));
    }
}

#[tokio::test]
async fn a_reply_that_is_cut_keeps_its_text_and_runs_none_of_its_calls() {
    let cut = Reply::deltas(vec![
        Delta::Text("I will".to_owned()),
        Delta::Block(ContentBlock::text("I will")),
        Delta::Block(ContentBlock::tool_use(
            "t",
            "bash",
            json!({ "command": "touch hit" }),
        )),
        Delta::Text("and th".to_owned()),
        Delta::Failed(ModelError::Network("the connection broke".to_owned())),
    ]);
    let mut run = Setup::turns(vec![cut, Reply::text("again")]).start();
    assert_eq!(
        run.prompt("go").await,
        (TurnEnd::Failed, Some("the connection broke".to_owned()))
    );
    assert_eq!(
        run.results(),
        [(
            "t".to_owned(),
            true,
            "not run: the reply was cut off".to_owned()
        )]
    );
    let kept = run.mirror.items[1].message.text();
    assert_eq!(kept.as_deref(), Some("I will\nand th"));
    assert!(!run.folder.path().join("hit").exists());
    assert_eq!(run.prompt("go on").await.0, TurnEnd::Done);
}

#[tokio::test]
async fn thinking_is_kept_byte_for_byte() {
    let thinking: ContentBlock = serde_json::from_value(
        json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" }),
    )
    .unwrap();
    let foreign: ContentBlock =
        serde_json::from_value(json!({ "z": 1, "type": "foo_block", "a": [] })).unwrap();
    let call = ContentBlock::tool_use("t", "bash", json!({ "command": "true" }));
    let blocks = vec![thinking.clone(), foreign.clone(), call.clone()];
    let mut run = Setup::turns(vec![Reply::blocks(blocks), Reply::text("ok")]).start();
    run.prompt("go").await;
    assert_eq!(run.last_request()[1].blocks(), [thinking, foreign, call]);
}

#[tokio::test]
async fn other_numbers_hold_from_the_next_call_on_and_are_said() {
    let mut run = Setup::turns(vec![Reply::text("one"), Reply::text("two")]).start();
    run.prompt("go").await;
    let limits = plimsoll::context::Limits {
        context_limit: 10_000,
        ..plimsoll::context::Limits::default()
    };
    run.send(Command::SetLimits {
        limits: limits.clone(),
        reason: "/limit 10000".to_owned(),
    })
    .await;
    let changed = run
        .until(|event| matches!(event, AgentEvent::LimitsChanged { .. }))
        .await;
    assert!(matches!(changed, AgentEvent::LimitsChanged { limits: now, .. } if now == limits));
    run.prompt("go on").await;
    let history = run
        .events
        .iter()
        .rev()
        .find_map(|envelope| match &envelope.event {
            AgentEvent::StageSkipped(skipped) if skipped.stage == Stage::CompactHistory => {
                skipped.threshold
            }
            _ => None,
        });
    assert_eq!(history, Some(10_000));
}

#[tokio::test]
async fn no_text_is_said_to_be_none() {
    let mut run = Setup::turns(vec![Reply::text("ok")]).start();
    run.prompt("  ").await;
    assert_eq!(
        run.mirror.items[0].message.text().as_deref(),
        Some("(no text)")
    );
}
