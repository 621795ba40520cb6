//! What typing, pasting and the keys that stop things do.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::desk::sit;
use crate::context::Limits;
use crate::event::{AgentEvent, Command};
use crate::tui::End;
use crate::tui::app::Begin;

const SIZE: (u16, u16) = (80, 24);

fn prompt(text: &str) -> Command {
    Command::Prompt(text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_paste_of_three_lines_sends_nothing_until_enter() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.paste("one\rtwo\r\nthree");
        let shown = hands.rest().await;
        assert_eq!(shown.row("two").trim_end(), "  two");
        assert_eq!(hands.commands(), []);
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), [prompt("one\ntwo\nthree")]);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_way_to_a_new_line_makes_one_and_sends_nothing() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.types("a");
        hands.ctrl('j');
        hands.types("b");
        hands.chord(KeyCode::Enter, KeyModifiers::ALT);
        hands.types("c");
        hands.chord(KeyCode::Enter, KeyModifiers::SHIFT);
        hands.types("d\\");
        hands.key(KeyCode::Enter);
        hands.chord(KeyCode::Char('Ä'), KeyModifiers::SHIFT);
        // What a key says when it is let go types nothing.
        hands.event(Event::Key(KeyEvent::new_with_kind(
            KeyCode::Char('x'),
            KeyModifiers::NONE,
            KeyEventKind::Release,
        )));
        hands.rest().await;
        assert_eq!(hands.commands(), []);
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), [prompt("a\nb\nc\nd\nÄ")]);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_cursor_stands_at_the_caret_in_cells() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.types("漢字ab");
        hands.key(KeyCode::Left);
        assert_eq!(hands.rest().await.cursor.x, 2 + 5);
        hands.agent.begin("x").await;
        hands.agent.says("still streaming").await;
        let shown = hands.rest().await;
        assert!(shown.text.contains("still streaming"));
        assert_eq!((shown.cursor.x, shown.cursor.y), (2 + 5, 22));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn three_thousand_characters_typed_during_a_long_answer_arrive_in_order() {
    let text: String = ('a'..='z').cycle().take(3_000).collect();
    let expected = text.clone();
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        for (at, c) in text.chars().enumerate() {
            hands.key(KeyCode::Char(c));
            hands.agent.says(&format!("word {at}\n")).await;
        }
        hands.rest().await;
        hands.agent.ends("done").await;
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), [prompt(&expected)]);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_message_sent_during_a_turn_is_queued_and_shown_as_queued() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.types("first");
        hands.key(KeyCode::Enter);
        hands.rest().await;
        hands.agent.begin("first").await;
        hands.types("keep me");
        let shown = hands.rest().await;
        assert_eq!(shown.row("> ").trim_end(), "> keep me");
        hands.key(KeyCode::Enter);
        let shown = hands.wait(Duration::from_secs(12)).await;
        assert_eq!(
            shown.row("working").trim_end(),
            " › working 12 s   call 1   1 queued   Esc Esc stop"
        );
        assert_eq!(hands.commands(), [prompt("first"), prompt("keep me")]);
        hands.agent.ends("yes").await;
        hands.agent.begin("keep me").await;
        assert!(!hands.rest().await.text.contains("queued"));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ctrl_c_stops_then_clears_then_asks_then_leaves() {
    let end = sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands.types("draft");
        hands.rest().await;
        hands.ctrl('c');
        hands.rest().await;
        assert_eq!(hands.commands(), [Command::Interrupt]);
        hands.agent.finish(crate::event::TurnEnd::Interrupted).await;
        let shown = hands.rest().await;
        assert!(shown.text.contains("Stopped.") && !shown.text.contains("stopping"));
        assert_eq!(shown.row("> ").trim_end(), "> draft");
        hands.ctrl('c');
        assert!(hands.rest().await.text.contains("type a message"));
        hands.ctrl('c');
        assert!(hands.rest().await.text.contains("Ctrl+C again to quit"));
        // Typing disarms.
        hands.types("x");
        hands.key(KeyCode::Backspace);
        hands.ctrl('c');
        assert!(hands.rest().await.text.contains("Ctrl+C again to quit"));
        hands.ctrl('c');
        hands.rest().await;
        hands
    })
    .await;
    assert_eq!(end, End::Quit);
}

#[tokio::test(start_paused = true)]
async fn ctrl_c_twice_leaves_a_turn_that_does_not_stop() {
    let end = sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands.rest().await;
        hands.ctrl('c');
        hands.ctrl('c');
        hands.wait(Duration::from_millis(1_100)).await;
        assert_eq!(hands.commands(), [Command::Interrupt]);
        hands.ctrl('c');
        // The screen is gone: nobody draws any more.
        let frames = hands.rest().await.frames;
        hands.agent.says("still").await;
        assert_eq!(hands.rest().await.frames, frames);
        hands
    })
    .await;
    assert_eq!(end, End::Quit);
}

