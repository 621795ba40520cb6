//! Whether and when a request is made again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::time::Instant;

use super::super::retry::{Again, Attempts, Failure, Headers, Progress, wait_before_next};
use super::super::{Delta, Model, ModelError, Purpose, Request, Retrying};
use crate::message::{ContentBlock, StopReason, Usage};

const NOW: &str = "2026-12-01T12:00:00Z";

type Header = (&'static str, &'static str);

fn headers(list: &[Header]) -> Headers {
    let get = |name: &str| {
        list.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    };
    Headers::read(get, NOW.parse().unwrap())
}

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn the_headers_name_the_wait() {
    let cases: [(&[Header], Option<Duration>); 10] = [
        (&[], None),
        (&[("retry-after", "2")], Some(millis(2_000))),
        (&[("retry-after", "0.25")], Some(millis(250))),
        (
            &[("retry-after", "9"), ("retry-after-ms", "1500")],
            Some(millis(1_500)),
        ),
        (
            &[("retry-after", "3"), ("retry-after-ms", "soon")],
            Some(millis(3_000)),
        ),
        (
            &[("retry-after", "Tue, 01 Dec 2026 12:00:07 GMT")],
            Some(millis(7_000)),
        ),
        (
            &[("retry-after", "Tue, 01 Dec 2026 11:00:00 GMT")],
            Some(millis(0)),
        ),
        (&[("retry-after", "-5")], Some(millis(0))),
        (&[("retry-after", "1e300")], Some(Duration::MAX)),
        (&[("retry-after", "later")], None),
    ];
    for (list, wait) in cases {
        assert_eq!(headers(list).wait, wait, "{list:?}");
    }
}

#[test]
fn the_status_decides_and_the_header_overrides() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529, 599] {
        assert_eq!(headers(&[]).again(status), Again::Yes(None), "{status}");
        assert_eq!(
            headers(&[("x-should-retry", "false")]).again(status),
            Again::No
        );
    }
    for status in [301, 400, 401, 402, 403, 404, 413, 422] {
        assert_eq!(headers(&[]).again(status), Again::No, "{status}");
        assert_eq!(
            headers(&[("x-should-retry", "true")]).again(status),
            Again::Yes(None)
        );
    }
    assert_eq!(
        headers(&[("retry-after", "60")]).again(429),
        Again::Yes(Some(millis(60_000)))
    );
    assert_eq!(headers(&[("retry-after", "61")]).again(429), Again::No);
    assert_eq!(
        headers(&[("retry-after", "61")]).again(503),
        Again::Yes(Some(millis(61_000)))
    );
}

#[test]
fn waits_double_up_to_a_limit_and_end() {
    let wait = |retries, chance| {
        let progress = Progress {
            retries,
            max_retries: 7,
            blocks: 0,
        };
        wait_before_next(Again::Yes(None), progress, chance)
    };
    let waits: Vec<_> = (0..8).map(|retries| wait(retries, 0.0)).collect();
    let expected = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000].map(|n| Some(millis(n)));
    assert_eq!(waits[..7], expected);
    assert_eq!(waits[7], None);
    assert_eq!(wait(1, 1.0), Some(millis(750)));
    let at = |again, blocks| {
        let progress = Progress {
            retries: 0,
            max_retries: 1,
            blocks,
        };
        wait_before_next(again, progress, 1.0)
    };
    assert_eq!(
        at(Again::Yes(Some(millis(90_000))), 0),
        Some(millis(90_000))
    );
    assert_eq!(at(Again::Yes(None), 1), None);
    assert_eq!(at(Again::No, 0), None);
}

/// Plays one list of pieces a try.
struct Tries(Mutex<VecDeque<Vec<Result<Delta, Failure>>>>);

impl Attempts for Tries {
    fn name(&self) -> &'static str {
        "tries"
    }

    fn attempt(&self, _: Arc<Request>) -> BoxStream<'static, Result<Delta, Failure>> {
        let pieces = self.0.lock().unwrap().pop_front().unwrap();
        stream::iter(pieces).boxed()
    }
}

fn fails(again: Again) -> Result<Delta, Failure> {
    Err(Failure::new(
        ModelError::Overloaded("busy".to_owned()),
        again,
    ))
}

fn finished() -> Delta {
    Delta::Finished {
        stop_reason: StopReason::EndTurn,
        usage: Usage::default(),
    }
}

async fn play(tries: Vec<Vec<Result<Delta, Failure>>>, max_retries: u32) -> Vec<Delta> {
    let model = Retrying::new(Tries(Mutex::new(tries.into())), max_retries);
    let request = Request {
        system: "".into(),
        tools: [].into(),
        messages: Vec::new(),
        purpose: Purpose::Turn,
    };
    model.stream(request).collect().await
}

fn retrying(attempt: u32, seconds: u64) -> Delta {
    Delta::Retrying {
        attempt,
        wait: Duration::from_secs(seconds),
        reason: "busy".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_request_is_made_again_after_the_wait() {
    let begun = Instant::now();
    let text = Delta::Text("half".to_owned());
    let deltas = play(
        vec![
            vec![fails(Again::Yes(Some(millis(3_000))))],
            vec![Ok(text.clone()), fails(Again::Yes(Some(millis(5_000))))],
            vec![Ok(text.clone()), Ok(finished())],
        ],
        4,
    )
    .await;
    assert_eq!(
        deltas,
        [
            retrying(1, 3),
            text.clone(),
            retrying(2, 5),
            text,
            finished()
        ]
    );
    assert_eq!(begun.elapsed(), Duration::from_secs(8));
}

#[tokio::test(start_paused = true)]
async fn retries_end() {
    let failed = Delta::Failed(ModelError::Overloaded("busy".to_owned()));
    let try_again = || vec![fails(Again::Yes(Some(millis(1_000))))];
    assert_eq!(
        play(vec![try_again(), try_again(), try_again()], 2).await,
        [retrying(1, 1), retrying(2, 1), failed.clone()]
    );
    assert_eq!(
        play(vec![vec![fails(Again::No)]], 2).await,
        std::slice::from_ref(&failed)
    );
    assert_eq!(play(vec![try_again()], 0).await, [failed]);
    assert_eq!(
        play(vec![vec![]], 0).await,
        [Delta::Failed(ModelError::Protocol(
            "the reply ended without an end".to_owned()
        ))]
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_again_once_a_block_is_complete() {
    let block = ContentBlock::tool_use("t", "bash", serde_json::json!({}));
    let broken = Delta::BrokenCall {
        block: block.clone(),
        raw: "{".to_owned(),
    };
    for complete in [Delta::Block(block), broken] {
        let deltas = play(vec![vec![Ok(complete.clone()), fails(Again::Yes(None))]], 4).await;
        let failed = Delta::Failed(ModelError::Overloaded("busy".to_owned()));
        assert_eq!(deltas, [complete, failed]);
    }
}
