//! The real terminal: taking it, giving it back step by step, stopping and going on, signals, panics.
//!
//! A frame is collected and goes out in one piece as a synchronized update. Nothing else of the program writes here.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{self, IsTerminal, Write};
use std::panic;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::{Print, ResetColor, force_color_output};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use futures_util::Stream;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use rustix::process::{Signal as Posix, getpgrp, kill_current_process_group};
use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcgetpgrp, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Sleep, sleep};

use super::drive::{Console, Input};
use super::theme::{Color, Look};

/// Makes the wheel send arrow keys while the alternate screen is shown; the mouse itself is left to the terminal.
const WHEEL_ON: &str = "\x1b[?1007h";
const WHEEL_OFF: &str = "\x1b[?1007l";

/// How often a program in the background looks whether it has the terminal again.
const AWAY: Duration = Duration::from_millis(250);

/// There is nothing to draw on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTerminal {
    /// Standard input or output is a file or a pipe.
    #[error(
        "the screen needs a terminal on standard input and output; `plimsoll run PROMPT` works without one"
    )]
    Redirected,
    /// `TERM` says that the terminal can do nothing, or is not set.
    #[error(
        "this terminal cannot show a screen (TERM is `dumb` or not set); `plimsoll run PROMPT` works here"
    )]
    Dumb,
}

/// Whether there is a terminal that can show a screen.
///
/// # Errors
/// If there is none; the text says what to do instead.
pub fn check(term: Option<&str>) -> Result<(), NoTerminal> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(NoTerminal::Redirected);
    }
    match term {
        None | Some("" | "dumb") => Err(NoTerminal::Dumb),
        Some(_) => Ok(()),
    }
}

/// What a frame is made of until it is complete.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames(Arc<Mutex<Vec<u8>>>);

impl Frames {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut frame = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The terminal that the program was started in; given back when dropped.
pub(crate) struct Tty {
    terminal: Terminal<CrosstermBackend<Frames>>,
    frames: Frames,
    /// `None` while the terminal belongs to someone else.
    keys: Option<EventStream>,
    signals: Signals,
    /// While the terminal belongs to someone else: when to look whether it is ours again.
    look: Option<Pin<Box<Sleep>>>,
}

struct Signals {
    ending: [(Signal, i32); 4],
    stop: Signal,
    resume: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let ending = |kind: SignalKind| Ok::<_, io::Error>((signal(kind)?, kind.as_raw_value()));
        Ok(Self {
            ending: [
                ending(SignalKind::terminate())?,
                ending(SignalKind::hangup())?,
                ending(SignalKind::interrupt())?,
                ending(SignalKind::quit())?,
            ],
            stop: signal(SignalKind::from_raw(Posix::TSTP.as_raw()))?,
            resume: signal(SignalKind::from_raw(Posix::CONT.as_raw()))?,
        })
    }
}

impl Tty {
    /// Takes the terminal.
    pub(crate) fn enter(look: Look) -> io::Result<Self> {
        let signals = Signals::new()?;
        install_hook();
        // `--color always` wins over NO_COLOR, which crossterm would obey by itself.
        force_color_output(look.color == Color::Ansi);
        take_terminal()?;
        let frames = Frames::default();
        let terminal = Terminal::new(CrosstermBackend::new(frames.clone()));
        let terminal = terminal.inspect_err(|_| give_back())?;
        Ok(Self {
            terminal,
            frames,
            keys: Some(EventStream::new()),
            signals,
            look: None,
        })
    }

    /// Takes the terminal again, if it was given back and now belongs to this process's group; whether it did.
    fn resume(&mut self) -> bool {
        if self.keys.is_some() || !foreground() || take_terminal().is_err() {
            return false;
        }
        self.frames.take();
        self.keys = Some(EventStream::new());
        self.look = None;
        true
    }

    /// Looks for a sign that the terminal is ours again: a shell says nothing to a program that `bg` let go on and `fg`
    /// brings back.
    fn poll_away(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        while let Some(look) = &mut self.look {
            if look.as_mut().poll(cx).is_pending() {
                break;
            }
            if self.resume() {
                return Poll::Ready(Input::Resumed);
            }
            self.look = Some(Box::pin(sleep(AWAY)));
        }
        Poll::Pending
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        if self.keys.take().is_some() {
            give_back();
        }
    }
}

impl Console for Tty {
    type Backend = CrosstermBackend<Frames>;

    fn terminal(&mut self) -> &mut Terminal<Self::Backend> {
        &mut self.terminal
    }

