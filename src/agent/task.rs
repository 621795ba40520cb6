//! The `task` tool: a subagent with a context of its own, which goes through the same pipeline; its last answer is the
//! result, everything else stays with it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::event::TurnEnd;
use crate::model::Purpose;
use crate::text::thousands;
use crate::tools::ToolOutput;

use super::Agent;
use super::controls::lock;
use super::turn::Ending;

/// Model calls that a subagent may make.
const MAX_CALLS: u64 = 30;
/// Characters of a subagent's answer that enter the history of its parent.
const MAX_ANSWER: usize = 20_000;

impl Agent {
    /// Works on `prompt` in a context of its own.
    pub(super) async fn subagent(
        &self,
        id: &str,
        prompt: &str,
        cancel: &CancellationToken,
    ) -> ToolOutput {
        let session = match self.session.child(id, &self.limits) {
            Ok(session) => session,
            Err(error) => {
                let text = format!("the subagent's log could not be begun: {error}");
                return ToolOutput {
                    text,
                    is_error: true,
                };
            }
        };
        let mut child = Self::with(
            Arc::clone(&self.shared),
            self.emitter.for_task(id),
            session,
            self.limits.clone(),
        );
        // No subagent of a subagent: the depth is what makes the count of calls a bound.
        child.specs = self
            .specs
            .iter()
            .filter(|spec| spec["name"] != "task")
            .cloned()
            .collect();
        child.limits_seen = self.limits_seen;
        child.purpose = Purpose::Task(id.to_owned());
        child.max_calls = Some(MAX_CALLS);
        let (ending, used) = child.turn(prompt.to_owned(), cancel).await;
        self.spend(&used);
        let output = child.result(ending);
        if child.session.flush().is_err() {
            lock(&self.shared.unwritten).push(child.session);
        }
        output
    }

    /// What the parent's model gets.
    fn result(&self, ending: Ending) -> ToolOutput {
        let answer = self.last_text();
        let why = ending.error.unwrap_or_default();
        match ending.end {
            TurnEnd::Done if answer.is_empty() => ToolOutput {
                text: "(the subagent ended without an answer)".to_owned(),
                is_error: false,
            },
            TurnEnd::Done => ToolOutput {
                text: bounded(&answer),
                is_error: false,
            },
            TurnEnd::Interrupted => ToolOutput {
                text: "interrupted by the user".to_owned(),
                is_error: true,
            },
            TurnEnd::MaxTokens | TurnEnd::Failed if answer.is_empty() => ToolOutput {
                text: bounded(&why),
                is_error: true,
            },
            TurnEnd::MaxTokens | TurnEnd::Failed => ToolOutput {
                text: bounded(&format!("{why}\n\nWhat it had found by then:\n{answer}")),
                is_error: true,
            },
        }
    }

    /// The text of the newest reply that has any.
    fn last_text(&self) -> String {
        let replies = self
            .history
            .messages()
            .rev()
            .filter(|message| message.role() == crate::message::Role::Assistant);
        replies
            .filter_map(|message| message.text())
            .find(|text| !text.trim().is_empty())
            .unwrap_or_default()
    }
}

/// An answer of at most [`MAX_ANSWER`] characters, its beginning.
fn bounded(answer: &str) -> String {
    let total = answer.chars().count();
    if total <= MAX_ANSWER {
        return answer.to_owned();
    }
    let head = crate::text::head(answer, MAX_ANSWER - 100);
    format!(
        "{head}\n… ({} of {} characters)",
        thousands(MAX_ANSWER - 100),
        thousands(total)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_bounded_in_characters() {
        assert_eq!(bounded("é"), "é");
        let cut = bounded(&"漢".repeat(25_000));
        assert!(cut.chars().count() <= MAX_ANSWER);
        assert!(cut.ends_with("漢\n… (19,900 of 25,000 characters)"));
    }
}
