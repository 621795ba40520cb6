//! Faults that other agents have, as tests: they must not come in here.

use plimsoll::context::{
    History, Input, Limits, Outcome, Pause, Saved, Stage, Trigger, plan_recovery, rebuild,
    summary_input,
};

use crate::histories::{answer, ask, call, fired, invalid, outcome, result_text, say};

/// A history of at least `messages` messages whose replies have `calls` calls each; results in one message or in two.
fn rounds(messages: usize, calls: usize, offset: usize, split: bool) -> History {
    let mut history = History::new();
    ask(&mut history, "go");
    for _ in 0..offset {
        say(&mut history, "hm");
        ask(&mut history, "go on");
    }
    let mut round = 0;
    while history.len() < messages {
        let ids: Vec<String> = (0..calls).map(|at| format!("t{round}_{at}")).collect();
        call(
            &mut history,
            &ids.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let results: Vec<_> = ids.iter().map(|id| (id.as_str(), "r")).collect();
        if split && calls > 1 {
            answer(&mut history, &results[..1]);
            answer(&mut history, &results[1..]);
        } else {
            answer(&mut history, &results);
        }
        round += 1;
    }
    history
}

/// K01: a cut never leaves a result without its call.
#[test]
fn no_cut_leaves_an_orphan() {
    let mut snipped = 0;
    for messages in 51..=70 {
        for calls in 1..=4 {
            for (offset, split) in [(0, false), (0, true), (1, false), (1, true), (2, true)] {
                let history = rounds(messages, calls, offset, split);
                for keep in 1..=8 {
                    let limits = Limits {
                        keep_head: keep,
                        keep_tail: 50 - keep,
                        reactive_keep: keep,
                        ..Limits::default()
                    };
                    if let Outcome::Rewritten(rewrite) =
                        outcome(Stage::SnipCompact, &history, &Saved::default(), &limits)
                    {
                        assert_eq!(invalid(&rewrite.history), None);
                        snipped += 1;
                    }
                    let input = Input {
                        history: &history,
                        saved: &Saved::default(),
                        limits: &limits,
                        pause: Pause::default(),
                    };
                    let Ok(plan) = plan_recovery(&input) else {
                        panic!("nothing to recover")
                    };
                    assert_eq!(plan.trigger, Trigger::PromptTooLong);
                    assert_eq!(invalid(&rebuild(&history, &plan, "s").history), None);
                }
            }
        }
    }
    assert!(snipped > 3_000, "{snipped} snips");
}

/// K08: the results of a parallel batch are seen whole once.
#[test]
fn a_parallel_batch_is_seen_whole() {
    let mut history = History::new();
    ask(&mut history, "read six files");
    let ids = ["a", "b", "c", "d", "e", "f"];
    call(&mut history, &ids);
    let long = "x".repeat(5_000);
    answer(&mut history, &ids.map(|id| (id, long.as_str())));
    for stage in Stage::PIPELINE {
        let Outcome::Skipped(skip) =
            outcome(stage, &history, &Saved::default(), &Limits::default())
        else {
            panic!("{} fired", stage.name());
        };
        if stage == Stage::MicroCompact {
            assert_eq!(skip.reason.text(), "no: older results are unread");
            assert_eq!(skip.guards.unread, 3);
        }
    }
    let plain = Limits {
        guards: false,
        ..Limits::default()
    };
    assert_eq!(
        fired(Stage::MicroCompact, &history, &plain).touched.len(),
        3
    );
}

/// K27: every cut is on a character.
#[test]
fn cuts_are_on_characters() {
    for character in ["é", "─", "漢", "👩‍💻"] {
        for shift in 0..4 {
            let long = "x".repeat(shift) + &character.repeat(40_000);
            let mut history = History::new();
            ask(&mut history, "go");
            call(&mut history, &["a"]);
            answer(&mut history, &[("a", &long)]);
            let limits = Limits {
                budget_max: 10_000,
                ..Limits::default()
            };
            let budget = fired(Stage::ToolResultBudget, &history, &limits);
            let preview: String = long.chars().take(2_000).collect();
            let full = long.chars().count();
            assert_eq!(
                result_text(&budget.history, 2, 0),
                format!(
                    "<persisted-output>\nFull output ({full} characters): .task_outputs/tool-results/a.txt\n\
                     Preview (first 2000 characters):\n{preview}\n</persisted-output>"
                )
            );
            for max in [120, 121, 2_000, 20_001] {
                let shown = summary_input(&history, 0..3, max);
                let (first, rest) = shown.split_once("\n[").unwrap();
                let (_, last) = rest.split_once("left out here]\n").unwrap();
                assert_eq!(
                    (first.chars().count(), last.chars().count()),
                    (max / 4, max - max / 4)
                );
            }
        }
    }
}

/// A path that a placeholder keeps is not lost when the placeholder itself is longer than what stage 3 replaces.
#[test]
fn a_long_path_is_kept_for_good() {
    let id = "i".repeat(120);
    let mut history = History::new();
    ask(&mut history, "go");
    call(&mut history, &[&id]);
    answer(&mut history, &[(&id, &"x".repeat(250_000))]);
    let limits = Limits::default();
    let budget = fired(Stage::ToolResultBudget, &history, &limits);
    let mut saved = Saved::default();
    saved.record(&budget.saves[0].name, &budget.saves[0].text);
    let mut history = budget.history;
    for at in ["a", "b", "c"] {
        call(&mut history, &[at]);
        answer(&mut history, &[(at, "r")]);
    }
    let Outcome::Rewritten(micro) = outcome(Stage::MicroCompact, &history, &saved, &limits) else {
        panic!("the preview stayed");
    };
    let kept = format!(
        "[Earlier tool result compacted. Full output: .task_outputs/tool-results/{id}.txt]"
    );
    assert_eq!(result_text(&micro.history, 2, 0), kept);
    assert_eq!(micro.guards.paths, 1);
    let Outcome::Skipped(skip) = outcome(Stage::MicroCompact, &micro.history, &saved, &limits)
    else {
        panic!("the path was lost");
    };
    assert_eq!(skip.reason.text(), "no: nothing shorter could stand there");
}
