//! The agent from outside: commands in, events out, and what stays behind in its stores.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod compaction;
mod disk;
#[path = "../support/events.rs"]
#[expect(unreachable_pub, reason = "shared with other tests")]
mod events;
mod faults;
mod harness;
mod interrupt;
mod random;
mod subagents;
mod told;
mod turn;
