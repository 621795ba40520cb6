//! A permission question: what exactly will run or change, where, and the answers.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use serde_json::Value;

use super::paint::Canvas;
use super::{framed, over};
use crate::text::{clean, clean_line};
use crate::tui::app::{App, Ask, Choice};
use crate::tui::text::{cells, wrap};
use crate::tui::texts::count;

/// Under this many cells the choices have short names.
const ROOMY: usize = 64;

/// Where the parts of a question stand.
struct Plan {
    place: Rect,
    /// Rows of its text.
    body: usize,
    /// Row of what is said of the rest of the text; `None` where there is no room for it.
    more: Option<usize>,
    /// Rows of choices, each with the column in which it begins.
    choices: Vec<Vec<(usize, Choice)>>,
}

/// The text of the shown question for the width that `area` has, if it is not laid out for that yet.
pub(super) fn laid(app: &App, area: Rect) -> Option<(usize, Vec<(String, Style)>)> {
    let width = usize::from(area.width.saturating_sub(4)).max(1);
    let ask = app.asks.front().filter(|ask| ask.laid.0 != width)?;
    Some((width, body(app, ask, width)))
}

/// How many rows of that text are shown in `area`.
pub(super) fn shown(ask: &Ask, area: Rect) -> usize {
    plan(ask, area).body
}

fn plan(ask: &Ask, area: Rect) -> Plan {
    let room = usize::from(area.width.saturating_sub(2));
    let choices = flow(room);
    // A row of its own for how to answer.
    let foot = choices.len() + 1;
    let wanted = u16::try_from(ask.laid.1.len() + foot + 3).unwrap_or(u16::MAX);
    let height = wanted.min(area.height);
    let left = usize::from(height.saturating_sub(2)).saturating_sub(foot);
    let body = left.saturating_sub(usize::from(left > 1));
    Plan {
        place: Rect {
            y: area.bottom().saturating_sub(height),
            height,
            ..area
        },
        body,
        more: (left > 1).then_some(body),
        choices,
    }
}

/// The choices below each other where a row does not hold them all.
fn flow(room: usize) -> Vec<Vec<(usize, Choice)>> {
    let mut rows = vec![Vec::new()];
    let mut x = 1;
    for choice in Choice::ALL {
        let width = cells(&label(choice, room));
        if x > 1 && x + width > room {
            rows.push(Vec::new());
            x = 1;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, choice));
        }
        x += width + 1;
    }
    rows
}

fn label(choice: Choice, room: usize) -> String {
    let words = if room < ROOMY {
        choice.short()
    } else {
        choice.words()
    };
    format!(" {} {words} ", choice.letter())
}

/// Draws the shown question over the end of `area`.
pub(super) fn draw(app: &App, ask: &Ask, area: Rect, frame: &mut Frame<'_>) {
    let plan = plan(ask, area);
    let behind = match app.asks.behind() {
        0 => String::new(),
        n => format!("   {n} more behind"),
    };
    let title = format!("May the model use {}?{behind}", clean_line(&ask.tool));
    let mut canvas = framed(&over(app), &title, plan.place, frame.buffer_mut());
    let body = &ask.laid.1;
    let rows = body.iter().skip(ask.scroll).take(plan.body);
    for (y, (text, style)) in rows.enumerate() {
        canvas.put((1, y), text, *style);
    }
    let below = body.len().saturating_sub(ask.scroll + plan.body);
    if let Some(y) = plan.more.filter(|_| below > 0) {
        let more = format!("{} more, PgDn", count(below, "line", "lines"));
        canvas.put_right((0, y), &more, 0);
    }
    let y = plan.body + usize::from(plan.more.is_some());
    let cursor = if let Some(because) = &ask.because {
        draw_because(app, because, &mut canvas, y)
    } else {
        draw_choices(app, ask, (&mut canvas, y), &plan.choices);
        None
    };
    let last = y + plan.choices.len();
    let how = how(app, ask, canvas.width().saturating_sub(2));
    canvas.put((1, last), how, Style::new());
    if let Some((x, y)) = cursor {
        let at = Position::new(
            plan.place
                .x
                .saturating_add(1 + x)
                .min(plan.place.right().saturating_sub(2)),
            plan.place.y.saturating_add(1 + y),
        );
        if frame.area().contains(at) {
            frame.set_cursor_position(at);
        }
    }
}

fn draw_choices(
    app: &App,
    ask: &Ask,
    (canvas, y): (&mut Canvas<'_>, usize),
    rows: &[Vec<(usize, Choice)>],
) {
    let room = canvas.width();
    for (row, choices) in rows.iter().enumerate() {
        for &(x, choice) in choices {
            let style = if choice == ask.choice {
                app.look.selection()
            } else {
                Style::new()
            };
            canvas.put((x, y + row), &label(choice, room), style);
        }
    }
}

/// Draws the reason that is being written; where the cursor stands in it.
fn draw_because(app: &App, because: &str, canvas: &mut Canvas<'_>, y: usize) -> Option<(u16, u16)> {
    let end = canvas.put((1, y), "No, because: ", app.look.strong());
    let room = canvas.width().saturating_sub(end + 1);
    // The end of the reason is what is being written.
    let mut start = 0;
    while cells(&because[start..]) > room {
        start += because[start..].chars().next().map_or(1, char::len_utf8);
    }
    let end = canvas.put((end, y), &because[start..], Style::new());
    Some((u16::try_from(end).ok()?, u16::try_from(y).ok()?))
}

/// How to answer, as long as there is room for.
fn how(app: &App, ask: &Ask, room: usize) -> &'static str {
    let forms: &[&'static str] = if ask.because.is_some() {
        &[
            "Enter gives it, Esc goes back to the choices",
            "Enter gives it, Esc back",
        ]
    } else if !app.prompt.is_empty() {
        &[
            "Enter sends your message and answers nothing; Ctrl+U empties it, then choose",
            "Enter sends your message; Ctrl+U empties it, then choose",
            "Enter sends it; Ctrl+U, then choose",
        ]
    } else if !app.asks.hears(app.now) {
        &[
            "one moment: a key that comes now was meant for something else",
            "one moment: it does not listen yet",
            "one moment",
        ]
    } else if ask.unread() {
        &[
            "not yet to be allowed: PgDn to its end first, so that all of it was in view",
            "PgDn to its end first, then allow it",
            "PgDn to its end first",
        ]
    } else {
        &[
            "y a n w or arrows choose, Enter answers; whatever else you type is a message",
            "y a n w or arrows choose, Enter answers",
            "y a n w or arrows, then Enter",
        ]
    };
    let fitting = forms.iter().find(|form| cells(form) <= room);
    fitting.or(forms.last()).copied().unwrap_or_default()
}

fn body(app: &App, ask: &Ask, width: usize) -> Vec<(String, Style)> {
    let look = app.look;
    let mut lines = Lines {
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
        for line in clean.lines() {
            for row in wrap(line, room) {
                self.rows.push((format!("{sign}{row}"), style));
            }
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
            self.named(&name, &clean_line(&text));
        }
    }
}
