//! What a demo says: its pauses and its end, in a quiet box above the input.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::layout::{Layout, Mode, below, inner};
use super::paint::Canvas;
use super::{framed, pane, rule};
use crate::text::clean;
use crate::tui::app::{App, Pane};
use crate::tui::text::wrap;
use crate::tui::texts::count;

/// Rows that the box takes in an area of that width, its frame included; 0 while there is none or the agent works.
pub(super) fn rows(app: &App, width: u16, mode: Mode) -> u16 {
    let (around, frame) = match mode {
        Mode::Tiny | Mode::Notice => (2, 1),
        Mode::Compact | Mode::Standard => (4, 2),
    };
    let lines = lines(app, usize::from(width.saturating_sub(around)));
    if lines.is_empty() {
        return 0;
    }
    u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(frame)
}

/// The last line that the box can begin with; 0 where all of it is shown.
pub(super) fn last(app: &App) -> usize {
    let layout = &app.screen.layout;
    let Some(area) = layout.gate else {
        return 0;
    };
    let text = text(layout, area);
    let room = usize::from(text.height);
    let lines = lines(app, usize::from(text.width.saturating_sub(2))).len();
    if lines <= room {
        return 0;
    }
    // A row tells of the rest.
    lines - room.saturating_sub(1)
}

/// Draws the box.
pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    let layout = &app.screen.layout;
    let title = match (app.gates.front(), layout.mode) {
        (None, _) => "Demo   over",
        (Some(_), Mode::Tiny | Mode::Notice) => "Demo   Enter goes on",
        (Some(_), Mode::Compact | Mode::Standard) => {
            "Demo   Enter goes on · or type something of your own"
        }
    };
    match layout.mode {
        Mode::Tiny | Mode::Notice => rule(app, Pane::Why, title, (area, buf)),
        Mode::Compact | Mode::Standard => drop(framed(&pane(app, None), title, area, buf)),
    }
    let mut canvas = Canvas::new(text(layout, area), buf);
    let lines = lines(app, canvas.width().saturating_sub(2));
    let last = last(app);
    let room = canvas.height() - usize::from(last > 0).min(canvas.height());
    let rows = lines.iter().skip(app.screen.box_skip.min(last)).take(room);
    for (y, line) in rows.enumerate() {
        canvas.put((1, y), line, Style::new());
    }
    if last > 0 {
        let left = lines
            .len()
            .saturating_sub(app.screen.box_skip.min(last) + room);
        let more = match left {
            0 => "PgUp".to_owned(),
            left => format!("{} more, PgDn", count(left, "line", "lines")),
        };
        canvas.put_right((0, room), &more, 0);
    }
}

/// The part of the box that holds text.
fn text(layout: &Layout, area: Rect) -> Rect {
    match layout.mode {
        Mode::Tiny | Mode::Notice => below(area, 1),
        Mode::Compact | Mode::Standard => inner(area),
    }
}

fn lines(app: &App, width: usize) -> Vec<String> {
    app.told()
        .iter()
        .flat_map(|said| wrap(&clean(&app.look.words(said)), width))
        .collect()
}
