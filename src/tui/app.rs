//! The state of the screen and what every message does to it; what should happen outside comes back as effects.
//!
//! No drawing, no channel, no clock: time comes in with each message, as the time since the program started.

mod agent;
mod ask;
mod command;
mod demo;
mod input;
mod lamps;
mod question;
mod scroll;
mod send;
mod turn;

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::KeyEvent;

pub(crate) use ask::{Ask, Asks, Choice};
pub use command::{Offer, Switch};
pub(crate) use command::{TABLE as COMMANDS, completions};
pub(crate) use demo::Demo;
pub(crate) use lamps::Lit;
use lamps::{Hold, Lamps};
pub(crate) use scroll::Scroll;
pub(crate) use turn::Turn;

use super::mirror::Mirror;
use super::prompt::Prompt;
use super::theme::{Look, Motion};
use super::transcript::Transcript;
use super::view::{self, Layout};
use crate::event::{Command, Envelope, Gate};

/// How long a hint such as `Esc again to stop` holds.
const HINT: Duration = Duration::from_secs(3);

/// What comes in.
#[derive(Debug)]
pub(crate) enum Msg {
    Key(KeyEvent),
    /// Notches of the wheel, down if positive.
    Wheel(isize),
    Paste(String),
    Resize(u16, u16),
    Agent(Box<Envelope>),
    /// The agent runs and takes commands.
    Started,
    /// The agent could not be started.
    StartFailed(String),
    /// The agent's events have ended.
    Ended,
    /// A frame was drawn.
    Drawn,
    /// Time has passed.
    Tick,
}

/// What should happen outside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Send(Command),
    Redraw,
    Suspend,
    Quit,
    /// End, and begin anew with this demo.
    SwitchTo(String),
    /// End, and begin anew with what the user agreed to.
    Agree(Offer),
}

/// A part of the screen that can have the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pane {
    #[default]
    Input,
    Conversation,
    Load,
    Messages,
    Pipeline,
    Why,
    Log,
}

impl Pane {
    /// All, in the order of Tab.
    pub(crate) const ALL: [Self; 7] = [
        Self::Input,
        Self::Conversation,
        Self::Load,
        Self::Messages,
        Self::Pipeline,
        Self::Why,
        Self::Log,
    ];
}

/// What lies over the panes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Overlay {
    /// Keys and commands, from that row on.
    Help(usize),
    /// A yes-or-no question of the screen itself.
    Confirm { question: String, then: Effect },
}

/// A line in the last row that goes away by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hint {
    pub(crate) text: String,
    again: Again,
    until: Duration,
}

/// What a second press of the same key would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    Nothing,
    Stop,
    /// Nothing yet: it is being stopped.
    Stopping,
    Quit,
}

/// What the screen starts with.
#[derive(Debug, Default)]
pub(crate) struct Begin {
    pub(crate) look: Look,
    pub(crate) learn: Option<Switch>,
    pub(crate) first: Vec<String>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) demos: Vec<String>,
    pub(crate) offers: Vec<Offer>,
}

/// The screen's state.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) look: Look,
    pub(crate) learn: Switch,
    pub(crate) mirror: Mirror,
    pub(crate) transcript: Transcript,
    pub(crate) prompt: Prompt,
    pub(crate) asks: Asks,
    pub(crate) turn: Turn,
    pub(crate) lamps: Lamps,
    pub(crate) gates: VecDeque<Gate>,
    pub(crate) screen: Screen,
    /// The time of the newest message.
    pub(crate) now: Duration,
    /// Whether this is a demo, and how far it is.
    pub(crate) demo: Demo,
    pub(crate) demos: Vec<String>,
    /// What the user can agree to.
    pub(crate) offers: Vec<Offer>,
}

/// What is shown where.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    pub(crate) size: (u16, u16),
    pub(crate) focus: Pane,
    /// The pane that Esc goes back to from the input.
    last: Option<Pane>,
    /// Whether the focused pane is shown alone.
    pub(crate) alone: bool,
    pub(crate) scroll: Scroll,
    /// Newest rows of the log that are scrolled out.
    pub(crate) log_skip: usize,
    /// Rows of Pipeline that are scrolled out, where it has not room for all.
    pub(crate) pane_skip: usize,
    /// First line of a demo's box that is shown.
    pub(crate) box_skip: usize,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) hint: Option<Hint>,
    pub(crate) layout: Layout,
}

