//! Every sentence against the run that it tells of.

use serde_json::json;

use super::{caption, change, count, duration, limits_changed, next, tokens, turn_end, usage};
use crate::context::{Guards, KeepUnread, Limits, Profile, Stage, Trigger};
use crate::event::{AgentEvent, TurnEnd};
use crate::message::Usage;
use crate::tui::mirror::play::{Play, drawing};
use crate::tui::mirror::{Mirror, ROWS};

fn sentences(mirror: &Mirror) -> Vec<String> {
    let caption = caption(mirror);
    let all = caption.lead.into_iter().chain(caption.sentences);
    all.chain(caption.aside).collect()
}

fn parts(mirror: &Mirror) -> Vec<String> {
    next(mirror).into_iter().map(|[long, _]| long).collect()
}

fn many_at_once(profile: Profile) -> Play {
    let mut play = Play::new(profile);
    play.ask("read all");
    let read = |n: usize| {
        (
            "read_file",
            json!({ "path": format!("{n}.rs") }),
            "x".repeat(500),
        )
    };
    play.work(&[read(1), read(2), read(3), read(4), read(5)]);
    play.pipeline();
    play
}

#[test]
fn figures_are_written_with_sign_and_number() {
    assert_eq!(
        [change(-1_994), change(1_204), change(0), change(i64::MIN)],
        ["−1,994", "+1,204", "0", "−9,223,372,036,854,775,808"]
    );
    assert_eq!(
        [duration(0), duration(12), duration(6_150)],
        ["<1 ms", "12 ms", "6.1 s"]
    );
    assert_eq!(
        [count(0, "msg", "msgs"), count(1, "msg", "msgs")],
        ["0 msgs", "1 msg"]
    );
    assert_eq!(turn_end(TurnEnd::Done, None), None);
    assert_eq!(
        turn_end(TurnEnd::Interrupted, None).as_deref(),
        Some("stopped")
    );
}

#[test]
fn nothing_to_do_is_said_with_its_figures() {
    assert_eq!(
        sentences(&Mirror::new()),
        ["Nothing was sent yet. The stages look before every call."]
    );
    let mut play = Play::new(Profile::Lesson);
    play.ask("hi");
    play.pipeline();
    assert_eq!(
        sentences(&play.mirror),
        ["No stage had anything to do: 35 of 50,000."]
    );
}

#[test]
fn the_budget_the_snip_and_micro_are_told() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    play.read("big.json", 210_000);
    play.pipeline();
    assert_eq!(
        sentences(&play.mirror)[1..],
        [
            "The last results were over 200,000 chars together.",
            "The largest went to disk (1); the model keeps a path and 2,000 chars of each.",
        ]
    );
    let play = drawing();
    let mirror = &play.mirror;
    let told = sentences(mirror);
    let fired = mirror.run.check(Stage::SnipCompact).fired.clone().unwrap();
    assert_eq!(fired.kept.0 + 1 + fired.kept.1, mirror.context.len());
    assert_eq!((fired.kept, play.limits.keep_tail), ((3, 48), 47));
    assert_eq!(
        told[..3],
        [
            "53 messages is over 50.",
            "The first 3 and the newest 47 stay, and 1 so that no call is parted from its result; 2 in between were \
             dropped for good from the context.",
            "What went out stays in the session log.",
        ]
    );
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for path in ["a", "b", "c", "d"] {
        play.read(path, 500);
    }
    play.pipeline();
    assert_eq!(
        sentences(&play.mirror),
        [
            "micro never looks at the line: it shortens every result older than the newest 3.",
            "The full text stays in the session log.",
            "The prompt cache is lost from m3 on.",
        ]
    );
}

#[test]
fn without_guards_what_was_never_read_is_told_and_with_them_what_was_kept() {
    assert_eq!(
        sentences(&many_at_once(Profile::Plain).mirror)[0],
        "2 results were replaced before the model ever saw them."
    );
    let kept = many_at_once(Profile::Lesson).mirror;
    assert_eq!(kept.run.check(Stage::MicroCompact).guards.unread, 2);
    assert_eq!(sentences(&kept), ["Guards kept 2 unread results."]);
}

#[test]
fn a_path_that_is_lost_is_told_and_one_that_is_kept_is_not() {
    let lost = |profile| {
        let mut play = Play::new(profile);
        play.ask("read");
        play.read("big.json", 210_000);
        for path in ["a", "b", "c"] {
            play.read(path, 500);
        }
        play.pipeline();
        let said = "The saved file's path is no longer in the context.";
        sentences(&play.mirror).contains(&said.to_owned())
    };
    assert!(lost(Profile::Plain));
    assert!(!lost(Profile::Lesson));
}

