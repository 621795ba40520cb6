//! What a failure of the model's server is in words: where, what, and the server's own words; what to do is in
//! [`super::advice`], connections that fail are in [`super::trouble`].
//!
//! Every text that leaves here is clean, cut, and without the key. Decides nothing about retries beyond the status table.

use std::time::Duration;

use super::advice::advice;
use super::endpoint::{Endpoint, Key};
use super::errors::{Said, Verdict};
use super::http::{proxy_in_force, shown_base};
use super::retry::{Again, Failure, Headers};
use super::too_long::Figures;
use super::trouble::Trouble;
use super::{ModelError, Secret};
use crate::text;

/// How many characters of a server's own words are shown.
const WORDS: usize = 500;
/// How many characters of a short thing are shown: an id, a type.
pub(super) const SHORT: usize = 100;

/// How servers that do not answer 404 say that they have no such model.
const UNKNOWN: [&str; 6] = [
    "model not found",
    "does not exist",
    "not a valid model",
    "invalid model name",
    "unknown model",
    "no model named",
];

/// An answer with an error status, or an error inside a stream.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The status, or the one that the error stands for.
    pub(crate) status: u16,
    /// Whether the answer had begun well before.
    pub(crate) place: Place,
    /// The server's words.
    pub(crate) said: Said,
    /// The request's id from the headers.
    pub(crate) request_id: Option<String>,
    /// Where a redirect leads.
    pub(crate) location: Option<String>,
    /// What the headers say about trying again.
    pub(crate) headers: Headers,
    /// The names of the models that the server offers, where it was asked.
    pub(crate) offered: String,
}

/// Where an error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Instead of a reply.
    Answer,
    /// In the middle of a reply.
    Stream,
}

impl Answer {
    /// Whether the server says that it has no model of that name.
    pub(crate) fn lacks_model(&self, model: &str) -> bool {
        let message = self.said.message.to_lowercase();
        let named = message.contains(&model.to_lowercase());
        match self.status {
            404 => named || message.contains("model"),
            400 | 422 => {
                message.contains("model") && UNKNOWN.iter().any(|words| message.contains(words))
            }
            _ => false,
        }
    }
}

/// Who asked whom: what every text needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Speaker {
    /// The base URL as used, without a user or a query.
    pub(crate) base: String,
    /// The model asked for.
    pub(crate) model: String,
    /// The key that is sent, to name its form.
    pub(crate) key: Option<Key>,
    /// Where the key came from.
    pub(crate) key_from: Option<String>,
    /// The user's own header that is sent instead of a key.
    pub(crate) own_key: Option<String>,
    /// The proxy that is asked, and the variable that names it.
    pub(crate) proxy: Option<String>,
    /// What must be masked.
    secrets: Vec<Secret>,
}

impl Speaker {
    /// What is told of `endpoint`.
    pub(crate) fn new(endpoint: &Endpoint) -> Self {
        let own_key = endpoint
            .headers
            .iter()
            .find(|header| header.carries_a_key());
        Self {
            base: shown_base(&endpoint.base_url),
            model: endpoint.model.clone(),
            key: endpoint.sent_key().cloned(),
            key_from: endpoint.key_from.clone(),
            own_key: own_key.map(|header| header.name().to_owned()),
            proxy: proxy_in_force(&endpoint.base_url),
            secrets: endpoint.secrets(),
        }
    }

