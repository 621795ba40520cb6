//! The log: what happened, newest first, a row each.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::text::thousands;
use crate::tui::mirror::{Idle, Log, Row, Source};
use crate::tui::text;
use crate::tui::texts;
use crate::tui::theme::{Focus, Look};

use super::paint::{Canvas, Pane};

/// Cells of a row's name, and of the figure behind its lamp.
const NAME: usize = 8;
const FIGURE: usize = 7;

/// Draws the pane; `skip` newest rows are scrolled out at the top.
///
/// Unless someone looks through it, what was not needed before a call is one row, so that earlier calls stay in view.
pub(crate) fn render(pane: &Pane<'_>, skip: usize, area: Rect, buf: &mut Buffer) {
    let mut canvas = pane.framed("Log", area, buf);
    let log = &pane.mirror.log;
    let height = canvas.height();
    let column = source(Source {
        call: pane.mirror.counts.calls.max(pane.mirror.run.call),
        task: None,
    });
    let column = text::cells(&column).max(3) + 1;
    let lines = if pane.focus == Focus::Elsewhere && skip == 0 {
        folded(log, height)
    } else {
        let rows = log.newest_first().skip(skip).take(height);
        rows.map(Line::Row).collect()
    };
    for (y, line) in lines.iter().enumerate() {
        match line {
            Line::Row(row) => draw(&mut canvas, (column, y), row, pane.look),
            Line::Idle(rows) => draw_idle(&mut canvas, (column, y), rows, pane.look),
        }
    }
    if lines.len() < height && log.dropped() > 0 {
        let note = texts::count(log.dropped(), "older row", "older rows");
        canvas.put((0, lines.len()), &format!("({note} dropped)"), Style::new());
    }
}

/// A line of the pane.
enum Line<'a> {
    /// A row as it is.
    Row(&'a Row),
    /// The rows of stages that did nothing before one call, newest first.
    Idle(Vec<&'a Row>),
}

/// At most `height` lines, newest first: rows of idle stages stand together where the newest of them is.
fn folded(log: &Log, height: usize) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut open: Option<usize> = None;
    for row in log.newest_first() {
        if row.name == "check" {
            open = None;
        }
        let full = lines.len() == height;
        let known = open.and_then(|at| lines.get_mut(at));
        match (row.idle, known) {
            (Some(_), Some(Line::Idle(rows))) if rows[0].source == row.source => rows.push(row),
            _ if full => {
                if open.is_none() {
                    break;
                }
            }
            (Some(_), _) => {
                open = Some(lines.len());
                lines.push(Line::Idle(vec![row]));
            }
            (None, _) => lines.push(Line::Row(row)),
        }
    }
    lines
}

/// `not needed: budget snip history   off: fit`; one that is alone stands there with its figures.
fn draw_idle(canvas: &mut Canvas<'_>, (column, y): (usize, usize), rows: &[&Row], look: Look) {
    if let [row] = rows {
        return draw(canvas, (column, y), row, look);
    }
    let Some(first) = rows.first() else { return };
    let mut parts = Vec::new();
    for (idle, word) in [
        (Idle::NotNeeded, "not needed:"),
        (Idle::Off, "off:"),
        (Idle::Waits, "waits:"),
    ] {
        let of = rows.iter().rev().filter(|row| row.idle == Some(idle));
        let names: Vec<&str> = of.map(|row| row.name).collect();
        if !names.is_empty() {
            parts.push(format!("{word} {}", names.join(" ")));
        }
    }
    let end = canvas.put((0, y), &source(first.source), Style::new());
    let x = column.max(end + 1);
    let room = canvas.width().saturating_sub(x);
    let said = parts.join("   ");
    canvas.put((x, y), &text::cut(&said, room, look.dots()), Style::new());
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
    let said = look.words(&row.text);
    let mut line = if row.name == "log" {
        end_of(&said, room, look)
    } else {
        text::cut(&said, room, look.dots()).into_owned()
    };
    for more in &row.more {
        let more = format!("   {}", look.words(more));
        if text::cells(&line) + text::cells(&more) <= room {
            line.push_str(&more);
        }
    }
    canvas.put((x, y), &line, Style::new());
}

/// The end of a path, which tells more than its beginning.
fn end_of(path: &str, room: usize, look: Look) -> String {
    if text::cells(path) <= room {
        return path.to_owned();
    }
    let mut kept = room.saturating_sub(text::cells(look.dots()));
    while text::cells(crate::text::tail(path, kept)) + text::cells(look.dots()) > room && kept > 0 {
        kept -= 1;
    }
    format!("{}{}", look.dots(), crate::text::tail(path, kept))
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