    fn commit(&mut self) -> io::Result<()> {
        let frame = self.frames.take();
        if frame.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let mut bytes = Vec::with_capacity(frame.len() + 16);
        queue!(bytes, BeginSynchronizedUpdate)?;
        bytes.extend_from_slice(&frame);
        queue!(bytes, EndSynchronizedUpdate)?;
        out.write_all(&bytes)?;
        out.flush()
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        for (signal, number) in &mut self.signals.ending {
            if signal.poll_recv(cx).is_ready() {
                return Poll::Ready(Input::Signal(*number));
            }
        }
        while self.signals.resume.poll_recv(cx).is_ready() {
            if self.resume() {
                return Poll::Ready(Input::Resumed);
            }
        }
        if self.signals.stop.poll_recv(cx).is_ready() {
            return Poll::Ready(Input::Stop);
        }
        let Some(keys) = &mut self.keys else {
            return self.poll_away(cx);
        };
        match Pin::new(keys).poll_next(cx) {
            Poll::Ready(Some(Ok(event))) => {
                if matches!(event, Event::Resize(..)) {
                    wake_reader();
                }
                Poll::Ready(Input::Event(event))
            }
            // The terminal is gone: what a hang-up says.
            Poll::Ready(Some(Err(_)) | None) => {
                Poll::Ready(Input::Signal(SignalKind::hangup().as_raw_value()))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn suspend(&mut self) -> io::Result<()> {
        if self.keys.take().is_none() {
            return Ok(());
        }
        give_back();
        self.look = Some(Box::pin(sleep(AWAY)));
        // The stop reaches this thread a little later than the call returns; only what comes with the going on is a sign
        // that it is over, and even then the terminal may belong to the shell (`bg`).
        kill_current_process_group(Posix::STOP)?;
        Ok(())
    }

    fn visible(&self) -> bool {
        self.keys.is_some()
    }

    fn settled(&mut self) {}
}

/// Whether the terminal takes its keys from this process's group; without that, reading or drawing would harm the shell.
fn foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

/// Makes the terminal say again that keys are there, by setting its modes to what they are.
///
/// The reader is told only of news, and where a resize comes at the same moment it forgets the keys: they would lie there
/// until the next one.
fn wake_reader() {
    if let Ok(modes) = tcgetattr(io::stdin()) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
    }
}

fn take_terminal() -> io::Result<()> {
    enable_raw_mode()?;
    ACTIVE.store(true, Ordering::SeqCst);
    execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        Print(WHEEL_ON),
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
    )
    .inspect_err(|_| give_back())
}

/// Gives the terminal back, if it is taken.
fn give_back() {
    if !ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    undo(&mut io::stdout());
    // Keys that are still on their way were typed for the screen, not for the shell.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    let _ = disable_raw_mode();
}

/// Undoes every mode, each by itself: one that fails keeps none of the others on.
fn undo(out: &mut impl Write) {
    let _ = execute!(out, EndSynchronizedUpdate);
    let _ = execute!(out, PopKeyboardEnhancementFlags);
    let _ = execute!(out, Print(WHEEL_OFF));
    let _ = execute!(out, DisableBracketedPaste);
    let _ = execute!(out, ResetColor);
    let _ = execute!(out, LeaveAlternateScreen);
    let _ = execute!(out, Show);
}

/// Whether the terminal is taken.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// What panicked elsewhere while the screen was up; said after it is gone.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread is inside the screen's own loop.
    static DRIVING: Cell<bool> = const { Cell::new(false) };
}

/// Runs the screen's loop so that a panic in it can be told from one elsewhere.
pub(crate) async fn driving<T>(run: impl Future<Output = T>) -> T {
    let mut run = pin!(run);
    poll_fn(|cx| {
        DRIVING.set(true);
        let polled = run.as_mut().poll(cx);
        DRIVING.set(false);
        polled
    })
    .await
}

/// What panicked outside the loop since the last call.
pub(crate) fn panics() -> Vec<String> {
    std::mem::take(&mut PANICS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What becomes of the message of a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    /// There is no screen: it is said as ever.
    Said,
    /// The screen itself broke: it is said once the terminal is given back.
    SaidAfter,
    /// Another task broke: it must not be written into the frame, and is said when the screen is left.
    Kept,
}

fn message() -> Message {
    match (ACTIVE.load(Ordering::SeqCst), DRIVING.get()) {
        (false, _) => Message::Said,
        (true, true) => Message::SaidAfter,
        (true, false) => Message::Kept,
    }
}

fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match message() {
            Message::Said => before(info),
            Message::SaidAfter => {
                give_back();
                before(info);
            }
            Message::Kept => {
                let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
                panics.push(info.to_string());
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes what is written, and fails at every `n`th piece.
    struct Failing {
        n: usize,
        pieces: usize,
        taken: Vec<u8>,
    }

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.pieces += 1;
            if self.pieces.is_multiple_of(self.n) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.taken.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_mode_is_undone_and_one_that_fails_keeps_none_of_the_others() {
        let all = [
            "\x1b[?2026l",
            "\x1b[<1u",
            WHEEL_OFF,
            "\x1b[?2004l",
            "\x1b[0m",
            "\x1b[?1049l",
            "\x1b[?25h",
        ];
        for n in [usize::MAX, 1, 2, 3, 4, 5, 6, 7] {
            let mut out = Failing {
                n,
                pieces: 0,
                taken: Vec::new(),
            };
            undo(&mut out);
            let expected: String = all
                .iter()
                .enumerate()
                .filter(|(at, _)| !(at + 1).is_multiple_of(n))
                .map(|(_, undone)| *undone)
                .collect();
            assert_eq!(String::from_utf8(out.taken).unwrap(), expected, "{n}");
        }
    }

    #[tokio::test]
    async fn a_panic_in_the_loop_gives_the_terminal_back_and_one_elsewhere_waits() {
        assert_eq!(message(), Message::Said);
        ACTIVE.store(true, Ordering::SeqCst);
        assert_eq!(message(), Message::Kept);
        assert_eq!(driving(async { message() }).await, Message::SaidAfter);
        let elsewhere = async { tokio::task::spawn_blocking(message).await };
        assert_eq!(driving(elsewhere).await.unwrap(), Message::Kept);
        ACTIVE.store(false, Ordering::SeqCst);
    }
}
