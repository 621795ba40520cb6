//! The instruments in single rows, for 80x24: figures, bar, kinds, map, stages, why.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::context::Stage;
use crate::text::thousands;
use crate::tui::mirror::{Mirror, ROWS, short};
use crate::tui::text;
use crate::tui::texts;

use super::bar::line_at;
use super::paint::{Canvas, Pane};
use super::{load, messages, pipeline, why};

/// How many rows [`render`] wants.
pub(crate) const HEIGHT: u16 = 5;

/// Draws the five rows, as many as fit, with a cell free on either side.
pub(crate) fn render(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    let inner = Rect {
        x: area.x.saturating_add(1),
        width: area.width.saturating_sub(2),
        ..area
    };
    let mut canvas = Canvas::new(inner, buf);
    let width = canvas.width();
    figures(&mut canvas, pane);
    load::bar(&mut canvas, (0, 1), width, pane);
    kinds(&mut canvas, 2, pane);
    map(&mut canvas, 3, pane);
    stages(&mut canvas, 4, pane);
}

/// Draws the gauge alone, for the smallest screens: the figures in one row.
pub(crate) fn gauge(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    figures(&mut Canvas::new(area, buf), pane);
}

/// Draws what the pane Why says, without a frame.
pub(crate) fn caption(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    why::body(&mut Canvas::new(area, buf), pane);
}

fn figures(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let look = pane.look;
    let x = canvas.put((0, 0), &format!("{} ", look.disc()), Style::new());
    let end = load::figures(canvas, (x, 0), pane.mirror, look);
    if let Some(change) = change(pane.mirror) {
        canvas.put_right((end, 0), &look.words(&change), 2);
    }
}

/// What the last run of the pipeline did to the load: `51,215 → 37,030  freed 14,185`.
fn change(mirror: &Mirror) -> Option<String> {
    let (before, after) = (mirror.run.before?, mirror.run.after?);
    let what = match before.cmp(&after) {
        std::cmp::Ordering::Greater => format!("freed {}", thousands(before - after)),
        std::cmp::Ordering::Less => format!("grew {}", thousands(after - before)),
        std::cmp::Ordering::Equal => return None,
    };
    Some(format!(
        "{} → {}  {what}",
        thousands(before),
        thousands(after)
    ))
}

fn kinds(canvas: &mut Canvas<'_>, y: usize, pane: &Pane<'_>) {
    let end = load::legend_row(canvas, (0, y), pane.mirror, pane.look);
    let limit = format!("{} {}", pane.look.disc(), thousands(pane.mirror.limit()));
    // Below the line where the kinds leave room, else behind them.
    let line = line_at(canvas.width());
    let width = text::cells(&limit);
    let fits = |x: &usize| *x > end && x + width <= canvas.width();
    if let Some(x) = [line, end + 1].into_iter().find(fits) {
        canvas.put((x, y), &limit, Style::new());
    }
}

fn map(canvas: &mut Canvas<'_>, y: usize, pane: &Pane<'_>) {
    let messages = pane.mirror.context.len();
    let said = texts::count(messages, "msg", "msgs");
    let said = match pane.mirror.counts.snipped {
        0 => format!("   {said}"),
        snipped => format!("   {said}, {} snipped", thousands(snipped)),
    };
    let room = canvas.width().saturating_sub(text::cells(&said));
    let window = messages::letters(canvas, (room, y), pane.mirror, pane.look);
    canvas.put((window.end(), y), &said, Style::new());
}

fn stages(canvas: &mut Canvas<'_>, y: usize, pane: &Pane<'_>) {
    let figures = ROWS.map(|stage| {
        let fired = pane.mirror.run.check(stage).fired.as_ref();
        fired.map_or_else(String::new, |fired| {
            let figure = texts::change(fired.change());
            format!(" {}", pane.look.words(&figure))
        })
    });
    let names = ROWS.map(name);
    let gap = 2;
    let bare: usize = ROWS
        .iter()
        .zip(&names)
        .map(|(stage, name)| text::cells(name) + 1 + text::cells(pane.lamp(*stage).0) + gap)
        .sum();
    let mut figures = figures.to_vec();
    // The figures of the first stages go where cells run out.
    for at in 0..figures.len() {
        let all: usize = figures.iter().map(|figure| text::cells(figure)).sum();
        if bare - gap + all <= canvas.width() {
            break;
        }
        figures[at].clear();
    }
    let mut x = 0;
    for ((stage, name), figure) in ROWS.iter().zip(&names).zip(&figures) {
        let (lamp, style) = pane.lamp(*stage);
        x = canvas.put((x, y), name, Style::new()) + 1;
        x = canvas.put((x, y), lamp, style);
        x = canvas.put((x, y), figure, Style::new()) + gap;
    }
}

/// `1budget`, `fit`, `R`: as short as it can be told apart.
fn name(stage: Stage) -> String {
    match stage {
        Stage::ToolResultBudget
        | Stage::SnipCompact
        | Stage::MicroCompact
        | Stage::CompactHistory => format!("{}{}", pipeline::sign(stage), short(stage)),
        Stage::FitResults => short(stage).to_owned(),
        Stage::ReactiveCompact => pipeline::sign(stage).to_string(),
    }
}
