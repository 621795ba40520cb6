//! Plimsoll: a coding agent for the terminal that shows its own context window.

pub mod context;
pub mod event;
pub mod message;
pub mod model;
pub mod replay;
pub mod store;
pub mod text;
pub mod tools;
pub mod tui;
