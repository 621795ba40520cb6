//! Writing into a part of the screen: clipped at any size, in cells, with the frame that panes share.
//!
//! No widget of ratatui that panics outside its area is used; what does not fit is left out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Widget};

use crate::context::Stage;
use crate::tui::app::Lit;
use crate::tui::mirror::Mirror;
use crate::tui::text;
use crate::tui::theme::{Focus, Lamp, Look};

/// What a pane draws from, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pane<'a> {
    /// What is known of the run.
    pub(crate) mirror: &'a Mirror,
    /// How the program draws.
    pub(crate) look: Look,
    /// Which lamps are lit.
    pub(crate) lit: Lit,
    /// Whether keys go to this pane.
    pub(crate) focus: Focus,
    /// Rows that are scrolled out, where a pane holds more than it can show.
    pub(crate) skip: usize,
}

impl Pane<'_> {
    /// The lamp of a stage as it is shown now: its glyph and its style.
    pub(crate) fn lamp(&self, stage: Stage) -> (&'static str, Style) {
        let lamp = if self.lit.waits(stage) {
            Lamp::Waiting
        } else {
            self.mirror.run.check(stage).lamp
        };
        let style = self.look.lamp_style(lamp);
        let style = if self.lit.out() {
            style.remove_modifier(Modifier::REVERSED)
        } else {
            style
        };
        (self.look.lamp(lamp), style)
    }

    /// Draws the frame with `title` and hands out what is inside.
    pub(crate) fn framed<'b>(&self, title: &str, area: Rect, buf: &'b mut Buffer) -> Canvas<'b> {
        let area = area.intersection(buf.area);
        let room = usize::from(area.width).saturating_sub(2);
        let title = format!(" {} ", self.look.words(title));
        let block = Block::bordered()
            .border_set(self.look.border(self.focus))
            .border_style(self.look.border_style(self.focus))
            .title(Line::raw(text::cut(&title, room, self.look.dots())));
        let inner = block.inner(area);
        block.render(area, buf);
        Canvas::new(inner, buf)
    }
}

/// A part of the screen with its own coordinates, from 0.
#[derive(Debug)]
pub(crate) struct Canvas<'b> {
    area: Rect,
    buf: &'b mut Buffer,
}

impl<'b> Canvas<'b> {
    /// The part of `area` that is on the screen.
    pub(crate) fn new(area: Rect, buf: &'b mut Buffer) -> Self {
        Self {
            area: area.intersection(buf.area),
            buf,
        }
    }

    /// Cells in a row.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    /// Rows.
    pub(crate) fn height(&self) -> usize {
        usize::from(self.area.height)
    }

    /// Writes `text` from column `x` of row `y` on, as far as it fits; hands out the column behind it.
    pub(crate) fn put(&mut self, (x, y): (usize, usize), text: &str, style: Style) -> usize {
        let end = x + text::cells(text);
        let room = self.width().saturating_sub(x);
        let (Ok(dx), Ok(dy)) = (u16::try_from(x), u16::try_from(y)) else {
            return end;
        };
        if room > 0 && y < self.height() {
            let at = (self.area.x + dx, self.area.y + dy);
            self.buf.set_stringn(at.0, at.1, text, room, style);
        }
        end
    }

    /// Writes `text` so that it ends at the right edge, if at least `gap` cells stay free behind column `x`.
    pub(crate) fn put_right(&mut self, (x, y): (usize, usize), text: &str, gap: usize) {
        let start = self.width().saturating_sub(text::cells(text));
        if start >= x + gap {
            self.put((start, y), text, Style::new());
        }
    }
}
