//! For tests: a console that a test sits at, with an agent at its other end.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Position;
use ratatui::style::Modifier;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::agent::Agent;
use crate::event::{COMMAND_CAPACITY, Command, EVENT_CAPACITY, Handle};
use crate::tui::app::{App, Begin};
use crate::tui::drive::{Console, Input, drive};
use crate::tui::link::{Clock, Link};
use crate::tui::{End, print};

/// The newest frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) cursor: Position,
    pub(super) frames: usize,
    /// What stands in the cells that are reversed.
    pub(super) reversed: Vec<String>,
}

impl Shown {
    /// The row that holds `part`.
    pub(super) fn row(&self, part: &str) -> &str {
        self.text
            .lines()
            .find(|row| row.contains(part))
            .unwrap_or_else(|| panic!("no row with {part:?} in\n{}", self.text))
    }
}

struct Desk {
    terminal: Terminal<TestBackend>,
    keys: mpsc::UnboundedReceiver<Option<Input>>,
    sizes: Arc<Mutex<Option<(u16, u16)>>>,
    shown: Arc<Mutex<Shown>>,
}

impl Console for Desk {
    type Backend = TestBackend;

    fn terminal(&mut self) -> &mut Terminal<TestBackend> {
        let size = self
            .sizes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((width, height)) = size {
            self.terminal.backend_mut().resize(width, height);
        }
        &mut self.terminal
    }

    fn commit(&mut self) -> io::Result<()> {
        let backend = self.terminal.backend();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.text = print::text(backend.buffer());
        shown.cursor = backend.cursor_position();
        shown.frames += 1;
        shown.reversed = backend
            .buffer()
            .content
            .iter()
            .filter(|cell| cell.modifier.contains(Modifier::REVERSED))
            .map(|cell| cell.symbol().to_owned())
            .collect();
        Ok(())
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        match self.keys.poll_recv(cx) {
            Poll::Ready(Some(Some(input))) => Poll::Ready(input),
            // Fingers need time: what comes next is not there yet.
            Poll::Ready(Some(None)) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Ready(None) => Poll::Ready(Input::End),
            Poll::Pending => Poll::Pending,
        }
    }

    fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn visible(&self) -> bool {
        true
    }

    fn settled(&mut self) {}
}

/// What a test holds: the keyboard, the agent's end, and the screen.
pub(super) struct Hands {
    keys: mpsc::UnboundedSender<Option<Input>>,
    sizes: Arc<Mutex<Option<(u16, u16)>>>,
    shown: Arc<Mutex<Shown>>,
    pub(super) agent: Agent,
    commands: mpsc::Receiver<Command>,
}

impl Hands {
    /// Lets the screen take in what there is.
    pub(super) async fn rest(&self) -> Shown {
        self.wait(Duration::from_millis(120)).await
    }

    pub(super) async fn wait(&self, time: Duration) -> Shown {
        sleep(time).await;
        self.shown.lock().unwrap().clone()
    }

    pub(super) fn key(&self, code: KeyCode) {
        self.chord(code, KeyModifiers::NONE);
    }

    pub(super) fn chord(&self, code: KeyCode, modifiers: KeyModifiers) {
        self.event(Event::Key(KeyEvent::new(code, modifiers)));
    }

    pub(super) fn ctrl(&self, c: char) {
        self.chord(KeyCode::Char(c), KeyModifiers::CONTROL);
    }

    pub(super) fn event(&self, event: Event) {
        self.keys.send(Some(Input::Event(event))).unwrap();
    }

    /// Types by hand: every key by itself.
    pub(super) fn types(&self, text: &str) {
        for c in text.chars() {
            self.key(KeyCode::Char(c));
            self.keys.send(None).unwrap();
        }
    }

    /// Sends the keys of `text` all at once, as a terminal does that pastes without a word.
    pub(super) fn burst(&self, text: &str) {
        for c in text.chars() {
            self.key(match c {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                c => KeyCode::Char(c),
            });
        }
        self.keys.send(None).unwrap();
    }

    pub(super) fn paste(&self, text: &str) {
        self.event(Event::Paste(text.to_owned()));
    }

    pub(super) fn resize(&self, width: u16, height: u16) {
        *self.sizes.lock().unwrap() = Some((width, height));
        self.event(Event::Resize(width, height));
    }

    /// The commands that the agent was sent since the last call.
    pub(super) fn commands(&mut self) -> Vec<Command> {
        let mut all = Vec::new();
        while let Ok(command) = self.commands.try_recv() {
            all.push(command);
        }
        all
    }
}

/// Runs `script` at a screen of that size; how the screen ended.
pub(super) async fn sit<F>(size: (u16, u16), begin: Begin, script: impl FnOnce(Hands) -> F) -> End
where
    F: Future<Output = Hands>,
{
    let (keys, typed) = mpsc::unbounded_channel();
    let (commands, inbox) = mpsc::channel(COMMAND_CAPACITY);
    let (events, outbox) = mpsc::channel(EVENT_CAPACITY);
    let shown = Arc::new(Mutex::new(Shown::default()));
    let sizes = Arc::new(Mutex::new(None));
    let Ok(terminal) = Terminal::new(TestBackend::new(size.0, size.1));
    let mut desk = Desk {
        terminal,
        keys: typed,
        sizes: Arc::clone(&sizes),
        shown: Arc::clone(&shown),
    };
    let mut hands = Hands {
        keys,
        sizes,
        shown,
        agent: Agent::new(events),
        commands: inbox,
    };
    let handle = Handle {
        commands,
        events: outbox,
    };
    let mut app = App::new(begin);
    let mut link = Link::new(None, Clock::Real);
    let driven = drive(&mut desk, &mut app, &mut link, async { Ok(handle) });
    let script = async {
        hands.agent.session().await;
        hands.rest().await;
        // Whoever is done leaves the keyboard; the screen takes that as the end.
        drop(script(hands).await);
    };
    let (end, ()) = tokio::join!(driven, script);
    end.unwrap()
}
