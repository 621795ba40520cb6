//! The map of the context: a column a message, with its letter, its mark and how large it is.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::text::thousands;
use crate::tui::mirror::{Mark, Mirror};
use crate::tui::text;
use crate::tui::theme::Look;

use super::paint::{Canvas, Pane};

/// Sizes that the lowest and the highest bar stand for.
const SCALE: (f64, f64) = (50.0, 50_000.0);

/// Draws the pane.
pub(crate) fn render(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    let mut canvas = pane.framed(
        "Messages   1 column = 1 message, height = log size",
        area,
        buf,
    );
    let height = canvas.height();
    let bars = if height >= 4 { height - 3 } else { 0 };
    let row = (canvas.width(), bars);
    let window = letters(&mut canvas, row, pane.mirror, pane.look);
    draw_bars(&mut canvas, bars, &window, pane);
    draw_marks(&mut canvas, bars + 1, &window, pane);
    let legend = mark_legend(pane.mirror, &window.shown);
    let room = canvas.width().saturating_sub(text::cells(&legend) + 2);
    let said = newest(pane.mirror, pane.look, room);
    let said = text::cut(&said, canvas.width(), pane.look.dots());
    let end = canvas.put((0, bars + 2), &said, Style::new());
    canvas.put_right((end, bars + 2), &legend, 2);
}

/// The messages that fit, and what stands beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The messages, by index.
    pub(super) shown: Range<usize>,
    /// Column of the first.
    left: usize,
}

impl Window {
    /// The column behind the last.
    pub(super) fn end(&self) -> usize {
        self.left + self.shown.len()
    }
}

/// Which of `messages` fit into `width` cells: all, or the newest behind a count of the others (`◂ 950 `).
pub(super) fn window(messages: usize, width: usize, look: Look) -> (Window, String) {
    let all = Window {
        shown: 0..messages,
        left: 0,
    };
    if messages <= width {
        return (all, String::new());
    }
    let note = |hidden: usize| format!("{} {} ", look.more().0, thousands(hidden));
    // The count's own length takes columns away, and so may make the count longer.
    let mut hidden = messages - width;
    for _ in 0..3 {
        let room = width.saturating_sub(text::cells(&note(hidden)));
        hidden = messages - room.min(messages);
    }
    let note = note(hidden);
    let left = text::cells(&note);
    if left >= width {
        let window = Window {
            shown: messages - width..messages,
            left: 0,
        };
        return (window, String::new());
    }
    let window = Window {
        shown: hidden..messages,
        left,
    };
    (window, note)
}

/// Draws the letters into row `y`, at most `width` cells wide.
pub(super) fn letters(
    canvas: &mut Canvas<'_>,
    (width, y): (usize, usize),
    mirror: &Mirror,
    look: Look,
) -> Window {
    let cells = mirror.context.cells();
    let (window, note) = window(cells.len(), width, look);
    canvas.put((0, y), &note, Style::new());
    let mut letter = [0; 4];
    for (column, cell) in (window.left..).zip(&cells[window.shown.clone()]) {
        let letter = cell.letter.encode_utf8(&mut letter);
        canvas.put((column, y), letter, look.kind(cell.kind));
    }
    window
}

fn draw_bars(canvas: &mut Canvas<'_>, rows: usize, window: &Window, pane: &Pane<'_>) {
    let cells = &pane.mirror.context.cells()[window.shown.clone()];
    let steps = steps(rows * 8);
    for (column, cell) in (window.left..).zip(cells) {
        let reached = eighths(cell.parts.total(), &steps);
        for row in 0..rows {
            let below = (rows - 1 - row) * 8;
            let glyph = pane.look.column(reached.saturating_sub(below).min(8));
            canvas.put((column, row), glyph, pane.look.kind(cell.kind));
        }
    }
}

/// The sizes from which on a bar is a step higher, on a logarithmic scale of `count` steps; the first is everyone's.
fn steps(count: usize) -> Vec<f64> {
    let (low, high) = SCALE;
    (1..count)
        .map(|step| low * (high / low).powf(step as f64 / count as f64))
        .collect()
}

/// How many steps a message of `size` reaches; at least one.
fn eighths(size: usize, steps: &[f64]) -> usize {
    steps.partition_point(|&step| size as f64 >= step) + 1
}

fn draw_marks(canvas: &mut Canvas<'_>, y: usize, window: &Window, pane: &Pane<'_>) {
    let mut sign = [0; 4];
    for (column, at) in (window.left..).zip(window.shown.clone()) {
        if let Some(mark) = pane.mirror.context.mark(at) {
            let style = match mark {
                Mark::Unseen => pane.look.warning(),
                Mark::Marker | Mark::New | Mark::Head => Style::new(),
            };
            canvas.put((column, y), mark.sign().encode_utf8(&mut sign), style);
        }
    }
}

/// What changed most, or else the newest message; a long label gives way so that all fits into `room` cells.
fn newest(mirror: &Mirror, look: Look, room: usize) -> String {
    if let Some(change) = &mirror.run.largest {
        let (from, to) = change.kinds;
        let arrow = look.arrow();
        let head = format!("{} {}{arrow}{}", change.id, from.letter(), to.letter());
        let (before, after) = change.chars;
        let figures = format!("text {} {arrow} {}", thousands(before), thousands(after));
        let taken = text::cells(&head) + text::cells(&figures) + 2;
        let label = text::cut(&change.label, room.saturating_sub(taken), look.dots());
        if label.is_empty() {
            format!("{head} {figures}")
        } else {
            format!("{head} {label} {figures}")
        }
    } else if let Some(cell) = mirror.context.cells().last() {
        let size = thousands(cell.parts.total());
        format!("{} {} load {size}", cell.id, cell.letter)
    } else {
        "no messages yet".to_owned()
    }
}

/// What the marks that are shown mean.
fn mark_legend(mirror: &Mirror, shown: &Range<usize>) -> String {
    let named = [
        (Mark::Head, "h head"),
        (Mark::New, "n new"),
        (Mark::Unseen, "! unseen"),
    ];
    let there: Vec<&str> = named
        .into_iter()
        .filter(|(mark, _)| {
            shown
                .clone()
                .any(|at| mirror.context.mark(at) == Some(*mark))
        })
        .map(|(_, name)| name)
        .collect();
    there.join(" ")
}
