//! What a failure of the model's server is in words: where, what, the server's own words, and what to do.
//!
//! Every text that leaves here is clean, cut, and without the key. Decides nothing about retries beyond the status table.

use std::error::Error;
use std::io;
use std::time::Duration;

use super::ModelError;
use super::anthropic::Key;
use super::errors::{Said, Verdict};
use super::retry::{Again, Failure, Headers};
use super::too_long::Figures;
use crate::text;

/// How many characters of a server's own words are shown.
const WORDS: usize = 500;
/// How many characters of a short thing are shown: an id, a type.
const SHORT: usize = 100;

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
}

/// Where an error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Instead of a reply.
    Answer,
    /// In the middle of a reply.
    Stream,
}

/// Who asked whom: what every text needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Speaker {
    /// The base URL as used, without a user or a query.
    pub(crate) base: String,
    /// The model asked for.
    pub(crate) model: String,
    /// The key that is sent, to mask it and to name its form.
    pub(crate) key: Option<Key>,
}

impl Speaker {
    /// An error that the server answered with.
    pub(crate) fn answered(&self, answer: &Answer) -> Failure {
        let verdict = answer.said.verdict(answer.status);
        let brief = self.told(answer);
        let message = with_advice(&brief, &self.advice(answer, verdict));
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

    fn advice(&self, answer: &Answer, verdict: Verdict) -> String {
        let used = || format!("the request went to {}/v1/messages", self.base);
        match verdict {
            Verdict::TooLong(_) => "the conversation must get shorter: /compact".to_owned(),
            Verdict::Unsaid => {
                "the server gives no reason; a conversation that is too long is a common one"
                    .to_owned()
            }
            Verdict::Throttled => wait_advice(answer.headers.wait),
            Verdict::Spent => {
                "waiting does not help: see to the account's plan or limit, or use another model"
                    .to_owned()
            }
            Verdict::Auth if answer.status == 401 => self.key_advice(),
            Verdict::Auth => {
                "the key was taken but may not do this: look at its rights, or use another model"
                    .to_owned()
            }
            Verdict::Busy => {
                "the server cannot answer now; send the request again later".to_owned()
            }
            Verdict::Refused if (300..400).contains(&answer.status) => {
                let to = answer.location.as_deref().unwrap_or("another address");
                format!(
                    "it points to {}; redirects are not followed with a key: set that address as the base URL if you trust it",
                    self.own_words(to.split('?').next().unwrap_or(to), 2 * SHORT)
                )
            }
            Verdict::Refused if answer.status == 404 && self.names_the_model(&answer.said) => {
                format!(
                    "the server does not know the model `{}`: choose one that it offers with --model",
                    self.model
                )
            }
            Verdict::Refused if matches!(answer.status, 404 | 405) && self.base.contains("/v1") => {
                format!(
                    "{}: the base URL is the part before /v1/messages, and has a /v1 too many",
                    used()
                )
            }
            Verdict::Refused if matches!(answer.status, 404 | 405) => {
                format!(
                    "{}: is the base URL right, and does the server speak the Anthropic Messages API?",
                    used()
                )
            }
            Verdict::Refused => String::new(),
        }
    }

    fn names_the_model(&self, said: &Said) -> bool {
        let message = said.message.to_lowercase();
        message.contains("model") || message.contains(&self.model.to_lowercase())
    }

    fn key_advice(&self) -> String {
        match &self.key {
            None => "no key was sent: set ANTHROPIC_API_KEY (sent as x-api-key) or ANTHROPIC_AUTH_TOKEN (sent as Authorization: Bearer)",
            Some(Key::ApiKey(_)) => "the key was sent as x-api-key; if it is right, the server may want Authorization: Bearer: set ANTHROPIC_AUTH_TOKEN instead of ANTHROPIC_API_KEY",
            Some(Key::Token(_)) => "the key was sent as Authorization: Bearer; if it is right, the server may want x-api-key: set ANTHROPIC_API_KEY instead of ANTHROPIC_AUTH_TOKEN",
        }
        .to_owned()
    }

    /// What the server or the network said: clean, on one line, without the key, cut to `max` characters.
    pub(crate) fn own_words(&self, words: &str, max: usize) -> String {
        // Cut once before as well: a body may have megabytes.
        let line = text::clean_line(text::head(words, 64 * max));
        let masked = match &self.key {
            Some(Key::ApiKey(secret) | Key::Token(secret)) => secret.mask(&line),
            None => line,
        };
        let cut = text::head(masked.trim(), max);
        if cut.len() < masked.trim().len() {
            format!("{cut}…")
        } else {
            cut.to_owned()
        }
    }

    /// A connection that could not be made, or that broke.
    pub(crate) fn network(&self, error: reqwest::Error) -> Failure {
        let error = error.without_url();
        let causes = causes(&error);
        let lower = causes.to_lowercase();
        let base = &self.base;
        let why = if is_refused(&error) {
            format!("nothing listens at {base}: is the server running?")
        } else if lower.contains("certificate") {
            format!(
                "the certificate of {base} was not taken: {}. If your network has its own authority, name its file in SSL_CERT_FILE",
                self.own_words(&causes, WORDS)
            )
        } else if lower.contains("dns error") || lower.contains("failed to lookup") {
            format!("the host of {base} was not found: look at the base URL and the network")
        } else if lower.contains("tunnel") || lower.contains("proxy") {
            format!(
                "the proxy did not connect to {base}: {}. See HTTPS_PROXY and NO_PROXY",
                self.own_words(&causes, WORDS)
            )
        } else if error.is_timeout() {
            format!(
                "{base} did not take the connection in time: look at the base URL and the network"
            )
        } else if error.is_connect() {
            format!(
                "cannot connect to {base}: {}",
                self.own_words(&causes, WORDS)
            )
        } else {
            format!(
                "the connection to {base} broke: {}",
                self.own_words(&causes, WORDS)
            )
        };
        Failure::new(ModelError::Network(why), Again::Yes(None))
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

fn with_advice(told: &str, advice: &str) -> String {
    if advice.is_empty() {
        told.to_owned()
    } else if told.ends_with(['.', '!', '?']) {
        format!("{told} {advice}")
    } else {
        format!("{told}; {advice}")
    }
}

fn wait_advice(wait: Option<Duration>) -> String {
    match wait {
        Some(wait) if wait < Duration::MAX => format!(
            "the server asks to wait {} s",
            text::thousands(usize::try_from(wait.as_secs()).unwrap_or(usize::MAX))
        ),
        Some(_) => "the server asks to wait for ever".to_owned(),
        None => "send the request again later".to_owned(),
    }
}

/// An error and what caused it, in one line.
fn causes(error: &dyn Error) -> String {
    let mut out = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !out.contains(&cause_text) {
            out.push_str(": ");
            out.push_str(&cause_text);
        }
        next = cause.source();
    }
    out
}

fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::ConnectionRefused
        {
            return true;
        }
        next = cause.source();
    }
    false
}
