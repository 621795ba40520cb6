//! A pause of a demo: a sentence in a quiet box above the input.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{framed, pane};
use crate::text::clean;
use crate::tui::app::App;
use crate::tui::text::wrap;

const TITLE: &str = "Demo   Enter goes on · or type something of your own";

/// Rows that the box takes at that width, its frame included; 0 while there is no gate or the agent works.
pub(super) fn rows(app: &App, width: u16) -> u16 {
    match sentence(app) {
        Some(say) => {
            let lines = wrap(say, usize::from(width.saturating_sub(4))).len();
            u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2)
        }
        None => 0,
    }
}

/// Draws the box.
pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    let Some(say) = sentence(app) else {
        return;
    };
    let mut canvas = framed(&pane(app, None), TITLE, area, buf);
    let say = app.look.words(say);
    for (y, line) in wrap(&clean(&say), canvas.width().saturating_sub(2))
        .iter()
        .take(canvas.height())
        .enumerate()
    {
        canvas.put((1, y), line, Style::new());
    }
}

fn sentence(app: &App) -> Option<&str> {
    if app.turn.busy() {
        return None;
    }
    app.gates.front().map(|gate| gate.say.as_str())
}
