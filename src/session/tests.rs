//! The log folded after every entry is the live session.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::context::{Guards, MessageId, Stage, Trigger};
use crate::event::TodoStatus;
use crate::message::{ContentBlock, Message};
use crate::store::MemStore;

fn header() -> Header {
    Header::new(
        "/ws".to_owned(),
        "model".to_owned(),
        Profile::Lesson,
        Limits::default(),
    )
}

fn session(store: &Arc<MemStore>) -> Session {
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    Session::create(store, header()).unwrap()
}

fn log(store: &MemStore, session: &Session) -> String {
    store.read(&log_name(session.id())).unwrap()
}

fn report(before: &History, after: &History) -> StageReport {
    StageReport {
        call: 1,
        stage: Stage::MicroCompact,
        trigger: Trigger::Pipeline,
        size_before: 9,
        size_after: 5,
        messages_before: before.len(),
        messages_after: after.len(),
        touched: Vec::new(),
        files: vec![".task_outputs/tool-results/a.txt".to_owned()],
        api_calls: 0,
        duration_ms: 1,
        transcript: None,
        guards: Guards::default(),
        unread_lost: 0,
        cache_from: None,
        before: before.clone(),
        after: after.clone(),
    }
}

/// One change of a session; numbers choose among what is there.
#[derive(Clone, Debug)]
enum Change {
    Request(String),
    Reply(String),
    /// Appended while the state beside the messages changes in a way that no entry implies.
    Odd(usize),
    /// For each message: kept, removed, rewritten or with a new one before it.
    Rewrite(Vec<u8>),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        ".{0,9}".prop_map(Change::Request),
        ".{0,9}".prop_map(Change::Reply),
        (0..5_usize).prop_map(Change::Odd),
        prop::collection::vec(0..6_u8, 0..12).prop_map(Change::Rewrite),
    ];
    prop::collection::vec(change, 0..24)
}

/// The history after a rewrite that does to message `n` what `fates[n]` says; messages beyond are kept.
fn rewritten(before: &History, fates: &[u8]) -> History {
    let mut after = before.clone();
    after.items.clear();
    after.markers.clear();
    for (at, item) in before.items.iter().enumerate() {
        match fates.get(at).copied().unwrap_or(0) {
            1 => {}
            2 => after.items.push(Item {
                id: item.id,
                message: Arc::new(Message::user("[smaller]")),
            }),
            3 => {
                after.markers.insert(after.items.len(), at + 1);
                after.push(Arc::new(Message::user(format!("[snipped {at}]"))));
                after.items.push(item.clone());
            }
            _ => after.items.push(item.clone()),
        }
    }
    after.request_at = after.items.len().checked_sub(1);
    after.compacted = fates.len().is_multiple_of(2);
    after.lost_unread = fates.len().is_multiple_of(3);
    if fates.len() == 7 {
        after.request = None;
    }
    after
}

fn play(change: Change, history: &mut History, session: &mut Session) {
    match change {
        Change::Request(text) => {
            history.push_request(text);
            session
                .message(history.items.last().unwrap(), history)
                .unwrap();
        }
        Change::Reply(text) => {
            let blocks = vec![
                ContentBlock::text(text),
                ContentBlock::tool_use("t", "bash", json!({"z": 1, "a": [null, "é"]})),
            ];
            history.push(Arc::new(Message::assistant(blocks)));
            session
                .message(history.items.last().unwrap(), history)
                .unwrap();
        }
        Change::Odd(n) => {
            history.push(Arc::new(Message::user("odd")));
            history.lost_unread = n == 1;
            history.request_at = (n == 2).then_some(0);
            history.next_id += u32::from(n == 3);
            if n == 4 {
                history.request = Some("another".to_owned());
            }
            session
                .message(history.items.last().unwrap(), history)
                .unwrap();
        }
        Change::Rewrite(fates) => {
            let after = rewritten(history, &fates);
            session.rewrite(&report(history, &after)).unwrap();
            *history = after;
        }
    }
}

