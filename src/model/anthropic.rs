//! The Anthropic Messages API over HTTP: one request, one stream of deltas.
//!
//! What is sent is made in [`super::wire`] and goes through [`super::http`], what comes is read in [`super::sse`] and
//! [`super::decode`], what failed is told by [`super::explain`]. Never tries again; see [`super::retry`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use reqwest::header::LOCATION;
use reqwest::{Client, Response, Url};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::decode::Assembler;
use super::endpoint::Endpoint;
use super::errors::{Said, Verdict};
use super::explain::{Answer, Place, Speaker, unusable};
use super::http::{
    build_client, chunks, header, headers, kind_of_body, messages_url, models_url, request_id,
};
use super::offers::{self, Offer};
use super::reading::Reading;
use super::retry::{Attempts, Failure, Headers};
use super::trouble::Trouble;
use super::wire::{self, Form, Marks};
use super::{Delta, Model, Request};

/// The most of an error body that is read, in bytes.
const ERROR_BODY: usize = 256 * 1024;
/// The most of a reply that comes as one JSON object, in bytes.
const WHOLE_BODY: usize = 32 * 1024 * 1024;
/// How long a list of models is waited for; what is told of it is not worth more.
const LIST_PATIENCE: Duration = Duration::from_secs(5);
/// The longest list of models, in bytes.
const LIST_BODY: usize = 8 * 1024 * 1024;
/// A reply that has less room than this is not worth asking for.
const LEAST_ROOM: u64 = 1_024;

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
    /// The server answered once: a connection may have been kept, and may have died since.
    answered: AtomicBool,
    /// What the server says that it takes, once it was asked.
    window: OnceCell<Option<u64>>,
}

impl AnthropicModel {
    /// Connects to nothing yet; a bad address is the first request's failure.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            inner: Arc::new(Inner {
                speaker: Arc::new(Speaker::new(&endpoint)),
                endpoint,
                client: OnceCell::new(),
                no_marks: AtomicBool::new(false),
                answered: AtomicBool::new(false),
                window: OnceCell::new(),
            }),
        }
    }
}

impl Attempts for AnthropicModel {
    fn name(&self) -> &str {
        &self.inner.endpoint.model
    }

    fn window(&self) -> BoxFuture<'static, Option<u64>> {
        let inner = Arc::clone(&self.inner);
        async move { *inner.window.get_or_init(|| inner.ask_window()).await }.boxed()
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

    fn window(&self) -> BoxFuture<'static, Option<u64>> {
        Attempts::window(self)
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
            let mut answer = self.answer(response).await;
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
            if answer.lacks_model(&self.endpoint.model) {
                let offers = self.offers(None).await;
                answer.offered = offers::names(&offers, &self.endpoint.model);
            }
            return Err(self.speaker.answered(&answer));
        }
    }

    async fn client(&self, url: &Url) -> Result<&Client, String> {
        let build = || build_client(url.clone(), self.endpoint.connect_timeout);
        self.client.get_or_try_init(build).await
    }

    async fn send(&self, body: Vec<u8>) -> Result<Response, Failure> {
        let url = messages_url(&self.endpoint.base_url).map_err(|why| unusable(&why))?;
        let client = self.client(&url).await.map_err(|why| unusable(&why))?;
        let headers = headers(&self.endpoint).map_err(|why| unusable(&why))?;
        let request = client.post(url).headers(headers).body(body).build();
        let request = request.map_err(|error| self.speaker.network(error))?;
        let mut kept_one = self.answered.load(Ordering::Relaxed);
        loop {
            // The body is shared, not copied.
            let Some(copy) = request.try_clone() else {
                return Err(unusable("the request cannot be made twice"));
            };
            match timeout(self.endpoint.stall_timeout, client.execute(copy)).await {
                Err(_) => return Err(self.speaker.silent(self.endpoint.stall_timeout)),
                Ok(Ok(response)) => {
                    self.answered.store(true, Ordering::Relaxed);
                    return Ok(response);
                }
                // A connection that was kept died before the request came: nobody read it, and nobody hears of it.
                Ok(Err(error)) if kept_one && Trouble::of(&error).0 == Trouble::Broken => {
                    kept_one = false;
                }
                Ok(Err(error)) => return Err(self.speaker.network(error)),
            }
        }
    }

    async fn ask_window(&self) -> Option<u64> {
        let model = &self.endpoint.model;
        let all = self.offers(None).await;
        match offers::window_of(&all, model) {
            Some(window) => Some(window),
            None => offers::window_of(&self.offers(Some(model)).await, model),
        }
    }

    /// The models that the server says it offers, or what it says of one; nothing where it cannot be asked.
    async fn offers(&self, model: Option<&str>) -> Vec<Offer> {
        let asking = async {
            let url = models_url(&self.endpoint.base_url, model)?;
            let client = self.client(&url).await.ok()?;
            let headers = headers(&self.endpoint).ok()?;
            let sent = client.get(url).headers(headers).send().await;
            let response = sent
                .ok()
                .filter(|response| response.status().is_success())?;
            let body = self.body(response, LIST_BODY).await.ok()?;
            serde_json::from_slice(&body).ok()
        };
        let answer: Option<serde_json::Value> = timeout(LIST_PATIENCE, asking).await.ok().flatten();
        answer
            .map(|answer| offers::read(&answer))
            .unwrap_or_default()
    }

    /// Reads the answer to a request that was taken: an event stream, or one JSON object.
    async fn reply(&self, response: Response, request: &Request) -> Result<Pieces, Failure> {
        let kind = kind_of_body(&response);
        let assembler = Assembler::new(wire::call_ids(&request.messages));
        if kind == "application/json" {
            return self.whole(response, assembler).await;
        }
        if kind.starts_with("text/html") {
            let what = "answered with an HTML page instead of a reply: is the base URL right?";
            return Err(self.speaker.no_reply(what));
        }
        let request_id = request_id(&response);
        let speaker = Arc::clone(&self.speaker);
        let broken = move |error| speaker.network(error);
        let chunks = chunks(response).map(move |chunk| chunk.map_err(&broken));
        let reading = Reading::new(Arc::clone(&self.speaker), assembler, request_id);
        Ok(reading.deltas(chunks.boxed(), self.endpoint.stall_timeout))
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
                offered: String::new(),
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
            offered: String::new(),
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
