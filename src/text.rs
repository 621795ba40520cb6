//! Text from models, tools, files and servers, made harmless for a terminal.
//!
//! Everything that reaches a screen, standard output or a log goes through [`clean`] first. What the model sees and what is
//! stored is never changed by it.

use std::borrow::Cow;

use vte::{Params, Parser, Perform};

/// How wide a tab is drawn.
const TAB: usize = 4;
/// Stands for a character that must not reach a terminal and has no picture of its own.
const MARK: char = '\u{fffd}';

/// `text` without anything that a terminal could act on.
///
/// Escape sequences go whole, also unfinished ones; tabs become spaces up to the next stop; CR LF and a lone CR become LF,
/// as do U+2028 and U+2029; other control characters become their visible picture (`␇`), direction controls `U+FFFD`.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_special) {
        return Cow::Borrowed(text);
    }
    let mut cleaner = Cleaner {
        out: String::with_capacity(text.len()),
        column: 0,
        after_cr: false,
    };
    let mut parser = Parser::new();
    parser.advance(&mut cleaner, text.as_bytes());
    Cow::Owned(cleaner.out)
}

/// [`clean`] on one line: line breaks become spaces.
#[must_use]
pub fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

/// The first `max` characters of `text`.
#[must_use]
pub fn head(text: &str, max: usize) -> &str {
    text.char_indices()
        .nth(max)
        .map_or(text, |(at, _)| &text[..at])
}

/// The last `max` characters of `text`.
#[must_use]
pub fn tail(text: &str, max: usize) -> &str {
    if max == 0 {
        return "";
    }
    text.char_indices()
        .rev()
        .nth(max - 1)
        .map_or(text, |(at, _)| &text[at..])
}

/// `text` in at most `max` characters, the last of them `…` where some are missing.
#[must_use]
pub fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if head(text, max).len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(match max.checked_sub(1) {
        Some(room) => format!("{}…", head(text, room)),
        None => String::new(),
    })
}

/// `n` with a comma between thousands: `37,030`.
#[must_use]
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn is_special(c: char) -> bool {
    (c.is_control() && c != '\n')
        || is_direction(c)
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Characters that reorder what stands around them.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

struct Cleaner {
    out: String,
    column: usize,
    after_cr: bool,
}

impl Cleaner {
    fn newline(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn put(&mut self, c: char) {
        self.after_cr = false;
        self.out.push(c);
        self.column += 1;
    }
}

impl Perform for Cleaner {
    fn print(&mut self, c: char) {
        match c {
            '\u{2028}' | '\u{2029}' => self.newline(),
            '\u{feff}' => {}
            '\u{7f}' => self.put('\u{2421}'),
            c if is_direction(c) => self.put(MARK),
            c => self.put(c),
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' if self.after_cr => self.after_cr = false,
            b'\n' => self.newline(),
            b'\r' => {
                self.newline();
                self.after_cr = true;
            }
            b'\t' => {
                for _ in 0..TAB - self.column % TAB {
                    self.put(' ');
                }
            }
            0..=0x1f => self.put(char::from_u32(0x2400 + u32::from(byte)).unwrap_or(MARK)),
            _ => self.put(MARK),
        }
    }

    fn hook(&mut self, _: &Params, _: &[u8], _: bool, _: char) {}
    fn put(&mut self, _: u8) {}
    fn unhook(&mut self) {}
    fn osc_dispatch(&mut self, _: &[&[u8]], _: bool) {}
    fn csi_dispatch(&mut self, _: &Params, _: &[u8], _: bool, _: char) {}
    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(clean("日本語 é 👩‍👩‍👧\nline"), Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_that_a_terminal_acts_on_is_left() {
        let cases = [
            ("a\x1b]0;PWN\x07b", "ab"),
            ("a\x1b]52;c;ZWNobyBoaQ==\x07b", "ab"),
            ("a\x1b[2J\x1b[10;10Hb", "ab"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b[31mred\x1b[0m", "red"),
            ("a\u{9b}b", "a\u{fffd}b"),
            ("bell\x07", "bell␇"),
            ("a\tb\n\tc", "a   b\n    c"),
            ("one\r\ntwo\rthree", "one\ntwo\nthree"),
            ("x\u{202e}y", "x\u{fffd}y"),
            ("x\u{2028}y\u{7f}", "x\ny␡"),
            ("open\x1b]0;never ends", "open"),
        ];
        for (dirty, expected) in cases {
            assert_eq!(clean(dirty), expected, "{dirty:?}");
        }
    }

    #[test]
    fn cuts_are_on_characters() {
        assert_eq!(head("é漢👩x", 3), "é漢👩");
        assert_eq!(tail("é漢👩x", 2), "👩x");
        assert_eq!(
            (head("ab", 5), tail("ab", 5), head("ab", 0), tail("ab", 0)),
            ("ab", "ab", "", "")
        );
    }

    #[test]
    fn a_cut_shows_that_it_is_one() {
        let cuts = [4, 3, 2, 1, 0].map(|max| cut("é漢👩", max));
        assert_eq!(cuts, ["é漢👩", "é漢👩", "é…", "…", ""]);
    }

    #[test]
    fn thousands_are_parted() {
        let parted: Vec<String> = [0, 999, 1_000, 37_030, 1_234_567]
            .into_iter()
            .map(thousands)
            .collect();
        assert_eq!(parted, ["0", "999", "1,000", "37,030", "1,234,567"]);
    }
}
