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
    let parts: Vec<[String; 2]> = texts::next(pane.mirror)
        .into_iter()
        .map(|part| part.map(|form| look.words(&form).into_owned()))
        .collect();
    let reserved = usize::from(!next(&parts, (width, 1)).is_empty()).min(height - 1);
    let mut caption = texts::caption(pane.mirror);
    let all = caption.lead.iter_mut().chain(&mut caption.sentences);
    for sentence in all.chain(&mut caption.aside) {
        *sentence = look.words(sentence).into_owned();
    }
    // What comes next has the last row, unless the first sentence would be cut for it.
    let lines = fit(caption.clone(), (width, height - reserved))
        .or_else(|| fit(caption.clone(), (width, height)))
        .unwrap_or_else(|| cut(&caption, (width, height), look.dots()));
    for (y, line) in lines.iter().enumerate() {
        canvas.put((0, y), line, Style::new());
    }
    // What the caption leaves free is for what comes next.
    let rows = (height - lines.len()).min(2);
    let next = next(&parts, (width, rows));
    for (at, line) in next.iter().enumerate() {
        canvas.put((0, height - next.len() + at), line, Style::new());
    }
}

/// The caption in at most `rows` lines; `None` where not even its first sentence fits.
///
/// What has to go: the aside, the lead, then the second sentence, and the next that takes its place.
fn fit(caption: Caption, (width, rows): (usize, usize)) -> Option<Vec<String>> {
    let lead = caption.lead.is_some();
    let mut kept: Vec<String> = caption.lead.into_iter().chain(caption.sentences).collect();
    let aside = caption.aside.map(|aside| {
        kept.push(aside);
        kept.len() - 1
    });
    let mut going = aside.into_iter().chain(lead.then_some(0));
    loop {
        let lines = text::wrap(&kept.join(" "), width);
        if lines.len() <= rows {
            return Some(lines);
        }
        if kept.len() < 2 {
            return None;
        }
        kept.remove(going.next().unwrap_or(1));
    }
}

/// The first sentence, as much of it as fits.
fn cut(caption: &Caption, (width, rows): (usize, usize), dots: &str) -> Vec<String> {
    let first = caption.sentences.first().map_or("", String::as_str);
    let mut lines = text::wrap(first, width);
    lines.truncate(rows);
    if let Some(last) = lines.last_mut() {
        // The mark has to stand there although the line itself fits.
        let room = width.saturating_sub(text::cells(dots));
        *last = format!("{}{dots}", text::head(last, room).trim_end());
    }
    lines
}

/// `Next: …` in at most `rows` lines: the parts that fit, the long form before the short one.
fn next(parts: &[[String; 2]], (width, rows): (usize, usize)) -> Vec<String> {
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for part in parts {
        let fitting = part.iter().find_map(|form| {
            let all = [&kept[..], &[form.as_str()]].concat().join("; ");
            let wrapped = text::wrap(&format!("Next: {all}."), width);
            (wrapped.len() <= rows).then_some((form, wrapped))
        });
        if let Some((form, wrapped)) = fitting {
            kept.push(form);
            lines = wrapped;
        }
    }
    lines
}
