//! The load: how full the context is, with the line in it and what it is full of. All figures are `estimate_size`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::context::Kind;
use crate::text::thousands;
use crate::tui::mirror::Mirror;
use crate::tui::text;
use crate::tui::theme::{Color, Glyphs, Level, Look};

use super::paint::{Canvas, Pane};

/// Draws the pane.
pub(crate) fn render(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    let mut canvas = pane.framed("Load   estimate_size(messages), characters", area, buf);
    let (mirror, look) = (pane.mirror, pane.look);
    let height = canvas.height();
    let end = figures(&mut canvas, (0, 0), mirror, look);
    if let Some(before) = before(mirror) {
        canvas.put_right((end, 0), &before, 2);
    }
    let columns = canvas.width();
    bar(&mut canvas, (0, 1), columns, pane);
    // The scale gives way to the kinds where there is room for only one of them.
    let legend_at = if height >= 4 { 3 } else { 2 };
    if height >= 4 {
        scale(&mut canvas, 2, pane);
    }
    match height.saturating_sub(legend_at) {
        0 => {}
        1 | 2 => {
            legend_row(&mut canvas, (0, legend_at), mirror, look);
        }
        3 => legend(&mut canvas, legend_at, pane, &SHORT),
        _ => legend(&mut canvas, legend_at, pane, &LONG),
    }
}

/// Writes the load, the limit and where the one stands to the other; hands out the column behind it.
pub(super) fn figures(
    canvas: &mut Canvas<'_>,
    at: (usize, usize),
    mirror: &Mirror,
    look: Look,
) -> usize {
    let limit = mirror.limit();
    let level = mirror.level();
    let text = level_text(mirror.load(), limit, level);
    canvas.put(at, &text, look.level(level))
}

/// `37,030 / 50,000  74%  room 12,970`: percent rounded down, near and over in words.
pub(super) fn level_text(load: Option<usize>, limit: usize, level: Level) -> String {
    let Some(load) = load else {
        return format!("- / {}", thousands(limit));
    };
    let percent = load.saturating_mul(100) / limit.max(1);
    let state = match level {
        Level::Unknown => String::new(),
        Level::Under => format!("room {}", thousands(limit.saturating_sub(load))),
        Level::Near => format!("NEAR  room {}", thousands(limit.saturating_sub(load))),
        Level::Over => format!("OVER by {}", thousands(load.saturating_sub(limit))),
    };
    format!(
        "{} / {}  {percent}%  {state}",
        thousands(load),
        thousands(limit)
    )
}

fn before(mirror: &Mirror) -> Option<String> {
    let (before, after) = (mirror.run.before?, mirror.run.after?);
    (before != after).then(|| format!("before {}", thousands(before)))
}

/// Draws the bar over `width` cells: 0 to 1.2 times the limit.
pub(super) fn bar(canvas: &mut Canvas<'_>, at: (usize, usize), width: usize, pane: &Pane<'_>) {
    let look = pane.look;
    let (x, y) = at;
    let bar = Bar::of(&pane.mirror.context.by_kind(), pane.mirror.limit(), width);
    for (at, cell) in bar.cells.iter().enumerate() {
        let (glyph, style) = match cell {
            Slot::Line => (look.line(), look.strong()),
            Slot::Beyond => (look.beyond(), look.strong()),
            Slot::Room => (look.room(), Style::new()),
            Slot::Behind => (" ", Style::new()),
            Slot::Filled(kind) => (look.fill(*kind), look.kind(*kind)),
        };
        canvas.put((x + at, y), glyph, style);
    }
    if look.glyphs == Glyphs::Unicode && look.color == Color::Ansi {
        let mut letter = [0; 4];
        for (at, kind) in bar.letters() {
            let letter = kind.letter().encode_utf8(&mut letter);
            canvas.put((x + at, y), letter, look.kind_letter(kind));
        }
    }
}