#[test]
fn a_summary_says_who_asked_and_what_went_unread() {
    let with = |keep: KeepUnread, trigger: Trigger| {
        let limits = Limits {
            keep_unread: keep,
            ..Limits::of(Profile::Lesson)
        };
        let mut play = Play::with(Profile::Lesson, limits, crate::context::History::new());
        play.ask("compare");
        for path in ["a.rs", "b.rs", "c.rs"] {
            play.read(path, 20_000);
        }
        match trigger {
            Trigger::Pipeline => play.pipeline(),
            Trigger::Tool | Trigger::Command | Trigger::PromptTooLong => play.compact(trigger),
        }
        sentences(&play.mirror)
    };
    assert_eq!(
        with(KeepUnread::AfterLoss, Trigger::Pipeline),
        [
            "Over the line by 10,706.",
            "1 result went into the summary unread; from now on unread results are kept.",
            "Still 60,706 after the cheap stages, over 50,000.",
            "The model wrote a summary; your request was kept word for word.",
        ]
    );
    assert_eq!(
        with(KeepUnread::Off, Trigger::Pipeline)[1],
        "1 result went into the summary unread."
    );
    assert_eq!(
        with(KeepUnread::AfterLoss, Trigger::Tool)[1..3],
        [
            "1 result went into the summary unread.",
            "The model asked for this itself.",
        ]
    );
    assert_eq!(
        with(KeepUnread::Always, Trigger::Command)[1],
        "You asked for this."
    );
}

#[test]
fn a_failed_summary_replaced_nothing() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("hi");
    play.pipeline();
    play.fail(Stage::CompactHistory, "the server\nhung up.");
    assert_eq!(
        sentences(&play.mirror),
        [
            "Summary failed: the server hung up.",
            "Nothing was replaced."
        ]
    );
}

#[test]
fn where_the_text_is_now_is_told_as_it_is() {
    let mut play = Play::new(Profile::Session);
    play.ask("read");
    play.limits.micro_when = crate::context::MicroWhen::Always;
    play.tell(AgentEvent::LimitsChanged {
        limits: play.limits.clone(),
        reason: "test".to_owned(),
    });
    for path in ["a", "b", "c", "d"] {
        play.read(path, 500);
    }
    play.pipeline();
    assert_eq!(
        sentences(&play.mirror)[1],
        "The full text is in .task_outputs/tool-results/toolu_01.txt."
    );
    let row = |play: &Play| {
        let mut rows = play.mirror.log.newest_first();
        rows.find(|row| row.name == "micro").cloned().unwrap()
    };
    assert_eq!(
        row(&play).more,
        [
            "text 500 → 85",
            "full text: .task_outputs/tool-results/toolu_01.txt"
        ]
    );
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for path in ["a", "b", "c", "d"] {
        play.read(path, 500);
    }
    play.pipeline();
    assert_eq!(row(&play).more, ["text 500 → 50", "full text: session log"]);
    let mut rows = play.mirror.log.newest_first().rev();
    assert_eq!(rows.next().unwrap().name, "session");
    let log = rows.next().unwrap();
    assert_eq!(
        (log.name, log.text.as_str()),
        ("log", "/home/u/.local/share/plimsoll/sessions/s1.jsonl")
    );
}

#[test]
fn a_guard_is_said_to_keep_only_what_is_still_kept() {
    let limits = Limits {
        context_limit: 5_000,
        ..Limits::of(Profile::Lesson)
    };
    let mut play = Play::with(Profile::Lesson, limits, crate::context::History::new());
    play.ask("read all");
    let read = |n: usize| {
        let path = format!("{n}.rs");
        ("read_file", json!({ "path": path }), "x".repeat(2_000))
    };
    play.work(&[read(1), read(2), read(3), read(4), read(5)]);
    play.pipeline();
    let run = &play.mirror.run;
    assert_eq!(run.check(Stage::MicroCompact).guards.unread, 2);
    assert_eq!(run.kept(Stage::MicroCompact), Guards::default());
    let told = sentences(&play.mirror).join(" ");
    assert!(
        told.contains("5 results went into the summary unread"),
        "{told}"
    );
    assert!(!told.contains("Guards kept"), "{told}");
}

#[test]
fn over_the_line_the_next_thing_is_told_first() {
    let mut play = Play::new(Profile::Lesson);
    play.ask(&"long ".repeat(12_000));
    let over = "stage 4 at the next call, unless the stages before it free 10,033";
    assert_eq!(parts(&play.mirror)[0], over);
    for _ in 0..3 {
        play.fail(Stage::CompactHistory, "the server hung up");
        let again = "stage 4 again at the next call";
        let paused = "stage 4 is paused until /compact or a new request";
        let failures = play.mirror.pause.failures;
        let expected = if failures < 3 { again } else { paused };
        assert_eq!(parts(&play.mirror)[0], expected, "after {failures}");
    }
    assert_eq!(play.mirror.run.api_calls, 3);
    // A new request wakes it.
    play.ask("go on");
    assert_eq!(parts(&play.mirror)[0], "stage 4 again at the next call");
    // A history that is one summary can only wait for the provider.
    play.compact(Trigger::Command);
    assert_eq!(play.mirror.context.len(), 1);
    let limits = Limits {
        context_limit: 10,
        ..play.limits.clone()
    };
    play.tell(AgentEvent::LimitsChanged {
        limits,
        reason: "test".to_owned(),
    });
    assert_eq!(
        parts(&play.mirror)[0],
        "nothing is left to summarise: it waits for what the provider says"
    );
}

