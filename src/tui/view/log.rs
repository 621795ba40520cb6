//! The log: what happened, newest first, a row each.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::text::thousands;
use crate::tui::mirror::{Row, Source};
use crate::tui::text;
use crate::tui::texts;
use crate::tui::theme::Look;

use super::paint::{Canvas, Pane};

/// Cells of a row's name, and of the figure behind its lamp.
const NAME: usize = 8;
const FIGURE: usize = 7;

/// Draws the pane; `skip` newest rows are scrolled out at the top.
pub(crate) fn render(pane: &Pane<'_>, skip: usize, area: Rect, buf: &mut Buffer) {
    let mut canvas = pane.framed("Log", area, buf);
    let log = &pane.mirror.log;
    let height = canvas.height();
    let column = source(Source {
        call: pane.mirror.counts.calls.max(pane.mirror.run.call),
        task: None,
    });
    let column = text::cells(&column).max(3) + 1;
    for (y, row) in log.newest_first().skip(skip).take(height).enumerate() {
        draw(&mut canvas, (column, y), row, pane.look);
    }
    let shown = log.len().saturating_sub(skip);
    if shown < height && log.dropped() > 0 {
        let note = texts::count(log.dropped(), "older row", "older rows");
        canvas.put((0, shown), &format!("({note} dropped)"), Style::new());
    }
}

fn draw(canvas: &mut Canvas<'_>, (column, y): (usize, usize), row: &Row, look: Look) {
    let end = canvas.put((0, y), &source(row.source), Style::new());
    let x = column.max(end + 1);
    let end = canvas.put((x, y), row.name, Style::new());
    let mut x = (x + NAME).max(end + 1);
    if let Some(lamp) = row.lamp {
        // Lit is only what the newest call did, and only in the pipeline.
        let style = look.lamp_style(lamp).remove_modifier(Modifier::REVERSED);
        x = canvas.put((x, y), look.lamp(lamp), style) + 1;
    }
    if let Some(change) = row.change {
        let figure = texts::change(change);
        let figure = look.words(&figure).into_owned();
        let figure = text::pad_left(&figure, FIGURE.max(text::cells(&figure)), "");
        x = canvas.put((x, y), &figure, Style::new()) + 2;
    }
    let room = canvas.width().saturating_sub(x);
    let said = look.words(&row.text).into_owned();
    canvas.put((x, y), &text::cut(&said, room, look.dots()), Style::new());
}

/// `#43`, `#43.2` for its second subagent; empty before the first call.
fn source(source: Source) -> String {
    match (source.call, source.task) {
        (0, None) => String::new(),
        (call, None) => format!(
            "#{}",
            thousands(usize::try_from(call).unwrap_or(usize::MAX))
        ),
        (call, Some(task)) => format!("#{call}.{task}"),
    }
}
