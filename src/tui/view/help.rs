//! The help: every key and command, made from the tables that the program itself reads.

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;

use super::layout::centred;
use super::paint::Canvas;
use super::{framed, over};
use crate::tui::app::{App, COMMANDS, Offer};
use crate::tui::keys::{Place, TABLE};
use crate::tui::text::{pad, wrap};
use crate::tui::theme::Look;

/// Cells of the column of keys.
const KEYS: usize = 20;
/// Under this many cells what a key does stands below it.
const ROOMY: usize = 60;
const SIZE: Size = Size::new(78, 60);

/// Draws the help from `row` on, over whatever is there.
pub(super) fn draw(app: &App, row: usize, area: Rect, buf: &mut Buffer) {
    let width = SIZE.width.min(area.width);
    let lines = lines(app.look, &app.offers, usize::from(width.saturating_sub(4)));
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let size = Size::new(width, SIZE.height.min(rows.saturating_add(2)));
    let area = centred(area, size);
    let mut canvas = framed(&over(app), "Help   arrows scroll, others close", area, buf);
    let first = row.min(lines.len().saturating_sub(canvas.height()));
    for (y, (text, style)) in lines.iter().skip(first).take(canvas.height()).enumerate() {
        put(&mut canvas, y, text, *style);
    }
}

fn put(canvas: &mut Canvas<'_>, y: usize, text: &str, style: Style) {
    canvas.put((1, y), text, style);
}

fn lines(look: Look, offers: &[Offer], width: usize) -> Vec<(String, Style)> {
    let mut lines = Vec::new();
    for place in [Place::Everywhere, Place::Input, Place::Pane, Place::Dialog] {
        lines.push((place.title().to_owned(), look.strong()));
        let rows = TABLE.iter().filter(|binding| binding.place == place);
        for binding in rows.filter(|binding| !binding.does.is_empty()) {
            // Two names are enough; the rest are what other programs call the same.
            let mut keys: Vec<String> = binding.keys.iter().map(|chord| chord.name()).collect();
            keys.dedup();
            keys.truncate(2);
            lines.extend(rows_of(&keys.join(", "), binding.does, width));
        }
    }
    lines.push(("Commands".to_owned(), look.strong()));
    for (name, argument, does) in COMMANDS {
        lines.extend(rows_of(&format!("{name} {argument}"), does, width));
    }
    for (name, does) in offers.iter().map(|offer| offer.row()) {
        lines.extend(rows_of(name, does, width));
    }
    lines
}

/// Keys in a column of their own and what they do beside it; below it where there is little room.
fn rows_of(keys: &str, does: &str, width: usize) -> Vec<(String, Style)> {
    let (mut rows, indent) = if width < ROOMY {
        (vec![format!("  {keys}")], 4)
    } else {
        (Vec::new(), KEYS + 3)
    };
    for row in wrap(does, width.saturating_sub(indent)) {
        let front = if rows.is_empty() {
            format!("  {} ", pad(keys, KEYS, ""))
        } else {
            " ".repeat(indent)
        };
        rows.push(front + &row);
    }
    rows.into_iter().map(|row| (row, Style::new())).collect()
}
