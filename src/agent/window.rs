//! The server's window: learned by asking in the background, or from a rejection that names it; the working limit follows.
//!
//! A window is in tokens, the limit in characters: one becomes the other by what the server itself counted for what was sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::context::Limits;
use crate::model::{Model, ModelError};
use crate::text::thousands;

use super::Agent;

/// A share of a window that is left free: characters per token are an average.
const MARGIN: f64 = 0.9;
/// Where no server has counted yet: that of code and English prose.
const CHARS_PER_TOKEN: f64 = 3.5;
/// The limit moves only where it is off by more than this share: the average wavers from call to call.
const WAVER: f64 = 0.05;

/// What is known of the server's window.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// In tokens; 0 while it is not known.
    tokens: AtomicU64,
    asked: AtomicBool,
}

impl Window {
    fn known(&self) -> Option<u64> {
        Some(self.tokens.load(Ordering::Relaxed)).filter(|&tokens| tokens > 0)
    }

    fn learn(&self, tokens: u64) {
        self.tokens.store(tokens, Ordering::Relaxed);
    }

    /// Asks `model` once, in the background: nothing waits for it.
    fn ask(window: &Arc<Self>, model: &dyn Model) {
        if window.asked.swap(true, Ordering::Relaxed) {
            return;
        }
        let (window, asked) = (Arc::clone(window), model.window());
        tokio::spawn(async move {
            if let Some(tokens) = asked.await
                && window.known().is_none()
            {
                window.learn(tokens);
            }
        });
    }
}

impl Agent {
    /// Lowers the working limit to what the server takes, once it is known how many characters that is. Before that the
    /// window says nothing, and is not asked for.
    pub(super) async fn keep_within_window(&mut self) {
        let Some(per_token) = self.measured.chars_per_token() else {
            return;
        };
        Window::ask(&self.shared.window, &*self.shared.model);
        if let Some(window) = self.shared.window.known() {
            self.lower_to(window, per_token).await;
        }
    }

    /// Lowers the working limit where a rejection names the server's window.
    pub(super) async fn learn_window(&mut self, error: &ModelError) {
        let ModelError::PromptTooLong {
            tokens,
            window: Some(window),
            ..
        } = *error
        else {
            return;
        };
        self.shared.window.learn(window);
        let sent = self.history.size() + self.overhead();
        let per_token = tokens
            .filter(|&tokens| tokens > 0)
            .map(|tokens| sent as f64 / tokens as f64)
            .or_else(|| self.measured.chars_per_token())
            .unwrap_or_else(|| CHARS_PER_TOKEN.min(sent as f64 / window.max(1) as f64));
        self.lower_to(window, per_token).await;
    }

    async fn lower_to(&mut self, window: u64, per_token: f64) {
        let limit = limit_of_window(window, per_token).saturating_sub(self.overhead());
        let now = self.limits.context_limit;
        if limit == 0 || (now as f64) <= limit as f64 * (1.0 + WAVER) {
            return;
        }
        let limits = Limits {
            context_limit: limit,
            ..self.limits.clone()
        };
        let tokens = usize::try_from(window).map_or_else(|_| window.to_string(), thousands);
        let reason = format!("the server takes {tokens} tokens, at {per_token:.1} characters each");
        self.set_limits(limits, reason).await;
    }
}

/// The limit in characters that a window of `tokens` allows.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a product of positive numbers far below 2^53; rounding down is meant"
)]
fn limit_of_window(tokens: u64, chars_per_token: f64) -> usize {
    (tokens as f64 * chars_per_token * MARGIN) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_in_tokens_is_a_limit_in_characters() {
        assert_eq!(limit_of_window(4_096, 3.5), 12_902);
    }
}
