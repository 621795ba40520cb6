//! One call of the model: the request as the history is now, the reply streamed in, and the recovery where the provider
//! says that the prompt is too long.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::context::{History, Stage};
use crate::event::AgentEvent;
use crate::message::{BlockKind, ContentBlock, StopReason, Usage};
use crate::model::{Delta, ModelError, Request};

use super::turn::Ending;
use super::{Agent, Shared};

/// A reply as it goes into the history.
pub(super) struct Reply {
    /// The blocks, without blank text, each call under an id of its own.
    pub(super) blocks: Vec<ContentBlock>,
    /// The calls in it.
    pub(super) calls: Vec<Call>,
    /// Why the model stopped.
    pub(super) stop_reason: StopReason,
}

/// A call that waits for its answer.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: serde_json::Value,
    /// What came instead of JSON.
    pub(super) broken: Option<String>,
}

/// What has arrived of a reply.
#[derive(Default)]
struct Arrived {
    blocks: Vec<(ContentBlock, Option<String>)>,
    /// Text that streamed and whose block is not complete.
    text: String,
}

enum StreamEnd {
    Finished(StopReason, Usage),
    Failed(ModelError),
    Interrupted,
}

impl Agent {
    /// Asks the model for a reply. A call that was cut or stopped leaves what is complete in the history, answered.
    pub(super) async fn ask(&mut self, cancel: &CancellationToken) -> Result<Reply, Ending> {
        let mut recoveries = 0;
        loop {
            let (arrived, end) = self.stream(cancel).await;
            match end {
                StreamEnd::Finished(stop_reason, used) => {
                    self.spend(&used);
                    return Ok(self.reply(arrived, stop_reason));
                }
                StreamEnd::Interrupted => {
                    self.keep_cut(arrived, "not run: the user stopped the reply")
                        .await;
                    return Err(Ending::interrupted());
                }
                StreamEnd::Failed(error)
                    if recoveries < self.limits.max_reactive_retries
                        && self.is_too_long(&error) =>
                {
                    recoveries += 1;
                    self.learn_window(&error).await;
                    if !self.recover(cancel).await {
                        if cancel.is_cancelled() {
                            return Err(Ending::interrupted());
                        }
                        return Err(Ending::failed(error.to_string()));
                    }
                }
                StreamEnd::Failed(error) => {
                    self.keep_cut(arrived, "not run: the reply was cut off")
                        .await;
                    return Err(Ending::failed(error.to_string()));
                }
            }
        }
    }

    /// Sends the history and takes in what comes, until the stream ends or is stopped.
    async fn stream(&mut self, cancel: &CancellationToken) -> (Arrived, StreamEnd) {
        self.calls += 1;
        self.sent = self.history.len();
        let size = self.history.size();
        self.emit(AgentEvent::ModelCallStarted {
            call: self.calls,
            size,
            messages: self.history.len(),
        })
        .await;
        let mut stream = self.shared.model.stream(Request {
            system: Arc::clone(&self.shared.system),
            tools: Arc::clone(&self.specs),
            messages: self.history.messages().cloned().collect(),
            purpose: self.purpose.clone(),
        });
        let mut arrived = Arrived::default();
        let end = loop {
            let delta = tokio::select! {
                biased;
                () = cancel.cancelled() => break StreamEnd::Interrupted,
                delta = stream.next() => delta,
            };
            match delta {
                Some(Delta::Text(text)) => {
                    arrived.text.push_str(&text);
                    self.emit(AgentEvent::TextDelta { text }).await;
                }
                Some(Delta::Thinking(text)) => {
                    self.emit(AgentEvent::ThinkingDelta { text }).await;
                }
                Some(Delta::Block(block)) => arrived.push(block, None),
                Some(Delta::BrokenCall { block, raw }) => arrived.push(block, Some(raw)),
                Some(Delta::Retrying {
                    attempt,
                    wait,
                    reason,
                }) => {
                    arrived = Arrived::default();
                    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    self.emit(AgentEvent::Retrying {
                        attempt,
                        wait_ms,
                        reason,
                    })
                    .await;
                }
                Some(Delta::Finished { stop_reason, usage }) => {
                    break StreamEnd::Finished(stop_reason, usage);
                }
                Some(Delta::Failed(error)) => break StreamEnd::Failed(error),
                None => {
                    break StreamEnd::Failed(ModelError::Protocol(
                        "the reply ended without an end".to_owned(),
                    ));
                }
            }
        };
        // Before anything else waits: the connection closes here, and a local server stops generating.
        drop(stream);
        let (stop_reason, usage) = match &end {
            StreamEnd::Finished(stop_reason, usage) => (Some(stop_reason.clone()), *usage),
            StreamEnd::Failed(_) | StreamEnd::Interrupted => (None, Usage::default()),
        };
        self.emit(AgentEvent::ModelCallFinished { stop_reason, usage })
            .await;
        self.measure(size + self.overhead(), &usage).await;
        (arrived, end)
    }

