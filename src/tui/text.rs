//! Text in cells: measuring, cutting, padding and wrapping, always by grapheme and with the one measure that ratatui draws by.
//!
//! Takes text that `crate::text::clean` has been over; a stray control character counts as nothing, as ratatui drops it.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// How many cells `text` takes on one line.
#[must_use]
pub(crate) fn cells(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_cells).sum()
}

/// Whether every byte of `text` is a grapheme of one cell.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
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

/// Like [`wrap`]; the further lines of a list's item stand below its words, not below its sign.
#[must_use]
pub(crate) fn wrap_items(text: &str, width: usize) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.split('\n') {
        let (sign, words) = line.split_at(item_sign(line));
        let indent = cells(sign);
        // Where the sign takes half of the room, the words need it more.
        if indent == 0 || indent * 2 >= width || cells(line) <= width {
            wrap_line(line, width.max(1), &mut out);
            continue;
        }
        let from = out.len();
        wrap_line(words, width - indent, &mut out);
        for (at, row) in out.iter_mut().enumerate().skip(from) {
            let front = if at == from {
                sign
            } else {
                &" ".repeat(indent)
            };
            row.insert_str(0, front);
        }
    }
    out
}

/// Where the words of a list's item begin (`- `, `* `, `12. `), in bytes; 0 for any other line.
fn item_sign(line: &str) -> usize {
    let words = line.trim_start_matches(' ');
    let behind = words.strip_prefix(['-', '*']).or_else(|| {
        let behind = words.trim_start_matches(|c: char| c.is_ascii_digit());
        (behind.len() < words.len())
            .then(|| behind.strip_prefix('.'))
            .flatten()
    });
    match behind.and_then(|behind| behind.strip_prefix(' ')) {
        Some(rest) => line.len() - rest.len(),
        None => 0,
    }
}

fn wrap_line(line: &str, width: usize, out: &mut Vec<String>) {
    if cells(line) <= width {
        out.push(line.to_owned());
        return;
    }
    let mut current = String::new();
    let mut used = 0;
    for word in chunks(line) {
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

/// The pieces between which a line may break: runs of spaces, words with their punctuation, single wide characters.
fn chunks(line: &str) -> impl Iterator<Item = &str> {
    let plain = is_plain(line);
    let mut rest = line;
    std::iter::from_fn(move || {
        if plain {
            let (chunk, behind) = rest.split_at(plain_chunk(rest));
            rest = behind;
            return (!chunk.is_empty()).then_some(chunk);
        }
        let mut end = 0;
        let mut last = None;
        for (at, grapheme) in rest.grapheme_indices(true) {
            let class = Class::of(grapheme);
            if last.is_some_and(|last| last != class || last == Class::Wide) {
                break;
            }
            last = Some(class);
            end = at + grapheme.len();
        }
        let (chunk, behind) = rest.split_at(end);
        rest = behind;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Where the first piece of a plain text ends: found in a fraction of the time that looking for graphemes takes.
fn plain_chunk(text: &str) -> usize {
    let blank = text.starts_with(' ');
    text.bytes()
        .position(|byte| (byte == b' ') != blank)
        .unwrap_or(text.len())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Narrow,
    Wide,
}

impl Class {
    fn of(grapheme: &str) -> Self {
        if grapheme.chars().all(char::is_whitespace) {
            Self::Space
        } else if grapheme_cells(grapheme) > 1 {
            Self::Wide
        } else {
            Self::Narrow
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
        assert_eq!(wrap("nothing to pay.", 14), ["nothing to", "pay."]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("漢字かな", 5), ["漢字", "かな"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("漢", 1), ["?"]);
        assert_eq!(wrap("a\n\nb", 1), ["a", "", "b"]);
    }

    #[test]
    fn plain_text_breaks_where_the_same_text_in_wider_letters_does() {
        let text = "  the quick  brown fox, over-hyphenated and averyveryverylongword   end ";
        for width in 1..40 {
            let plain: Vec<String> = wrap(text, width);
            // One letter of another alphabet, as wide as the one it stands for, keeps the whole line from being plain.
            let other: Vec<String> = wrap(&text.replace('e', "é"), width);
            assert_eq!(
                plain.join("|").replace('e', "é"),
                other.join("|"),
                "{width}"
            );
        }
    }

    #[test]
    fn the_words_of_an_item_stand_below_each_other() {
        assert_eq!(
            wrap_items("- one two three\n  12. four five six\nno item at all", 14),
            [
                "- one two",
                "  three",
                "  12. four",
                "      five six",
                "no item at all"
            ]
        );
        assert_eq!(wrap_items("- ab", 4), ["- ab"]);
        assert_eq!(wrap_items("-ab cd", 4), ["-ab", "cd"]);
        assert_eq!(wrap_items("- abcde", 3), ["- a", "bcd", "e"]);
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