impl App {
    pub(crate) fn new(begin: Begin) -> Self {
        let mut transcript = Transcript::default();
        for line in begin.first {
            transcript.note(line);
        }
        Self {
            look: begin.look,
            learn: begin.learn.unwrap_or(Switch::Off),
            mirror: Mirror::new(),
            transcript,
            prompt: Prompt::default(),
            asks: Asks::default(),
            turn: Turn::default(),
            lamps: Lamps::default(),
            demo: Demo::of(&begin.gates),
            gates: begin.gates.into(),
            screen: Screen::default(),
            now: Duration::ZERO,
            demos: begin.demos,
            offers: begin.offers,
        }
    }

    /// Takes in a message that came at `now`; hands out what should happen outside, in order.
    pub(crate) fn update(&mut self, now: Duration, msg: Msg) -> Vec<Effect> {
        self.now = now;
        self.screen.hint.take_if(|hint| now >= hint.until);
        let effects = self.take(msg);
        // What was to be stopped has ended, by that or by itself.
        if !self.turn.busy() {
            self.drop_stop_hint();
        }
        effects
    }

    fn take(&mut self, msg: Msg) -> Vec<Effect> {
        let now = self.now;
        match msg {
            Msg::Key(key) => return self.key(key),
            Msg::Wheel(notches) => self.wheel(notches),
            Msg::Paste(text) => self.paste(&text),
            Msg::Resize(width, height) => self.screen.size = (width, height),
            Msg::Agent(envelope) => self.agent(&envelope),
            Msg::Started => self.turn.started(),
            Msg::StartFailed(why) => {
                self.turn.ended();
                self.transcript
                    .warn(format!("The agent did not start: {why}"));
            }
            Msg::Ended => {
                self.turn.ended();
                self.asks.clear();
                self.transcript
                    .warn("The agent has ended. What was said is kept; Ctrl+C leaves.");
            }
            Msg::Drawn => self.asks.drawn(now),
            Msg::Tick => {}
        }
        Vec::new()
    }

    /// Fits everything to the screen: called before a frame is drawn.
    pub(crate) fn arrange(&mut self) {
        let layout = view::layout(self);
        let (width, height) = layout.conversation_size();
        self.screen.layout = layout;
        let laid = view::question(self);
        if let Some(ask) = self.asks.front_mut() {
            if let Some(laid) = laid {
                ask.laid = laid;
            }
            ask.fit(view::question_rows(ask, &self.screen.layout));
        }
        self.screen.box_skip = self.screen.box_skip.min(view::box_last(self));
        self.screen.pane_skip = self.screen.pane_skip.min(view::pipeline_last(self));
        let rows = self.mirror.log.len().saturating_sub(1);
        self.screen.log_skip = self.screen.log_skip.min(rows);
        if width == 0 || height == 0 {
            return;
        }
        self.transcript.arrange(width);
        self.screen.scroll.arrange(&self.transcript, height);
        self.transcript.show(self.screen.scroll.top, height);
    }

    /// When something on the screen changes by itself next; `None` while nothing moves.
    pub(crate) fn next_wake(&self) -> Option<Duration> {
        let hint = self.screen.hint.as_ref().map(|hint| hint.until);
        let question = self.asks.hears_at().filter(|&at| at > self.now);
        let lamp = self.lamps.next(self.now);
        [hint, question, lamp, self.turn.next_second(self.now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether nothing moves: no turn, no question that does not hear yet, no start that is awaited.
    pub(crate) fn quiet(&self) -> bool {
        if self.asks.front().is_some() {
            return self.asks.hears(self.now);
        }
        !self.turn.busy() && !self.turn.starting()
    }

    fn drop_stop_hint(&mut self) {
        self.screen
            .hint
            .take_if(|hint| matches!(hint.again, Again::Stop | Again::Stopping));
    }

    /// Lamps are held for whoever learns, unless nothing shall move by itself.
    fn hold(&self) -> Hold {
        match (self.learn, self.look.motion) {
            (Switch::On, Motion::Full) => Hold::Held,
            (Switch::Off, _) | (_, Motion::Reduced) => Hold::AtOnce,
        }
    }

    fn hint(&mut self, text: impl Into<String>, again: Again) {
        self.screen.hint = Some(Hint {
            text: text.into(),
            again,
            until: self.now + HINT,
        });
    }
}