    /// An error that the server answered with.
    pub(crate) fn answered(&self, answer: &Answer) -> Failure {
        let verdict = answer.said.verdict(answer.status);
        let brief = self.told(answer);
        let message = with_advice(&brief, &advice(self, answer, verdict));
        let by_status = answer.headers.again(answer.status);
        let (error, again) = match verdict {
            Verdict::TooLong(Figures { tokens, window, .. }) => (
                ModelError::PromptTooLong {
                    message,
                    tokens,
                    window,
                },
                Again::No,
            ),
            Verdict::Unsaid => (ModelError::MaybeTooLong(message), Again::No),
            Verdict::Throttled => (ModelError::RateLimited(message), answer.headers.again(429)),
            Verdict::Spent => (ModelError::RateLimited(message), Again::No),
            Verdict::Auth => (ModelError::Auth(message), by_status),
            Verdict::Busy => (ModelError::Overloaded(message), by_status),
            Verdict::Refused => (ModelError::Rejected(message), by_status),
        };
        Failure {
            error,
            brief,
            again,
        }
    }

    fn told(&self, answer: &Answer) -> String {
        let mut notes = Vec::new();
        if !answer.said.kind.is_empty() {
            notes.push(self.own_words(&answer.said.kind, SHORT));
        }
        let id = answer
            .request_id
            .as_ref()
            .or(answer.said.request_id.as_ref());
        if let Some(id) = id {
            notes.push(format!("request {}", self.own_words(id, SHORT)));
        }
        let what = match answer.place {
            Place::Answer => format!("answered {}", answer.status),
            Place::Stream => "broke its reply off with an error".to_owned(),
        };
        let words = if answer.said.message.is_empty() {
            "without a word".to_owned()
        } else {
            self.own_words(&answer.said.message, WORDS)
        };
        let told = format!("{} {what}: {words}", self.base);
        if notes.is_empty() {
            told
        } else {
            format!("{told} ({})", notes.join(", "))
        }
    }

    /// What the server or the network said: clean, on one line, without the key, cut to `max` characters.
    pub(crate) fn own_words(&self, words: &str, max: usize) -> String {
        // Cut once before as well: a body may have megabytes.
        let clean = text::clean_line(text::head(words, 64 * max));
        let masked = self
            .secrets
            .iter()
            .fold(clean, |text, secret| secret.mask(&text));
        line(&masked, max)
    }

    /// A connection that could not be made, or that broke.
    pub(crate) fn network(&self, error: reqwest::Error) -> Failure {
        let (trouble, cause) = Trouble::of(&error.without_url());
        let told = trouble.told(self, &self.own_words(&cause, WORDS));
        Failure::new(ModelError::Network(told), Again::Yes(None))
    }

    /// Not a byte came for that long.
    pub(crate) fn silent(&self, limit: Duration) -> Failure {
        Failure::new(
            ModelError::Network(format!(
                "{} sent nothing for {} s; the limit is the setting stall_timeout",
                self.base,
                limit.as_secs_f64()
            )),
            Again::Yes(None),
        )
    }

    /// The stream ended before the reply did.
    pub(crate) fn cut_off(&self) -> Failure {
        Failure::new(
            ModelError::Protocol(format!(
                "{} ended the stream before the reply was complete",
                self.base
            )),
            Again::Yes(None),
        )
    }

    /// What came is no reply of the Messages API; `what` follows the server's name.
    pub(crate) fn no_reply(&self, what: &str) -> Failure {
        Failure::new(
            ModelError::Protocol(format!("{} {what}", self.base)),
            Again::No,
        )
    }
}

/// A request that cannot be made at all, whatever the server.
pub(crate) fn unusable(why: &str) -> Failure {
    Failure::new(ModelError::Rejected(why.to_owned()), Again::No)
}

/// `text` for a person: clean, on one line, cut to `max` characters.
pub(super) fn line(text: &str, max: usize) -> String {
    let clean = text::clean_line(text);
    let cut = text::head(clean.trim(), max);
    if cut.len() < clean.trim().len() {
        format!("{cut}…")
    } else {
        cut.to_owned()
    }
}

fn with_advice(told: &str, advice: &str) -> String {
    if advice.is_empty() {
        told.to_owned()
    } else if told.ends_with(['.', '!', '?']) {
        format!("{told} {advice}")
    } else {
        format!("{told}; {advice}")
    }
}
