//! Questions: stray keys never answer, meant ones do.

use std::time::Duration;

use crossterm::event::KeyCode;
use serde_json::json;

use super::desk::{Hands, sit};
use crate::event::{Command, Decision};
use crate::tui::app::Begin;

const SIZE: (u16, u16) = (80, 24);
const CALM: Duration = Duration::from_millis(450);

async fn asked(mut hands: Hands) -> Hands {
    hands.agent.begin("go").await;
    hands
        .agent
        .asks("bash", json!({"command": "touch hit"}))
        .await;
    hands
}

fn answer(decision: Decision) -> Vec<Command> {
    vec![Command::Decide {
        id: "toolu_9".to_owned(),
        decision,
    }]
}

#[tokio::test(start_paused = true)]
async fn keys_meant_for_something_else_do_not_answer() {
    sit(SIZE, Begin::default(), |hands| async move {
        let mut hands = asked(hands).await;
        for _ in 0..16 {
            for c in "yes 1".chars() {
                hands.types(&c.to_string());
                hands.wait(Duration::from_millis(20)).await;
            }
            hands.key(KeyCode::Enter);
            hands.wait(Duration::from_millis(20)).await;
        }
        let shown = hands.rest().await;
        assert_eq!(hands.commands(), []);
        assert!(shown.text.contains(&"yes 1".repeat(13)), "{}", shown.text);
        assert!(shown.text.contains("$ touch hit"));
        // Beside a draft no letter answers, also after a pause; Enter only once a choice was made.
        hands.wait(CALM).await;
        hands.types("y");
        hands.wait(CALM).await;
        hands.key(KeyCode::Enter);
        hands.wait(CALM).await;
        assert_eq!(hands.commands(), []);
        hands.key(KeyCode::Right);
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), answer(Decision::Allow));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_paste_never_answers() {
    sit(SIZE, Begin::default(), |hands| async move {
        let mut hands = asked(hands).await;
        hands.wait(CALM).await;
        hands.paste("y\n");
        hands.wait(CALM).await;
        assert_eq!(hands.commands(), []);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn it_is_deaf_until_it_was_seen_for_a_while() {
    sit(SIZE, Begin::default(), |hands| async move {
        let mut hands = asked(hands).await;
        hands.wait(Duration::from_millis(300)).await;
        hands.key(KeyCode::Enter);
        hands.wait(Duration::from_millis(300)).await;
        assert_eq!(hands.commands(), []);
        hands.wait(CALM).await;
        hands.types("y");
        let shown = hands.rest().await;
        assert_eq!(hands.commands(), answer(Decision::Allow));
        assert!(!shown.text.contains("May the model"));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn enter_alone_means_no_and_a_reason_can_be_given() {
    sit(SIZE, Begin::default(), |hands| async move {
        let mut hands = asked(hands).await;
        hands.wait(CALM).await;
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), answer(Decision::Deny { reason: None }));
        hands.agent.asks("bash", json!({"command": "rm x"})).await;
        hands.wait(CALM).await;
        hands.types("w");
        hands.types("use git rmm");
        hands.key(KeyCode::Backspace);
        assert!(hands.rest().await.text.contains("No, because: use git rm"));
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(
            hands.commands(),
            answer(Decision::Deny {
                reason: Some("use git rm".to_owned())
            })
        );
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn it_says_what_exactly_would_change_and_where() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands
            .agent
            .asks(
                "edit_file",
                json!({"path": "src/lib.rs", "old_text": "let a = 1;", "new_text": "let a = 2;\nlet b = 3;"}),
            )
            .await;
        let shown = hands.wait(CALM).await;
        for row in [
            "May the model use edit_file?",
            "file: src/lib.rs",
            "- let a = 1;",
            "+ let a = 2;",
            "+ let b = 3;",
            "folder: /home/me/parser-demo",
            "why: bash asks in the mode `ask`",
            "n no   y yes, once   a always in this project   w no, because",
        ] {
            assert!(shown.text.contains(row), "{row} in\n{}", shown.text);
        }
        hands
    })
    .await;
}
