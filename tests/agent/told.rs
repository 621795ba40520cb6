//! What the agent tells beside its work: what it thinks, from where a cache is lost, and that a server may have cut the prompt.

use plimsoll::context::Stage;
use plimsoll::event::{AgentEvent, TurnEnd};
use plimsoll::message::{ContentBlock, StopReason, Usage};
use plimsoll::model::Delta;
use plimsoll::text::thousands;

use super::harness::{Reply, Setup};

/// A server that counts far less than it was sent may have cut it; one that counts as before has not.
#[tokio::test]
async fn a_prompt_that_was_cut_silently_is_said_once_with_both_figures() {
    let counted = |tokens: u64, text: &str| {
        let usage = Usage {
            input_tokens: Some(tokens),
            ..Usage::default()
        };
        Reply::deltas(vec![
            Delta::Block(ContentBlock::text(text)),
            Delta::Finished {
                stop_reason: StopReason::EndTurn,
                usage,
            },
        ])
    };
    // About 8,000 characters of prompt and tools; then a request that the third and fourth call count too little for.
    let turns = vec![
        counted(2_000, "one"),
        counted(8_000, "two"),
        counted(2_048, "three"),
        counted(2_048, "four"),
    ];
    let mut setup = Setup::turns(turns);
    setup.limits.context_limit = 200_000;
    let mut run = setup.start();
    run.prompt("hi").await;
    run.prompt(&"long ".repeat(5_000)).await;
    assert!(run.notices().is_empty());
    run.prompt("and").await;
    run.prompt("so on").await;
    let sent: Vec<usize> = run
        .events
        .iter()
        .filter_map(|envelope| match envelope.event {
            AgentEvent::ModelCallStarted { size, .. } => Some(size),
            _ => None,
        })
        .collect();
    let AgentEvent::SessionStarted(started) = &run.events[0].event else {
        panic!("it begins with the session");
    };
    let sent = thousands(sent[2] + started.system_chars + started.tools_chars);
    assert_eq!(
        run.notices(),
        [format!(
            "{sent} characters were sent, the server counted 2,048 tokens: it may have cut the prompt without saying so. \
             Set context_limit lower, or the server's window higher."
        )]
    );
}

/// A stage that changes what was sent says from where; one that changes what is new does not.
#[tokio::test]
async fn a_stage_says_from_where_a_cache_is_lost() {
    let mut setup = Setup::turns(vec![
        Reply::print("a", 900),
        Reply::print("b", 900),
        Reply::print("c", 900),
        Reply::print("d", 900),
        Reply::print("e", 2_000),
        Reply::text("ok"),
    ]);
    (setup.limits.budget_max, setup.limits.persist_threshold) = (1_500, 1_500);
    setup.limits.preview_chars = 100;
    let mut run = setup.start();
    run.prompt("go").await;
    let said: Vec<(Stage, Option<u32>)> = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::StageFinished(report) => {
                Some((report.stage, report.cache_from.map(|id| id.0)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        said,
        [
            (Stage::MicroCompact, Some(3)),
            (Stage::ToolResultBudget, None),
            (Stage::MicroCompact, Some(5)),
        ]
    );
}

/// What the model thinks is told as it comes, and kept only where its block is complete.
#[tokio::test]
async fn thinking_is_told_as_it_comes() {
    let deltas = ["hm", " é"].map(|text| Delta::Thinking(text.to_owned()));
    let mut reply = deltas.to_vec();
    reply.extend([
        Delta::Block(ContentBlock::text("ok")),
        Delta::Finished {
            stop_reason: StopReason::EndTurn,
            usage: Usage::default(),
        },
    ]);
    let mut run = Setup::turns(vec![Reply::deltas(reply)]).start();
    assert_eq!(run.prompt("go").await, (TurnEnd::Done, None));
    let told: Vec<&str> = run
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::ThinkingDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["hm", " é"]);
}
