//! What always holds, on random valid histories with guards on.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll::context::{
    Change, History, Input, Kind, Limits, MicroWhen, Outcome, Parts, Pause, Reason, Rewrite, Saved,
    Stage, SummaryPlan, Trigger, apply, diff, estimate_size, letter, plan_compaction,
    plan_recovery, rebuild, results, value_size,
};
use plimsoll::message::Message;
use proptest::prelude::*;
use serde_json::Value;

use crate::histories::{history, invalid, limits, outcome, text};

const STAGES: [Stage; 4] = [
    Stage::ToolResultBudget,
    Stage::SnipCompact,
    Stage::MicroCompact,
    Stage::FitResults,
];

/// Runs the four stages; `look` sees every step.
fn run(
    mut history: History,
    saved: &mut Saved,
    limits: &Limits,
    mut look: impl FnMut(Stage, &History, &Saved, &Outcome),
) -> History {
    for stage in STAGES {
        let outcome = outcome(stage, &history, saved, limits);
        look(stage, &history, saved, &outcome);
        if let Outcome::Rewritten(rewrite) = outcome {
            for save in &rewrite.saves {
                saved.record(&save.name, &save.text);
            }
            history = rewrite.history;
        }
    }
    history
}

/// The current request can be read where the state says, and no text is older than it.
fn request_is_there(history: &History) -> bool {
    let Some(request) = &history.request else {
        return true;
    };
    let Some(at) = history.request_at else {
        return false;
    };
    history.items[at]
        .message
        .text()
        .is_some_and(|text| text.ends_with(request.as_str()))
}

fn messages_stood_for(history: &History) -> usize {
    history.len() - history.markers.len() + history.markers.values().sum::<usize>()
}

fn check_step(stage: Stage, before: &History, rewrite: &Rewrite) {
    let after = &rewrite.history;
    assert_eq!(invalid(after), None, "{}", stage.name());
    assert_eq!(messages_stood_for(after), messages_stood_for(before));
    let changes = diff(before, after);
    let mut touched: Vec<usize> = rewrite
        .touched
        .iter()
        .map(|touched| touched.message)
        .collect();
    touched.dedup();
    let rewritten: Vec<usize> = changes
        .iter()
        .filter_map(|change| match *change {
            Change::Rewritten { before, .. } => Some(before),
            Change::Kept { .. } | Change::Removed { .. } | Change::Inserted { .. } => None,
        })
        .collect();
    assert_eq!(
        rewritten, touched,
        "only what is named changed, all else is the same pointer"
    );
    if stage == Stage::SnipCompact {
        assert!(request_is_there(after));
        assert_eq!(touched, Vec::<usize>::new());
    } else {
        assert_eq!(after.request_at, before.request_at);
        assert_eq!(changes.len(), before.len());
        // Not the load: a shorter text may measure more, for its line breaks count twice. The contract speaks of the text.
        assert!(
            rewrite
                .touched
                .iter()
                .all(|touched| touched.chars_after < touched.chars_before)
        );
    }
}

/// Whether the figures of a reason say what its words say.
fn is_true(reason: &Reason) -> bool {
    match *reason {
        Reason::UnderBudget { total, max } => total <= max,
        Reason::NothingToPersist {
            largest,
            threshold,
            total,
        } => largest <= threshold && total > 0,
        Reason::FewMessages { messages, max } => messages <= max,
        Reason::UnderLimit { load, limit } => load <= limit,
        Reason::FewResults { results, keep } => results <= keep,
        Reason::OutOfReach { could_free, needed } => could_free < needed,
        Reason::UnreadFits { unread, share } => unread <= share,
        Reason::NothingToFit { unread, share } => unread > share,
        Reason::OnlyTheMarker { messages } => messages > 0,
        Reason::NoResults
        | Reason::NothingOfText { .. }
        | Reason::SnipOff
        | Reason::HeadMeetsTail
        | Reason::CutSplitsPair
        | Reason::OlderAreShort { .. }
        | Reason::OlderAreUnread
        | Reason::OlderAreNotText
        | Reason::NotShorter
        | Reason::KeepUnreadOff
        | Reason::WaitsForLoss
        | Reason::AlreadyCompacted
        | Reason::Empty => true,
        Reason::Refused
        | Reason::PausedByFailures { .. }
        | Reason::StillOver { .. }
        | Reason::NotSaved { .. }
        | Reason::WaitsForRefusal
        | Reason::AlreadyRetried { .. } => false,
    }
}

fn planned(outcome: Outcome) -> Option<SummaryPlan> {
    match outcome {
        Outcome::NeedsSummary(plan) => Some(plan),
        Outcome::Skipped(skip) => {
            assert!(is_true(&skip.reason), "{:?}", skip.reason);
            None
        }
        Outcome::Rewritten(rewrite) => panic!("a summary was not asked for: {rewrite:?}"),
    }
}

fn check_parts(history: &History, saved: &Saved) {
    let parts = Parts::of(history, saved);
    assert_eq!(parts.total(), history.size());
    let frame = 2 + 2 * history.len().saturating_sub(1);
    let mut sum = 0;
    for (index, item) in history.items.iter().enumerate() {
        let own = Parts::of_message(history, saved, index);
        assert_eq!(own.total(), estimate_size([&item.message]) - 2);
        assert!("SUARCPc~".contains(letter(history, saved, index)));
        sum += own.total();
    }
    assert_eq!(sum + frame, parts.total());
    assert!(parts.get(Kind::Frame) >= frame);
}

