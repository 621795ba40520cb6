//! What is shown of text that others wrote, and what the last row keeps.

use super::desk::sit;
use crate::event::AgentEvent;
use crate::tui::app::Begin;

const SIZE: (u16, u16) = (80, 24);

#[tokio::test(start_paused = true)]
async fn what_a_model_or_a_tool_says_cannot_act_on_the_terminal() {
    sit(SIZE, Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        let evil = "a\u{1b}]0;PWN\u{7}b \u{1b}]52;c;ZWNobyBoaQ==\u{7} \u{1b}[2J c\td \u{9b}e";
        hands.agent.ends(evil).await;
        hands
            .agent
            .send(AgentEvent::Notice {
                text: evil.to_owned(),
            })
            .await;
        let shown = hands.rest().await;
        assert_eq!(shown.row("asst").trim_end(), "█ asst   ab   c  d �e");
        assert!(!shown.text.contains(['\u{1b}', '\u{7}', '\t']));
        hands
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn hostile_text_is_harmless_wherever_it_comes_from_and_however_long_it_is() {
    let evil = "a\u{1b}]0;PWN\u{7}\u{1b}]52;c;ZWNobyBoaQ==\u{7}\u{1b}[2J\u{9b}31m\u{202e}\tb\r\n";
    for (size, length) in [(SIZE, 1_000_000), ((120, 40), 9_000), ((41, 11), 9_000)] {
        let evil = evil.to_owned();
        let long = evil.repeat(100) + &"x".repeat(length);
        sit(size, Begin::default(), |mut hands| async move {
            hands.agent.begin(&evil).await;
            hands.agent.says(&long).await;
            hands.rest().await;
            hands.agent.ends(&long).await;
            hands.agent.begin(&evil).await;
            hands.agent.tool(&long, &long).await;
            hands
                .agent
                .send(AgentEvent::Retrying {
                    attempt: 1,
                    wait_ms: 9_000,
                    reason: long.clone(),
                })
                .await;
            let mut shown = vec![hands.rest().await.text];
            hands
                .agent
                .asks(&evil, serde_json::json!({ "path": evil, &evil: long }))
                .await;
            shown.push(hands.rest().await.text);
            hands
                .agent
                .send(AgentEvent::TurnFinished {
                    end: crate::event::TurnEnd::Failed,
                    error: Some(long),
                    usage: crate::message::Usage::default(),
                })
                .await;
            shown.push(hands.rest().await.text);
            for text in shown {
                let rows = text.lines().count();
                assert_eq!(rows, usize::from(size.1));
                let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
                assert!(!text.contains(acts), "{text:?}");
                assert!(!text.contains("PWN") && !text.contains("ZWNo"), "{text}");
            }
            hands
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_row_keeps_its_keys_whatever_is_being_done() {
    sit((60, 20), Begin::default(), |mut hands| async move {
        hands.agent.begin("go").await;
        hands
            .agent
            .send(AgentEvent::ToolStarted {
                id: "toolu_1".to_owned(),
                tool: "bash".to_owned(),
                input: serde_json::json!({"command": "grep -rn one two three four five six seven eight"}),
            })
            .await;
        let last = |shown: &super::desk::Shown| shown.text.lines().last().unwrap_or("").to_owned();
        assert_eq!(
            last(&hands.rest().await),
            " › working 0 s   bash grep -rn one two thre…   Esc Esc stop"
        );
        hands.agent.finish(crate::event::TurnEnd::Done).await;
        assert_eq!(
            last(&hands.rest().await),
            " Enter send   Alt+Enter newline   Tab panes   F1 help"
        );
        hands
    })
    .await;
}
