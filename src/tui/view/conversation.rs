//! The conversation: what happened, and at its left edge what the model still sees of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::paint::Canvas;
use crate::context::Kind as Fill;
use crate::text::thousands;
use crate::tui::app::{App, Pane};
use crate::tui::mirror::Sight;
use crate::tui::text::{cells, cut};
use crate::tui::texts::count;
use crate::tui::theme::{Lamp, Look};
use crate::tui::transcript::{Entry, INDENT, Kind, Reply, Tool, ToolState};

/// Cells of the widest word that says what became of a line, and of the gap before it.
const WORD: usize = 13;

/// Draws the rows of the viewport into `area`.
pub(super) fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    let mut drawing = Drawing {
        app,
        look: app.look,
        canvas: Canvas::new(area, buf),
    };
    let rows = app.transcript.rows_from(app.screen.scroll.top);
    for (y, (entry, row, text)) in rows.take(usize::from(area.height)).enumerate() {
        drawing.row(y, entry, row, text);
    }
}

/// What the conversation's frame says beside its name: rows that came while an older one is held.
pub(super) fn unseen(app: &App) -> Option<String> {
    let rows = app.screen.scroll.unseen(&app.transcript)?;
    // The key that does it where the focus is: elsewhere End means the line, the log or the question.
    let key = match app.screen.focus {
        _ if app.asks.front().is_some() => "Ctrl+End",
        Pane::Log => "Ctrl+End",
        Pane::Input if !app.prompt.is_empty() => "Ctrl+End",
        Pane::Input
        | Pane::Conversation
        | Pane::Load
        | Pane::Messages
        | Pane::Pipeline
        | Pane::Why => "End",
    };
    Some(match rows {
        0 => format!("held, {key} follows"),
        rows => format!("{} new, {key} follows", thousands(rows)),
    })
}

struct Drawing<'a> {
    app: &'a App,
    look: Look,
    canvas: Canvas<'a>,
}

impl Drawing<'_> {
    fn row(&mut self, y: usize, entry: &Entry, row: usize, text: &str) {
        let look = self.look;
        let sight = entry.at.map(|(id, block)| self.app.mirror.sight(id, block));
        if let Some((fill, style)) = sight.and_then(|sight| mark(look, sight, &entry.kind)) {
            self.canvas.put((0, y), fill, style);
        }
        let word = sight.filter(|_| row == 0).and_then(word);
        match &entry.kind {
            Kind::User => self.said("you", (y, row), text, word),
            Kind::Reply(Reply::Cut(_)) => self.said("asst", (y, row), &look.words(text), word),
            Kind::Reply(Reply::Streaming | Reply::Whole) => {
                self.said("asst", (y, row), text, word);
            }
            Kind::Tool(tool) if row == 0 => self.tool(y, tool, word),
            Kind::Tool(_) => {
                let text = format!("{} {text}", look.lamp(Lamp::Failed));
                self.canvas.put((6, y), &text, look.warning());
            }
            Kind::Compacted(_) => {
                let style = if row == 0 {
                    look.strong()
                } else {
                    Style::new()
                };
                self.canvas.put((2, y), &look.words(text), style);
            }
            Kind::Note | Kind::Thinking(_) => {
                self.canvas.put((2, y), &look.words(text), Style::new());
            }
            Kind::Warning => {
                self.canvas.put((2, y), text, look.warning());
            }
        }
    }

    /// A row of what someone said: whose it is in front of the first, the word that says what became of it behind.
    fn said(&mut self, who: &str, (y, row): (usize, usize), text: &str, word: Option<&str>) {
        if row == 0 {
            self.canvas.put((2, y), who, self.look.strong());
        }
        let behind = word.map_or(0, |word| cells(word) + 2);
        let room = self.canvas.width().saturating_sub(INDENT + behind);
        let text = cut(text, room, self.look.dots());
        let end = self.canvas.put((INDENT, y), &text, Style::new());
        if let Some(word) = word {
            self.canvas.put_right((end, y), word, 1);
        }
    }

    /// A tool call on one line: what it does to what, how large its result is, what became of that.
    fn tool(&mut self, y: usize, tool: &Tool, word: Option<&str>) {
        let (state, style) = match tool.state {
            ToolState::Waiting => (String::new(), Style::new()),
            ToolState::Running => ("running".to_owned(), self.look.strong()),
            ToolState::Done(chars) | ToolState::Failed(chars) => (thousands(chars), Style::new()),
        };
        let word = match tool.state {
            ToolState::Failed(_) => word.or(Some("failed")),
            ToolState::Waiting | ToolState::Running | ToolState::Done(_) => word,
        };
        let state_at = self.canvas.width().saturating_sub(WORD + cells(&state));
        let mut line = tool.line.clone();
        if tool.calls > 0 {
            line = format!("{line}  ({})", count(tool.calls, "call", "calls"));
        }
        let line = cut(&line, state_at.saturating_sub(4 + 2), self.look.dots());
        let mut end = self.canvas.put((4, y), &line, Style::new());
        if state_at > end {
            end = self.canvas.put((state_at, y), &state, style);
        }
        if let Some(word) = word {
            self.canvas.put_right((end, y), word, 1);
        }
    }
}

/// The mark of what the model still sees; it fades as it loses sight.
fn mark(look: Look, sight: Sight, kind: &Kind) -> Option<(&'static str, Style)> {
    let full = match kind {
        Kind::User => Fill::User,
        Kind::Reply(Reply::Streaming | Reply::Whole | Reply::Cut(_)) | Kind::Thinking(_) => {
            Fill::Assistant
        }
        Kind::Tool(Tool { state, .. }) => match state {
            ToolState::Waiting | ToolState::Running => Fill::Calls,
            ToolState::Done(_) | ToolState::Failed(_) => Fill::Results,
        },
        Kind::Compacted(_) => Fill::Summary,
        Kind::Note | Kind::Warning => Fill::Frame,
    };
    let seen = match sight {
        Sight::Full => full,
        Sight::Preview => Fill::Previews,
        Sight::Placeholder => Fill::Placeholders,
        Sight::Summary => Fill::Summary,
        Sight::Summarised | Sight::Snipped | Sight::Gone => return None,
    };
    Some((look.fill(seen), look.kind(seen)))
}

/// The word for what became of a line; none where the model sees all of it.
fn word(sight: Sight) -> Option<&'static str> {
    match sight {
        Sight::Full | Sight::Summary => None,
        Sight::Preview => Some("preview"),
        Sight::Placeholder => Some("placeholder"),
        Sight::Summarised => Some("summarised"),
        Sight::Snipped => Some("snipped"),
        Sight::Gone => Some("gone"),
    }
}
