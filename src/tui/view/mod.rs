//! What is drawn where: one frame from the state of the screen, the same frame each time.

mod bar;
pub(crate) mod compact;
mod conversation;
mod dialog;
mod gate;
mod help;
mod layout;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod messages;
mod paint;
#[cfg(test)]
mod panes_tests;
pub(crate) mod pipeline;
mod prompt;
pub(crate) mod shot;
mod status;
pub(crate) mod why;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

pub(crate) use layout::Layout;
use layout::{LEAST, Mode, Wants};
use paint::Canvas;
pub(crate) use paint::Pane;

use super::app::{App, Ask, Overlay, Pane as Part, Screen};
use super::text;
use super::theme::Focus;

/// The layout that the state of the screen asks for.
pub(crate) fn layout(app: &App) -> Layout {
    let (width, height) = app.screen.size;
    let area = Rect::new(0, 0, width, height);
    let mut wants = Wants {
        focus: app.screen.focus,
        alone: app.screen.alone,
        ..Wants::default()
    };
    // The first pass tells how wide the input and the box above it are.
    let first = layout::layout(area, wants);
    if let Some(input) = first.input {
        wants.input = draft_rows(app, first.input_text(input).width);
        wants.gate = gate::rows(app, input.width, first.mode);
    }
    layout::layout(area, wants)
}

/// The text of the shown question, laid out anew where the room for it has changed.
pub(crate) fn question(app: &App) -> Option<(usize, Vec<(String, Style)>)> {
    dialog::laid(app, above_input(&app.screen.layout))
}

/// How many rows of that text are shown; none where the screen is too small for any of it.
pub(crate) fn question_rows(ask: &Ask, layout: &Layout) -> usize {
    match layout.mode {
        Mode::Notice => 0,
        Mode::Tiny | Mode::Compact | Mode::Standard => dialog::shown(ask, above_input(layout)),
    }
}

/// How many lines of a demo's box can be scrolled out; 0 where it shows all.
pub(crate) fn box_last(app: &App) -> usize {
    gate::last(app)
}

/// How many rows of Pipeline can be scrolled out; 0 where it shows all.
pub(crate) fn pipeline_last(app: &App) -> usize {
    app.screen.layout.pipeline.map_or(0, |area| {
        let inner = layout::inner(area);
        pipeline::rows(&pane(app, None), usize::from(inner.width))
            .saturating_sub(usize::from(inner.height))
    })
}

/// The pane `step` places further in the order of Tab.
pub(crate) fn pane_beside(screen: &Screen, step: isize) -> Part {
    let panes = Part::ALL;
    let at = panes.iter().position(|&pane| pane == screen.focus);
    let count = isize::try_from(panes.len()).unwrap_or(1);
    let at = isize::try_from(at.unwrap_or(0)).unwrap_or(0);
    let to = (at + step).rem_euclid(count);
    usize::try_from(to)
        .ok()
        .and_then(|to| panes.get(to))
        .copied()
        .unwrap_or_default()
}

/// Draws a frame.
pub(crate) fn draw(app: &App, frame: &mut Frame<'_>) {
    let layout = app.screen.layout;
    if layout.mode == Mode::Notice {
        notice(app, frame);
        return;
    }
    if let Some(area) = layout.header {
        status::header(app, area, frame.buffer_mut());
    }
    if let Some(area) = layout.rows {
        match layout.mode {
            Mode::Compact => compact::render(&pane(app, None), area, frame.buffer_mut()),
            Mode::Tiny | Mode::Notice | Mode::Standard => {
                compact::gauge(&pane(app, None), area, frame.buffer_mut());
            }
        }
    }
    draw_conversation(app, &layout, frame.buffer_mut());
    draw_instruments(app, &layout, frame.buffer_mut());
    if let Some(area) = layout.gate {
        gate::draw(app, area, frame.buffer_mut());
    }
    draw_input(app, &layout, frame);
    if let Some(area) = layout.status {
        status::footer(app, area, frame.buffer_mut());
    }
    if let Some(ask) = app.asks.front() {
        dialog::draw(app, ask, above_input(&layout), frame);
    }
    if let Some(Overlay::Help(row)) = app.screen.overlay {
        help::draw(app, row, frame.area(), frame.buffer_mut());
    }
}

fn notice(app: &App, frame: &mut Frame<'_>) {
    let text = format!("Plimsoll needs {}x{}", LEAST.width, LEAST.height);
    let area = frame.area();
    let mut canvas = Canvas::new(area, frame.buffer_mut());
    let lines = text::wrap(&text, canvas.width());
    for (y, line) in lines.iter().take(canvas.height()).enumerate() {
        canvas.put((0, y), line, app.look.strong());
    }
}