proptest! {
    #[test]
    fn the_log_folded_after_every_entry_is_the_live_history(changes in changes()) {
        let store = Arc::new(MemStore::new());
        let mut session = session(&store);
        let mut history = History::new();
        prop_assert_eq!(&fold(&log(&store, &session)).unwrap().history, &history);
        for change in changes {
            play(change, &mut history, &mut session);
            let folded = fold(&log(&store, &session)).unwrap();
            prop_assert_eq!(&folded.history, &history);
            prop_assert!(!folded.torn);
        }
    }

    #[test]
    fn a_log_cut_anywhere_is_read_up_to_its_last_whole_line(cut in 0..10_000_usize) {
        let store = Arc::new(MemStore::new());
        let mut session = session(&store);
        let mut history = History::new();
        for n in 0..4 {
            play(Change::Request(format!("é漢 {n}")), &mut history, &mut session);
        }
        let text = log(&store, &session);
        let header = text.find('\n').unwrap() + 1;
        let cut = text.floor_char_boundary(header + cut % (text.len() - header));
        let folded = fold(&text[..cut]).unwrap();
        prop_assert_eq!(folded.history.len(), text[..cut].matches('\n').count() - 1);
        prop_assert_eq!(folded.torn, !text[..cut].ends_with('\n'));
    }
}

#[test]
fn everything_beside_the_messages_comes_back() {
    let store = Arc::new(MemStore::new());
    let mut session = session(&store);
    let mut history = History::new();
    let todos = vec![Todo {
        content: "look".to_owned(),
        status: TodoStatus::InProgress,
    }];
    let limits = Limits::of(Profile::Session);
    session.turn_started("go").unwrap();
    play(Change::Request("go".to_owned()), &mut history, &mut session);
    let asked = history.items[0].clone();
    session.todos(&todos).unwrap();
    let pause = Pause {
        failures: 2,
        still_over: 1,
    };
    session.pause(pause).unwrap();
    session.limits(&limits, "for work").unwrap();
    session.known_file("b.txt").unwrap();
    let after = rewritten(&history, &[2]);
    session.rewrite(&report(&history, &after)).unwrap();
    let in_turn = fold(&log(&store, &session)).unwrap().in_turn;
    session.turn_finished(TurnEnd::Failed, Some("cut")).unwrap();

    let folded = fold(&log(&store, &session)).unwrap();
    assert!(in_turn);
    assert_eq!(folded.header.session, session.id());
    assert_eq!(
        folded,
        Folded {
            header: folded.header.clone(),
            history: after.clone(),
            known: BTreeSet::from(["a.txt".to_owned(), "b.txt".to_owned()]),
            todos,
            pause,
            limits,
            conversation: vec![
                Shown::TurnStarted {
                    request: "go".to_owned()
                },
                Shown::Message(asked),
                Shown::Rewritten {
                    call: 1,
                    stage: Stage::MicroCompact,
                    trigger: Trigger::Pipeline,
                    size_before: 9,
                    size_after: 5,
                    put: after.items,
                    files: vec![".task_outputs/tool-results/a.txt".to_owned()],
                    transcript: None,
                },
                Shown::TurnFinished {
                    end: TurnEnd::Failed,
                    error: Some("cut".to_owned())
                },
            ],
            in_turn: false,
            torn: false,
        }
    );
}

#[test]
fn kept_messages_are_logged_as_runs() {
    let mut before = History::new();
    for n in 0..6 {
        before.push(Arc::new(Message::user(n.to_string())));
    }
    let after = rewritten(&before, &[0, 0, 3, 1, 0, 0]);
    let keep = |from, to| json!({"keep": {"from": from, "to": to}});
    assert_eq!(
        serde_json::to_value(parts(&before, &after)).unwrap(),
        json!([
            keep(1, 2),
            {"put": {"id": 7, "message": {"role": "user", "content": "[snipped 2]"}}},
            keep(3, 3),
            keep(5, 6),
        ])
    );
}

