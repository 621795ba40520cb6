//! The rows of one item of the transcript, wrapped for a width.

use super::{Entry, Fold, INDENT, Kind, Reply, Thinking, Tool, ToolState, Wrapped};
use crate::context::MessageId;
use crate::text::{clean, clean_line, thousands};
use crate::tui::text::{wrap, wrap_items};

impl Entry {
    pub(super) fn new(kind: Kind, at: Option<(MessageId, usize)>, text: String) -> Self {
        Self {
            kind,
            at,
            text,
            height: None,
            rows: Vec::new(),
        }
    }

    pub(super) fn changed(&mut self) {
        self.height = None;
        self.rows.clear();
    }

    /// Wraps a streamed text from its last line on: what a piece costs must not grow with the reply before it.
    pub(super) fn wrap_on(&mut self, width: usize, done: &mut Wrapped) -> usize {
        let room = width.saturating_sub(INDENT);
        let new = self.text.trim_end().get(done.bytes..).unwrap_or_default();
        let (whole, line) = new.split_at(new.rfind('\n').map_or(0, |at| at + 1));
        let last = clean(line);
        // An escape sequence may go on over the end of a line, and blanks at the end go with the line ends before them:
        // such a text is wrapped as a whole.
        if new.contains('\x1b') || last.trim_end().is_empty() {
            *done = Wrapped::default();
            self.rows = self.wrapped(width, Fold::Folded);
            return self.rows.len();
        }
        self.rows.truncate(done.rows);
        if let Some(lines) = clean(whole).strip_suffix('\n') {
            self.rows.extend(wrap_items(lines, room));
            done.bytes += whole.len();
            done.rows = self.rows.len();
        }
        self.rows.extend(wrap_items(last.trim_end(), room));
        self.rows.len()
    }

    pub(super) fn wrapped(&self, width: usize, fold: Fold) -> Vec<String> {
        let room = width.saturating_sub(INDENT);
        let mut rows = match &self.kind {
            Kind::User | Kind::Reply(Reply::Streaming | Reply::Whole) => {
                wrap_items(clean(&self.text).trim_end(), room)
            }
            Kind::Reply(Reply::Cut(why)) => {
                let mut rows = wrap_items(clean(&self.text).trim_end(), room);
                rows.extend(wrap(cut_line(why).trim_end(), room).into_iter().take(2));
                rows
            }
            Kind::Thinking(thinking) => thinking.rows(&self.text, width, fold),
            Kind::Note | Kind::Warning => {
                wrap(clean(&self.text).trim_end(), width.saturating_sub(2))
            }
            Kind::Tool(tool) => tool_rows(tool, &self.text, room),
            Kind::Compacted(figures) => figures.rows(width, &self.text),
        };
        if rows.is_empty() {
            rows.push(String::new());
        }
        rows
    }
}

/// What stands below a reply that was cut.
fn cut_line(why: &str) -> String {
    if why.is_empty() {
        "… cut".to_owned()
    } else {
        format!("… cut: {}", clean_line(why))
    }
}

impl Thinking {
    /// One quiet line; the text below it, a little in, where it is wanted and there.
    fn rows(self, text: &str, width: usize, fold: Fold) -> Vec<String> {
        let chars = match self {
            Self::Streaming(chars) => {
                return vec![format!("thinking … {} chars", thousands(chars))];
            }
            Self::Cut(chars) => {
                return vec![format!("thinking, {} chars … cut", thousands(chars))];
            }
            Self::Whole => text.chars().count(),
        };
        let line = format!("thinking, {} chars", thousands(chars));
        match fold {
            Fold::Folded if chars == 0 => vec![line],
            Fold::Folded => vec![format!("{line}   /thinking shows it")],
            Fold::Open => {
                let rows = wrap(clean(text).trim_end(), width.saturating_sub(2 + 2));
                let text = rows.into_iter().map(|row| format!("  {row}"));
                std::iter::once(line).chain(text).collect()
            }
        }
    }
}

/// The call; below a failed one, how it says that it failed.
fn tool_rows(tool: &Tool, why: &str, room: usize) -> Vec<String> {
    let mut rows = vec![tool.line.clone()];
    if matches!(tool.state, ToolState::Failed(_)) && !why.is_empty() {
        rows.extend(wrap(&clean_line(why), room).into_iter().take(2));
    }
    rows
}
