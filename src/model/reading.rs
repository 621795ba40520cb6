//! A reply on its way in: chunks of bytes become deltas, with a limit on silence and on size.
//!
//! Knows neither HTTP nor sockets, so that it can be tried on any chunks and on a paused clock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::time::timeout;

use super::Delta;
use super::decode::{Assembler, Wrong};
use super::explain::{Answer, Place, Speaker};
use super::retry::{Again, Failure, Headers};
use super::sse::{Decoder, Event};

/// The longest reply, in bytes of the stream.
const LONGEST: usize = 256 * 1024 * 1024;
/// How long a complete reply waits for the end of its stream.
const LINGER: Duration = Duration::from_millis(100);

/// Reads one reply.
pub(crate) struct Reading {
    speaker: Arc<Speaker>,
    decoder: Decoder,
    assembler: Assembler,
    request_id: Option<String>,
    bytes: usize,
    ready: VecDeque<Delta>,
    failure: Option<Failure>,
}

impl Reading {
    pub(crate) fn new(
        speaker: Arc<Speaker>,
        assembler: Assembler,
        request_id: Option<String>,
    ) -> Self {
        Self {
            speaker,
            decoder: Decoder::default(),
            assembler,
            request_id,
            bytes: 0,
            ready: VecDeque::new(),
            failure: None,
        }
    }

    /// The deltas of `chunks`; silence longer than `stall` is a failure. Dropping the stream drops `chunks`.
    pub(crate) fn deltas<B>(
        self,
        chunks: BoxStream<'static, Result<B, Failure>>,
        stall: Duration,
    ) -> BoxStream<'static, Result<Delta, Failure>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        stream::unfold(Some((self, chunks)), move |state| async move {
            let (mut reading, mut chunks) = state?;
            loop {
                if let Some(delta) = reading.ready.pop_front() {
                    if matches!(delta, Delta::Finished { .. }) {
                        // Only a connection that was read to its end serves the next request.
                        let rest = async { while let Some(Ok(_)) = chunks.next().await {} };
                        let _ = timeout(LINGER, rest).await;
                        return Some((Ok(delta), None));
                    }
                    return Some((Ok(delta), Some((reading, chunks))));
                }
                if let Some(failure) = reading.failure.take() {
                    return Some((Err(failure), None));
                }
                match timeout(stall, chunks.next()).await {
                    Err(_) => reading.failure = Some(reading.speaker.silent(stall)),
                    Ok(None) => reading.failure = Some(reading.speaker.cut_off()),
                    Ok(Some(Err(failure))) => reading.failure = Some(failure),
                    Ok(Some(Ok(bytes))) => reading.take(bytes.as_ref()),
                }
            }
        })
        .boxed()
    }

    /// Takes a chunk; what is complete stands in `ready` then, what is wrong in `failure`.
    fn take(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        let mut events = Vec::new();
        let fed = self.decoder.feed(bytes, &mut events);
        for event in &events {
            if let Err(wrong) = self.event(event) {
                self.failure = Some(self.wrong(wrong));
                return;
            }
        }
        if self.assembler.finished() {
            return;
        }
        if fed.is_err() || self.bytes > LONGEST {
            self.failure = Some(
                self.speaker
                    .no_reply("sent more in one piece than any reply has"),
            );
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), Wrong> {
        let mut out = Vec::new();
        let result = self.assembler.event(event, &mut out);
        self.ready.extend(out);
        result
    }

    fn wrong(&self, wrong: Wrong) -> Failure {
        match wrong {
            // Damaged on the way, most likely: worth another try, as a broken connection is.
            Wrong::NotJson(data) => Failure {
                again: Again::Yes(None),
                ..self.speaker.no_reply(&format!(
                    "sent an event that is no JSON: {}",
                    self.speaker.own_words(&data, 200)
                ))
            },
            Wrong::Error(said) => self.speaker.answered(&Answer {
                status: said.status(),
                place: Place::Stream,
                said: *said,
                request_id: self.request_id.clone(),
                location: None,
                headers: Headers::default(),
                offered: String::new(),
            }),
        }
    }
}
