//! Text in cells: measuring, cutting, padding and wrapping, always by grapheme and with the one measure that ratatui draws by.
//!
//! Takes text that `crate::text::clean` has been over; a stray control character counts as nothing, as ratatui drops it.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// How many cells `text` takes on one line.
#[must_use]
pub(crate) fn cells(text: &str) -> usize {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_cells).sum()
}

/// The longest start of `text` that takes at most `width` cells.
#[must_use]
pub(crate) fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme_cells(grapheme);
        if used > width {
            return &text[..at];
        }
    }
    text
}

/// `text` in at most `width` cells; where something had to go it ends with `mark` (`…`).
#[must_use]
pub(crate) fn cut<'a>(text: &'a str, width: usize, mark: &str) -> Cow<'a, str> {
    if cells(text) <= width {
        return Cow::Borrowed(text);
    }
    let room = width.saturating_sub(cells(mark));
    if room == 0 {
        return Cow::Borrowed(head(text, width));
    }
    Cow::Owned(format!("{}{mark}", head(text, room).trim_end()))
}

/// `text` in exactly `width` cells: cut with `mark`, or filled with spaces behind.
#[must_use]
pub(crate) fn pad(text: &str, width: usize, mark: &str) -> String {
    let cut = cut(text, width, mark);
    let fill = width.saturating_sub(cells(&cut));
    format!("{cut}{}", " ".repeat(fill))
}

/// `text` in exactly `width` cells: cut with `mark`, or filled with spaces in front.
#[must_use]
pub(crate) fn pad_left(text: &str, width: usize, mark: &str) -> String {
    let cut = cut(text, width, mark);
    let fill = width.saturating_sub(cells(&cut));
    format!("{}{cut}", " ".repeat(fill))
}

/// `text` broken into lines of at most `width` cells (at least 1), at spaces where there are any, else between graphemes.
///
/// Line breaks of the text stay; spaces at a break go, those that indent a line stay. Empty text is one empty line.
#[must_use]
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut out = Vec::new();
    for line in text.split('\n') {
        wrap_line(line, width, &mut out);
    }
    out
}

fn wrap_line(line: &str, width: usize, out: &mut Vec<String>) {
    if cells(line) <= width {
        out.push(line.to_owned());
        return;
    }
    let mut current = String::new();
    let mut used = 0;
    for word in words(line) {
        let wide = cells(word);
        let blank = word.chars().all(char::is_whitespace);
        if used + wide <= width {
            current.push_str(word);
            used += wide;
            continue;
        }
        if blank {
            // The break swallows the space, except at the start of a line, where it indents.
            if used > 0 {
                end_line(&mut current, &mut used, out);
            }
            continue;
        }
        if used > 0 && wide <= width {
            end_line(&mut current, &mut used, out);
        }
        for grapheme in word.graphemes(true) {
            let (grapheme, wide) = fitting(grapheme, width);
            if used + wide > width {
                end_line(&mut current, &mut used, out);
            }
            current.push_str(grapheme);
            used += wide;
        }
    }
    if used > 0 {
        out.push(current);
    }
}

/// `line` in pieces that a line break may stand between: runs of spaces, words with their punctuation, and each letter of
/// the scripts that are written without spaces.
fn words(line: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut before = Piece::Blank;
    for (at, grapheme) in line.grapheme_indices(true) {
        let piece = Piece::of(grapheme);
        let joins = match (before, piece) {
            (Piece::Blank, Piece::Blank)
            | (Piece::Letter, Piece::Letter)
            | (Piece::Letter | Piece::Sign | Piece::Wide, Piece::Sign)
            | (Piece::Sign, Piece::Letter) => true,
            (Piece::Blank, Piece::Letter | Piece::Sign)
            | (Piece::Letter | Piece::Sign | Piece::Wide, Piece::Blank)
            | (Piece::Wide, Piece::Letter)
            | (_, Piece::Wide) => false,
        };
        if !joins || at == 0 {
            starts.push(at);
        }
        before = piece;
    }
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &line[*start..end])
        .collect()
}

/// What a grapheme is to a line break.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Blank,
    /// A letter or figure of a word.
    Letter,
    /// Anything else that is seen: stays with what stands before it.
    Sign,
    /// A letter of two cells, which is a word by itself.
    Wide,
}

impl Piece {
    fn of(grapheme: &str) -> Self {
        let letter = grapheme.chars().next().is_some_and(char::is_alphanumeric);
        if grapheme.chars().all(char::is_whitespace) {
            Self::Blank
        } else if letter && grapheme_cells(grapheme) > 1 {
            Self::Wide
        } else if letter {
            Self::Letter
        } else {
            Self::Sign
        }
    }
}

fn end_line(current: &mut String, used: &mut usize, out: &mut Vec<String>) {
    let kept = current.trim_end().len();
    current.truncate(kept);
    out.push(std::mem::take(current));
    *used = 0;
}

/// A grapheme that is wider than the whole line cannot be drawn: a mark stands for it.
fn fitting(grapheme: &str, width: usize) -> (&str, usize) {
    let wide = grapheme_cells(grapheme);
    if wide > width {
        ("?", 1)
    } else {
        (grapheme, wide)
    }
}

/// Ratatui leaves out graphemes with a control character; its measure must not see one alone.
fn grapheme_cells(grapheme: &str) -> usize {
    if grapheme.contains(char::is_control) {
        0
    } else {
        usize::from(grapheme.cell_width())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_that_ratatui_draws() {
        let measured: Vec<usize> = ["abc", "漢字", "ｶﾞ", "e\u{301}", "👨‍👩‍👧‍👦", "a\u{7}", ""]
            .map(cells)
            .to_vec();
        assert_eq!(measured, [3, 4, 2, 1, 2, 1, 0]);
    }

    #[test]
    fn a_cut_never_parts_a_grapheme_and_says_that_it_cut() {
        assert_eq!(cut("漢字かな", 5, "…"), "漢字…");
        assert_eq!(cut("漢字かな", 4, "…"), "漢…");
        assert_eq!(cut("漢字かな", 8, "…"), "漢字かな");
        assert_eq!(cut("abc", 1, "…"), "a");
        assert_eq!(cut("abcdef", 5, "..."), "ab...");
        assert_eq!(cut("abc", 0, "…"), "");
    }

    #[test]
    fn padding_is_exact() {
        assert_eq!(pad("漢", 4, "…"), "漢  ");
        assert_eq!(pad_left("12", 4, "…"), "  12");
        assert_eq!(pad("abcdef", 4, "…"), "abc…");
    }

    #[test]
    fn lines_break_at_spaces_and_else_between_graphemes() {
        assert_eq!(wrap("the quick brown fox", 9), ["the quick", "brown fox"]);
        assert_eq!(wrap("  if x {\n    y\n}", 20), ["  if x {", "    y", "}"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("漢字かな", 5), ["漢字", "かな"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("漢", 1), ["?"]);
        assert_eq!(wrap("it was replaced.", 15), ["it was", "replaced."]);
        assert_eq!(wrap("漢字。かな", 4), ["漢", "字。", "かな"]);
        assert_eq!(wrap("a\n\nb", 1), ["a", "", "b"]);
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        let text = "漢字かな ｶﾞｷﾞ 👨‍👩‍👧‍👦 ⌨️❤️ 🇯🇵 é กำ العربية and some words, also-hyphenated";
        for width in 1..40 {
            for line in wrap(text, width) {
                assert!(cells(&line) <= width, "{width}: {line:?}");
            }
        }
    }
}
