//! One request from beginning to end: pipeline → model call → tools → again, until a reply has no call.
//!
//! The history is valid after every step, also where the turn is stopped: each call is answered in the message right
//! after it.

use std::fmt::Write;
use std::sync::{Arc, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::context::MessageId;
use crate::event::{AgentEvent, TurnEnd};
use crate::message::{ContentBlock, Message, StopReason, Usage};
use crate::text::thousands;
use crate::tools::Tools;

use super::Agent;
use super::call::Reply;

/// What the model is told first.
const SYSTEM: &str = include_str!("../../assets/system.md");
/// Stands where the user typed nothing that could be read.
const NO_TEXT: &str = "(no text)";
/// How often a server may pause one reply before that counts as a failure.
const MAX_PAUSES: usize = 8;
/// Rounds without `todo_write` after which the model is reminded of an open list.
const TODO_ROUNDS: usize = 3;
const TODO_REMINDER: &str =
    "<reminder>The todo list has open items. Bring it up to date with todo_write.</reminder>";

/// Characters sent and the tokens that the server counted for them.
#[derive(Clone, Copy, Default)]
pub(super) struct Measured {
    chars: usize,
    tokens: u64,
}

/// Fewer characters say too little about how a server counts.
const ENOUGH_CHARS: usize = 8_000;
/// So many characters no tokenizer takes for a token, where nothing is measured.
const MOST_PER_TOKEN: f64 = 12.0;
/// So many times the characters per token measured before is no chance.
const MOST_GROWTH: f64 = 2.5;

/// All tokens of a request, from the cache or not; 0 where the server reports none.
fn input_tokens(usage: &Usage) -> u64 {
    let parts = [
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    ];
    parts.into_iter().flatten().fold(0, u64::saturating_add)
}

impl Measured {
    /// What to say where a server counted far fewer tokens than `chars` characters have: it may have cut the prompt.
    pub(super) fn cut_silently(self, chars: usize, usage: &Usage) -> Option<String> {
        let tokens = input_tokens(usage);
        if tokens == 0 || chars < ENOUGH_CHARS {
            return None;
        }
        let most = self
            .chars_per_token()
            .map_or(MOST_PER_TOKEN, |known| known * MOST_GROWTH);
        (chars as f64 / tokens as f64 > most).then(|| {
            format!(
                "{} characters were sent, the server counted {} tokens: it may have cut the prompt without saying so. \
                 Set context_limit lower, or the server's window higher.",
                thousands(chars),
                thousands(usize::try_from(tokens).unwrap_or(usize::MAX))
            )
        })
    }

    /// Adds a call whose server reported its input.
    pub(super) fn add(&mut self, chars: usize, usage: &Usage) {
        let tokens = input_tokens(usage);
        if tokens > 0 {
            self.chars += chars;
            self.tokens += tokens;
        }
    }

    /// Characters per token so far; `None` while no server reported any.
    pub(super) fn chars_per_token(self) -> Option<f64> {
        (self.tokens > 0).then(|| self.chars as f64 / self.tokens as f64)
    }
}

/// How a turn ended, and what went wrong.
pub(super) struct Ending {
    pub(super) end: TurnEnd,
    pub(super) error: Option<String>,
}

impl Ending {
    pub(super) fn done() -> Self {
        Self {
            end: TurnEnd::Done,
            error: None,
        }
    }

    pub(super) fn interrupted() -> Self {
        Self {
            end: TurnEnd::Interrupted,
            error: None,
        }
    }

    pub(super) fn failed(error: impl Into<String>) -> Self {
        Self {
            end: TurnEnd::Failed,
            error: Some(error.into()),
        }
    }

    fn cut(why: &str) -> Self {
        Self {
            end: TurnEnd::MaxTokens,
            error: Some(why.to_owned()),
        }
    }
}

impl Agent {
    /// Works on `request` to the end.
    pub(super) async fn turn(
        &mut self,
        request: String,
        cancel: &CancellationToken,
    ) -> (Ending, Usage) {
        let request = if request.trim().is_empty() {
            NO_TEXT.to_owned()
        } else {
            request
        };
        self.emit(AgentEvent::TurnStarted {
            request: request.clone(),
        })
        .await;
        let logged = self.session.turn_started(&request);
        self.logged(logged).await;
        self.pause.reset();
        let id = self.history.push_request(request);
        self.appended(id).await;

        self.take_spent();
        let ending = self.rounds(cancel).await;
        let usage = self.take_spent();

        let logged = self
            .session
            .turn_finished(ending.end, ending.error.as_deref());
        self.logged(logged).await;
        self.emit(AgentEvent::TurnFinished {
            end: ending.end,
            error: ending.error.clone(),
            usage,
        })
        .await;
        (ending, usage)
    }

    /// Adds what a call used, be it of this agent, a summary or a subagent.
    pub(super) fn spend(&self, usage: &Usage) {
        self.spent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(usage);
    }

    /// What was used since the last time.
    fn take_spent(&self) -> Usage {
        std::mem::take(&mut *self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Rounds of call and tools until one of them ends the turn.
    async fn rounds(&mut self, cancel: &CancellationToken) -> Ending {
        let mut pauses = 0;
        loop {
            if self.max_calls.is_some_and(|max| self.calls >= max) {
                return Ending::failed(format!("stopped after {} model calls", self.calls));
            }
            if cancel.is_cancelled() {
                return Ending::interrupted();
            }
            self.pipeline(cancel).await;
            if cancel.is_cancelled() {
                return Ending::interrupted();
            }
            let reply = match self.ask(cancel).await {
                Ok(reply) => reply,
                Err(ending) => return ending,
            };
            let stop_reason = reply.stop_reason.clone();
            let has_calls = !reply.calls.is_empty();
            self.store_reply(&reply).await;
            if has_calls && stop_reason == StopReason::Refusal {
                self.refuse_all(&reply.calls, "not run: the model declined to go on")
                    .await;
                return Self::ending(&stop_reason, &reply);
            }
            if has_calls {
                let compact = self.batch(&reply, cancel).await;
                if cancel.is_cancelled() {
                    return Ending::interrupted();
                }
                if compact {
                    self.compact(crate::context::Trigger::Tool, cancel).await;
                }
                continue;
            }
            match stop_reason {
                StopReason::PauseTurn if pauses < MAX_PAUSES => pauses += 1,
                StopReason::WindowExceeded if self.recover(cancel).await => {
                    return Ending::cut(
                        "the reply was cut: the model's window was full; what came before is a summary now, ask to go on",
                    );
                }
                other => return Self::ending(&other, &reply),
            }
        }
    }

    /// What a reply without calls means for the turn.
    fn ending(stop_reason: &StopReason, reply: &Reply) -> Ending {
        match stop_reason {
            StopReason::MaxTokens => Ending::cut(
                "the reply was cut at max_tokens; ask to go on, or set max_tokens higher",
            ),
            StopReason::WindowExceeded => Ending::cut(
                "the reply was cut: the model's window is full; compact and ask to go on, or set context_limit lower",
            ),
            StopReason::Refusal => Ending::failed("the model declined to go on with this request"),
            StopReason::PauseTurn => Ending::failed("the server paused the reply again and again"),
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::StopSequence
            | StopReason::Other(_) => {
                if reply.blocks.is_empty() {
                    Ending::failed("the model's reply was empty; send the request again")
                } else {
                    Ending::done()
                }
            }
        }
    }

    /// Puts a reply into the history, unless nothing of it is left.
    pub(super) async fn store_reply(&mut self, reply: &Reply) {
        if !reply.blocks.is_empty() {
            self.append(Message::assistant(reply.blocks.clone())).await;
        }
    }

    /// Puts the results of a batch into the history as one message, with a reminder of the todo list where one is due.
    pub(super) async fn store_results(&mut self, mut results: Vec<ContentBlock>) {
        if results.is_empty() {
            return;
        }
        let open = self
            .todos
            .iter()
            .any(|todo| todo.status != crate::event::TodoStatus::Completed);
        if open && self.rounds_without_todos >= TODO_ROUNDS {
            results.push(ContentBlock::text(TODO_REMINDER));
            self.rounds_without_todos = 0;
        }
        self.append(Message::user_blocks(results)).await;
    }

    async fn append(&mut self, message: Message) {
        let id = self.history.push(Arc::new(message));
        self.appended(id).await;
    }

    /// Logs and reports the message that was appended last.
    async fn appended(&mut self, id: MessageId) {
        let Some(item) = self.history.items.last().cloned() else {
            return;
        };
        let logged = self.session.message(&item, &self.history);
        self.logged(logged).await;
        let size = self.history.size();
        self.emit(AgentEvent::MessageAppended {
            id,
            message: item.message,
            size,
        })
        .await;
    }
}

/// The system prompt: what does not change in a session, so that a provider's cache holds.
pub(super) fn system_prompt(tools: &Tools) -> Arc<str> {
    let mut text = SYSTEM.trim_end().to_owned();
    text.push_str("\n\nThis workspace\n- Folder: ");
    text.push_str(&tools.workspace().root().display().to_string());
    text.push_str("\n- System: ");
    text.push_str(std::env::consts::OS);
    let skills = tools.skills();
    if !skills.is_empty() {
        text.push_str("\n\nSkills (load_skill brings the whole text)");
        for skill in skills {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- {}: {}", skill.name, skill.description);
        }
    }
    text.push('\n');
    text.into()
}