#[test]
fn what_could_not_be_written_goes_out_with_the_next_entry() {
    let store = Arc::new(MemStore::new());
    let mut session = session(&store);
    let mut history = History::new();
    store.fail("", io::ErrorKind::StorageFull);
    history.push_request("one".to_owned());
    let full = session.message(&history.items[0], &history).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    store.heal();
    play(
        Change::Request("two".to_owned()),
        &mut history,
        &mut session,
    );
    assert_eq!(fold(&log(&store, &session)).unwrap().history, history);
}

#[test]
fn a_rewrite_that_could_not_be_written_has_not_happened() {
    let store = Arc::new(MemStore::new());
    let mut session = session(&store);
    let mut history = History::new();
    for text in ["one", "two", "three"] {
        play(Change::Request(text.to_owned()), &mut history, &mut session);
    }
    store.fail("", io::ErrorKind::StorageFull);
    let after = rewritten(&history, &[1, 3]);
    for _ in 0..3 {
        session.rewrite(&report(&history, &after)).unwrap_err();
    }
    assert_eq!(session.pending, "", "nothing piles up");
    store.heal();
    play(
        Change::Request("four".to_owned()),
        &mut history,
        &mut session,
    );
    assert_eq!(fold(&log(&store, &session)).unwrap().history, history);
}

#[test]
fn a_new_request_wakes_stage_4_in_the_log_too() {
    let store = Arc::new(MemStore::new());
    let mut session = session(&store);
    let pause = Pause {
        failures: 3,
        still_over: 0,
    };
    session.pause(pause).unwrap();
    assert_eq!(fold(&log(&store, &session)).unwrap().pause, pause);
    session.turn_started("again").unwrap();
    let folded = fold(&log(&store, &session)).unwrap();
    assert_eq!(folded.pause, Pause::default());
}

#[test]
fn two_sessions_with_one_id_get_a_log_each() {
    let store = Arc::new(MemStore::new());
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let first = Session::create(Arc::clone(&shared), header()).unwrap();
    let mut other = header();
    other.session = first.id().to_owned();
    other.workspace = "/elsewhere".to_owned();
    let second = Session::create(shared, other).unwrap();
    assert_ne!(first.id(), second.id());
    assert_eq!(store.files().len(), 2);
}

#[test]
fn an_id_sorts_by_time_and_can_be_typed() {
    let at: ZonedDateTime = "2026-12-01T14:05:09[UTC]".parse().unwrap();
    let id = draw_id(&at);
    let (minute, random) = id.split_at(16);
    assert_eq!(minute, "2026-12-01T1405-");
    assert_eq!(random.len(), 4, "{id}");
    assert!(
        random
            .chars()
            .all(|c| c.is_ascii_digit() || c.is_ascii_lowercase()),
        "{id}"
    );
}

#[test]
fn a_damaged_log_is_named_by_its_line() {
    let store = Arc::new(MemStore::new());
    let mut session = session(&store);
    session.turn_started("a").unwrap();
    let text = log(&store, &session);
    assert_eq!(fold("").unwrap_err(), FoldError::NoHeader);
    assert_eq!(
        fold("{\"turn_started\":{\"request\":\"a\"}}\n").unwrap_err(),
        FoldError::NoHeader
    );
    assert_eq!(
        fold(&text.replace("\"version\":1", "\"version\":2")).unwrap_err(),
        FoldError::Version(2)
    );
    assert!(matches!(
        fold(&format!("{text}half\n{{}}\n")).unwrap_err(),
        FoldError::Line { line: 3, .. }
    ));
    let gone = json!({"rewrite": {
        "call": 1, "stage": "snip_compact", "trigger": "pipeline", "size_before": 1, "size_after": 1,
        "context": [{"keep": {"from": 5, "to": 5}}], "files": [], "transcript": null,
        "state": {"request_at": null, "markers": [], "compacted": false, "lost_unread": false, "next_id": 1},
    }});
    assert_eq!(
        fold(&format!("{text}{gone}\n")).unwrap_err(),
        FoldError::Line {
            line: 3,
            reason: format!("{} is kept, but is not in the context before", MessageId(5)),
        }
    );
}
