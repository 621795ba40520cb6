//! Why: what the stages before the newest call did, in sentences, and on the last row what will happen next.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::text;
use crate::tui::texts::{self, Caption};

use super::paint::{Canvas, Pane};

/// Draws the pane.
pub(crate) fn render(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    let mut canvas = pane.framed("Why", area, buf);
    body(&mut canvas, pane);
}

/// Draws the sentences without a frame.
pub(super) fn body(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let look = pane.look;
    let (width, height) = (canvas.width(), canvas.height());
    if width == 0 || height == 0 {
        return;
    }
    let next = (height > 1).then(|| texts::next(pane.mirror)).flatten();
    let rows = height - usize::from(next.is_some());
    let mut caption = texts::caption(pane.mirror);
    for sentence in caption.lead.iter_mut().chain(&mut caption.sentences) {
        *sentence = look.words(sentence).into_owned();
    }
    for (y, line) in fit(caption, (width, rows), look.dots()).iter().enumerate() {
        canvas.put((0, y), line, Style::new());
    }
    if let Some(next) = next {
        let next = look.words(&next).into_owned();
        let line = shorten(&next, width, look.dots());
        canvas.put((0, height - 1), &line, Style::new());
    }
}

/// The caption in at most `rows` lines: the lead goes first, then the second sentence, then the next; the rest is cut.
fn fit(caption: Caption, (width, rows): (usize, usize), dots: &str) -> Vec<String> {
    let Caption { lead, sentences } = caption;
    let mut kept: Vec<String> = lead.iter().cloned().chain(sentences).collect();
    let mut lead = lead.is_some();
    loop {
        let mut lines = text::wrap(&kept.join(" "), width);
        if lines.len() <= rows {
            return lines;
        }
        if kept.len() < 2 {
            lines.truncate(rows);
            if let Some(last) = lines.last_mut() {
                // A mark has to follow although the line itself may fit.
                let room = width.saturating_sub(text::cells(dots));
                *last = format!("{}{dots}", text::head(last, room).trim_end());
            }
            return lines;
        }
        kept.remove(usize::from(!lead));
        lead = false;
    }
}

/// A line of parts set apart by `; `: whole parts go from its end before any is cut.
fn shorten(line: &str, width: usize, dots: &str) -> String {
    let mut kept = line;
    while text::cells(kept) > width {
        match kept.rfind("; ") {
            Some(at) => kept = &kept[..at],
            None => return text::cut(kept, width, dots).into_owned(),
        }
    }
    kept.to_owned()
}
