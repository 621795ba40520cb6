//! The conversation's place: it follows only from the end, and the wheel never touches the draft.

use crossterm::event::{KeyCode, KeyModifiers};

use super::desk::{Shown, sit};
use crate::tui::app::Begin;

const SIZE: (u16, u16) = (80, 24);
/// The first row of the conversation's text.
const TOP: usize = 7;

/// The top line without its mark, which appears once the reply is whole.
fn top(shown: &Shown) -> String {
    let line = shown.text.lines().nth(TOP).unwrap_or_default();
    line.chars().skip(1).collect::<String>().trim().to_owned()
}

fn lines(range: std::ops::Range<usize>) -> String {
    let mut lines: Vec<String> = range.map(|n| format!("line {n}")).collect();
    lines.push(String::new());
    lines.join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_held_line_stays_while_more_arrives_and_after_the_end() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands.agent.says(&lines(0..200)).await;
        hands.rest().await;
        hands.key(KeyCode::PageUp);
        hands.key(KeyCode::PageUp);
        let held = hands.rest().await;
        hands.agent.says(&lines(200..250)).await;
        let more = hands.rest().await;
        assert_eq!(top(&more), top(&held));
        assert!(more.text.contains("50 new, End follows"), "{}", more.text);
        hands.agent.ends(&lines(0..250)).await;
        let ended = hands.rest().await;
        assert_eq!(top(&ended), top(&held));
        hands.resize(90, 30);
        hands.resize(80, 24);
        assert_eq!(top(&hands.rest().await), top(&held));
        // Where End means the line, the key that follows is another.
        hands.types("draft");
        let written = hands.rest().await;
        assert!(written.text.contains("new, Ctrl+End follows"));
        hands.chord(KeyCode::End, KeyModifiers::CONTROL);
        assert!(hands.rest().await.text.contains("line 249"));
        hands.ctrl('u');
        hands.key(KeyCode::PageUp);
        assert!(hands.rest().await.text.contains(", End follows"));
        hands.key(KeyCode::End);
        let last = hands.rest().await;
        assert!(last.text.contains("line 249"));
        assert!(!last.text.contains("End follows"));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn while_following_the_text_moves_up_by_a_third_at_a_time() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        let mut tops = Vec::new();
        for n in 0..40 {
            hands.agent.says(&format!("line {n}\n")).await;
            let shown = hands.rest().await;
            assert!(
                shown.text.contains(&format!("line {n}\n")),
                "{}",
                shown.text
            );
            tops.push(top(&shown));
        }
        tops.dedup();
        // 41 rows in a pane of 12: it moves by 5 each time.
        assert!((6..=10).contains(&tops.len()), "{tops:?}");
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_arrows_is_the_wheel_and_single_arrows_are_keys() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.types("sent before");
        hands.key(KeyCode::Enter);
        hands.rest().await;
        hands.agent.begin("sent before").await;
        hands.agent.ends(&lines(0..200)).await;
        hands.types("draft");
        let before = hands.rest().await;
        for _ in 0..3 {
            hands.key(KeyCode::Up);
        }
        let wheeled = hands.rest().await;
        assert_ne!(top(&wheeled), top(&before));
        assert_eq!(wheeled.row("> ").trim_end(), "> draft");
        hands.key(KeyCode::Up);
        assert_eq!(hands.rest().await.row("> ").trim_end(), "> sent before");
        hands
    })
    .await;
}
