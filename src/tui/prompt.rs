//! The message that is being written: the text area under our own keys, pastes, and what was sent before.
//!
//! Nothing is drawn here and no key is known; `update` calls the edits by name.

use ratatui::style::Style;
use tui_textarea::{CursorMove, TextArea, WrapMode};

use super::keys::{Edit, Go};
use crate::text;

/// A longer paste stands in the draft as one short mark: wrapping a megabyte at every key would be felt.
const LONG_PASTE: usize = 8_000;

/// The draft and its history.
#[derive(Debug)]
pub(crate) struct Prompt {
    area: TextArea<'static>,
    /// Long pastes with the marks that stand for them.
    pastes: Vec<(String, String)>,
    /// What was sent in this session, oldest first.
    sent: Vec<String>,
    /// Which of `sent` is shown, and the draft that it hides.
    recalled: Option<(usize, String)>,
}

impl Default for Prompt {
    fn default() -> Self {
        Self {
            area: new_area(""),
            pastes: Vec::new(),
            sent: Vec::new(),
            recalled: None,
        }
    }
}

impl Prompt {
    /// The widget, for drawing.
    pub(crate) fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// Whether nothing is written.
    pub(crate) fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// The text as it stands in the box.
    pub(crate) fn draft(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Types one character.
    pub(crate) fn insert(&mut self, c: char) {
        self.area.insert_char(c);
    }

    pub(crate) fn newline(&mut self) {
        self.area.insert_newline();
    }

    /// Puts pasted text in, line breaks of all kinds as line breaks, other control characters as their pictures.
    pub(crate) fn paste(&mut self, pasted: &str) {
        let clean = text::clean(pasted);
        let long = clean.chars().count();
        if long <= LONG_PASTE {
            self.area.insert_str(clean.as_ref());
            return;
        }
        let number = self.pastes.len() + 1;
        let mark = format!("[paste {number}: {} characters]", text::thousands(long));
        self.area.insert_str(&mark);
        self.pastes.push((mark, clean.into_owned()));
    }

    /// If a backslash stands before the caret at the end of its line, takes it away and breaks the line instead.
    pub(crate) fn continue_line(&mut self) -> bool {
        let cursor = self.area.cursor();
        let Some(line) = self.area.lines().get(cursor.0) else {
            return false;
        };
        if !line.ends_with('\\') || line.chars().count() != cursor.1 {
            return false;
        }
        self.area.delete_char();
        self.newline();
        true
    }

    /// Empties the box and hands out what was written, pastes in full; `None` if that is nothing but space.
    pub(crate) fn take(&mut self) -> Option<String> {
        let draft = self.draft();
        if draft.trim().is_empty() {
            return None;
        }
        let mut full = draft.clone();
        for (mark, pasted) in &self.pastes {
            full = full.replacen(mark, pasted, 1);
        }
        self.remember(&full);
        self.pastes.clear();
        self.set("");
        Some(full)
    }

    /// Empties the box; Up brings back what stood there.
    pub(crate) fn clear(&mut self) {
        self.take();
        self.set("");
    }

    /// Replaces what is written by `text`.
    pub(crate) fn set(&mut self, text: &str) {
        self.area = new_area(text);
        self.recalled = None;
    }

    /// Carries out an edit.
    pub(crate) fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Newline => self.newline(),
            Edit::WordLeft => self.area.move_cursor(CursorMove::WordBack),
            Edit::WordRight => self.area.move_cursor(CursorMove::WordForward),
            Edit::LineStart => self.area.move_cursor(CursorMove::Head),
            Edit::LineEnd => self.area.move_cursor(CursorMove::End),
            Edit::DeleteBack => drop(self.area.delete_char()),
            Edit::DeleteNext => drop(self.area.delete_next_char()),
            Edit::DeleteWord => drop(self.area.delete_word()),
            Edit::DeleteToStart => drop(self.area.delete_line_by_head()),
            Edit::DeleteToEnd => drop(self.area.delete_line_by_end()),
            Edit::Undo => drop(self.area.undo()),
            Edit::Redo => drop(self.area.redo()),
        }
    }

    /// Moves the caret; from the first line up and from the last line down, through what was sent.
    pub(crate) fn go(&mut self, go: Go) {
        match go {
            Go::Left => self.area.move_cursor(CursorMove::Back),
            Go::Right => self.area.move_cursor(CursorMove::Forward),
            Go::First => self.area.move_cursor(CursorMove::Head),
            Go::Last => self.area.move_cursor(CursorMove::End),
            Go::Up => self.up(),
            Go::Down => self.down(),
        }
    }

    /// A line up; in the first line, to what was sent before.
    fn up(&mut self) {
        let before = self.area.cursor();
        self.area.move_cursor(CursorMove::Up);
        if self.area.cursor() != before {
            return;
        }
        let at = match &self.recalled {
            Some((at, _)) => at.checked_sub(1),
            None => self.sent.len().checked_sub(1),
        };
        if let Some(at) = at {
            self.recall(at);
        }
    }

    /// A line down; in the last line of something recalled, to what was sent after it or back to the draft.
    fn down(&mut self) {
        let before = self.area.cursor();
        self.area.move_cursor(CursorMove::Down);
        if self.area.cursor() != before {
            return;
        }
        let Some((at, draft)) = self.recalled.clone() else {
            return;
        };
        if at + 1 < self.sent.len() {
            self.recall(at + 1);
        } else {
            self.set(&draft);
        }
    }

    fn recall(&mut self, at: usize) {
        let draft = match self.recalled.take() {
            Some((_, draft)) => draft,
            None => self.draft(),
        };
        let Some(text) = self.sent.get(at).cloned() else {
            return;
        };
        self.set(&text);
        self.recalled = Some((at, draft));
    }

    fn remember(&mut self, text: &str) {
        if self.sent.last().is_none_or(|last| last != text) {
            self.sent.push(text.to_owned());
        }
    }
}