proptest! {
    #[test]
    fn every_stage_leaves_a_valid_history(history in history(), limits in limits()) {
        prop_assert_eq!(invalid(&history), None);
        let mut saved = Saved::default();
        let after = run(history, &mut saved, &limits, |stage, before, saved, outcome| match outcome {
            Outcome::Rewritten(rewrite) => {
                check_step(stage, before, rewrite);
                check_parts(&rewrite.history, saved);
            }
            Outcome::Skipped(skip) => assert!(is_true(&skip.reason), "{:?}", skip.reason),
            Outcome::NeedsSummary(plan) => panic!("{plan:?}"),
        });
        check_parts(&after, &saved);
    }

    #[test]
    fn running_twice_changes_nothing(history in history(), limits in limits()) {
        let mut saved = Saved::default();
        let once = run(history, &mut saved, &limits, |_, _, _, _| {});
        let within = once.size() <= limits.context_limit;
        if limits.micro_when == MicroWhen::Always || within {
            let twice = run(once.clone(), &mut saved.clone(), &limits, |stage, _, _, outcome| {
                assert!(matches!(outcome, Outcome::Skipped(_)), "{}: {outcome:?}", stage.name());
            });
            prop_assert_eq!(twice, once);
        }
    }

    #[test]
    fn what_leaves_a_result_is_on_disk(history in history(), limits in limits()) {
        let limits = Limits { recoverable: true, ..limits };
        let mut saved = Saved::default();
        let mut disk = BTreeMap::new();
        run(history, &mut saved, &limits, |_, before, saved, outcome| {
            let Outcome::Rewritten(rewrite) = outcome else { return };
            for save in &rewrite.saves {
                assert_eq!(disk.insert(save.name.clone(), save.text.clone()), None, "never overwritten");
            }
            for touched in &rewrite.touched {
                let found = |history: &History| -> String {
                    let block = &history.items[touched.message].message.blocks()[touched.block];
                    block.fields()["content"].as_str().unwrap_or_default().to_owned()
                };
                let result = results(before)
                    .find(|result| (result.message, result.block) == (touched.message, touched.block))
                    .unwrap();
                let new = found(&rewrite.history);
                let name = new.split(".task_outputs/tool-results/").nth(1).unwrap();
                let name = name.split(".txt").next().unwrap().to_owned() + ".txt";
                let full = &disk[&name];
                if result.persisted(saved).is_none() {
                    assert_eq!(full, result.text().unwrap().as_ref());
                }
            }
        });
    }

    #[test]
    fn a_refused_result_stays_whole(history in history(), limits in limits()) {
        let limits = Limits { recoverable: true, ..limits };
        let mut saved = Saved::default();
        for result in results(&history) {
            saved.refused.insert((result.id, result.block));
        }
        run(history, &mut saved, &limits, |stage, _, _, outcome| {
            if let Outcome::Rewritten(rewrite) = outcome {
                assert_eq!(stage, Stage::SnipCompact);
                assert_eq!(&rewrite.saves, &vec![]);
            }
        });
    }

    #[test]
    fn a_name_that_is_taken_is_never_used(history in history(), limits in limits()) {
        let mut saved = Saved::default();
        let names = |saved: &Saved| -> Vec<String> {
            match outcome(Stage::ToolResultBudget, &history, saved, &limits) {
                Outcome::Rewritten(rewrite) => rewrite.saves.into_iter().map(|save| save.name).collect(),
                Outcome::Skipped(_) | Outcome::NeedsSummary(_) => Vec::new(),
            }
        };
        let first = names(&saved);
        saved.taken.extend(first.iter().cloned());
        prop_assert!(names(&saved).iter().all(|name| !first.contains(name)));
    }

    #[test]
    fn every_compaction_leaves_a_valid_history(history in history(), limits in limits(), summary in text()) {
        let saved = Saved::default();
        let input = Input { history: &history, saved: &saved, limits: &limits, pause: Pause::default() };
        let plans = [
            apply(Stage::CompactHistory, &input),
            plan_compaction(&input, Trigger::Command).into(),
            plan_compaction(&input, Trigger::Tool).into(),
            plan_recovery(&input).into(),
        ];
        for plan in plans.into_iter().filter_map(planned) {
            let after = rebuild(&history, &plan, &summary).history;
            prop_assert_eq!(invalid(&after), None);
            prop_assert_eq!(after.len(), history.len() - plan.older.len() + 1);
            prop_assert_eq!((after.request_at, after.compacted), (Some(0), true));
            let text = after.items[0].message.text().unwrap();
            let request = format!("Authoritative request:\n{}\n\nReference state", history.request.as_deref().unwrap());
            prop_assert!(text.contains(&request));
            check_parts(&after, &saved);
        }
    }

    #[test]
    fn the_measure_is_that_of_a_python_literal(text in text()) {
        prop_assert_eq!(value_size(&Value::from(text.as_str())), literal(&text));
    }

    #[test]
    fn the_sum_of_messages_is_the_size(history in history()) {
        let wire: Vec<Value> = history
            .messages()
            .map(|message| serde_json::to_value(message.as_ref()).unwrap())
            .collect();
        prop_assert_eq!(history.size(), value_size(&Value::from(wire.clone())));
        let again: Vec<Arc<Message>> = wire
            .into_iter()
            .map(|wire| Arc::new(Message::from_value(wire).unwrap()))
            .collect();
        prop_assert_eq!(estimate_size(&again), history.size());
    }
}

/// The length of `text` as a Python literal, character by character, for the characters that `text()` makes on purpose.
fn literal(text: &str) -> usize {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let size = |c: char| match c {
        '\\' | '\n' | '\r' | '\t' => 2,
        c if c == quote => 2,
        '\u{200d}' | '\u{feff}' | '\u{e000}' => 6,
        c if c.is_ascii_control() => 4,
        c if c.is_ascii() || "é─漢👩💻".contains(c) => 1,
        c => value_size(&Value::from(c.to_string())) - 2,
    };
    2 + text.chars().map(size).sum::<usize>()
}