#[test]
fn tokens_are_told_with_what_came_from_the_cache_and_never_guessed() {
    let some = Usage {
        input_tokens: Some(3_000),
        cache_creation_input_tokens: Some(103),
        cache_read_input_tokens: Some(12_000),
        output_tokens: Some(318),
    };
    assert_eq!(
        usage(&some, Some(55_881)).as_deref(),
        Some("15,103 in (12,000 cached) / 318 out tokens = 3.7 chars/token")
    );
    let half = Usage {
        output_tokens: Some(318),
        ..Usage::default()
    };
    assert_eq!(
        usage(&half, Some(9)).as_deref(),
        Some("- in / 318 out tokens")
    );
    assert_eq!(usage(&Usage::default(), Some(9)), None);
    assert_eq!(tokens(&Usage::default()), "- in / - out");
}

#[test]
fn guards_are_counted_over_all_stages() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("hi");
    play.pipeline();
    play.kept(Guards {
        unread: 1,
        paths: 2,
        carried: true,
    });
    assert_eq!(
        sentences(&play.mirror),
        ["Guards kept 1 unread result and 2 paths to saved files and the request."]
    );
}

#[test]
fn what_comes_next_comes_true() {
    // The oldest of the kept results is the one that the next result pushes out.
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for path in ["a", "b", "c"] {
        play.read(path, 500);
    }
    play.pipeline();
    let said = "m3 (500) becomes a placeholder at the next result";
    assert_eq!(parts(&play.mirror)[0], said);
    play.send();
    play.read("d", 500);
    play.pipeline();
    let changed = play.mirror.run.largest.clone().unwrap();
    assert_eq!((changed.id.0, changed.chars.0), (3, 500));
    // A short one never becomes a placeholder, and nothing is said of it.
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for path in ["a", "b", "c"] {
        play.read(path, 100);
    }
    assert!(!parts(&play.mirror).concat().contains("placeholder"));
}

#[test]
fn the_snip_comes_after_as_many_messages_as_were_said() {
    for guards in [true, false] {
        let limits = Limits {
            guards,
            ..Limits::of(Profile::Lesson)
        };
        let mut play = Play::with(Profile::Lesson, limits, crate::context::History::new());
        let mut expected = 51_usize;
        for n in 1..60 {
            let said = parts(&play.mirror).concat();
            let left = expected.saturating_sub(play.history.len());
            let words = match left {
                0 => "snip at the next call".to_owned(),
                1 => "snip in 1 message".to_owned(),
                left => format!("snip in {left} messages"),
            };
            assert!(said.contains(&words), "{n}: {said} is not {words}");
            play.ask("x");
            play.pipeline();
            let fired = play.mirror.run.check(Stage::SnipCompact).fired.is_some();
            assert_eq!(fired, left <= 1, "{n} with guards {guards}");
            if fired && guards {
                expected = 52;
            }
        }
    }
}

/// `a ≤ b` in a text: the figures on either side.
fn figures(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| -> Option<usize> {
        let digits: String = text.chars().filter(|c| *c != ',').collect();
        digits.parse().ok()
    };
    let (left, right) = text.split_once(" ≤ ")?;
    let figure = left.split(' ').rev().find_map(number)?;
    let bound = right.split([' ', ';']).next().and_then(number)?;
    Some((figure, bound))
}

#[test]
fn every_no_with_two_figures_holds() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut seen = 0;
    for round in 0..60 {
        let profile = [Profile::Plain, Profile::Lesson, Profile::Session][round % 3];
        let mut play = Play::new(profile);
        play.ask("go");
        for _ in 0..random.usize(1..40) {
            match random.usize(0..4) {
                0 => play.say("well"),
                1 => play.ask("more"),
                _ => {
                    let chars = random.usize(0..40_000) / random.usize(1..40);
                    play.read("a.rs", chars);
                }
            }
            for stage in ROWS {
                let check = play.mirror.run.check(stage);
                if let Some((figure, bound)) = figures(&check.text) {
                    assert!(figure <= bound, "{}", check.text);
                    seen += 1;
                }
                if let Some(fired) = &check.fired {
                    let load = fired.size.0;
                    if stage == Stage::CompactHistory {
                        assert!(load > play.limits.context_limit);
                    }
                    if stage == Stage::SnipCompact {
                        assert!(fired.messages.0 > play.limits.max_messages);
                    }
                }
            }
        }
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn other_numbers_are_told_by_what_they_were_and_are() {
    let before = Limits::default();
    let after = Limits {
        context_limit: 30_000,
        guards: false,
        micro_target: 0.25,
        ..before.clone()
    };
    assert_eq!(
        limits_changed(&before, &after),
        "guards on → off, the line 50,000 → 30,000, micro_target 0.5 → 0.25"
    );
    assert_eq!(limits_changed(&before, &before), "no number changed");
}
