//! The six stages before the newest call: a lamp, what it did to the load, and why or why not, with the numbers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::context::{Guards, Stage};
use crate::text::thousands;
use crate::tui::mirror::{Check, Mirror, ROWS, Run, short};
use crate::tui::text;
use crate::tui::texts;
use crate::tui::theme::{Lamp, Look};

use super::paint::{Canvas, Pane};

/// Where the columns of a row stand: lamp, figure (right-aligned up to there), text.
const LAMP: usize = 11;
const FIGURE: usize = 20;
const TEXT: usize = 22;
/// Under this many cells the text stands below, whole.
const ROOMY: usize = 50;

/// Draws the pane.
pub(crate) fn render(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    let run = &pane.mirror.run;
    let profile = pane
        .mirror
        .session
        .as_ref()
        .map(|session| texts::profile(session.profile));
    let mut title = if run.before.is_some() {
        format!("Pipeline   before call {}", run.call)
    } else {
        "Pipeline   before every call".to_owned()
    };
    let room = usize::from(area.width).saturating_sub(4);
    let profile = profile.map(|profile| format!("   profile {profile}"));
    let guards = if pane.mirror.limits().guards {
        ""
    } else {
        "   guards off"
    };
    // That nothing guards is worth more than the profile's name.
    if let Some(profile) = profile
        && text::cells(&title) + text::cells(&profile) + text::cells(guards) <= room
    {
        title.push_str(&profile);
    }
    title.push_str(guards);
    let mut canvas = pane.framed(&title, area, buf);
    if canvas.width() < ROOMY {
        narrow(&mut canvas, pane);
        return;
    }
    for (y, stage) in ROWS.into_iter().enumerate() {
        stage_row(&mut canvas, y, stage, pane);
    }
    if run.before.is_some() {
        all_row(&mut canvas, ROWS.len(), run, pane.look);
    }
}

/// How many rows it takes within a frame of that size; what does not fit can be scrolled to.
pub(crate) fn rows(pane: &Pane<'_>, width: usize) -> usize {
    if width < ROOMY {
        lines(pane, width).len()
    } else {
        0
    }
}

/// A row where there is little room.
enum Line {
    /// Name, lamp and figure.
    Stage(Stage),
    /// A part of what the stage above says.
    Text(String),
    All,
}

fn lines(pane: &Pane<'_>, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for stage in ROWS {
        lines.push(Line::Stage(stage));
        let check = pane.mirror.run.check(stage);
        let said = [said(check, stage), guards(check.guards)].join("   ");
        let said = pane.look.words(said.trim());
        if !said.is_empty() {
            let rows = text::wrap(&said, width.saturating_sub(2));
            lines.extend(rows.into_iter().map(Line::Text));
        }
    }
    if pane.mirror.run.before.is_some() {
        lines.push(Line::All);
    }
    lines
}

/// The reasons below their stages, whole.
fn narrow(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let lines = lines(pane, canvas.width());
    let first = pane.skip.min(lines.len().saturating_sub(canvas.height()));
    for (y, line) in lines.iter().skip(first).take(canvas.height()).enumerate() {
        match line {
            Line::Stage(stage) => drop(lead(canvas, y, *stage, pane)),
            Line::Text(text) => drop(canvas.put((2, y), text, Style::new())),
            Line::All => all_row(canvas, y, &pane.mirror.run, pane.look),
        }
    }
}

/// The sign of a stage: its key and its place in the order.
pub(super) fn sign(stage: Stage) -> char {
    match stage {
        Stage::ToolResultBudget => '1',
        Stage::SnipCompact => '2',
        Stage::MicroCompact => '3',
        Stage::FitResults => 'f',
        Stage::CompactHistory => '4',
        Stage::ReactiveCompact => 'R',
    }
}

/// Draws the name, lamp and figure of a stage; the column behind them.
fn lead(canvas: &mut Canvas<'_>, y: usize, stage: Stage, pane: &Pane<'_>) -> usize {
    let name = format!("{} {}", sign(stage), short(stage));
    canvas.put((0, y), &name, Style::new());
    let (lamp, style) = pane.lamp(stage);
    canvas.put((LAMP, y), lamp, style);
    let figure = figure(pane.mirror.run.check(stage), pane.look);
    let start = FIGURE.saturating_sub(text::cells(&figure)).max(LAMP + 1);
    canvas.put((start, y), &figure, Style::new())
}

