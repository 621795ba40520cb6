//! What a command writes, kept bounded: its beginning and its end, and how much was between.
//!
//! Bytes come in any pieces; invalid UTF-8 becomes U+FFFD, and of a line that overwrites itself with carriage returns
//! only the last state is kept. Nothing here waits or reads.

use std::collections::VecDeque;

use super::MAX_CHARS;
use crate::text::thousands;

/// How much of the beginning, and of the end, is kept at most.
const HALF: usize = MAX_CHARS / 2;
/// From how many characters on a line is no progress bar that is held back until it ends.
const LONG_LINE: usize = 16_384;

/// The output of one command.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The first bytes of a character that is not complete yet.
    partial: Vec<u8>,
    /// The line that is being written.
    line: String,
    line_chars: usize,
    /// The last character was a carriage return, and what it means is not known yet.
    after_cr: bool,
    head: String,
    head_chars: usize,
    tail: VecDeque<char>,
    total: usize,
}

impl Output {
    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut buffer = std::mem::take(&mut self.partial);
        buffer.extend_from_slice(bytes);
        let mut rest = buffer.as_slice();
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text(text);
                    break;
                }
                Err(problem) => {
                    let (valid, after) = rest.split_at(problem.valid_up_to());
                    self.text(&String::from_utf8_lossy(valid));
                    let Some(bad) = problem.error_len() else {
                        self.partial = after.to_vec();
                        break;
                    };
                    self.char(char::REPLACEMENT_CHARACTER);
                    rest = &after[bad..];
                }
            }
        }
    }

    /// All that came, in at most `max` characters (no more than [`MAX_CHARS`]), without line ends at its end.
    pub(super) fn finish(mut self, max: usize) -> String {
        if !self.partial.is_empty() {
            self.char(char::REPLACEMENT_CHARACTER);
        }
        self.commit_line();
        let max = max.min(MAX_CHARS);
        if self.total <= max {
            let mut text = self.head;
            text.extend(self.tail);
            text.truncate(text.trim_end_matches('\n').len());
            return text;
        }
        // The count's own length depends on the count: room for the longest is kept.
        let room = max.saturating_sub(mark(usize::MAX).chars().count());
        let first = self.head_chars.min(room / 2);
        let last = self.tail.len().min(room - first);
        let mut text: String = self.head.chars().take(first).collect();
        text.push_str(&mark(self.total - first - last));
        text.extend(self.tail.iter().skip(self.tail.len() - last));
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    fn text(&mut self, text: &str) {
        for c in text.chars() {
            self.char(c);
        }
    }

    fn char(&mut self, c: char) {
        if std::mem::take(&mut self.after_cr) && c != '\n' && c != '\r' {
            self.line.clear();
            self.line_chars = 0;
        }
        match c {
            '\r' => self.after_cr = true,
            '\n' => {
                self.line.push('\n');
                self.line_chars += 1;
                self.commit_line();
            }
            c => {
                self.line.push(c);
                self.line_chars += 1;
                if self.line_chars >= LONG_LINE {
                    self.commit_line();
                }
            }
        }
    }

    fn commit_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.total += std::mem::take(&mut self.line_chars);
        for c in line.chars() {
            if self.head_chars < HALF {
                self.head.push(c);
                self.head_chars += 1;
            } else {
                if self.tail.len() == HALF {
                    self.tail.pop_front();
                }
                self.tail.push_back(c);
            }
        }
    }
}

fn mark(left_out: usize) -> String {
    format!("\n[… {} characters left out …]\n", thousands(left_out))
}
