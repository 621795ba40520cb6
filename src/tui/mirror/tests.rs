//! The mirror against the agent's side of the same run.

use serde_json::json;

use super::play::{Play, drawing};
use super::*;
use crate::context::{Guards, Kind, RESULTS_DIR, Trigger};
use crate::event::{AgentEvent, Todo, TodoStatus, TurnEnd};
use crate::tui::theme::Lamp;

fn rows(mirror: &Mirror) -> Vec<String> {
    mirror
        .log
        .newest_first()
        .map(|row| {
            let lamp = row.lamp.map_or(String::new(), |lamp| format!(" {lamp:?}"));
            let change = row.change.map_or(String::new(), |n| format!(" {n}"));
            format!("{}{lamp}{change}: {}", row.name, row.text)
        })
        .collect()
}

fn lamps(mirror: &Mirror) -> Vec<Lamp> {
    ROWS.iter()
        .map(|stage| mirror.run.check(*stage).lamp)
        .collect()
}

#[test]
fn the_session_comes_with_its_facts() {
    let play = Play::new(Profile::Session);
    assert_eq!(
        play.mirror.session,
        Some(Session {
            id: "s1".to_owned(),
            log: Some("/home/u/.local/share/plimsoll/sessions/s1.jsonl".to_owned()),
            name: "parser-demo".to_owned(),
            workspace: "/home/u/parser-demo".to_owned(),
            model: "sonnet".to_owned(),
            scripted: false,
            profile: Profile::Session,
            limits: Limits::of(Profile::Session),
            system_chars: 1_912,
            tools_chars: 5_240,
        })
    );
    assert_eq!(play.mirror.load(), Some(2));
    assert_eq!(Mirror::new().load(), None);
    assert_eq!(Mirror::new().level(), Level::Unknown);
}

#[test]
fn a_fired_lamp_stays_lit_until_the_next_calls_first_stage() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for n in 0..4 {
        play.read(&format!("{n}.rs"), 500);
    }
    play.pipeline();
    let lit = [
        Lamp::Unneeded,
        Lamp::Unneeded,
        Lamp::Fired,
        Lamp::Unneeded,
        Lamp::Unneeded,
        Lamp::Waiting,
    ];
    assert_eq!(lamps(&play.mirror), lit);
    play.send();
    play.replied();
    assert_eq!(lamps(&play.mirror), lit, "the call itself puts none out");
    play.read("5.rs", 10);
    assert_eq!(play.mirror.run.call, 6);
    assert_eq!(
        play.mirror.run.check(Stage::MicroCompact).lamp,
        Lamp::Unneeded
    );
}

#[test]
fn a_compaction_that_was_asked_for_stays_lit_through_the_stages_of_its_call() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    play.read("a.rs", 900);
    play.compact(Trigger::Tool);
    play.pipeline();
    let check = play.mirror.run.check(Stage::CompactHistory);
    assert_eq!(
        (check.lamp, check.text.as_str()),
        (Lamp::FiredByCall, "3 messages → 1")
    );
    assert_eq!(play.mirror.counts.compactions, 1);
}

#[test]
fn the_recovery_is_shown_beside_the_stages_of_the_call_that_was_refused() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for n in 0..4 {
        play.read(&format!("{n}.rs"), 4_000);
    }
    play.pipeline();
    play.send();
    let refused = lamps(&play.mirror);
    play.refused();
    play.send();
    assert_eq!(lamps(&play.mirror)[..5], refused[..5]);
    assert_eq!(lamps(&play.mirror)[5], Lamp::FiredByCall);
    assert_eq!(play.mirror.run.call, 6);
}

#[test]
fn what_the_model_still_sees_fades_with_each_stage() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read"); // m1
    play.read("a.rs", 900); // m2, m3
    for n in 0..3 {
        play.read(&format!("{n}.rs"), 500);
    }
    let read = MessageId(3);
    assert_eq!(play.mirror.sight(read, 0), Sight::Full);
    play.pipeline();
    assert_eq!(play.mirror.sight(read, 0), Sight::Placeholder);
    play.compact(Trigger::Command);
    assert_eq!(play.mirror.sight(read, 0), Sight::Summarised);
    assert_eq!(
        play.mirror.sight(play.history.items[0].id, 0),
        Sight::Summary
    );
    assert_eq!(play.mirror.sight(MessageId(999), 0), Sight::Gone);
}

#[test]
fn a_large_result_becomes_a_preview_and_the_log_says_where_its_text_is() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    play.read("big.json", 210_000);
    play.pipeline();
    assert_eq!(play.mirror.sight(MessageId(3), 0), Sight::Preview);
    let by_kind = play.mirror.context.by_kind();
    assert!(by_kind[Kind::Previews as usize] > 2_000, "{by_kind:?}");
    assert_eq!(by_kind[Kind::Results as usize], 0);
    let rows = rows(&play.mirror);
    assert!(
        rows.contains(&format!("saved: {RESULTS_DIR}toolu_01.txt")),
        "{rows:#?}"
    );
    assert!(
        rows.iter().any(|row| row.starts_with("budget Fired -20")
            && row.ends_with("m3 read big.json → preview")),
        "{rows:#?}"
    );
}

