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
    /// Numbers to take from the next call on, and why.
    limits: Mutex<Option<(Limits, String)>>,
}

struct Waiting {
    id: String,
    answer: oneshot::Sender<Decision>,
}

/// A lock whose holder panicked still guards whole values here: each is replaced in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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

    /// Opens a question once every earlier one is answered; `asked` tells the user. `None` if the turn was stopped.
    pub(super) async fn ask(
        &self,
        id: &str,
        cancel: &CancellationToken,
        asked: impl Future<Output = ()>,
    ) -> Option<Decision> {
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return None,
            turn = self.asking.lock() => turn,
        };
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
        *lock(&self.limits) = Some((limits, reason));
    }

    /// Takes the numbers that were left, once.
    pub(super) fn take_limits(&self) -> Option<(Limits, String)> {
        lock(&self.limits).take()
    }
}
