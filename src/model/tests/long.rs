//! Long replies: what is held at one time, and what a chunk costs, do not grow with the reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{FutureExt, StreamExt, stream};
use serde_json::json;

use super::super::decode::Assembler;
use super::super::explain::Speaker;
use super::super::reading::Reading;
use super::super::{Delta, Endpoint};
use super::reader::{STALL, block_on, end, sse, start, stop, text_delta};

/// How many pieces the long reply has.
const PIECES: usize = 100_000;

#[test]
fn a_hundred_thousand_pieces_are_handed_on_as_they_come() {
    let piece = sse(&[text_delta(0, "ab")]);
    let mut chunks = vec![sse(&[start(0, json!({"type": "text", "text": ""}))])];
    chunks.extend(vec![piece; PIECES]);
    chunks.push(sse(&[stop(0), end()]));
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let chunks = stream::iter(chunks).map(move |chunk| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(chunk.into_bytes())
    });
    let speaker = Arc::new(Speaker::new(&Endpoint::new("http://host", "m")));
    let reading = Reading::new(speaker, Assembler::new([].into()), None);
    let mut deltas = reading.deltas(chunks.boxed(), STALL);
    block_on(async {
        let mut texts = 0;
        while let Some(piece) = deltas.next().await {
            match piece.unwrap() {
                // A piece is there once its chunk is, and before another one is asked for: nothing heaps up.
                Delta::Text(_) => {
                    texts += 1;
                    assert_eq!(taken.load(Ordering::Relaxed), texts + 1);
                }
                Delta::Block(block) => {
                    let whole = block.fields()["text"].as_str().unwrap();
                    assert!(whole == "ab".repeat(PIECES), "the text is another");
                }
                Delta::Finished { .. } => assert_eq!(texts, PIECES),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn a_reply_that_nobody_reads_is_not_asked_for() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let endless = stream::repeat_with(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(sse(&[text_delta(0, "ab")]).into_bytes())
    });
    let speaker = Arc::new(Speaker::new(&Endpoint::new("http://host", "m")));
    let reading = Reading::new(speaker, Assembler::new([].into()), None);
    let mut deltas = reading.deltas(endless.boxed(), STALL);
    block_on(async {
        for _ in 0..3 {
            deltas.next().await.unwrap().unwrap();
        }
        assert!(deltas.next().now_or_never().is_some());
    });
    assert_eq!(taken.load(Ordering::Relaxed), 4);
}
