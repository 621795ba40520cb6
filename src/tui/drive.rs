//! The one loop: waits for a key, an event or the clock, lets the state take in all that is there, and draws once.
//!
//! Generic over where frames go and keys come from, so that tests and `--print` run all of it. The loop never waits for the
//! agent: commands that it does not take yet stand in a queue here.

mod burst;

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use crossterm::event::{Event, KeyEvent, KeyEventKind};
use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::layout::Rect;
use tokio::time::Instant;

use burst::{Burst, Meant};

use super::app::{App, Effect, Msg};
use super::link::{Link, News};
use super::{End, view};
use crate::event::Handle;

/// The least time between two frames that only the agent gave reason for.
const FRAME: Duration = Duration::from_millis(50);
/// What a console hands in.
#[derive(Debug)]
pub(crate) enum Input {
    Event(Event),
    /// A signal that ends the program, by its number.
    Signal(i32),
    /// The program is asked to stop for a while.
    Stop,
    /// The program goes on and has the terminal again.
    Resumed,
    /// There is no more input.
    End,
}

/// Where frames go and keys come from.
pub(crate) trait Console {
    type Backend: Backend;

    fn terminal(&mut self) -> &mut Terminal<Self::Backend>;

    /// A frame is complete.
    fn commit(&mut self) -> io::Result<()>;

    /// The next thing that comes in; registers the waker where there is none yet.
    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<Input>;

    /// Gives the terminal back and stops the program's group. It has it again at [`Input::Resumed`].
    fn suspend(&mut self) -> io::Result<()>;

    /// Whether frames can be drawn now.
    fn visible(&self) -> bool;

    /// Nothing moves: whoever types by script may go on.
    fn settled(&mut self);
}

/// What woke the loop.
enum Woken {
    Input(Input),
    News(News),
    Time,
}

/// When the next frame is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    No,
    /// As soon as the last one is old enough.
    Soon,
    Now,
}

/// Runs the screen until it ends. The agent is started once the first frame is drawn.
pub(crate) async fn drive<C: Console>(
    console: &mut C,
    app: &mut App,
    link: &mut Link,
    start: impl Future<Output = anyhow::Result<Handle>> + Send + 'static,
) -> anyhow::Result<End> {
    let mut run = Run {
        console,
        app,
        link,
        began: Instant::now(),
        drawn: None,
        due: Due::Now,
        pasting: None,
    };
    run.draw()?;
    run.link.start(start);
    loop {
        if let Some(end) = run.turn().await? {
            return Ok(end);
        }
    }
}

struct Run<'a, C: Console> {
    console: &'a mut C,
    app: &'a mut App,
    link: &'a mut Link,
    began: Instant,
    drawn: Option<Instant>,
    due: Due,
    /// Until when keys belong to a paste that began without a word.
    pasting: Option<Instant>,
}