fn draw_conversation(app: &App, layout: &Layout, buf: &mut Buffer) {
    let Some(area) = layout.conversation else {
        return;
    };
    let unseen = conversation::unseen(app);
    let title = match (&unseen, layout.mode) {
        (Some(unseen), _) => format!("Conversation   {unseen}"),
        (None, Mode::Standard) => "Conversation   left mark = what the model still sees".to_owned(),
        (None, Mode::Compact | Mode::Tiny | Mode::Notice) => "Conversation".to_owned(),
    };
    match layout.mode {
        Mode::Standard => drop(pane(app, Some(Part::Conversation)).framed(&title, area, buf)),
        Mode::Compact => rule(app, Part::Conversation, &title, (area, buf)),
        Mode::Tiny | Mode::Notice => {}
    }
    conversation::draw(app, layout.conversation_text(area), buf);
}

fn draw_instruments(app: &App, layout: &Layout, buf: &mut Buffer) {
    if let Some(area) = layout.load {
        load::render(&pane(app, Some(Part::Load)), area, buf);
    }
    if let Some(area) = layout.messages {
        messages::render(&pane(app, Some(Part::Messages)), area, buf);
    }
    if let Some(area) = layout.pipeline {
        pipeline::render(&pane(app, Some(Part::Pipeline)), area, buf);
    }
    if let Some(area) = layout.log {
        log::render(&pane(app, Some(Part::Log)), app.screen.log_skip, area, buf);
    }
    let Some(area) = layout.why else {
        return;
    };
    let pane = pane(app, Some(Part::Why));
    if layout.mode == Mode::Standard || layout.alone.is_some() {
        why::render(&pane, area, buf);
        return;
    }
    rule(app, Part::Why, "Why", (area, buf));
    let text = Rect {
        x: area.x.saturating_add(1),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(1),
    };
    compact::caption(&pane, text, buf);
}

fn draw_input(app: &App, layout: &Layout, frame: &mut Frame<'_>) {
    let Some(area) = layout.input else {
        return;
    };
    if layout.mode == Mode::Standard {
        let title = if app.screen.focus == Part::Input {
            "Message   Enter send · Alt+Enter newline · / commands"
        } else {
            "Message   i or type to write"
        };
        pane(app, Some(Part::Input)).framed(title, area, frame.buffer_mut());
    }
    prompt::draw(app, layout.input_text(area), frame);
}

/// Everything above the input: where a question may lie.
fn above_input(layout: &Layout) -> Rect {
    let input = layout.input.unwrap_or(layout.area);
    let top = layout.header.map_or(layout.area.y, Rect::bottom);
    Rect {
        y: top,
        height: input.y.saturating_sub(top),
        ..input
    }
}

/// What an instrument draws from; `part` has the frame of the focused pane if it is that.
fn pane(app: &App, part: Option<Part>) -> Pane<'_> {
    Pane {
        mirror: &app.mirror,
        look: app.look,
        lit: app.lamps.lit(app.now),
        focus: if part == Some(app.screen.focus) && app.screen.overlay.is_none() {
            Focus::Here
        } else {
            Focus::Elsewhere
        },
        skip: app.screen.pane_skip,
    }
}

/// What lies over the panes has the keys.
fn over(app: &App) -> Pane<'_> {
    Pane {
        focus: Focus::Here,
        ..pane(app, None)
    }
}

/// A frame over what is already drawn, emptied first.
fn framed<'b>(pane: &Pane<'_>, title: &str, area: Rect, buf: &'b mut Buffer) -> Canvas<'b> {
    let area = area.intersection(buf.area);
    Clear.render(area, buf);
    pane.framed(title, area, buf)
}

/// The first row of a part that has no frame: its name in a line across.
fn rule(app: &App, part: Part, title: &str, (area, buf): (Rect, &mut Buffer)) {
    let focus = pane(app, Some(part)).focus;
    let line = app.look.border(focus).horizontal_top;
    let style = app.look.border_style(focus);
    let mut canvas = Canvas::new(Rect { height: 1, ..area }, buf);
    let across = line.repeat(canvas.width());
    canvas.put((0, 0), &across, style);
    let title = format!(" {} ", app.look.words(title));
    let room = canvas.width().saturating_sub(2);
    canvas.put(
        (1, 0),
        &text::cut(&title, room, app.look.dots()),
        Style::new(),
    );
}

/// How many rows the draft takes, about; the text area scrolls beyond what it gets.
fn draft_rows(app: &App, width: u16) -> u16 {
    const MOST: usize = 60;
    let width = usize::from(width.max(1));
    let rows: usize = app
        .prompt
        .area()
        .lines()
        .iter()
        .take(MOST)
        .map(|line| text::cells(line) / width + 1)
        .sum();
    u16::try_from(rows.min(MOST)).unwrap_or(1)
}
