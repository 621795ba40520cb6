//! What several test files share. Not every test file uses all of it.
#![allow(dead_code, unreachable_pub)]

pub mod place;
pub mod proxy;
pub mod reply;
pub mod server;
pub mod tls;
mod validity;
