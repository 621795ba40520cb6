//! What the pure core costs: stages that do nothing, and the measure of text that is new.

use std::sync::Arc;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use plimsoll::context::{
    History, Input, Limits, Pause, Profile, Saved, Stage, apply, estimate_size,
};
use plimsoll::message::{ContentBlock, Message};
use serde_json::json;

const MB: usize = 1_000_000;

fn main() {
    divan::main();
}

/// `messages` messages: a request, then calls of `read_file` and their results.
fn history(messages: usize) -> History {
    let mut history = History::new();
    history.push_request("Fix the failing tests".to_owned());
    for n in 1..messages {
        let id = format!("toolu_{}", n / 2);
        history.push(Arc::new(if n % 2 == 1 {
            let input = json!({"path": "src/lexer.rs"});
            Message::assistant(vec![ContentBlock::tool_use(id, "read_file", input)])
        } else {
            Message::user_blocks(vec![ContentBlock::tool_result(id, "x".repeat(900))])
        }));
    }
    history
}

/// The five stages before a call where none has anything to do, over text that was measured before.
#[divan::bench(args = [50, 1_000, 10_000])]
fn nothing_fires(bencher: Bencher<'_, '_>, messages: usize) {
    let history = history(messages);
    let limits = Limits {
        context_limit: usize::MAX,
        ..Limits::of(Profile::Session)
    };
    let saved = Saved::default();
    let input = Input {
        history: &history,
        saved: &saved,
        limits: &limits,
        pause: Pause::default(),
    };
    black_box(history.size());
    bencher.counter(ItemsCount::new(messages)).bench(|| {
        for stage in Stage::PIPELINE {
            black_box(apply(stage, black_box(&input)));
        }
    });
}

/// A megabyte of program text, measured for the first time.
#[divan::bench]
fn estimate_size_of_new_text(bencher: Bencher<'_, '_>) {
    measure(bencher, "    let name = \"plimsoll\"; // the load line\n");
}

/// The same of Japanese.
#[divan::bench]
fn estimate_size_of_new_japanese(bencher: Bencher<'_, '_>) {
    measure(bencher, "船の満載喫水線はプリムソル標とも呼ばれる。\n");
}

fn measure(bencher: Bencher<'_, '_>, line: &str) {
    let text = line.repeat(MB / line.len());
    bencher
        .counter(BytesCount::of_str(&text))
        .with_inputs(|| Arc::new(Message::user(text.clone())))
        .bench_refs(|message| estimate_size([&*message]));
}