/// The scale below the bar: 0, what is not counted, and the limit below the line.
fn scale(canvas: &mut Canvas<'_>, y: usize, pane: &Pane<'_>) {
    let look = pane.look;
    let end = canvas.put((0, y), "0", Style::new());
    let limit = format!("{} {}", thousands(pane.mirror.limit()), look.disc());
    let right = line_at(canvas.width()) + text::cells(look.disc()).div_ceil(2);
    let start = right
        .min(canvas.width())
        .saturating_sub(text::cells(&limit));
    if start > end {
        canvas.put((start, y), &limit, Style::new());
    }
    let Some(session) = &pane.mirror.session else {
        return;
    };
    let uncounted = thousands(session.system_chars + session.tools_chars);
    let notes = [
        format!("(+{uncounted} system+tools, not counted)"),
        format!("(+{uncounted} not counted)"),
    ];
    if let Some(note) = notes
        .iter()
        .find(|note| end + 2 + text::cells(note) < start)
    {
        canvas.put((end + 2, y), note, Style::new());
    }
}

/// The names of the kinds, in stack order.
const LONG: [&str; 8] = [
    "summary",
    "user",
    "assistant",
    "tool calls",
    "tool results",
    "previews",
    "placeholders",
    "JSON frame",
];
/// The same where three stand in a row.
const SHORT: [&str; 8] = [
    "summary", "user", "asst", "calls", "results", "preview", "notes", "JSON",
];

fn legend(canvas: &mut Canvas<'_>, top: usize, pane: &Pane<'_>, names: &[&str; 8]) {
    let columns = if names == &LONG { 2 } else { 3 };
    let width = canvas.width() / columns;
    let sizes = pane.mirror.context.by_kind();
    for (at, (kind, name)) in Kind::ALL.into_iter().zip(names).enumerate() {
        let (x, y) = (at % columns * width, top + at / columns);
        let key = key(pane.look, kind);
        let behind = canvas.put((x, y), &key, pane.look.kind(kind));
        let said = format!(" {name} {}", thousands(sizes[at]));
        let room = (x + width).saturating_sub(behind + 1);
        let said = text::cut(&said, room, pane.look.dots());
        canvas.put((behind, y), &said, Style::new());
    }
}

/// Fill and letter of a kind; where the letter is the fill, once.
fn key(look: Look, kind: Kind) -> String {
    let fill = look.fill(kind);
    let letter = kind.letter();
    if fill.chars().eq([letter]) {
        fill.to_owned()
    } else {
        format!("{fill}{letter}")
    }
}

/// The kinds that are there, in one row; hands out the column behind them.
pub(super) fn legend_row(
    canvas: &mut Canvas<'_>,
    (mut x, y): (usize, usize),
    mirror: &Mirror,
    look: Look,
) -> usize {
    let mut letter = [0; 4];
    for (kind, size) in Kind::ALL.into_iter().zip(mirror.context.by_kind()) {
        if size == 0 {
            continue;
        }
        let figure = format!(" {}  ", thousands(size));
        if x + 1 + text::cells(figure.trim_end()) > canvas.width() {
            break;
        }
        let letter = kind.letter().encode_utf8(&mut letter);
        x = canvas.put((x, y), letter, look.kind(kind));
        x = canvas.put((x, y), &figure, Style::new());
    }
    x
}

/// The column of the line in a bar of `width` cells: at 5/6, rounded.
pub(super) fn line_at(width: usize) -> usize {
    (width * 5 + 3) / 6
}

/// A cell of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// Full of a kind.
    Filled(Kind),
    /// The line.
    Line,
    /// There is more than the bar can show.
    Beyond,
    /// Empty, below the line.
    Room,
    /// Empty, above the line.
    Behind,
}

/// A bar, cell by cell.
#[derive(Debug, PartialEq, Eq)]
struct Bar {
    cells: Vec<Slot>,
}

impl Bar {
    fn of(sizes: &[usize; 8], limit: usize, width: usize) -> Self {
        let sum: u128 = sizes.iter().map(|size| *size as u128).sum();
        let beyond = sum * 5 > limit.max(1) as u128 * 6;
        let room = width - usize::from(beyond && width > 0);
        let counts = counts(sizes, limit, (width, room));
        let line = line_at(width);
        let mut cells: Vec<Slot> = Kind::ALL
            .into_iter()
            .zip(counts)
            .flat_map(|(kind, cells)| std::iter::repeat_n(Slot::Filled(kind), cells))
            .collect();
        while cells.len() < room {
            let empty = if cells.len() < line {
                Slot::Room
            } else {
                Slot::Behind
            };
            cells.push(empty);
        }
        if room < width {
            cells.push(Slot::Beyond);
        }
        let mut bar = Self { cells };
        bar.draw_line(line);
        bar
    }