    /// Takes in what a server counted for `sent` characters; far too little is said once, and is no measure.
    async fn measure(&mut self, sent: usize, usage: &Usage) {
        let Some(text) = self.measured.cut_silently(sent, usage) else {
            return self.measured.add(sent, usage);
        };
        if !std::mem::replace(&mut self.told_cut, true) {
            self.notice(text).await;
        }
    }

    /// Characters sent with every request beside the messages.
    pub(super) fn overhead(&self) -> usize {
        let specs: usize = self
            .specs
            .iter()
            .map(|spec| spec.to_string().chars().count())
            .sum();
        self.shared.system.chars().count() + specs
    }

    /// A reply in the form in which it is stored.
    fn reply(&self, arrived: Arrived, stop_reason: StopReason) -> Reply {
        let mut reply = Reply {
            blocks: Vec::new(),
            calls: Vec::new(),
            stop_reason,
        };
        for (block, broken) in arrived.blocks {
            match block.kind() {
                BlockKind::Text(text) if text.trim().is_empty() => {}
                BlockKind::ToolUse { id, name, input } => {
                    let unique = self.shared.own_id(id);
                    let call = Call {
                        id: unique.clone(),
                        name: name.to_owned(),
                        input: input.clone(),
                        broken,
                    };
                    reply.blocks.push(if unique == id {
                        block
                    } else {
                        block.with_field("id", unique.clone())
                    });
                    reply.calls.push(call);
                }
                BlockKind::Text(_)
                | BlockKind::ToolResult { .. }
                | BlockKind::Thinking(_)
                | BlockKind::Other(_) => reply.blocks.push(block),
            }
        }
        reply
    }

    /// Keeps what is complete of a reply that was cut: text stays, complete calls are answered with `answer` and not run.
    async fn keep_cut(&mut self, mut arrived: Arrived, answer: &str) {
        let rest = std::mem::take(&mut arrived.text);
        if !rest.trim().is_empty() {
            arrived.blocks.push((ContentBlock::text(rest), None));
        }
        // A reply of reasoning alone says nothing that could be gone on from.
        let speaks = |block: &ContentBlock| !matches!(block.kind(), BlockKind::Thinking(_));
        if !arrived.blocks.iter().any(|(block, _)| speaks(block)) {
            return;
        }
        let reply = self.reply(arrived, StopReason::Other("cut".to_owned()));
        self.store_reply(&reply).await;
        self.refuse_all(&reply.calls, answer).await;
    }

    /// Whether a rejection means that the prompt is too long; one that says nothing does where the load makes it likely.
    fn is_too_long(&self, error: &ModelError) -> bool {
        match error {
            ModelError::PromptTooLong { .. } => true,
            ModelError::MaybeTooLong(_) => self.history.size() > self.limits.context_limit / 2,
            ModelError::RateLimited(_)
            | ModelError::Overloaded(_)
            | ModelError::Auth(_)
            | ModelError::Rejected(_)
            | ModelError::Network(_)
            | ModelError::Protocol(_) => false,
        }
    }

    /// `reactive_compact`; says whether the call can be made again.
    pub(super) async fn recover(&mut self, cancel: &CancellationToken) -> bool {
        let before: Vec<_> = self
            .history
            .items
            .iter()
            .map(|item| Arc::clone(&item.message))
            .collect();
        match self.plan_recovery().await {
            Ok((plan, files)) => {
                self.carry_out(plan, files, cancel).await;
                !same_messages(&self.history, &before)
            }
            Err(skip) => {
                self.skipped(Stage::ReactiveCompact, skip).await;
                false
            }
        }
    }
}

impl Arrived {
    /// Takes in a complete block; the text that streamed for it is in the block now.
    fn push(&mut self, block: ContentBlock, broken: Option<String>) {
        self.text.clear();
        self.blocks.push((block, broken));
    }
}

/// Whether `history` still holds exactly these messages, by identity.
fn same_messages(history: &History, before: &[Arc<crate::message::Message>]) -> bool {
    history.len() == before.len()
        && history
            .messages()
            .zip(before)
            .all(|(now, then)| Arc::ptr_eq(now, then))
}

impl Shared {
    /// `id` in a form that no call of the session has, subagents' included: questions, events and files are told apart by
    /// it.
    fn own_id(&self, id: &str) -> String {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let unique = unique_id(id, &ids);
        ids.insert(unique.clone());
        unique
    }
}

/// `id` with only characters that every server takes, and with a number behind it where it was used before.
fn unique_id(id: &str, used: &HashSet<String>) -> String {
    let mut clean: String = id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    if clean.is_empty() {
        clean.push_str("call");
    }
    if !used.contains(&clean) {
        return clean;
    }
    // One more number than there are ids: one of them is free.
    (2..=used.len() + 2)
        .map(|n| format!("{clean}-{n}"))
        .find(|next| !used.contains(next))
        .unwrap_or(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_used_once_and_fits_every_server() {
        let used = HashSet::from(["toolu_1".to_owned(), "toolu_1-2".to_owned()]);
        assert_eq!(unique_id("toolu_1", &used), "toolu_1-3");
        assert_eq!(unique_id("../x y", &used), "___x_y");
        assert_eq!(unique_id("", &used), "call");
    }
}
