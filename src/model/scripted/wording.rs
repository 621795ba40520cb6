//! How a summary words things: what came of a call, and which sentences of the user are constraints.

use std::borrow::Cow;

use super::answer::{first_line, unnumbered};
use super::sight::{State, state};
use crate::text::{cut, thousands};

/// Words that make a sentence of the user a constraint.
const CONSTRAINTS: [&str; 16] = [
    "never",
    "always",
    "must",
    "only",
    "don't",
    "do not",
    "without",
    "at most",
    "at least",
    "no more than",
    "keep",
    "不要",
    "必须",
    "禁止",
    "しないで",
    "必ず",
];

/// What is known of a result that a note replaced.
pub(super) const REPLACED: &str = "replaced by a note before this summary";

/// The sentences of `text` that say what must or must not be done, as they were typed.
pub(super) fn constraints(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', '\n', '。'])
        .filter(|sentence| {
            let lower = sentence.to_lowercase();
            CONSTRAINTS.iter().any(|word| holds_word(&lower, word))
        })
        .map(str::trim)
}

/// What came of a call, in a few words: the size, the headings of a text, else its first line.
pub(super) fn outcome(text: &str, is_error: bool) -> String {
    if is_error {
        return format!("failed: {}", first_line(text));
    }
    match state(text) {
        State::Saved(path) => return format!("on disk as {path}"),
        State::Replaced(Some(path)) => return format!("replaced, on disk as {path}"),
        State::Replaced(None) => return REPLACED.to_owned(),
        State::Whole => {}
    }
    let headings: Vec<Cow<'_, str>> = text
        .lines()
        .map(unnumbered)
        .filter(|line| line.starts_with("# ") || line.starts_with("## "))
        .map(|line| cut(line, 60))
        .take(3)
        .collect();
    let shown = if headings.is_empty() {
        first_line(text).into_owned()
    } else {
        headings.join(" / ")
    };
    format!("{} characters, “{shown}”", thousands(text.chars().count()))
}

/// Whether `word` stands in `text` as a word of its own; a word without letters of the alphabet may stand anywhere.
fn holds_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !word.is_ascii()
            || !(before.is_some_and(char::is_alphanumeric)
                || after.is_some_and(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_whole_words() {
        assert!(holds_word("it must be", "must"));
        assert!(!holds_word("mustard", "must"));
        assert!(holds_word("请不要删除", "不要"));
    }
}
