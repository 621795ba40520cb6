//! Lamps light one by one for whoever learns; figures and the agent do not wait for them.

use std::time::Duration;

use crossterm::event::KeyCode;

use super::desk::{Hands, Shown, sit};
use crate::context::Stage;
use crate::tui::app::{Begin, Switch};
use crate::tui::theme::{Look, Motion};

const SIZE: (u16, u16) = (80, 24);

fn learning(motion: Motion) -> Begin {
    Begin {
        learn: Some(Switch::On),
        look: Look {
            motion,
            ..Look::default()
        },
        ..Begin::default()
    }
}

fn stages(shown: &Shown) -> String {
    shown.row("1budget").trim().to_owned()
}

/// Three stages fire before call 2, at the same moment.
async fn fired(hands: &mut Hands) {
    hands.agent.begin("go").await;
    hands.agent.fires(2, Stage::SnipCompact, 1_000).await;
    hands.agent.fires(2, Stage::MicroCompact, 200).await;
    hands.agent.fires(2, Stage::FitResults, 30).await;
}

#[tokio::test(start_paused = true)]
async fn each_lamp_has_400_ms_while_the_figures_are_there_at_once() {
    sit(SIZE, learning(Motion::Full), |mut hands| async move {
        fired(&mut hands).await;
        let mut seen = Vec::new();
        // Between two moments at which something changes.
        let mut wait = 60;
        for _ in 0..12 {
            seen.push(stages(&hands.wait(Duration::from_millis(wait)).await));
            wait = 100;
        }
        let all = |snip, micro, fit| {
            format!("1budget ·  2snip {snip} −1,000  3micro {micro} −200  fit {fit} −30  4history ·  R ·")
        };
        let counts = [all('●', '·', '·'), all('●', '●', '·'), all('●', '●', '●')]
            .map(|row| seen.iter().filter(|shown| **shown == row).count());
        assert_eq!(counts, [4, 4, 4], "{seen:#?}");
        let frames = hands.rest().await.frames;
        hands.agent.ends("done").await;
        let after = hands.rest().await.frames;
        assert_eq!(hands.wait(Duration::from_mins(1)).await.frames, after);
        assert!(after > frames);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_new_call_ends_the_hold() {
    sit(SIZE, learning(Motion::Full), |mut hands| async move {
        fired(&mut hands).await;
        hands.rest().await;
        hands.agent.fires(3, Stage::MicroCompact, 5).await;
        assert_eq!(
            stages(&hands.rest().await),
            "1budget ·  2snip ·  3micro ● −5  fit ·  4history ·  R ·"
        );
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_held_where_nothing_shall_move_nor_without_learning() {
    for begin in [learning(Motion::Reduced), Begin::default()] {
        sit(SIZE, begin, |mut hands| async move {
            fired(&mut hands).await;
            assert_eq!(
                stages(&hands.rest().await),
                "1budget ·  2snip ● −1,000  3micro ● −200  fit ● −30  4history ·  R ·"
            );
            hands
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn esc_shows_all_and_puts_out_what_was_lit() {
    sit(SIZE, learning(Motion::Full), |mut hands| async move {
        fired(&mut hands).await;
        assert_eq!(hands.rest().await.reversed, ["●"]);
        hands.wait(Duration::from_secs(1)).await;
        assert_eq!(hands.rest().await.reversed, ["●", "●", "●"]);
        hands.key(KeyCode::Esc);
        let shown = hands.rest().await;
        assert_eq!(shown.reversed, [""; 0]);
        assert!(stages(&shown).contains("3micro ● −200"));
        hands
    })
    .await;
}
