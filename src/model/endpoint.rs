//! A server and how it is spoken to: the address, the key, the headers, the limits.
//!
//! Values only. No form of them that can be printed shows a key, a header's value, or a password in the address.

use std::fmt;
use std::time::Duration;

use super::Secret;
use super::header::Header;
use super::http::without_userinfo;

/// A key, in the form in which it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Sent as `x-api-key`.
    ApiKey(Secret),
    /// Sent as `Authorization: Bearer`.
    Token(Secret),
}

/// A server, and how it is spoken to.
#[derive(Clone)]
pub struct Endpoint {
    /// The address, with or without `/v1`; a path before it stays.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// The key; local servers often need none.
    pub key: Option<Key>,
    /// Where the key came from, in words that a person finds it by: `ANTHROPIC_API_KEY`.
    pub key_from: Option<String>,
    /// Headers of the user's own, sent with every request. One that carries a key is sent instead of `key`.
    pub headers: Vec<Header>,
    /// The value of the `anthropic-beta` header; none is sent without it.
    pub beta: Option<String>,
    /// The most tokens of a reply.
    pub max_tokens: u32,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long the server may send nothing at all.
    pub stall_timeout: Duration,
    /// The value of the `anthropic-version` header.
    pub version: String,
}

impl Endpoint {
    /// The server at `base_url` and its `model`, without a key, and with the limits of the default settings.
    #[must_use]
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            key: None,
            key_from: None,
            headers: Vec::new(),
            beta: None,
            max_tokens: 8_192,
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_mins(5),
            version: "2023-06-01".to_owned(),
        }
    }

    /// The key that is sent: none where a header of the user's own carries one.
    pub(super) fn sent_key(&self) -> Option<&Key> {
        let own = self.headers.iter().any(Header::carries_a_key);
        self.key.as_ref().filter(|_| !own)
    }

    /// All that must never be shown.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let key = self.key.iter().map(|key| match key {
            Key::ApiKey(secret) | Key::Token(secret) => secret.clone(),
        });
        key.chain(self.headers.iter().flat_map(Header::secrets))
            .collect()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &without_userinfo(&self.base_url))
            .field("model", &self.model)
            .field("key", &self.key)
            .field("key_from", &self.key_from)
            .field("headers", &self.headers)
            .field("beta", &self.beta)
            .field("max_tokens", &self.max_tokens)
            .field("connect_timeout", &self.connect_timeout)
            .field("stall_timeout", &self.stall_timeout)
            .field("version", &self.version)
            .finish()
    }
}
