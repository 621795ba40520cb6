//! Plimsoll: a coding agent for the terminal that shows its own context window.
//!
//! Imports only go down: `message` and `text` know nothing, `context` is pure, `event` is what the agent and its front
//! ends say to each other, and only this file, `config` and the commands know all of them. [`run`] chooses what plays (a
//! model, a demo, a recording) and where it goes (a screen, lines of text or JSON).

pub mod agent;
pub mod cli;
mod commands;
pub mod config;
pub mod context;
pub mod demo;
mod doctor;
pub mod event;
pub mod headless;
mod launch;
pub mod message;
pub mod model;
pub mod permission;
mod play;
pub mod replay;
pub mod session;
mod show;
pub mod store;
pub mod text;
pub mod tools;
pub mod tui;

use cli::{Cli, Command};

/// Why the program ends early: what to print, and the exit code.
#[derive(Debug)]
pub struct Failed {
    /// 1 where the request failed, 2 where usage, settings or an input file are wrong.
    pub code: u8,
    /// What went wrong and what to do.
    pub error: anyhow::Error,
}

impl<E: Into<anyhow::Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        let error = error.into();
        let code = if is_closed_pipe(&error) { 0 } else { 2 };
        Self { code, error }
    }
}

/// Whether whoever read our output has had enough: nothing to report.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Runs the command that was typed; gives the exit code.
///
/// # Errors
/// With what to print, and the exit code.
pub fn run(cli: Cli) -> Result<u8, Failed> {
    let Cli {
        command,
        common,
        screen,
    } = cli;
    match command {
        Some(Command::Replay(options)) => commands::replay(&options, &common),
        Some(Command::Config(options)) => commands::config(&options, &common),
        Some(Command::Doctor) => doctor::doctor(&common),
        Some(Command::Completions { shell }) => commands::completions(shell),
        Some(Command::Demo(options)) if options.list => commands::list_demos(),
        Some(Command::Demo(options)) if options.headless => play::demo(&options, &common),
        Some(Command::Demo(options)) => show::demo(&options, &common),
        Some(Command::Run(options)) => play::run(&options, &common),
        None => show::own(&screen, &common),
    }
}
