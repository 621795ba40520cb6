//! What streams and what is waited for: the seconds to the next try, and what the model thinks.

use std::time::Duration;

use crossterm::event::KeyCode;

use super::desk::sit;
use crate::event::{AgentEvent, Command};
use crate::message::{ContentBlock, Message, StopReason, Usage};
use crate::tui::app::Begin;

#[tokio::test(start_paused = true)]
async fn a_retry_is_counted_down_and_can_be_stopped() {
    sit((120, 40), Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands
            .agent
            .send(AgentEvent::Retrying {
                attempt: 2,
                wait_ms: 3_000,
                reason: "529 overloaded".to_owned(),
            })
            .await;
        let mut left = Vec::new();
        for _ in 0..3 {
            let shown = hands.wait(Duration::from_millis(950)).await;
            let row = shown.row("retry 2 in").trim().to_owned();
            let (_, row) = row.split_once("retry 2 ").unwrap();
            left.push(row.to_owned());
        }
        let row = |left| format!("in {left} s: 529 overloaded   Esc Esc stop");
        assert_eq!(left, [row(3), row(2), row(1)]);
        assert!(
            hands
                .rest()
                .await
                .text
                .contains("2 in 3.0 s: 529 overloaded")
        );
        hands.commands();
        hands.key(KeyCode::Esc);
        hands.rest().await;
        hands.key(KeyCode::Esc);
        hands.rest().await;
        assert_eq!(hands.commands(), [Command::Interrupt]);
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn thinking_is_a_quiet_line_that_a_command_unfolds() {
    sit((80, 24), Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        let text = "h".repeat(1_234);
        hands.agent.send(AgentEvent::ThinkingDelta { text }).await;
        assert_eq!(
            hands.rest().await.row("thinking").trim(),
            "thinking … 1,234 chars"
        );
        let (stop_reason, usage) = (Some(StopReason::EndTurn), Usage::default());
        hands
            .agent
            .send(AgentEvent::ModelCallFinished { stop_reason, usage })
            .await;
        let thinking =
            serde_json::json!({"type": "thinking", "thinking": "hm, a tab", "signature": "s"});
        let blocks = vec![
            ContentBlock::from_value(thinking).unwrap(),
            ContentBlock::text("ok"),
        ];
        hands.agent.append(Message::assistant(blocks)).await;
        let folded = hands.rest().await;
        assert_eq!(
            folded.row("thinking").trim(),
            "█ thinking, 9 chars   /thinking shows it"
        );
        assert!(!folded.text.contains("hm, a tab"));
        hands.types("/thinking");
        hands.key(KeyCode::Enter);
        assert_eq!(hands.rest().await.row("hm, a tab").trim(), "█   hm, a tab");
        hands.types("/thinking");
        hands.key(KeyCode::Enter);
        assert!(!hands.rest().await.text.contains("hm, a tab"));
        hands
    })
    .await;
}