#[test]
fn a_snip_leaves_a_marker_and_counts_what_went() {
    let play = drawing();
    let gone = (1..play.history.next_id)
        .filter(|id| play.mirror.sight(MessageId(*id), 0) == Sight::Snipped)
        .count();
    assert!(gone > 0);
    let (at, n) = play.history.markers.first_key_value().unwrap();
    assert_eq!(*n, play.mirror.counts.snipped);
    assert_eq!(play.mirror.context.cells()[*at].letter, '~');
    assert_eq!(play.mirror.context.mark(*at), Some(Mark::Marker));
    assert_eq!(play.mirror.context.mark(0), Some(Mark::Head));
    assert_eq!(
        play.mirror.context.mark(play.history.len() - 1),
        Some(Mark::New)
    );
}

#[test]
fn a_subagent_gets_rows_of_its_own_and_never_moves_the_gauge() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("look");
    play.pipeline();
    play.send();
    let before = (play.mirror.context.size(), play.mirror.run.clone());
    for id in ["t1", "t2"] {
        play.tell(AgentEvent::ToolStarted {
            id: id.to_owned(),
            tool: "task".to_owned(),
            input: json!({"prompt": "find it"}),
        });
    }
    play.tell_of(
        Some("t2"),
        AgentEvent::MessageAppended {
            id: MessageId(1),
            message: std::sync::Arc::new(crate::message::Message::user("find it")),
            size: 40_000,
        },
    );
    play.tell_of(
        Some("t2"),
        AgentEvent::ModelCallStarted {
            call: 1,
            size: 40_000,
            messages: 1,
        },
    );
    assert_eq!(
        (play.mirror.context.size(), play.mirror.run.clone()),
        before
    );
    let row = play.mirror.log.newest_first().next().unwrap();
    assert_eq!(
        (row.source, row.name, row.text.as_str()),
        (
            Source {
                call: 1,
                task: Some(2)
            },
            "task",
            "its call 1: 40,000 chars"
        )
    );
}

#[test]
fn work_follows_the_events() {
    let mut play = Play::new(Profile::Lesson);
    let mut seen = vec![play.mirror.work.clone()];
    play.ask("go");
    seen.push(play.mirror.work.clone());
    play.pipeline();
    play.send();
    seen.push(play.mirror.work.clone());
    play.tell(AgentEvent::Retrying {
        attempt: 1,
        wait_ms: 3_000,
        reason: "429\n\u{1b}[2Jslow down".to_owned(),
    });
    seen.push(play.mirror.work.clone());
    play.replied();
    play.tell(AgentEvent::ToolStarted {
        id: "a".to_owned(),
        tool: "bash".to_owned(),
        input: json!({"command": "cargo\ttest"}),
    });
    seen.push(play.mirror.work.clone());
    play.tell(AgentEvent::TurnFinished {
        end: TurnEnd::Failed,
        error: Some("no route".to_owned()),
        usage: Usage::default(),
    });
    seen.push(play.mirror.work.clone());
    assert_eq!(
        seen,
        [
            Work::Idle,
            Work::Busy,
            Work::Call { call: 1 },
            Work::Retry {
                call: 1,
                attempt: 1,
                wait_ms: 3_000,
                reason: "429 slow down".to_owned()
            },
            Work::Tool {
                id: "a".to_owned(),
                line: "bash cargo  test".to_owned()
            },
            Work::Idle,
        ]
    );
    assert_eq!(
        rows(&play.mirror)[..3],
        [
            "turn: failed: no route",
            "usage: 1,008 in / 318 out tokens = 7.1 chars/token",
            "retry: 1 in 3.0 s: 429 slow down",
        ]
    );
}

#[test]
fn compact_while_nothing_runs_leaves_nothing_running() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    play.read("a.rs", 900);
    play.tell(AgentEvent::TurnFinished {
        end: TurnEnd::Done,
        error: None,
        usage: Usage::default(),
    });
    play.compact(Trigger::Command);
    assert_eq!(play.mirror.work, Work::Idle);
}

#[test]
fn limits_todos_and_guards_are_taken_over() {
    let mut play = Play::new(Profile::Lesson);
    let mut limits = play.limits.clone();
    limits.context_limit = 30_000;
    play.tell(AgentEvent::LimitsChanged {
        limits: limits.clone(),
        reason: "the server's window".to_owned(),
    });
    assert_eq!(play.mirror.limit(), 30_000);
    assert_eq!(
        rows(&play.mirror)[0],
        "limits: the line 50,000 → 30,000   the server's window"
    );
    let todos = vec![Todo {
        content: "a".to_owned(),
        status: TodoStatus::Pending,
    }];
    play.tell(AgentEvent::TodosChanged {
        todos: todos.clone(),
    });
    assert_eq!(play.mirror.todos, todos);
    let guards = Guards {
        unread: 2,
        ..Guards::default()
    };
    play.kept(guards);
    assert_eq!(play.mirror.run.check(Stage::MicroCompact).guards, guards);
}

#[test]
fn the_log_is_bounded_and_counts_what_it_dropped() {
    let mut play = Play::new(Profile::Lesson);
    for n in 0..3_000 {
        play.tell(AgentEvent::Notice {
            text: format!("{n}{}", "y".repeat(1_000)),
        });
    }
    let log = &play.mirror.log;
    assert_eq!((log.len(), log.dropped()), (2_000, 1_002));
    assert_eq!(log.newest_first().next().unwrap().text.chars().count(), 401);
}
