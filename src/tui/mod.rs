//! The full-screen front end. Knows events and commands; never the agent's inside, a model, a tool or a store.

pub(crate) mod app;
pub(crate) mod keys;
pub(crate) mod mirror;
pub(crate) mod prompt;
pub(crate) mod text;
pub(crate) mod texts;
pub(crate) mod theme;
pub(crate) mod transcript;
pub(crate) mod view;
