//! Whether a failed request is made again, and when: a pure decision, and a model around a model that waits.
//!
//! Nothing here knows HTTP beyond the names of the headers that speak of waiting.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use jiff::Timestamp;

use super::{Delta, Model, ModelError, Request};

/// The wait before the first retry where the server names none.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that the program chooses by itself.
const LONGEST_WAIT: Duration = Duration::from_secs(8);
/// A rate limit that asks for more than this is not waited for: the user decides.
const PATIENCE: Duration = Duration::from_mins(1);
/// The largest part of a chosen wait that chance takes off.
const JITTER: f64 = 0.25;

/// A request that can be made again: one [`Attempts::attempt`] is one try.
pub trait Attempts: Send + Sync + 'static {
    /// The name that the screen shows and the request carries.
    fn name(&self) -> &str;

    /// How many tokens the server says that it takes; see [`Model::window`].
    fn window(&self) -> BoxFuture<'static, Option<u64>> {
        ready(None).boxed()
    }

    /// One try. The stream ends with one [`Delta::Finished`] or one failure; dropping it closes the connection.
    fn attempt(&self, request: Arc<Request>) -> BoxStream<'static, Result<Delta, Failure>>;
}

/// Why a try failed, and whether another may be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What happened, for the user and the agent.
    pub error: ModelError,
    /// The same in fewer words, for the countdown to the next try.
    pub brief: String,
    /// Whether another try may help.
    pub again: Again,
}

impl Failure {
    /// A failure that is told in the same words everywhere.
    pub fn new(error: ModelError, again: Again) -> Self {
        Self {
            brief: error.to_string(),
            error,
            again,
        }
    }
}

/// Whether another try may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It cannot, or the user must decide.
    No,
    /// It may, after this wait; after one that the program chooses where the server names none.
    Yes(Option<Duration>),
}

/// What the headers of an error answer say about another try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headers {
    /// How long to wait.
    pub(crate) wait: Option<Duration>,
    /// Whether to try at all.
    pub(crate) should: Option<bool>,
}

impl Headers {
    /// Reads them through `get`, which gives a header by its name; `now` is for a date.
    pub(crate) fn read<'a>(get: impl Fn(&str) -> Option<&'a str>, now: Timestamp) -> Self {
        let number = |name: &str| get(name).and_then(|text| text.trim().parse::<f64>().ok());
        let seconds = |n: f64| Duration::try_from_secs_f64(n.max(0.0)).unwrap_or(Duration::MAX);
        let wait = number("retry-after-ms")
            .map(|ms| seconds(ms / 1000.0))
            .or_else(|| number("retry-after").map(seconds))
            .or_else(|| {
                let date = jiff::fmt::rfc2822::parse(get("retry-after")?.trim()).ok()?;
                let left = date.timestamp().duration_since(now);
                Some(Duration::try_from(left).unwrap_or_default())
            });
        let should = match get("x-should-retry").map(str::trim) {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        Self { wait, should }
    }

    /// Whether a try after an answer of that status may help: the header decides, else the status.
    pub(crate) fn again(self, status: u16) -> Again {
        let by_status = matches!(status, 408 | 409 | 429 | 500..);
        let too_long = status == 429 && self.wait.is_some_and(|wait| wait > PATIENCE);
        if self.should.unwrap_or(by_status) && !too_long {
            Again::Yes(self.wait)
        } else {
            Again::No
        }
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// How many retries there were.
    pub(crate) retries: u32,
    /// How many there may be.
    pub(crate) max_retries: u32,
    /// How many blocks of this try were complete.
    pub(crate) blocks: usize,
}

/// How long to wait before the next try; nothing if there is none. `chance` is from 0 to 1.
///
/// Once a block is complete nothing is tried again: a call that was shown must not come twice.
pub(crate) fn wait_before_next(again: Again, progress: Progress, chance: f64) -> Option<Duration> {
    let Again::Yes(wait) = again else { return None };
    if progress.retries >= progress.max_retries || progress.blocks > 0 {
        return None;
    }
    let chosen = || {
        let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(progress.retries));
        doubled.min(LONGEST_WAIT).mul_f64(1.0 - JITTER * chance)
    };
    Some(wait.unwrap_or_else(chosen))
}

/// A model that makes failed requests again, and says so before each wait.
#[derive(Debug)]
pub struct Retrying<M> {
    inner: Arc<M>,
    max_retries: u32,
}

impl<M: Attempts> Retrying<M> {
    /// Makes each request of `inner` again up to `max_retries` times.
    pub fn new(inner: M, max_retries: u32) -> Self {
        Self {
            inner: Arc::new(inner),
            max_retries,
        }
    }
}

impl<M: Attempts> Model for Retrying<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn window(&self) -> BoxFuture<'static, Option<u64>> {
        self.inner.window()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Delta> {
        let run = Run {
            model: Arc::clone(&self.inner),
            request: Arc::new(request),
            progress: Progress {
                retries: 0,
                max_retries: self.max_retries,
                blocks: 0,
            },
            step: Step::Try(Duration::ZERO),
        };
        stream::unfold(run, |mut run| async move {
            let delta = run.next().await?;
            Some((delta, run))
        })
        .boxed()
    }
}

/// One request on its way.
struct Run<M> {
    model: Arc<M>,
    request: Arc<Request>,
    progress: Progress,
    step: Step,
}

enum Step {
    /// Make the request after this wait.
    Try(Duration),
    /// Read what comes.
    Read(BoxStream<'static, Result<Delta, Failure>>),
    /// All is said.
    Over,
}

impl<M: Attempts> Run<M> {
    async fn next(&mut self) -> Option<Delta> {
        loop {
            match &mut self.step {
                Step::Over => return None,
                Step::Try(wait) => {
                    if !wait.is_zero() {
                        tokio::time::sleep(*wait).await;
                    }
                    self.progress.blocks = 0;
                    self.step = Step::Read(self.model.attempt(Arc::clone(&self.request)));
                }
                Step::Read(stream) => {
                    let next = stream.next().await;
                    return Some(self.read(next));
                }
            }
        }
    }

    fn read(&mut self, next: Option<Result<Delta, Failure>>) -> Delta {
        let failure = match next {
            Some(Ok(delta)) => {
                match &delta {
                    Delta::Block(_) | Delta::BrokenCall { .. } => self.progress.blocks += 1,
                    Delta::Finished { .. } | Delta::Failed(_) => self.step = Step::Over,
                    Delta::Text(_) | Delta::Thinking(_) | Delta::Retrying { .. } => {}
                }
                return delta;
            }
            Some(Err(failure)) => failure,
            None => Failure::new(
                ModelError::Protocol("the reply ended without an end".to_owned()),
                Again::No,
            ),
        };
        let Some(wait) = wait_before_next(failure.again, self.progress, fastrand::f64()) else {
            self.step = Step::Over;
            return Delta::Failed(failure.error);
        };
        self.progress.retries += 1;
        self.step = Step::Try(wait);
        Delta::Retrying {
            attempt: self.progress.retries,
            wait,
            reason: failure.brief,
        }
    }
}