    /// Puts the line over what is there. A kind whose only cell that was moves aside, at the cost of the largest.
    fn draw_line(&mut self, line: usize) {
        let Some(under) = self.cells.get(line).copied() else {
            return;
        };
        self.cells[line] = Slot::Line;
        let Slot::Filled(kind) = under else { return };
        if self.count(kind) > 0 {
            return;
        }
        if let Some(free @ (Slot::Room | Slot::Behind)) = self.cells.get_mut(line + 1) {
            *free = under;
            return;
        }
        let largest = Kind::ALL
            .into_iter()
            .max_by_key(|kind| self.count(*kind))
            .filter(|kind| self.count(*kind) > 1)
            .and_then(|kind| {
                self.cells
                    .iter()
                    .position(|cell| *cell == Slot::Filled(kind))
            });
        if let Some(from) = largest {
            self.cells.remove(from);
            // The line stays where it is, whichever side gave the cell.
            let beside = if from < line { line - 1 } else { line + 1 };
            self.cells.insert(beside, under);
        }
    }

    fn count(&self, kind: Kind) -> usize {
        self.cells
            .iter()
            .filter(|cell| **cell == Slot::Filled(kind))
            .count()
    }

    /// Where letters stand: at the first cell of each kind that has two or more side by side.
    fn letters(&self) -> impl Iterator<Item = (usize, Kind)> {
        Kind::ALL.into_iter().filter_map(|kind| {
            let filled = Slot::Filled(kind);
            let at = self
                .cells
                .windows(2)
                .position(|pair| pair == [filled, filled])?;
            Some((at, kind))
        })
    }
}

/// How many of `room` cells each kind gets, where a bar of `width` cells stands for 1.2 times `limit`.
///
/// Cell edges are rounded along the stack, so that rounding never adds up. A kind that is there gets a cell, and what is
/// too much goes, at the cost of the largest.
fn counts(sizes: &[usize; 8], limit: usize, (width, room): (usize, usize)) -> [usize; 8] {
    let scale = limit.max(1) as u128 * 12;
    let mut counts = [0; 8];
    let (mut sum, mut edge) = (0_u128, 0);
    for (at, size) in sizes.iter().enumerate() {
        sum += *size as u128;
        let next = (sum * width as u128 * 20 + scale) / (scale * 2);
        let next = usize::try_from(next).unwrap_or(usize::MAX);
        counts[at] = next - edge;
        edge = next;
    }
    for at in 0..8 {
        if sizes[at] > 0 && counts[at] == 0 {
            counts[at] = 1;
            let largest = largest(&counts);
            if counts[largest] > 1 {
                counts[largest] -= 1;
            }
        }
    }
    for count in &mut counts {
        *count = (*count).min(room);
    }
    let mut excess = counts.iter().sum::<usize>().saturating_sub(room);
    while excess > 0 {
        let largest = largest(&counts);
        let second = (0..8)
            .filter(|at| *at != largest)
            .map(|at| counts[at])
            .max()
            .unwrap_or(0);
        let take = excess.min((counts[largest] - second).max(1));
        counts[largest] -= take;
        excess -= take;
    }
    counts
}