#[tokio::test(start_paused = true)]
async fn esc_asks_before_it_stops_and_another_key_takes_it_back() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands.rest().await;
        hands.key(KeyCode::Esc);
        assert!(hands.rest().await.text.contains("Esc again to stop"));
        hands.types("x");
        hands.key(KeyCode::Esc);
        hands.rest().await;
        assert_eq!(hands.commands(), []);
        hands.key(KeyCode::Esc);
        hands.rest().await;
        assert_eq!(hands.commands(), [Command::Interrupt]);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn commands_act_only_when_they_are_whole_and_compact_asks() {
    let begin = Begin {
        demos: vec!["micro".to_owned()],
        ..Begin::default()
    };
    let end = sit(SIZE, begin, |mut hands| async move {
        hands.types("/c");
        hands.key(KeyCode::Enter);
        let shown = hands.rest().await;
        assert!(shown.text.contains("There is no /c. Near it: /compact."));
        assert_eq!(hands.commands(), []);
        hands.types("ompact");
        hands.key(KeyCode::Enter);
        assert!(hands.rest().await.text.contains("nothing to compact yet"));
        assert_eq!(hands.commands(), []);
        hands.agent.begin("go").await;
        hands.agent.ends("done").await;
        hands.rest().await;
        hands.types("/compact");
        hands.key(KeyCode::Enter);
        let shown = hands.rest().await;
        assert!(
            shown
                .text
                .contains("Compact 2 messages now? 1 API call. y/N")
        );
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), []);
        hands.types("/limit 30,000");
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(
            hands.commands(),
            [Command::SetLimits {
                limits: Limits {
                    context_limit: 30_000,
                    ..Limits::default()
                },
                reason: "/limit 30000".to_owned()
            }]
        );
        hands.types("/demo micro");
        hands.key(KeyCode::Enter);
        hands.rest().await;
        hands.types("y");
        hands.rest().await;
        hands
    })
    .await;
    assert_eq!(end, End::SwitchTo("micro".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn agent_events_draw_at_most_twenty_times_a_second_and_keys_at_once() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        let before = hands.rest().await.frames;
        for _ in 0..200 {
            hands.agent.says("x ").await;
            hands.wait(Duration::from_millis(5)).await;
        }
        let after = hands.rest().await.frames;
        // Beside the twenty, the clock of the last row ticks once.
        assert!((15..=23).contains(&(after - before)), "{}", after - before);
        hands.agent.says("y").await;
        hands.types("k");
        let at_once = hands.wait(Duration::from_millis(1)).await;
        assert_eq!(at_once.row("> ").trim_end(), "> k");
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_drawn_while_nothing_moves() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands.agent.ends("done").await;
        let before = hands.rest().await.frames;
        assert_eq!(hands.wait(Duration::from_hours(1)).await.frames, before);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn text_that_comes_all_at_once_is_a_paste_also_without_brackets() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.burst("one\ntwo\tx\nthree\n");
        // The rest of it, in a second piece.
        hands.burst("4\n5");
        let shown = hands.rest().await;
        assert_eq!(shown.row("two").trim_end(), "  two x");
        assert!(shown.text.contains("Conversation"), "Tab moved the focus");
        assert_eq!(hands.commands(), []);
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), [prompt("one\ntwo x\nthree\n4\n5")]);
        // What fingers and input methods can do at once stays what it is.
        for word in ["2つ", "1人", "今日は良い天気ですね", "ok"] {
            hands.burst(word);
            hands.rest().await;
            hands.key(KeyCode::Enter);
            hands.rest().await;
            assert_eq!(hands.commands(), [prompt(word)]);
        }
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_in_a_pane_goes_to_the_message_and_the_message_says_when_it_has_no_keys() {
    for size in [SIZE, (120, 40), (40, 10)] {
        sit(size, Begin::default(), |hands| async move {
            hands.key(KeyCode::Esc);
            let shown = hands.rest().await;
            assert!(shown.text.contains("i or type to write"), "{}", shown.text);
            hands.types("hello");
            let shown = hands.rest().await;
            assert!(shown.text.contains("> hello"), "{}", shown.text);
            assert!(!shown.text.contains("i or type to write"));
            hands.key(KeyCode::Esc);
            hands.rest().await;
            hands.burst("jkgGmi?");
            let shown = hands.rest().await;
            assert!(shown.text.contains("> hellojkgGmi?"), "{}", shown.text);
            hands
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_to_be_stopped_and_has_ended_is_not_said_to_be_stopping() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands.agent.ends("done").await;
        hands.rest().await;
        hands.types("/compact");
        hands.key(KeyCode::Enter);
        hands.types("y");
        hands.rest().await;
        hands.ctrl('c');
        assert!(hands.rest().await.text.contains("stopping"));
        hands
            .agent
            .send(AgentEvent::StageFailed {
                call: 2,
                stage: crate::context::Stage::CompactHistory,
                error: "interrupted".to_owned(),
                api_calls: 1,
            })
            .await;
        assert!(!hands.rest().await.text.contains("stopping"));
        hands
    })
    .await;
}