fn stage_row(canvas: &mut Canvas<'_>, y: usize, stage: Stage, pane: &Pane<'_>) {
    let look = pane.look;
    let check = pane.mirror.run.check(stage);
    let end = lead(canvas, y, stage, pane);
    let said = said(check, stage);
    let said = look.words(&said);
    let at = TEXT.max(end + 1);
    let room = canvas.width().saturating_sub(at);
    let mut line = text::cut(&said, room, look.dots()).into_owned();
    // What does not fit is told in Why.
    let guards = guards(pane.mirror.run.kept(stage));
    let behind = (!guards.is_empty()).then(|| format!("   {guards}"));
    for behind in behind.into_iter().chain(place(pane.mirror, stage)) {
        let behind = look.words(&behind);
        if text::cells(&line) + text::cells(&behind) <= room {
            line.push_str(&behind);
        }
    }
    let reminders = reminders(pane.mirror, stage);
    let fitting = reminders
        .iter()
        .map(|text| look.words(text))
        .find(|text| text::cells(&line) + text::cells(text) <= room);
    line.push_str(&fitting.unwrap_or_default());
    canvas.put((at, y), &line, Style::new());
}

/// Where the text is that the stage took out of the context.
fn place(mirror: &Mirror, stage: Stage) -> Option<String> {
    let fired = mirror.run.check(stage).fired.as_ref()?;
    let place = texts::place(stage, fired, mirror.has_log())?;
    Some(format!("   {place}"))
}

/// What a stage that is idle now did last, the longest form first.
fn reminders(mirror: &Mirror, stage: Stage) -> Vec<String> {
    let idle = matches!(mirror.run.check(stage).lamp, Lamp::Waiting | Lamp::Unneeded);
    let Some(last) = mirror.last(stage).filter(|_| idle) else {
        return Vec::new();
    };
    let call = thousands(usize::try_from(last.call).unwrap_or(usize::MAX));
    let change = texts::change(last.change);
    vec![
        format!(" · last fired #{call} {change}"),
        format!(" · last #{call} {change}"),
        format!(" · last #{call}"),
    ]
}

/// What a stage says; the recovery has a text of its own while nobody needs it.
fn said(check: &Check, stage: Stage) -> String {
    match (stage, check.lamp) {
        (Stage::ReactiveCompact, Lamp::Waiting) => "waits for prompt_too_long".to_owned(),
        _ => check.text.clone(),
    }
}

fn figure(check: &Check, look: Look) -> String {
    let figure = match (&check.fired, check.lamp) {
        (Some(fired), _) => texts::change(fired.change()),
        (None, Lamp::Running) => "…".to_owned(),
        (
            None,
            Lamp::Waiting
            | Lamp::Unneeded
            | Lamp::Fired
            | Lamp::FiredByCall
            | Lamp::Failed
            | Lamp::Skipped,
        ) => look.none().to_owned(),
    };
    look.words(&figure).into_owned()
}

/// What guards kept in one stage.
fn guards(guards: Guards) -> String {
    let mut said = Vec::new();
    if guards.unread > 0 {
        said.push(format!("kept: {} unread", thousands(guards.unread)));
    }
    if guards.paths > 0 {
        let word = if guards.paths == 1 { "path" } else { "paths" };
        said.push(format!("kept: {} {word}", thousands(guards.paths)));
    }
    if guards.carried {
        said.push("request carried on".to_owned());
    }
    said.join("   ")
}

fn all_row(canvas: &mut Canvas<'_>, y: usize, run: &Run, look: Look) {
    let (Some(before), Some(after)) = (run.before, run.after) else {
        return;
    };
    canvas.put((0, y), "all", Style::new());
    let running = run.running().is_some();
    let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let change = signed(after) - signed(before);
    let figure = match (running, change) {
        (true, _) => String::new(),
        (false, 0) => look.none().to_owned(),
        (false, change) => texts::change(change),
    };
    let figure = look.words(&figure);
    let start = FIGURE.saturating_sub(text::cells(&figure));
    canvas.put((start, y), &figure, Style::new());
    let said = if running {
        format!("{} → …   1 API call running", thousands(before))
    } else {
        let calls = format!("   {} API", thousands(run.api_calls as usize));
        let took = if change == 0 {
            String::new()
        } else {
            format!("   {}", texts::duration(run.duration_ms))
        };
        format!("{} → {}{calls}{took}", thousands(before), thousands(after))
    };
    let said = look.words(&said).into_owned();
    let room = canvas.width().saturating_sub(TEXT);
    canvas.put(
        (TEXT, y),
        &text::cut(&said, room, look.dots()),
        Style::new(),
    );
}
