//! The full-screen front end. Knows events and commands; never the agent's inside, a model, a tool or a store.

mod app;
mod drive;
mod keys;
mod link;
mod mirror;
mod print;
mod prompt;
mod terminal;
mod text;
mod texts;
mod theme;
mod transcript;
mod view;

pub use print::{BadScript, Printed, Script, print};
pub use terminal::{NoTerminal, check};
pub use theme::{Color, Glyphs, Look, Motion};

use app::{App, Begin};
pub use app::{Offer, Switch as Learn};
use drive::drive;
use link::{Clock, Link};
use terminal::{Tty, driving, panics};

use crate::event::{Envelope, Gate, Handle};

/// Sees every event before the screen does: the event log.
pub type Tee = Box<dyn FnMut(&Envelope) + Send>;

/// What the screen starts with.
#[derive(Default)]
pub struct Setup {
    /// How it draws.
    pub look: Look,
    /// Whether it explains more and holds lamps: on in demos and with the scripted model.
    pub learn: Option<Learn>,
    /// What the conversation begins with, before anything was said: a line each.
    pub first: Vec<String>,
    /// The pauses of a demo.
    pub gates: Vec<Gate>,
    /// Names that `/demo` takes.
    pub demos: Vec<String>,
    /// What the user can agree to.
    pub offers: Vec<Offer>,
    /// Sees every event.
    pub tee: Option<Tee>,
}

/// How the screen was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By the user.
    Quit,
    /// For the demo of that name: to be started anew.
    SwitchTo(String),
    /// To begin anew with what the user agreed to.
    Agree(Offer),
    /// By a signal, or because the terminal is gone (1).
    Signal(i32),
}

/// The end of a screen, and what is to be said on standard error now that the terminal is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// How it was left.
    pub end: End,
    /// Messages that could not be shown.
    pub parting: Vec<String>,
}

impl End {
    /// The exit code: 0, or 128 and the signal's number.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Quit | Self::SwitchTo(_) | Self::Agree(_) => 0,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

/// Takes the terminal and shows the agent that `start` starts, until the user leaves.
///
/// `start` is not polled before the first frame is drawn, and then on a task of its own.
///
/// # Errors
/// [`NoTerminal`] if there is none to draw on; else if the terminal fails. It is given back in any case.
pub async fn run(
    start: impl Future<Output = anyhow::Result<Handle>> + Send + 'static,
    setup: Setup,
) -> anyhow::Result<Left> {
    check(std::env::var("TERM").ok().as_deref())?;
    let (begin, tee) = begin(setup);
    let mut console = Tty::enter(begin.look)?;
    let mut app = App::new(begin);
    let mut link = Link::new(tee, Clock::Real);
    let end = driving(drive(&mut console, &mut app, &mut link, start)).await;
    // First the terminal, then what takes time.
    drop(console);
    let end = end?;
    link.close(&end).await;
    let mut parting = panics();
    parting.extend(session_log(&app));
    Ok(Left { end, parting })
}

/// Where what was said can be read again, if anything was.
fn session_log(app: &App) -> Option<String> {
    let log = app.mirror.session.as_ref()?.log.as_ref()?;
    (app.mirror.context.len() > 0).then(|| format!("session log: {log}"))
}

fn begin(setup: Setup) -> (Begin, Option<Tee>) {
    let begin = Begin {
        look: setup.look,
        learn: setup.learn,
        first: setup.first,
        gates: setup.gates,
        demos: setup.demos,
        offers: setup.offers,
    };
    (begin, setup.tee)
}

#[cfg(test)]
mod tests;
