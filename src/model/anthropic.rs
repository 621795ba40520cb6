//! The Anthropic Messages API over HTTP: one request, one stream of deltas.
//!
//! What is sent is made in [`super::wire`] and goes through [`super::http`], what comes is read in [`super::sse`] and
//! [`super::decode`], what failed is told by [`super::explain`]. Never tries again; see [`super::retry`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::ready;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::decode::Assembler;
use super::errors::{Said, Verdict};
use super::explain::{Answer, Place, Speaker, unusable};
use super::http::{build_client, header, messages_url, request_id, shown_base};
use super::reading::Reading;
use super::retry::{Attempts, Failure, Headers};
use super::wire::{self, Form, Marks};
use super::{Delta, Model, Request, Secret};

/// The most of an error body that is read, in bytes.
const ERROR_BODY: usize = 256 * 1024;
/// The most of a reply that comes as one JSON object, in bytes.
const WHOLE_BODY: usize = 32 * 1024 * 1024;
/// A reply that has less room than this is not worth asking for.
const LEAST_ROOM: u64 = 1_024;

/// A key, in the form in which it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Sent as `x-api-key`.
    ApiKey(Secret),
    /// Sent as `Authorization: Bearer`.
    Token(Secret),
}

/// A server, and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The address, with or without `/v1`; a path before it stays.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// The key; local servers often need none.
    pub key: Option<Key>,
    /// The most tokens of a reply.
    pub max_tokens: u32,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long the server may send nothing at all.
    pub stall_timeout: Duration,
    /// The value of the `anthropic-version` header.
    pub version: String,
}

/// A model behind the Messages API. One try a request; [`super::retry::Retrying`] makes more.
#[derive(Debug)]
pub struct AnthropicModel {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    endpoint: Endpoint,
    speaker: Arc<Speaker>,
    /// Built at the first request: it reads the system's certificates, which takes its time.
    client: OnceCell<Client>,
    /// The server refused cache marks once.
    no_marks: AtomicBool,
}

impl AnthropicModel {
    /// Connects to nothing yet; a bad address is the first request's failure.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        let speaker = Speaker {
            base: shown_base(&endpoint.base_url),
            model: endpoint.model.clone(),
            key: endpoint.key.clone(),
        };
        Self {
            inner: Arc::new(Inner {
                endpoint,
                speaker: Arc::new(speaker),
                client: OnceCell::new(),
                no_marks: AtomicBool::new(false),
            }),
        }
    }
}

impl Attempts for AnthropicModel {
    fn name(&self) -> &str {
        &self.inner.endpoint.model
    }

    fn attempt(&self, request: Arc<Request>) -> BoxStream<'static, Result<Delta, Failure>> {
        let inner = Arc::clone(&self.inner);
        stream::once(async move { inner.open(&request).await })
            .flat_map(|opened| {
                opened.unwrap_or_else(|failure| stream::once(ready(Err(failure))).boxed())
            })
            .boxed()
    }
}

impl Model for AnthropicModel {
    fn name(&self) -> &str {
        Attempts::name(self)
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Delta> {
        self.attempt(Arc::new(request))
            .map(|piece| piece.unwrap_or_else(|failure| Delta::Failed(failure.error)))
            .boxed()
    }
}

type Pieces = BoxStream<'static, Result<Delta, Failure>>;

impl Inner {
    /// Sends the request until the server takes its form: without cache marks, or with room for less output.
    async fn open(self: Arc<Self>, request: &Request) -> Result<Pieces, Failure> {
        let mut max_tokens = u64::from(self.endpoint.max_tokens);
        let mut lowered = false;
        loop {
            let marks = if self.no_marks.load(Ordering::Relaxed) {
                Marks::Left
            } else {
                Marks::Set
            };
            let form = Form {
                model: &self.endpoint.model,
                max_tokens,
                marks,
            };
            // As bytes, so that nothing else of the conversation's size is held while the server thinks.
            let body = serde_json::to_vec(&wire::body(request, form))
                .map_err(|error| unusable(&format!("the request cannot be written: {error}")))?;
            let response = self.send(body).await?;
            if response.status().is_success() {
                return self.reply(response, request).await;
            }
            let answer = self.answer(response).await;
            if answer.status == 400 && marks == Marks::Set && answer.said.refuses_cache_marks() {
                self.no_marks.store(true, Ordering::Relaxed);
                continue;
            }
            if let Verdict::TooLong(figures) = answer.said.verdict(answer.status)
                && let Some(room) = figures.room()
                && !lowered
                && (LEAST_ROOM..max_tokens).contains(&room)
            {
                lowered = true;
                max_tokens = room;
                continue;
            }
            return Err(self.speaker.answered(&answer));
        }
    }

