//! What stands between the command loop and the turn that runs: the stop signal, numbers that change meanwhile, and the
//! one slot for what the turn waits on.
//!
//! An answer that matches nothing waiting is dropped; nothing is banked for a later question.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::context::Limits;
use crate::event::Decision;

/// Shared by the command loop, the turn and its subagents.
#[derive(Default)]
pub(super) struct Controls {
    /// Stops what runs now; a new one for each turn.
    cancel: Mutex<CancellationToken>,
    /// The question that is open.
    waiting: Mutex<Option<Waiting>>,
    /// Held while a question is open: further ones queue behind it, in their order.
    asking: tokio::sync::Mutex<()>,
    /// Numbers to take from the next call on.
    limits: Mutex<Left>,
}

/// Numbers that were left for whoever runs: the main agent and each subagent take them once.
#[derive(Default)]
struct Left {
    /// How often numbers were left.
    version: u64,
    /// The last ones, and why.
    numbers: Option<(Limits, String)>,
}

struct Waiting {
    id: String,
    answer: oneshot::Sender<Decision>,
}

/// A lock whose holder panicked still guards whole values here: each is replaced in one step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Controls {
    /// A fresh stop signal for a turn.
    pub(super) fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *lock(&self.cancel) = token.clone();
        token
    }

    /// Stops what runs now.
    pub(super) fn interrupt(&self) {
        lock(&self.cancel).cancel();
    }

    /// Hands an answer to the question it is for.
    pub(super) fn decide(&self, id: &str, decision: Decision) {
        let mut waiting = lock(&self.waiting);
        if waiting.as_ref().is_some_and(|waiting| waiting.id == id)
            && let Some(waiting) = waiting.take()
        {
            // The turn may have been stopped in this moment; then nobody needs the answer.
            let _ = waiting.answer.send(decision);
        }
    }

    /// The right to ask, once every earlier question is answered; `None` if the turn was stopped.
    pub(super) async fn floor(
        &self,
        cancel: &CancellationToken,
    ) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            floor = self.asking.lock() => Some(floor),
        }
    }

    /// Opens a question, for which the caller holds the [`floor`](Self::floor); `asked` tells the user. `None` if the turn
    /// was stopped.
    pub(super) async fn ask(
        &self,
        id: &str,
        cancel: &CancellationToken,
        asked: impl Future<Output = ()>,
    ) -> Option<Decision> {
        let (answer, answered) = oneshot::channel();
        *lock(&self.waiting) = Some(Waiting {
            id: id.to_owned(),
            answer,
        });
        asked.await;
        let decision = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            decision = answered => decision.ok(),
        };
        *lock(&self.waiting) = None;
        decision
    }

    /// Leaves numbers for the turn that runs.
    pub(super) fn leave_limits(&self, limits: Limits, reason: String) {
        let mut left = lock(&self.limits);
        left.version += 1;
        left.numbers = Some((limits, reason));
    }

    /// The numbers that were left since the version `seen`, which becomes the newest.
    pub(super) fn limits_since(&self, seen: &mut u64) -> Option<(Limits, String)> {
        let left = lock(&self.limits);
        if left.version == *seen {
            return None;
        }
        *seen = left.version;
        left.numbers.clone()
    }
}