/// The largest count; of equal ones the last, so that in a bar of few cells the frame gives way first.
fn largest(counts: &[usize; 8]) -> usize {
    (0..8).max_by_key(|at| counts[*at]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 50_000;

    fn filled(bar: &Bar, kind: Kind) -> usize {
        bar.count(kind)
    }

    #[test]
    fn the_line_is_at_five_sixths_at_any_width_and_load() {
        for width in 20..=200 {
            let at = (width as f64 / 1.2).round();
            for load in [
                0,
                1,
                37_030,
                50_000,
                50_001,
                62_449,
                171_096,
                10_usize.pow(9),
            ] {
                let bar = Bar::of(&[0, 0, load, 0, 0, 0, 0, 0], LIMIT, width);
                assert_eq!(bar.cells.len(), width);
                let lines: Vec<usize> = (0..width)
                    .filter(|cell| bar.cells[*cell] == Slot::Line)
                    .collect();
                assert_eq!(lines.len(), 1);
                assert!((lines[0] as f64 - at).abs() < 0.1, "{width}: {lines:?}");
            }
        }
    }

    #[test]
    fn cells_are_proportional() {
        for width in 20..=200 {
            for load in (1_000..=60_000).step_by(997) {
                let bar = Bar::of(&[0, 0, load / 3, 0, load - load / 3, 0, 0, 0], LIMIT, width);
                let exact = load as f64 * width as f64 / 60_000.0;
                let kinds: usize = Kind::ALL.iter().map(|kind| filled(&bar, *kind)).sum();
                // The line stands in front of one cell of a load that reaches beyond it.
                let hidden = usize::from(exact.round() > line_at(width) as f64);
                let off = ((kinds + hidden) as f64 - exact).abs();
                // Two kinds have two cells, however small they are.
                let slack = if exact < 3.0 { 2.0 } else { 0.5001 };
                assert!(off <= slack, "{width}, {load}: {off}");
            }
        }
    }

    #[test]
    fn what_is_there_gets_a_cell_and_what_is_not_gets_none() {
        let mixes = [
            [3_249, 312, 5_530, 12_419, 7_548, 0, 1_270, 6_702],
            [1, 1, 1, 1, 49_000, 1, 1, 1],
            [1, 1, 1, 1, 1, 1, 1, 1],
            [1, 1, 1, 1, 900_000, 1, 1, 1],
            [0, 2, 0, 49_990, 0, 4, 0, 4],
            [0, 60, 0, 0, 0, 0, 49_940, 20],
            [50_000, 50_000, 50_000, 50_000, 1, 50_000, 50_000, 50_000],
        ];
        for sizes in mixes {
            for width in 20..=200 {
                let bar = Bar::of(&sizes, LIMIT, width);
                for (kind, size) in Kind::ALL.into_iter().zip(sizes) {
                    assert_eq!(
                        filled(&bar, kind) > 0,
                        size > 0,
                        "{width}: {kind:?} of {sizes:?} in {:?}",
                        bar.cells
                    );
                }
            }
        }
    }

    #[test]
    fn a_load_beyond_the_bar_ends_in_its_sign() {
        let last = |load| {
            let bar = Bar::of(&[0, 0, 0, 0, load, 0, 0, 0], LIMIT, 60);
            bar.cells.last().copied()
        };
        assert_eq!(last(60_000), Some(Slot::Filled(Kind::Results)));
        assert_eq!(last(60_001), Some(Slot::Beyond));
        assert_eq!(last(49_000), Some(Slot::Behind));
    }

    #[test]
    fn the_smallest_bars_and_limits_hold() {
        for width in 0..20 {
            for limit in [0, 1, 50_000] {
                for load in [0, 1, 50_000, usize::MAX / 16] {
                    let bar = Bar::of(&[load; 8], limit, width);
                    assert_eq!(bar.cells.len(), width);
                }
            }
        }
    }

    #[test]
    fn states_are_told_in_words_and_percent_is_rounded_down() {
        let said = |load| {
            let level = Level::of(load, LIMIT);
            (level, level_text(load, LIMIT, level))
        };
        let text = |level, text: &str| (level, text.to_owned());
        assert_eq!(
            said(Some(37_030)),
            text(Level::Under, "37,030 / 50,000  74%  room 12,970")
        );
        assert_eq!(
            said(Some(39_999)),
            text(Level::Under, "39,999 / 50,000  79%  room 10,001")
        );
        assert_eq!(
            said(Some(43_800)),
            text(Level::Near, "43,800 / 50,000  87%  NEAR  room 6,200")
        );
        assert_eq!(
            said(Some(50_000)),
            text(Level::Near, "50,000 / 50,000  100%  NEAR  room 0")
        );
        assert_eq!(
            said(Some(50_001)),
            text(Level::Over, "50,001 / 50,000  100%  OVER by 1")
        );
        assert_eq!(
            said(Some(62_449)),
            text(Level::Over, "62,449 / 50,000  124%  OVER by 12,449")
        );
        assert_eq!(said(None), text(Level::Unknown, "- / 50,000"));
    }

    #[test]
    fn a_limit_that_moves_moves_the_state_at_the_same_size() {
        let at = |limit| Level::of(Some(30_000), limit);
        assert_eq!(
            [at(29_999), at(30_000), at(30_001)],
            [Level::Over, Level::Near, Level::Near]
        );
    }
}
