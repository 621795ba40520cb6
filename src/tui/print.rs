//! `--keys KEYS --print WxH`: the same loop without a terminal, keys typed by script, one frame out as text.

use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, CellWidth};

use super::app::App;
use super::drive::{Console, Input, drive};
use super::link::{Clock, Link};
use super::theme::Motion;
use super::view::shot;
use super::{Setup, begin};
use crate::event::Handle;

/// How long the script may wait for things to come to rest.
const PATIENCE: Duration = Duration::from_mins(10);

/// The script of a printed screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    keys: Vec<Step>,
    size: (u16, u16),
}

/// A key of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    key: KeyEvent,
    /// When it is typed.
    when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Once nothing moves.
    Quiet,
    /// Right behind the key before it.
    Now,
}

/// A script that cannot be read; says where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadScript {
    /// A name in angle brackets that is no key.
    #[error(
        "no key is called `<{0}>`; names are enter, esc, tab, up, down, left, right, home, end, pgup, pgdn, del, backspace, space, f1 to f12, lt, with c-, a- or s- before them, and now"
    )]
    Key(String),
    /// A `<` without its `>`.
    #[error("a `<` in the keys has no `>` behind it; `<lt>` types one")]
    Open,
    /// A size that is none.
    #[error("`{0}` is no size; write columns and rows as in 120x40")]
    Size(String),
}

impl Script {
    /// Reads `keys`, characters as typed and names in angle brackets, and `size` (`120x40`; 80x24 where there is none).
    ///
    /// # Errors
    /// If a name or the size cannot be read.
    pub fn parse(keys: &str, size: Option<&str>) -> Result<Self, BadScript> {
        Ok(Self {
            keys: parse_keys(keys)?,
            size: size.map_or(Ok((80, 24)), parse_size)?,
        })
    }
}

fn parse_size(text: &str) -> Result<(u16, u16), BadScript> {
    let bad = || BadScript::Size(text.to_owned());
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(bad)?;
    match (width.trim().parse(), height.trim().parse()) {
        (Ok(width @ 1..=1000), Ok(height @ 1..=1000)) => Ok((width, height)),
        _ => Err(bad()),
    }
}

fn parse_keys(text: &str) -> Result<Vec<Step>, BadScript> {
    let mut steps = Vec::new();
    let mut when = When::Quiet;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let key = if c == '<' {
            let (name, behind) = rest[1..].split_once('>').ok_or(BadScript::Open)?;
            rest = behind;
            if name.eq_ignore_ascii_case("now") {
                when = When::Now;
                continue;
            }
            named(name).ok_or_else(|| BadScript::Key(name.to_owned()))?
        } else {
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
                c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
            }
        };
        steps.push(Step { key, when });
        when = When::Quiet;
    }
    Ok(steps)
}

fn named(name: &str) -> Option<KeyEvent> {
    let lower = name.to_ascii_lowercase();
    let mut rest = lower.as_str();
    let mut modifiers = KeyModifiers::NONE;
    while let Some((prefix, behind)) = rest
        .split_once('-')
        .filter(|(_, behind)| !behind.is_empty())
    {
        modifiers |= match prefix {
            "c" => KeyModifiers::CONTROL,
            "a" => KeyModifiers::ALT,
            "s" => KeyModifiers::SHIFT,
            _ => return None,
        };
        rest = behind;
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "del" => KeyCode::Delete,
        "backspace" => KeyCode::Backspace,
        "space" => KeyCode::Char(' '),
        "lt" => KeyCode::Char('<'),
        other => match other.strip_prefix('f').and_then(|n| n.parse().ok()) {
            Some(n @ 1..=12) => KeyCode::F(n),
            Some(_) | None => single(other, modifiers)?,
        },
    };
    Some(KeyEvent::new(code, modifiers))
}

/// A single character behind a modifier: `c-c`.
fn single(name: &str, modifiers: KeyModifiers) -> Option<KeyCode> {
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if !modifiers.is_empty() => Some(KeyCode::Char(c)),
        _ => None,
    }
}

/// A frame on paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The rows, blanks at their ends left out.
    pub text: String,
    /// A letter for the style of every cell: `.` plain, `g b y c r` a colour, capitals bold, digits reversed.
    pub styles: String,
}

/// Draws the screen without a terminal, types the script and hands out the last frame.
///
/// Time is the script's: what took how long is left out, so that the same script prints the same frame.
///
/// # Errors
/// If the screen cannot run, or does not come to rest.
pub async fn print(
    start: impl Future<Output = anyhow::Result<Handle>> + Send + 'static,
    setup: Setup,
    script: Script,
) -> anyhow::Result<Printed> {
    let (width, height) = script.size;
    let Ok(terminal) = Terminal::new(TestBackend::new(width, height));
    let mut console = Typist {
        terminal,
        keys: script.keys.into(),
        armed: false,
        waker: None,
    };
    let (mut begin, tee) = begin(setup);
    // Nobody looks on while lamps would be held.
    begin.look.motion = Motion::Reduced;
    let mut app = App::new(begin);
    let mut link = Link::new(tee, Clock::Script);
    let driven = drive(&mut console, &mut app, &mut link, start);
    let end = tokio::time::timeout(PATIENCE, driven)
        .await
        .map_err(|_| anyhow::anyhow!("the screen did not come to rest in 10 minutes"))??;
    link.close(&end).await;
    let frame = console.terminal.backend().buffer();
    Ok(Printed {
        text: text(frame),
        styles: shot::styles(frame),
    })
}

/// A buffer's rows as text, blanks at their ends left out.
pub(crate) fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut row = String::new();
        let mut skip = 0;
        for x in buffer.area.left()..buffer.area.right() {
            let Some(cell) = buffer.cell((x, y)) else {
                continue;
            };
            if skip > 0 {
                skip -= 1;
                continue;
            }
            row.push_str(cell.symbol());
            skip = cell.symbol().cell_width().saturating_sub(1);
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}

/// A console without a terminal, at which a script types.
struct Typist {
    terminal: Terminal<TestBackend>,
    keys: VecDeque<Step>,
    /// Whether the next key may be typed, or the end be said.
    armed: bool,
    waker: Option<Waker>,
}

impl Console for Typist {
    type Backend = TestBackend;

    fn terminal(&mut self) -> &mut Terminal<TestBackend> {
        &mut self.terminal
    }

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        let now = self.keys.front().is_some_and(|step| step.when == When::Now);
        if !self.armed && !now {
            self.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.armed = false;
        Poll::Ready(match self.keys.pop_front() {
            Some(step) => Input::Event(Event::Key(step.key)),
            None => Input::End,
        })
    }

    fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn visible(&self) -> bool {
        true
    }

    fn settled(&mut self) {
        self.armed = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
