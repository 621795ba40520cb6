//! Asks the model for a summary: the conversation goes in as data, no tools are offered, and only plain, complete text
//! counts as an answer.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::context::{SummaryPlan, summary_input};
use crate::message::{BlockKind, ContentBlock, Message, StopReason};
use crate::model::{Delta, ModelError, Purpose, Request};

use super::Agent;
use super::stage::STOPPED;

const SUMMARIZE: &str = include_str!("../../assets/summarize.md");
/// How often the input is halved where the provider finds even the summary's request too long.
const HALVINGS: u32 = 4;

/// What came of one summary call.
enum Answer {
    Text(String),
    TooLong(String),
    Failed(String),
}

impl Agent {
    /// The summary, or why there is none; and how many calls it took.
    pub(super) async fn summarise(
        &self,
        plan: &SummaryPlan,
        cancel: &CancellationToken,
    ) -> (Result<String, String>, u32) {
        let mut max = self.limits.summary_input_max;
        let mut too_long = String::new();
        for calls in 1..=HALVINGS + 1 {
            let input = summary_input(&self.history, plan.older.clone(), max);
            match self.ask_summary(&input, cancel).await {
                Answer::Text(text) => return (Ok(text), calls),
                Answer::Failed(why) => return (Err(why), calls),
                Answer::TooLong(why) => too_long = why,
            }
            // Half of what went in, not half of what might have.
            max = max.min(input.chars().count()) / 2;
        }
        (Err(too_long), HALVINGS + 1)
    }

    async fn ask_summary(&self, input: &str, cancel: &CancellationToken) -> Answer {
        let text = format!("<conversation>\n{input}\n</conversation>");
        let mut stream = self.shared.model.stream(Request {
            system: SUMMARIZE.into(),
            tools: Arc::from([]),
            messages: vec![Arc::new(Message::user(text))],
            purpose: Purpose::Summary,
        });
        let mut blocks: Vec<ContentBlock> = Vec::new();
        loop {
            let delta = tokio::select! {
                biased;
                () = cancel.cancelled() => return Answer::Failed(STOPPED.to_owned()),
                delta = stream.next() => delta,
            };
            match delta {
                Some(Delta::Text(_) | Delta::Thinking(_)) => {}
                Some(Delta::Block(block) | Delta::BrokenCall { block, .. }) => blocks.push(block),
                Some(Delta::Retrying {
                    attempt,
                    wait,
                    reason,
                }) => {
                    blocks.clear();
                    let seconds = wait.as_secs_f64();
                    self.notice(format!(
                        "summary: retry {attempt} in {seconds:.1} s: {reason}"
                    ))
                    .await;
                }
                Some(Delta::Finished { stop_reason, usage }) => {
                    self.spend(&usage);
                    return judge(&blocks, &stop_reason);
                }
                Some(Delta::Failed(
                    ModelError::PromptTooLong { message, .. } | ModelError::MaybeTooLong(message),
                )) => {
                    return Answer::TooLong(message);
                }
                Some(Delta::Failed(error)) => return Answer::Failed(error.to_string()),
                None => return Answer::Failed("the summary ended without an end".to_owned()),
            }
        }
    }
}

/// Whether a reply is a summary.
fn judge(blocks: &[ContentBlock], stop_reason: &StopReason) -> Answer {
    let failed = |why: &str| Answer::Failed(why.to_owned());
    if blocks
        .iter()
        .any(|block| matches!(block.kind(), BlockKind::ToolUse { .. }))
    {
        return failed("the model called a tool instead of writing a summary");
    }
    match stop_reason {
        StopReason::MaxTokens | StopReason::WindowExceeded => {
            return failed("the summary hit its output limit");
        }
        StopReason::Refusal => return failed("the model declined to write a summary"),
        StopReason::PauseTurn => return failed("the server paused in the middle of the summary"),
        StopReason::EndTurn
        | StopReason::ToolUse
        | StopReason::StopSequence
        | StopReason::Other(_) => {}
    }
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block.kind() {
            BlockKind::Text(text) if !text.trim().is_empty() => Some(text.trim()),
            _ => None,
        })
        .collect();
    if texts.is_empty() {
        failed("the summary was empty")
    } else {
        Answer::Text(texts.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(answer: &Answer) -> Result<&str, &str> {
        match answer {
            Answer::Text(text) => Ok(text),
            Answer::TooLong(why) | Answer::Failed(why) => Err(why),
        }
    }

    #[test]
    fn only_complete_text_is_a_summary() {
        let text = [ContentBlock::text("Goal: x"), ContentBlock::text("  \n")];
        assert_eq!(said(&judge(&text, &StopReason::EndTurn)), Ok("Goal: x"));
        assert_eq!(
            said(&judge(&text, &StopReason::MaxTokens)),
            Err("the summary hit its output limit")
        );
        assert_eq!(
            said(&judge(&text[1..], &StopReason::EndTurn)),
            Err("the summary was empty")
        );
        let call = [
            text[0].clone(),
            ContentBlock::tool_use("t", "bash", json!({})),
        ];
        assert_eq!(
            said(&judge(&call, &StopReason::EndTurn)),
            Err("the model called a tool instead of writing a summary")
        );
    }
}
