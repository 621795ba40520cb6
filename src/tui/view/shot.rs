//! A drawn part of the screen as text, and its styles as a second grid of letters.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
#[cfg(test)]
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

/// What `draw` puts on a screen of that size.
#[cfg(test)]
pub(crate) fn drawn((width, height): (u16, u16), draw: impl FnOnce(Rect, &mut Buffer)) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    draw(area, &mut buf);
    buf
}

/// The text, row by row.
#[cfg(test)]
pub(crate) fn text(buf: &Buffer) -> String {
    grid(buf, |cell| cell.symbol().to_owned())
}

/// The text, and below it the styles of the rows: `.` plain, `g b y c r` a colour, capitals bold; digits are reversed
/// (0 without a colour, 1 to 5 with one), `@` and more reversed and bold.
#[cfg(test)]
pub(crate) fn styled(buf: &Buffer) -> String {
    format!("{}\n\n{}", text(buf), styles(buf))
}

/// The styles alone.
pub(crate) fn styles(buf: &Buffer) -> String {
    grid(buf, |cell| style_letter(cell).to_string())
}

fn grid(buf: &Buffer, of: impl Fn(&Cell) -> String) -> String {
    let mut out = String::new();
    for y in buf.area.top()..buf.area.bottom() {
        let row: String = (buf.area.left()..buf.area.right())
            .filter_map(|x| buf.cell((x, y)))
            .map(&of)
            .collect();
        let _ = writeln!(out, "{}", row.trim_end());
    }
    out
}

fn style_letter(cell: &Cell) -> char {
    let at = match cell.fg {
        Color::Reset => 0,
        Color::Green => 1,
        Color::LightBlue => 2,
        Color::Yellow => 3,
        Color::Cyan => 4,
        Color::LightRed => 5,
        other => panic!("a colour that cannot be seen everywhere: {other:?}"),
    };
    assert_eq!(cell.bg, Color::Reset, "no backgrounds");
    let bold = cell.modifier.contains(Modifier::BOLD);
    let letters = match (cell.modifier.contains(Modifier::REVERSED), bold) {
        (false, false) => ".gbycr",
        (false, true) => "*GBYCR",
        (true, false) => "012345",
        (true, true) => "@6789&",
    };
    letters.chars().nth(at).unwrap_or('?')
}
