//! The help: every key and command, made from the tables that the program itself reads.

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;

use super::layout::centred;
use super::paint::Canvas;
use super::{framed, over};
use crate::tui::app::{App, COMMANDS, Offer};
use crate::tui::keys::{Place, TABLE};
use crate::tui::text::pad;
use crate::tui::theme::Look;

/// Cells of the column of keys.
const KEYS: usize = 20;
const SIZE: Size = Size::new(78, 60);

/// Draws the help from `row` on, over whatever is there.
pub(super) fn draw(app: &App, row: usize, area: Rect, buf: &mut Buffer) {
    let lines = lines(app.look, &app.offers);
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let size = Size::new(SIZE.width, SIZE.height.min(rows.saturating_add(2)));
    let area = centred(area, size);
    let mut canvas = framed(
        &over(app),
        "Help   arrows scroll, any other key closes",
        area,
        buf,
    );
    let first = row.min(lines.len().saturating_sub(canvas.height()));
    for (y, (text, style)) in lines.iter().skip(first).take(canvas.height()).enumerate() {
        put(&mut canvas, y, text, *style);
    }
}

fn put(canvas: &mut Canvas<'_>, y: usize, text: &str, style: Style) {
    canvas.put((1, y), text, style);
}

fn lines(look: Look, offers: &[Offer]) -> Vec<(String, Style)> {
    let mut lines = Vec::new();
    for place in [Place::Everywhere, Place::Input, Place::Pane, Place::Dialog] {
        lines.push((place.title().to_owned(), look.strong()));
        let rows = TABLE.iter().filter(|binding| binding.place == place);
        for binding in rows.filter(|binding| !binding.does.is_empty()) {
            // Two names are enough; the rest are what other programs call the same.
            let mut keys: Vec<String> = binding.keys.iter().map(|chord| chord.name()).collect();
            keys.dedup();
            keys.truncate(2);
            lines.push((row(&keys.join(", "), binding.does), Style::new()));
        }
    }
    lines.push(("Commands".to_owned(), look.strong()));
    for (name, argument, does) in COMMANDS {
        lines.push((row(&format!("{name} {argument}"), does), Style::new()));
    }
    for (name, does) in offers.iter().map(|offer| offer.row()) {
        lines.push((row(name, does), Style::new()));
    }
    lines
}

fn row(keys: &str, does: &str) -> String {
    format!("  {} {does}", pad(keys, KEYS, ""))
}