fn new_area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::from(text.split('\n'));
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    // The terminal's own cursor stands at the caret (input methods look there); a painted one would be a second.
    area.set_cursor_style(Style::default());
    area.set_cursor_line_style(Style::default());
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Prompt {
        let mut prompt = Prompt::default();
        for c in text.chars() {
            prompt.insert(c);
        }
        prompt
    }

    #[test]
    fn each_kind_of_line_break_in_a_paste_is_one() {
        let mut prompt = Prompt::default();
        prompt.paste("one\rtwo\r\nthree\nfour\tx\0");
        assert_eq!(prompt.draft(), "one\ntwo\nthree\nfour    x␀");
    }

    #[test]
    fn a_long_paste_is_a_mark_until_it_is_sent() {
        let mut prompt = written("look: ");
        let long = "x".repeat(8_001);
        prompt.paste(&long);
        assert_eq!(prompt.draft(), "look: [paste 1: 8,001 characters]");
        assert_eq!(prompt.take(), Some(format!("look: {long}")));
    }

    #[test]
    fn what_was_sent_comes_back_and_the_draft_survives() {
        let mut prompt = written("first");
        prompt.take();
        prompt.paste("second\nline");
        prompt.take();
        prompt.paste("draft");
        let seen: Vec<String> = [Go::Up, Go::Up, Go::Up, Go::Up, Go::Down, Go::Down, Go::Down]
            .into_iter()
            .map(|go| {
                prompt.go(go);
                prompt.draft()
            })
            .collect();
        assert_eq!(
            seen,
            [
                "second\nline", // caret in its last line
                "second\nline", // … in its first
                "first",
                "first",
                "second\nline",
                "draft",
                "draft"
            ]
        );
    }

    #[test]
    fn a_cleared_draft_can_be_had_again() {
        let mut prompt = written("precious");
        prompt.clear();
        assert!(prompt.is_empty());
        prompt.go(Go::Up);
        assert_eq!(prompt.draft(), "precious");
    }

    #[test]
    fn a_backslash_at_the_end_makes_a_new_line() {
        let mut prompt = written("one\\");
        assert!(prompt.continue_line());
        prompt.insert('2');
        assert_eq!(prompt.draft(), "one\n2");
        assert!(!prompt.continue_line());
    }
}