    async fn send(&self, body: Vec<u8>) -> Result<Response, Failure> {
        let url = messages_url(&self.endpoint.base_url).map_err(|why| unusable(&why))?;
        let client = self
            .client
            .get_or_try_init(|| build_client(url.clone(), self.endpoint.connect_timeout))
            .await
            .map_err(|why| unusable(&why))?;
        let headers = self.headers().map_err(|why| unusable(&why))?;
        let sending = client.post(url).headers(headers).body(body).send();
        match timeout(self.endpoint.stall_timeout, sending).await {
            Err(_) => Err(self.speaker.silent(self.endpoint.stall_timeout)),
            Ok(sent) => sent.map_err(|error| self.speaker.network(error)),
        }
    }

    fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let version = HeaderValue::from_str(&self.endpoint.version).map_err(
            |_| "the setting anthropic_version has characters that a header cannot hold",
        )?;
        headers.insert(HeaderName::from_static("anthropic-version"), version);
        let (name, text) = match &self.endpoint.key {
            None => return Ok(headers),
            Some(Key::ApiKey(secret)) => {
                let name = HeaderName::from_static("x-api-key");
                (name, secret.reveal().to_owned())
            }
            Some(Key::Token(secret)) => (AUTHORIZATION, format!("Bearer {}", secret.reveal())),
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| "the key has characters that a header cannot hold: copy it again")?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }

    /// Reads the answer to a request that was taken: an event stream, or one JSON object.
    async fn reply(&self, response: Response, request: &Request) -> Result<Pieces, Failure> {
        let kind = header(&response, CONTENT_TYPE.as_str()).unwrap_or_default();
        let kind = kind
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let assembler = Assembler::new(wire::call_ids(&request.messages));
        if kind == "application/json" {
            return self.whole(response, assembler).await;
        }
        if kind.starts_with("text/html") {
            let what = "answered with an HTML page instead of a reply: is the base URL right?";
            return Err(self.speaker.no_reply(what));
        }
        let request_id = request_id(&response);
        let chunks = stream::unfold(response, |mut response| async move {
            match response.chunk().await {
                Ok(None) => None,
                Ok(Some(bytes)) => Some((Ok(bytes), response)),
                Err(error) => Some((Err(error), response)),
            }
        });
        let speaker = Arc::clone(&self.speaker);
        let broken = move |error| speaker.network(error);
        let chunks = chunks.map(move |chunk| chunk.map_err(&broken)).boxed();
        let reading = Reading::new(Arc::clone(&self.speaker), assembler, request_id);
        Ok(reading.deltas(chunks, self.endpoint.stall_timeout))
    }

    async fn whole(&self, response: Response, mut assembler: Assembler) -> Result<Pieces, Failure> {
        let request_id = request_id(&response);
        let body = self.body(response, WHOLE_BODY).await?;
        let value: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        if value.get("error").is_some() {
            let said = Said::from_value(&value);
            return Err(self.speaker.answered(&Answer {
                status: said.status(),
                place: Place::Answer,
                said,
                request_id,
                location: None,
                headers: Headers::default(),
            }));
        }
        let mut deltas = Vec::new();
        if !assembler.whole(&value, &mut deltas) {
            let what =
                "answered with JSON that is no reply of the Messages API: is the base URL right?";
            return Err(self.speaker.no_reply(what));
        }
        Ok(stream::iter(deltas.into_iter().map(Ok)).boxed())
    }

    /// An answer with an error status; a body that breaks off is taken as far as it came.
    async fn answer(&self, response: Response) -> Answer {
        let status = response.status().as_u16();
        let request_id = request_id(&response);
        let location = header(&response, LOCATION.as_str()).map(str::to_owned);
        let headers = Headers::read(|name| header(&response, name), jiff::Timestamp::now());
        let body = self.body(response, ERROR_BODY).await.unwrap_or_default();
        Answer {
            status,
            place: Place::Answer,
            said: Said::from_body(&String::from_utf8_lossy(&body)),
            request_id,
            location,
            headers,
        }
    }

    /// The body, or as much of it as `limit` bytes.
    async fn body(&self, mut response: Response, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while body.len() < limit {
            match timeout(self.endpoint.stall_timeout, response.chunk()).await {
                Err(_) => return Err(self.speaker.silent(self.endpoint.stall_timeout)),
                Ok(Err(error)) => return Err(self.speaker.network(error)),
                Ok(Ok(None)) => break,
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
            }
        }
        body.truncate(limit);
        Ok(body)
    }
}
