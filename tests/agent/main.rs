//! The agent from outside: commands in, events out, and what stays behind in its stores.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod compaction;
mod harness;
mod interrupt;
mod turn;
