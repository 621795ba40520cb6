//! The first and the last row: what this is and how full it is; what is being done, or which keys act.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::layout::Mode;
use super::load::level_text;
use super::paint::Canvas;
use crate::tui::app::{App, Overlay, Pane, Switch, completions};
use crate::tui::mirror::Work;
use crate::tui::text::{cells, cut};
use crate::tui::texts::count;

const HELP: &str = "F1 help ";

/// Draws the header: name, folder, model, call, in wide layouts the load.
pub(super) fn header(app: &App, area: Rect, buf: &mut Buffer) {
    let look = app.look;
    let width = usize::from(area.width);
    let mut canvas = Canvas::new(area, buf);
    let session = app.mirror.session.as_ref();
    let mut x = canvas.put((1, 0), "Plimsoll", look.strong());
    let model = session.map(|session| {
        if session.scripted {
            "model: scripted (no key)".to_owned()
        } else {
            format!("model: {}", session.model)
        }
    });
    let call = format!("call {}", app.mirror.counts.calls);
    let level = app.mirror.level();
    let load = match app.screen.layout.mode {
        Mode::Standard => {
            let figures = level_text(app.mirror.load(), app.mirror.limit(), level);
            Some(format!("{} {figures}", look.disc()))
        }
        Mode::Compact | Mode::Tiny | Mode::Notice => None,
    };
    let learn = match app.learn {
        Switch::On => Some("learn on".to_owned()),
        Switch::Off => None,
    };
    let name = session.map(|session| session.name.clone());
    // From the first that must go to the last: what does not fit is left out whole.
    let mut parts = [
        (name, Style::new(), 1),
        (model, Style::new(), 2),
        (Some(call), Style::new(), 4),
        (load, look.level(level), 5),
        (learn, Style::new(), 0),
    ];
    let gap = if width < 120 { 2 } else { 3 };
    let room = width.saturating_sub(x + cells(HELP) + gap);
    for worth in 0..=5 {
        let used: usize = parts
            .iter()
            .filter_map(|(text, ..)| text.as_ref().map(|text| cells(text) + gap))
            .sum();
        if used <= room {
            break;
        }
        for part in parts.iter_mut().filter(|part| part.2 == worth) {
            part.0 = None;
        }
    }
    for (text, style, _) in &parts {
        if let Some(text) = text {
            x = canvas.put((x + gap, 0), text, *style);
        }
    }
    canvas.put_right((x, 0), HELP, 1);
}

/// Draws the last row: a hint, what is being done, or the keys that act.
pub(super) fn footer(app: &App, area: Rect, buf: &mut Buffer) {
    let look = app.look;
    let mut canvas = Canvas::new(area, buf);
    let room = canvas.width().saturating_sub(2);
    let (text, style) = if let Some(Overlay::Confirm { question, .. }) = &app.screen.overlay {
        (format!("{question} y/N"), look.strong())
    } else if let Some(hint) = &app.screen.hint {
        (hint.text.clone(), look.strong())
    } else if let Some(commands) = commands(app) {
        (commands, Style::new())
    } else if let Some(work) = work(app, room) {
        (work, Style::new())
    } else {
        (fitting(keys(app), room), Style::new())
    };
    let text = look.words(&text);
    canvas.put((1, 0), &cut(&text, room, look.dots()), style);
}

/// The commands that go on from what is written.
fn commands(app: &App) -> Option<String> {
    let draft = app.prompt.draft();
    if app.screen.focus != Pane::Input || !draft.starts_with('/') || draft.contains([' ', '\n']) {
        return None;
    }
    let names: Vec<&str> = completions(&draft, &app.offers).collect();
    (!names.is_empty()).then(|| format!("{}   Tab completes", names.join("  ")))
}

/// `› working 12 s   bash cargo test   1 queued   Esc Esc stop`.
/// What does not fit goes from what it does, never from the keys behind it.
fn work(app: &App, room: usize) -> Option<String> {
    if app.turn.starting() {
        return Some("› starting".to_owned());
    }
    let seconds = app.turn.working(app.now)?.as_secs();
    let front = format!("› working {seconds} s");
    let doing = match &app.mirror.work {
        Work::Idle | Work::Busy => None,
        Work::Call { call } => Some(format!("call {call}")),
        Work::Retry {
            attempt, reason, ..
        } => {
            let left = app.turn.retry_in(app.now).map_or(0, |left| {
                left.as_secs() + u64::from(left.subsec_nanos() > 0)
            });
            Some(format!("retry {attempt} in {left} s: {reason}"))
        }
        Work::Summary { .. } => Some("summarising".to_owned()),
        Work::Tool { line, .. } => Some(line.clone()),
        Work::Asking { line, .. } => Some(format!("asks: {line}")),
    };
    let mut behind = String::new();
    if app.turn.queued() > 0 {
        behind = format!("   {}", count(app.turn.queued(), "queued", "queued"));
    }
    behind.push_str(match app.asks.front().map(|ask| &ask.because) {
        None => "   Esc Esc stop",
        Some(None) => "   Esc no   Ctrl+C stop",
        Some(Some(_)) => "   Esc back   Ctrl+C stop",
    });
    let doing = doing.map_or_else(String::new, |doing| {
        let room = room.saturating_sub(cells(&front) + 3 + cells(&behind));
        match cut(&app.look.words(&doing), room, app.look.dots()) {
            nothing if nothing.is_empty() => String::new(),
            doing => format!("   {doing}"),
        }
    });
    Some(front + &doing + &behind)
}

/// `keys` without those in front of the last that do not fit.
fn fitting(keys: &str, room: usize) -> String {
    let mut parts: Vec<&str> = keys.split("   ").collect();
    while parts.len() > 1 && cells(&parts.join("   ")) > room {
        parts.remove(parts.len() - 2);
    }
    parts.join("   ")
}

/// The keys that act where the focus is.
fn keys(app: &App) -> &'static str {
    if app.turn.over() {
        return "Ctrl+C quit   PgUp PgDn scroll   F1 help";
    }
    match app.screen.focus {
        Pane::Input if !app.gates.is_empty() && app.prompt.is_empty() => {
            "Enter go on   Tab panes   PgUp PgDn scroll   F1 help   Ctrl+C quit"
        }
        Pane::Input if app.closing() && app.prompt.is_empty() => {
            "Enter send   / commands   Esc close   Tab panes   F1 help   Ctrl+D quit"
        }
        Pane::Input if app.mirror.context.len() == 0 => {
            "Enter send   F2 demo tour   Tab panes   F1 help   Ctrl+C quit"
        }
        Pane::Input => "Enter send   Alt+Enter newline   Tab panes   PgUp PgDn scroll   F1 help",
        Pane::Conversation => {
            "Up Down scroll   End follow   m alone   Tab next   i message   ? help"
        }
        Pane::Log => "Up Down scroll   End newest   m alone   Tab next   i message   ? help",
        Pane::Load | Pane::Messages | Pane::Pipeline | Pane::Why => {
            "m alone   Tab next   Esc back   i message   ? help"
        }
    }
}
