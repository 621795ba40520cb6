//! The strict server of the tests, to try a client by hand: it checks every request as the API does, answers from a script
//! and says what was wrong. It listens on the loopback only, and ends with Ctrl-C.
//!
//! ```text
//! cargo run --example strict_server                # a tool call, then a text, again and again
//! cargo run --example strict_server -- SCRIPT      # the lines of a file, again and again
//!
//! ANTHROPIC_API_KEY=x plimsoll --base-url THE_URL_IT_PRINTS
//! ```
//!
//! A script has one answer a line; lines that are empty or begin with `#` are nothing:
//!
//! ```text
//! text Hello there.
//! think What could be meant?          # reasoning, then a text
//! tool bash {"command": "ls"}
//! error 429 rate_limit_error Slow down, please.
//! retry-after 3 529 overloaded_error Overloaded
//! cut 200 A text whose connection breaks after 200 bytes.
//! stall 200 A text after 200 bytes of which nothing comes.
//! slow A text that comes byte by byte.
//! hang-up
//! ```
#![allow(dead_code, unreachable_pub)] // the tests use more of the server
#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

#[path = "../tests/support/reply.rs"]
mod reply;
#[path = "../tests/support/server.rs"]
mod server;
#[path = "../tests/support/tls.rs"]
mod tls;
#[path = "../tests/support/validity.rs"]
mod validity;

use reply::Reply;
use serde_json::{Value, json};
use server::Server;

const DEFAULT: &str = "tool bash {\"command\": \"ls\"}\ntext That is what I found.";

fn main() {
    let script = match std::env::args().nth(1) {
        Some(path) => {
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
        }
        None => DEFAULT.to_owned(),
    };
    let lines: Vec<&str> = script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let round = || lines.iter().map(|line| read(line)).collect::<Vec<_>>();
    let server = Server::start(round());
    server.offer(vec![
        json!({"id": "strict", "type": "model", "max_input_tokens": 200_000}),
    ]);
    println!("{}", server.url());
    let (mut requests, mut violations) = (0, 0);
    loop {
        if server.left() < lines.len() {
            server.push(round());
        }
        if !server.wait_requests(requests + 1) {
            continue;
        }
        for request in &server.requests()[requests..] {
            requests += 1;
            let messages = request.body["messages"].as_array().map_or(0, Vec::len);
            let bytes = request.raw.len();
            println!(
                "{requests}: {}, {messages} messages, {bytes} bytes",
                request.line
            );
        }
        for what in &server.violations()[violations..] {
            violations += 1;
            println!("   INVALID: {what}");
        }
    }
}

/// The answer that a line of the script names.
fn read(line: &str) -> Reply {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (first, behind) = rest.split_once(' ').unwrap_or((rest, ""));
    let number = || {
        first
            .parse()
            .unwrap_or_else(|_| panic!("`{line}`: {first} is no number"))
    };
    match verb {
        "text" => Reply::text(rest),
        "slow" => Reply::text(rest).byte_by_byte(),
        "think" => Reply::message(
            &[
                json!({"type": "thinking", "thinking": rest, "signature": "c2lnbmF0dXJl"}),
                json!({"type": "text", "text": "So that is it."}),
            ],
            "end_turn",
        ),
        "tool" => {
            let input: Value =
                serde_json::from_str(behind).unwrap_or_else(|error| panic!("`{line}`: {error}"));
            Reply::tool(first, input)
        }
        "error" => error(rest),
        "retry-after" => error(behind).header("retry-after", first),
        "cut" => Reply::text(behind).cut_after(number()),
        "stall" => Reply::text(behind).stall_after(number()),
        "hang-up" => Reply::hang_up(),
        _ => panic!("`{line}`: no answer begins with {verb}; see the head of this example"),
    }
}

/// An error by `STATUS TYPE MESSAGE`.
fn error(text: &str) -> Reply {
    let mut parts = text.splitn(3, ' ');
    let mut next = || parts.next().unwrap_or_default();
    let (status, kind, message) = (next(), next(), next());
    let status = status.parse();
    Reply::error(
        status.unwrap_or_else(|_| panic!("{text}: no status")),
        kind,
        message,
    )
}
