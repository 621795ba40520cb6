//! A permission question: what exactly will run or change, where, and the answers.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use serde_json::Value;

use super::paint::Canvas;
use super::{framed, over};
use crate::text::{clean, clean_line, thousands};
use crate::tui::app::{App, Ask, Choice};
use crate::tui::text::{cells, cut, wrap};
use crate::tui::texts::count;
use crate::tui::theme::Look;

/// Lines of an old or new text that are wrapped: more would not be read here.
const LINES: usize = 200;

/// Draws the shown question over the end of `area`.
pub(super) fn draw(app: &App, ask: &Ask, area: Rect, frame: &mut Frame<'_>) {
    let width = usize::from(area.width.saturating_sub(4));
    let body = body(app, ask, width);
    let wanted = u16::try_from(body.len() + 4).unwrap_or(u16::MAX);
    let height = wanted.min(area.height);
    let place = Rect {
        y: area.bottom().saturating_sub(height),
        height,
        ..area
    };
    let behind = match app.asks.behind() {
        0 => String::new(),
        n => format!("   {n} more behind"),
    };
    let title = format!("May the model use {}?{behind}", clean_line(&ask.tool));
    let mut canvas = framed(&over(app), &title, place, frame.buffer_mut());
    let rows = canvas.height();
    let answers = rows.saturating_sub(1);
    let shown = answers.saturating_sub(usize::from(answers > 2));
    let first = ask.scroll.min(body.len().saturating_sub(shown));
    for (y, (text, style)) in body.iter().skip(first).take(shown).enumerate() {
        canvas.put((1, y), text, *style);
    }
    let below = body.len().saturating_sub(first + shown);
    if below > 0 {
        let more = format!("{} more, Down scrolls", count(below, "line", "lines"));
        canvas.put_right((0, shown), &more, 0);
    }
    let cursor = draw_answers(app, ask, &mut canvas, answers);
    if let Some(x) = cursor {
        let at = Position::new(
            place
                .x
                .saturating_add(1 + x)
                .min(place.right().saturating_sub(2)),
            place.bottom().saturating_sub(2),
        );
        if frame.area().contains(at) {
            frame.set_cursor_position(at);
        }
    }
}

/// Draws the row of answers, or the reason that is being written; the column of the cursor in it.
fn draw_answers(app: &App, ask: &Ask, canvas: &mut Canvas<'_>, y: usize) -> Option<u16> {
    let look = app.look;
    if let Some(because) = &ask.because {
        let end = canvas.put((1, y), "No, because: ", look.strong());
        let room = canvas.width().saturating_sub(end + 1);
        // The end of the reason is what is being written.
        let mut start = 0;
        while cells(&because[start..]) > room {
            start += because[start..].chars().next().map_or(1, char::len_utf8);
        }
        let end = canvas.put((end, y), &because[start..], Style::new());
        return u16::try_from(end).ok();
    }
    let letters = app.asks.hears(app.now) && app.prompt.is_empty();
    let mut x = 1;
    for choice in Choice::ALL {
        let text = if letters {
            format!(" {} {} ", choice.letter(), choice.words())
        } else {
            format!("   {} ", choice.words())
        };
        let style = if choice == ask.choice {
            look.selection()
        } else {
            Style::new()
        };
        x = canvas.put((x, y), &text, style) + 1;
    }
    canvas.put_right((x, y), "arrows, Enter", 1);
    None
}

fn body(app: &App, ask: &Ask, width: usize) -> Vec<(String, Style)> {
    let look = app.look;
    let mut lines = Lines {
        look,
        width: width.max(1),
        rows: Vec::new(),
    };
    let text = |key: &str| ask.input.get(key).and_then(Value::as_str);
    match ask.tool.as_str() {
        "bash" => lines.block(text("command").unwrap_or_default(), "$ ", look.strong()),
        "write_file" => {
            let content = text("content").unwrap_or_default();
            lines.named("file", text("path").unwrap_or_default());
            let chars = content.chars().count();
            let many = content.lines().count();
            lines.named(
                "writes",
                &format!(
                    "{}, {}",
                    count(many, "line", "lines"),
                    count(chars, "character", "characters")
                ),
            );
            lines.block(content, "+ ", look.added());
        }
        "edit_file" => {
            lines.named("file", text("path").unwrap_or_default());
            if ask.input.get("replace_all").and_then(Value::as_bool) == Some(true) {
                lines.named("where", "everywhere in the file");
            }
            lines.block(text("old_text").unwrap_or_default(), "- ", look.removed());
            lines.block(text("new_text").unwrap_or_default(), "+ ", look.added());
        }
        _ => lines.input(&ask.input),
    }
    let folder = app.mirror.session.as_ref();
    if let Some(session) = folder {
        lines.named("folder", &session.workspace);
    }
    if !ask.reason.is_empty() {
        lines.named("why", &ask.reason);
    }
    lines.rows
}

/// The rows of a question's text.
struct Lines {
    look: Look,
    width: usize,
    rows: Vec<(String, Style)>,
}

impl Lines {
    /// A name and what belongs to it, on as many rows as it needs.
    fn named(&mut self, name: &str, text: &str) {
        let label = format!("{name}: ");
        let room = self.width.saturating_sub(cells(&label));
        for (at, row) in wrap(&clean_line(text), room).into_iter().enumerate() {
            let front = if at == 0 {
                label.clone()
            } else {
                " ".repeat(cells(&label))
            };
            self.rows.push((front + &row, Style::new()));
        }
    }

    /// Text of several lines, each row with `sign` in front.
    fn block(&mut self, text: &str, sign: &str, style: Style) {
        let clean = clean(text);
        let room = self.width.saturating_sub(cells(sign));
        for line in clean.lines().take(LINES) {
            for row in wrap(line, room) {
                self.rows.push((format!("{sign}{row}"), style));
            }
        }
        let left = clean.lines().count().saturating_sub(LINES);
        if left > 0 {
            let dots = self.look.dots();
            self.rows.push((
                format!("{sign}{dots} {} more lines", thousands(left)),
                style,
            ));
        }
    }

    /// Any other input, field by field.
    fn input(&mut self, input: &Value) {
        let Some(fields) = input.as_object() else {
            self.named("input", &input.to_string());
            return;
        };
        for (name, value) in fields {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let name = clean_line(name);
            let most = self.width * 20;
            let text = cut(&clean_line(&text), most, self.look.dots()).into_owned();
            self.named(&name, &text);
        }
    }
}