impl<C: Console> Run<'_, C> {
    /// Waits once, takes in all that is there, draws if it is time.
    async fn turn(&mut self) -> anyhow::Result<Option<End>> {
        if self.due == Due::No && self.app.quiet() && !self.link.waiting() {
            self.console.settled();
        }
        let deadline = self.deadline();
        let woken = tokio::select! {
            biased;
            input = poll_fn(|cx| self.console.poll_input(cx)) => Woken::Input(input),
            news = self.link.next() => Woken::News(news),
            () = sleep_until(deadline) => Woken::Time,
        };
        let mut end = match woken {
            Woken::Input(input) => self.inputs(input).await?,
            Woken::News(news) => self.news(news)?,
            Woken::Time => {
                if self.due == Due::Soon {
                    self.due = Due::Now;
                }
                self.update(Msg::Tick)?
            }
        };
        // Another look at the keyboard: whatever came in belongs into the frame.
        if end.is_none()
            && let Some(input) = self.ready().await
        {
            end = self.inputs(input).await?;
        }
        if end.is_none() {
            self.draw()?;
        }
        Ok(end)
    }

    /// The next input if it is there already. The task's own waker is kept registered: a console may keep only one.
    async fn ready(&mut self) -> Option<Input> {
        poll_fn(|cx| {
            Poll::Ready(match self.console.poll_input(cx) {
                Poll::Ready(input) => Some(input),
                Poll::Pending => None,
            })
        })
        .await
    }

    /// Takes in an input and all others that are ready: arrows that come in a burst as the wheel that they are, text that
    /// does as the paste that it is.
    async fn inputs(&mut self, first: Input) -> anyhow::Result<Option<End>> {
        let mut together = Vec::new();
        let mut next = Some(first);
        while let Some(input) = next {
            let ended = match input {
                Input::Event(Event::Key(key)) if key.kind == KeyEventKind::Release => None,
                Input::Event(Event::Key(key)) if Burst::of(key).is_some() => {
                    let other =
                        (together.first()).is_some_and(|&first| Burst::of(first) != Burst::of(key));
                    let end = if other || together.len() == burst::MOST {
                        self.together(&mut together)?
                    } else {
                        None
                    };
                    together.push(key);
                    end
                }
                other => match self.together(&mut together)? {
                    Some(end) => Some(end),
                    None => self.input(other)?,
                },
            };
            if ended.is_some() {
                return Ok(ended);
            }
            next = self.ready().await;
        }
        self.together(&mut together)
    }

    fn input(&mut self, input: Input) -> anyhow::Result<Option<End>> {
        match input {
            Input::Event(Event::Key(key)) => self.update(Msg::Key(key)),
            Input::Event(Event::Paste(text)) => self.update(Msg::Paste(text)),
            Input::Event(Event::Mouse(_) | Event::FocusGained | Event::FocusLost) => Ok(None),
            Input::Signal(number) => Ok(Some(End::Signal(number))),
            Input::Stop => self.effect(Effect::Suspend),
            // Whole, also where the size is what it was: on the way there and back the terminal cut what it showed.
            Input::Event(Event::Resize(..)) | Input::Resumed => self.effect(Effect::Redraw),
            Input::End => Ok(Some(End::Quit)),
        }
    }

    /// Hands in keys of a kind that came together: one by one, or as what they are where they are too many for fingers.
    fn together(&mut self, keys: &mut Vec<KeyEvent>) -> anyhow::Result<Option<End>> {
        let keys = std::mem::take(keys);
        let rest = self.pasting.is_some_and(|until| Instant::now() < until);
        match burst::meant(&keys, rest.then_some(burst::Rest)) {
            Meant::Wheel(notches) => self.update(Msg::Wheel(notches)),
            Meant::Paste(text) => {
                self.pasting = Some(Instant::now() + burst::PASTE);
                self.update(Msg::Paste(text))
            }
            Meant::Keys => {
                for key in keys {
                    if let Some(end) = self.update(Msg::Key(key))? {
                        return Ok(Some(end));
                    }
                }
                Ok(None)
            }
        }
    }

    fn news(&mut self, news: News) -> anyhow::Result<Option<End>> {
        match news {
            News::Started(Ok(())) => self.update(Msg::Started),
            News::Started(Err(why)) => self.update(Msg::StartFailed(format!("{why:#}"))),
            News::Sent => Ok(None),
            News::Events(events) if events.is_empty() => self.update(Msg::Ended),
            News::Events(events) => {
                let before = self.due;
                for envelope in events {
                    self.update(Msg::Agent(Box::new(envelope)))?;
                }
                self.due = if before == Due::Now {
                    Due::Now
                } else {
                    Due::Soon
                };
                Ok(None)
            }
        }
    }

    fn update(&mut self, msg: Msg) -> anyhow::Result<Option<End>> {
        self.due = Due::Now;
        let now = self.now();
        let mut end = None;
        for effect in self.app.update(now, msg) {
            end = end.or(self.effect(effect)?);
        }
        Ok(end)
    }

    fn effect(&mut self, effect: Effect) -> anyhow::Result<Option<End>> {
        match effect {
            Effect::Send(command) => self.link.send(command),
            Effect::Quit => return Ok(Some(End::Quit)),
            Effect::SwitchTo(demo) => return Ok(Some(End::SwitchTo(demo))),
            Effect::Agree(offer) => return Ok(Some(End::Agree(offer))),
            Effect::Suspend => self.console.suspend()?,
            Effect::Redraw => self.repaint()?,
        }
        Ok(None)
    }

    /// Makes the next frame a whole one.
    fn repaint(&mut self) -> anyhow::Result<()> {
        self.due = Due::Now;
        if !self.console.visible() {
            return Ok(());
        }
        // Not `clear`: that asks the terminal where the cursor is, and the answer is lost to the keyboard.
        let terminal = self.console.terminal();
        let size = terminal.size().map_err(lost)?;
        terminal
            .resize(Rect::new(0, 0, size.width, size.height))
            .map_err(lost)?;
        Ok(())
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        let fresh = self.drawn.is_some_and(|at| at.elapsed() < FRAME);
        let wait = match self.due {
            Due::No => true,
            Due::Soon => fresh,
            Due::Now => false,
        };
        if wait || !self.console.visible() {
            return Ok(());
        }
        self.due = Due::No;
        let now = self.now();
        let terminal = self.console.terminal();
        terminal.autoresize().map_err(lost)?;
        let area = terminal.get_frame().area();
        if self.app.screen.size != (area.width, area.height) {
            self.app.update(now, Msg::Resize(area.width, area.height));
        }
        self.app.arrange();
        terminal
            .draw(|frame| view::draw(self.app, frame))
            .map_err(lost)?;
        self.console.commit()?;
        self.app.update(now, Msg::Drawn);
        self.drawn = Some(Instant::now());
        Ok(())
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// When to wake without anything coming in.
    fn deadline(&self) -> Option<Instant> {
        let frame = match (self.due, self.drawn) {
            (Due::Soon, Some(drawn)) => Some(drawn + FRAME),
            (Due::No | Due::Now, _) | (Due::Soon, None) => None,
        };
        let app = self.app.next_wake().map(|at| self.began + at);
        [frame, app].into_iter().flatten().min()
    }
}

fn lost(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("the terminal cannot be drawn on: {error}")
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
