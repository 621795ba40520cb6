//! A demo's boxes: its gates and its end.

use crossterm::event::KeyCode;

use super::desk::sit;
use crate::context::{Limits, Stage};
use crate::event::{Command, Gate};
use crate::tui::app::Begin;

const SIZE: (u16, u16) = (80, 24);

#[tokio::test(start_paused = true)]
async fn enter_with_nothing_written_goes_through_the_gate() {
    let limits = Limits {
        context_limit: 30_000,
        ..Limits::default()
    };
    let begin = Begin {
        gates: vec![Gate {
            say: "Three long files: watch stage 4.".to_owned(),
            limits: Some(limits.clone()),
            prompt: "read them".to_owned(),
        }],
        ..Begin::default()
    };
    sit(SIZE, begin, |mut hands| async move {
        assert!(hands.rest().await.text.contains("watch stage 4"));
        hands.key(KeyCode::Enter);
        let shown = hands.rest().await;
        assert!(!shown.text.contains("watch stage 4"));
        assert_eq!(
            hands.commands(),
            [
                Command::SetLimits {
                    limits,
                    reason: "the demo".to_owned()
                },
                Command::Prompt("read them".to_owned())
            ]
        );
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_demo_tells_its_end_until_something_else_is_said() {
    let begin = || Begin {
        gates: vec![Gate {
            say: "Watch.".to_owned(),
            limits: None,
            prompt: "read them".to_owned(),
        }],
        demos: vec!["micro".to_owned(), "tour".to_owned()],
        ..Begin::default()
    };
    for (size, keys) in [(SIZE, 0), ((40, 10), 3)] {
        sit(size, begin(), |mut hands| async move {
            hands.key(KeyCode::Enter);
            hands.agent.begin("read them").await;
            hands.agent.fires(1, Stage::MicroCompact, 20).await;
            hands.agent.fires(2, Stage::MicroCompact, 30).await;
            assert!(!hands.rest().await.text.contains("Demo   over"));
            hands.agent.ends("done").await;
            let mut told = hands.rest().await.text;
            for _ in 0..keys {
                hands.key(KeyCode::PageDown);
                told += &hands.rest().await.text;
            }
            for part in [
                "Demo   over",
                "Fired in this demo: micro 2 times",
                "Practice folder:",
                "/home/me/parser-demo",
                "Session log:",
                "/demo NAME",
                "Ctrl+D leaves",
            ] {
                assert!(told.contains(part), "{part} in\n{told}");
            }
            hands.types("more");
            hands.key(KeyCode::Enter);
            hands.rest().await;
            hands.agent.begin("more").await;
            hands.agent.ends("done").await;
            assert!(!hands.rest().await.text.contains("Demo   over"));
            hands
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_can_be_read_whole_at_the_smallest_size() {
    let words: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
    let begin = Begin {
        gates: vec![Gate {
            say: words.join(" "),
            limits: None,
            prompt: "go".to_owned(),
        }],
        ..Begin::default()
    };
    sit((40, 10), begin, |hands| async move {
        let mut told = String::new();
        for _ in 0..8 {
            told += &hands.rest().await.text;
            hands.key(KeyCode::PageDown);
        }
        for word in words {
            assert!(told.contains(&word), "{word} in\n{told}");
        }
        hands
    })
    .await;
}
