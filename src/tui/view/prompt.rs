//! The message that is being written, with the terminal's own cursor at the caret.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::paint::Canvas;
use crate::tui::app::{App, Pane};

/// What an empty input says.
const EMPTY: &str = "type a message, or / for commands";
/// What it says while the keys go elsewhere.
const AWAY: &str = "i or type to write";

/// Draws the draft into `area`, which holds the text and the two cells of the `>` before it.
pub(super) fn draw(app: &App, area: Rect, frame: &mut Frame<'_>) {
    let Some(text) = super::layout::within(area, frame.area()) else {
        return;
    };
    let look = app.look;
    let sign = Rect {
        x: text.x.saturating_sub(2),
        width: 2,
        height: 1,
        ..text
    };
    Canvas::new(sign, frame.buffer_mut()).put((0, 0), ">", look.strong());
    frame.render_widget(app.prompt.area(), text);
    if app.prompt.is_empty() {
        let says = if app.screen.focus == Pane::Input {
            EMPTY
        } else {
            AWAY
        };
        Canvas::new(text, frame.buffer_mut()).put((0, 0), says, Style::new());
    }
    let writing = app.screen.focus == Pane::Input
        && app.screen.overlay.is_none()
        && app.asks.front().is_none_or(|ask| ask.because.is_none());
    if writing {
        frame.set_cursor_position(caret(app, text));
    }
}

/// The caret's cell: input methods open their window there.
fn caret(app: &App, area: Rect) -> Position {
    let cursor = app.prompt.area().screen_cursor();
    let (top, left) = app.prompt.area().scroll_offset();
    let offset = |at: usize, origin: u16, room: u16| {
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        at.saturating_sub(origin).min(room.saturating_sub(1))
    };
    Position::new(
        area.x + offset(cursor.col, left, area.width),
        area.y + offset(cursor.row, top, area.height),
    )
}
