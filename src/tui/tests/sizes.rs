//! No size breaks the screen, whatever it shows.

use crossterm::event::KeyCode;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::desk::sit;
use crate::event::Gate;
use crate::tui::app::{App, Begin, Msg};
use crate::tui::theme::{Color, Glyphs, Look, Motion};
use crate::tui::view;

fn begin() -> Begin {
    Begin {
        first: vec!["Welcome to 漢字 and 👨‍👩‍👧‍👦.".to_owned()],
        gates: vec![Gate {
            say: "A gate with a sentence that is long enough to be wrapped more than once."
                .to_owned(),
            limits: None,
            prompt: "go".to_owned(),
        }],
        ..Begin::default()
    }
}

#[tokio::test(start_paused = true)]
async fn any_size_survives_while_a_reply_streams_and_a_question_waits() {
    sit((80, 24), begin(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands.agent.tool("cargo test", &"x".repeat(62_000)).await;
        hands.agent.says("some words 漢字 that stream\n").await;
        let fresh = hands.rest().await;
        for (width, height) in [
            (1, 1),
            (2, 1),
            (10, 3),
            (1, 60),
            (300, 2),
            (500, 200),
            (80, 24),
        ] {
            hands.resize(width, height);
            hands.agent.says("more\n").await;
            hands.rest().await;
        }
        let after = hands.rest().await;
        assert!(fresh.row("62,").contains("OVER by 12,"), "{}", fresh.text);
        assert_eq!(
            after.text.lines().take(11).collect::<Vec<_>>(),
            fresh.text.lines().take(11).collect::<Vec<_>>()
        );
        hands
            .agent
            .asks("bash", json!({"command": "touch hit\n".repeat(40)}))
            .await;
        hands.key(KeyCode::F(1));
        for (width, height) in [
            (1, 1),
            (2, 1),
            (10, 3),
            (1, 60),
            (300, 2),
            (500, 200),
            (80, 24),
        ] {
            hands.resize(width, height);
            hands.rest().await;
        }
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_pane_is_reached_by_tab_and_reasons_are_whole_at_the_smallest_size() {
    for size in [(40, 10), (80, 24)] {
        sit(size, Begin::default(), |hands| async move {
            let mut seen = String::new();
            for _ in 0..7 {
                hands.key(KeyCode::Tab);
                seen += &hands.rest().await.text;
            }
            for title in [
                "Conversation",
                " Load ",
                " Messages ",
                " Pipeline ",
                " Why ",
                " Log ",
            ] {
                let tiny = title == "Conversation" && size.0 == 40;
                assert!(tiny || seen.contains(title), "{title} in\n{seen}");
            }
            hands
        })
        .await;
    }
    sit((40, 10), Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        for _ in 0..4 {
            hands.key(KeyCode::Tab);
        }
        let mut seen = hands.rest().await.text;
        for _ in 0..14 {
            hands.key(KeyCode::Down);
            seen += &hands.rest().await.text;
        }
        assert!(seen.contains("waits for prompt_too_long"), "{seen}");
        // Titles may be cut, reasons not.
        let cut = |row: &str| row.starts_with('┃') && row.contains('…');
        assert!(!seen.lines().any(cut), "{seen}");
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_help_can_be_read_whole_at_every_size() {
    for size in [(40, 10), (80, 24), (120, 40)] {
        sit(size, Begin::default(), |hands| async move {
            hands.key(KeyCode::F(1));
            let mut seen = String::new();
            for _ in 0..180 {
                seen += &hands.rest().await.text;
                hands.key(KeyCode::Down);
            }
            let said: String = seen.split(['┃', '\n', ' ']).collect();
            for binding in crate::tui::keys::TABLE {
                for word in binding.does.split(' ') {
                    assert!(said.contains(word), "{word} at {size:?}");
                }
            }
            assert!(!seen.contains("h, Left") && !seen.contains("to the left"));
            hands
        })
        .await;
    }
}

#[test]
fn every_small_screen_can_be_drawn_in_every_look() {
    let looks = [
        Look::default(),
        Look {
            glyphs: Glyphs::Ascii,
            color: Color::None,
            motion: Motion::Reduced,
        },
    ];
    for look in looks {
        let mut app = App::new(Begin { look, ..begin() });
        for (width, height) in (0..60).flat_map(|width| (0..16).map(move |height| (width, height)))
        {
            let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
            app.update(std::time::Duration::ZERO, Msg::Resize(width, height));
            app.arrange();
            let Ok(_) = terminal.draw(|frame| view::draw(&app, frame));
        }
    }
}

#[test]
fn the_ascii_look_draws_nothing_above_127() {
    let look = Look {
        glyphs: Glyphs::Ascii,
        ..Look::default()
    };
    for (width, height) in [(60, 12), (80, 24), (120, 40)] {
        let mut app = App::new(Begin {
            look,
            gates: begin().gates,
            ..Begin::default()
        });
        let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
        app.update(std::time::Duration::ZERO, Msg::Resize(width, height));
        app.arrange();
        let Ok(_) = terminal.draw(|frame| view::draw(&app, frame));
        let text = crate::tui::print::text(terminal.backend().buffer());
        assert!(text.is_ascii(), "{text}");
    }
}
