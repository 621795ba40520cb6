//! Plimsoll: a coding agent for the terminal that shows its own context window.

pub mod agent;
pub mod cli;
pub mod config;
pub mod context;
pub mod demo;
pub mod event;
pub mod message;
pub mod model;
pub mod permission;
pub mod replay;
pub mod session;
pub mod store;
pub mod text;
pub mod tools;
