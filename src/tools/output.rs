//! What a command writes, kept bounded: its beginning and its end, and how much was between.
//!
//! Bytes come in any pieces; invalid UTF-8 becomes U+FFFD, and of a line that overwrites itself with carriage returns
//! only the last state is kept. Nothing here waits or reads.

use super::MAX_CHARS;
use crate::text::{self, thousands};

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
    line: Piece,
    /// The last character was a carriage return, and what it means is not known yet.
    after_cr: bool,
    head: Piece,
    /// The end of what did not go into the head; up to twice what is needed, so that it is seldom cut.
    tail: Piece,
    total: usize,
}

/// A text with its length in characters.
#[derive(Debug, Default)]
struct Piece {
    text: String,
    chars: usize,
}

impl Piece {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.chars += text.chars().count();
    }

    fn clear(&mut self) {
        self.text.clear();
        self.chars = 0;
    }

    /// Only its last `max` characters.
    fn keep_last(&mut self, max: usize) {
        let from = self.text.len() - text::tail(&self.text, max).len();
        self.text.drain(..from);
        self.chars = self.chars.min(max);
    }
}

impl Output {
    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut buffer = std::mem::take(&mut self.partial);
        buffer.extend_from_slice(bytes);
        let mut rest = buffer.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.text(text),
                Err(problem) => {
                    let (valid, after) = rest.split_at(problem.valid_up_to());
                    self.text(&String::from_utf8_lossy(valid));
                    let Some(bad) = problem.error_len() else {
                        self.partial = after.to_vec();
                        return;
                    };
                    self.text("\u{fffd}");
                    rest = &after[bad..];
                }
            }
        }
    }

    /// All that came, in at most `max` characters (no more than [`MAX_CHARS`]), without line ends at its end.
    pub(super) fn finish(mut self, max: usize) -> String {
        if !self.partial.is_empty() {
            self.text("\u{fffd}");
        }
        self.commit_line();
        self.tail.keep_last(HALF);
        let max = max.min(MAX_CHARS);
        let mut text = self.head.text;
        if self.total <= max {
            text.push_str(&self.tail.text);
        } else {
            // The mark's own length depends on the count: room for the longest is kept.
            let room = max.saturating_sub(mark(usize::MAX).chars().count());
            let first = self.head.chars.min(room / 2);
            let last = self.tail.chars.min(room - first);
            text.truncate(text::head(&text, first).len());
            text.push_str(&mark(self.total - first - last));
            text.push_str(text::tail(&self.tail.text, last));
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    fn text(&mut self, mut rest: &str) {
        while let Some(c) = rest.chars().next() {
            let overwrites = std::mem::take(&mut self.after_cr) && c != '\n' && c != '\r';
            if overwrites {
                self.line.clear();
            }
            match c {
                '\r' => {
                    self.after_cr = true;
                    rest = &rest[1..];
                }
                '\n' => {
                    self.line.push("\n");
                    self.commit_line();
                    rest = &rest[1..];
                }
                _ => {
                    let end = rest.find(['\r', '\n']).unwrap_or(rest.len());
                    self.line.push(&rest[..end]);
                    if self.line.chars >= LONG_LINE {
                        self.commit_line();
                    }
                    rest = &rest[end..];
                }
            }
        }
    }

    fn commit_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.total += line.chars;
        let first = text::head(&line.text, HALF - self.head.chars);
        self.head.push(first);
        self.tail.push(&line.text[first.len()..]);
        if self.tail.chars > 2 * HALF {
            self.tail.keep_last(HALF);
        }
    }
}

fn mark(left_out: usize) -> String {
    format!("\n[… {} characters left out …]\n", thousands(left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(pieces: &[&[u8]], max: usize) -> String {
        let mut output = Output::default();
        for piece in pieces {
            output.push(piece);
        }
        output.finish(max)
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let bytes = "é漢👩‍👩‍👧 a\rb\r\nc\r\r\nd\n\n".as_bytes();
        let mut all = bytes.to_vec();
        all.extend(b"bad \xff\xc3( \xe6\xbc end \xf0\x9f");
        let single: Vec<&[u8]> = all.chunks(1).collect();
        let expected = "b\nc\nd\n\nbad \u{fffd}\u{fffd}( \u{fffd} end \u{fffd}";
        assert_eq!(output(&[&all], MAX_CHARS), expected);
        assert_eq!(output(&single, MAX_CHARS), expected);
    }

    #[test]
    fn only_the_last_state_of_a_progress_line_stays() {
        let pieces: [&[u8]; 4] = [b"get\r10%\r", b"50%", b"\r100%\nok", b"\n"];
        assert_eq!(output(&pieces, 100), "100%\nok");
    }

    #[test]
    fn head_and_tail_are_cut_on_characters_and_counted() {
        let text = "漢".repeat(500);
        assert_eq!(output(&[text.as_bytes()], 500), text);
        let cut = output(&[text.as_bytes()], 499);
        assert!(cut.chars().count() <= 499);
        let kept = cut.chars().filter(|c| *c == '漢').count();
        let expected = format!("[… {} characters left out …]", 500 - kept);
        assert_eq!(cut.trim_matches('漢').trim(), expected);
    }

    #[test]
    fn memory_is_bounded_whatever_comes() {
        let mut output = Output::default();
        let piece = vec![b'x'; 65_536];
        for _ in 0..100 {
            output.push(&piece);
        }
        let held = output.head.text.len() + output.tail.text.len() + output.line.text.len();
        assert!(held <= 4 * MAX_CHARS, "{held}");
        assert_eq!(output.total + output.line.chars, 6_553_600);
    }
}
