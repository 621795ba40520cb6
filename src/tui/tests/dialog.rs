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
        let sent = hands.commands();
        assert_eq!(sent.len(), 16);
        let message = Command::Prompt("yes 1".to_owned());
        assert!(sent.iter().all(|command| *command == message), "{sent:?}");
        assert!(shown.text.contains("$ touch hit"));
        // Beside a draft nothing answers, also after a pause: Enter sends it, and a letter is one of it.
        hands.wait(CALM).await;
        hands.types("look");
        hands.wait(CALM).await;
        hands.types("y");
        hands.wait(CALM).await;
        let shown = hands.rest().await;
        assert!(
            shown
                .text
                .contains("Enter sends your message and answers nothing")
        );
        assert!(shown.text.contains(" n no   y yes, once "));
        hands.key(KeyCode::Enter);
        hands.wait(CALM).await;
        assert_eq!(hands.commands(), [Command::Prompt("looky".to_owned())]);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_message_begun_beside_an_open_question_never_answers_it() {
    for message in [
        "also look at it",
        "yes please",
        "not yet",
        "what is it",
        "yy",
        "aa",
    ] {
        sit(SIZE, Begin::default(), |hands| async move {
            let mut hands = asked(hands).await;
            hands.wait(Duration::from_mins(1)).await;
            hands.types(message);
            let shown = hands.rest().await;
            assert_eq!(shown.row("> ").trim_end(), format!("> {message}"));
            assert_eq!(shown.reversed.concat(), " n no ", "{message}");
            hands.key(KeyCode::Enter);
            hands.wait(CALM).await;
            assert_eq!(hands.commands(), [Command::Prompt(message.to_owned())]);
            // The question still stands, on No.
            hands.key(KeyCode::Enter);
            hands.rest().await;
            assert_eq!(hands.commands(), answer(Decision::Deny { reason: None }));
            hands
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_letter_or_an_arrow_marks_a_choice_and_only_enter_gives_it() {
    for (letter, decision) in [
        ('y', Decision::Allow),
        ('a', Decision::AllowAlways),
        ('n', Decision::Deny { reason: None }),
    ] {
        sit(SIZE, Begin::default(), |hands| async move {
            let mut hands = asked(hands).await;
            hands.wait(CALM).await;
            hands.types(&letter.to_string());
            let shown = hands.wait(CALM).await;
            assert!(shown.reversed.concat().starts_with(&format!(" {letter} ")));
            assert_eq!(hands.commands(), []);
            hands.key(KeyCode::Enter);
            hands.rest().await;
            assert_eq!(hands.commands(), answer(decision));
            hands
        })
        .await;
    }
    sit(SIZE, Begin::default(), |hands| async move {
        let mut hands = asked(hands).await;
        hands.wait(CALM).await;
        hands.key(KeyCode::Right);
        hands.rest().await;
        assert_eq!(hands.commands(), []);
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), answer(Decision::Allow));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_was_not_seen_to_its_end_cannot_be_allowed() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        let lines: Vec<String> = (0..60).map(|n| format!("echo {n}")).collect();
        let command = format!("{}; rm -r x", lines.join("\n"));
        hands
            .agent
            .asks("bash", json!({ "command": command }))
            .await;
        hands.wait(CALM).await;
        hands.types("y");
        let shown = hands.rest().await;
        assert!(
            shown
                .text
                .contains("not yet to be allowed: PgDn to its end first")
        );
        assert!(!shown.text.contains("rm -r x"));
        hands.key(KeyCode::Enter);
        assert!(hands.rest().await.text.contains("not yet: PgDn to the end"));
        assert_eq!(hands.commands(), []);
        for _ in 0..8 {
            hands.key(KeyCode::PageDown);
        }
        let shown = hands.rest().await;
        assert!(shown.text.contains("rm -r x"), "{}", shown.text);
        hands.key(KeyCode::Enter);
        hands.rest().await;
        assert_eq!(hands.commands(), answer(Decision::Allow));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn all_answers_and_how_to_give_them_are_in_view_at_every_size() {
    for size in [(40, 10), (80, 24), (119, 40), (120, 30), (120, 40)] {
        sit(size, Begin::default(), |hands| async move {
            let mut hands = asked(hands).await;
            let shown = hands.wait(CALM).await;
            for part in [
                " n no ",
                " y yes, once ",
                " a always",
                " w no, because ",
                "Enter",
                "$ touch hit",
            ] {
                assert!(
                    shown.text.contains(part),
                    "{part} at {size:?} in\n{}",
                    shown.text
                );
            }
            assert!(
                shown.text.contains("Esc no   Ctrl+C stop"),
                "{}",
                shown.text
            );
            hands.key(KeyCode::End);
            hands.types("y");
            hands.rest().await;
            hands.key(KeyCode::Enter);
            hands.rest().await;
            assert_eq!(hands.commands(), answer(Decision::Allow), "{size:?}");
            hands
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_ways_out_are_open_at_a_question() {
    // Ctrl+D, and /quit with Enter.
    for command in [false, true] {
        let end = sit(SIZE, Begin::default(), |hands| async move {
            let hands = asked(hands).await;
            hands.wait(CALM).await;
            if command {
                hands.types("/quit");
                hands.key(KeyCode::Enter);
            } else {
                hands.ctrl('d');
            }
            let frames = hands.rest().await.frames;
            hands.types("x");
            assert_eq!(hands.rest().await.frames, frames, "it is still there");
            hands
        })
        .await;
        assert_eq!(end, crate::tui::End::Quit);
    }
    sit(SIZE, Begin::default(), |hands| async move {
        let mut hands = asked(hands).await;
        let shown = hands.wait(CALM).await;
        assert!(shown.text.contains("Esc no   Ctrl+C stop"));
        hands.key(KeyCode::Esc);
        hands.rest().await;
        assert_eq!(hands.commands(), answer(Decision::Deny { reason: None }));
        hands.agent.asks("bash", json!({"command": "rm x"})).await;
        hands.wait(CALM).await;
        hands.ctrl('c');
        hands.rest().await;
        assert_eq!(hands.commands(), [Command::Interrupt]);
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
        hands.ctrl('u');
        hands.key(KeyCode::Backspace);
        hands.wait(CALM).await;
        // Nor does one without brackets, nor behind a letter.
        hands.burst("yes\nyes\n");
        hands.wait(CALM).await;
        assert_eq!(hands.commands(), []);
        let shown = hands.rest().await;
        assert_eq!(shown.reversed.concat(), " n no ");
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
        hands.key(KeyCode::Enter);
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
        hands.key(KeyCode::Enter);
        hands.rest().await;
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
