//! What keys that are ready at once are: the wheel, a paste, or keys after all. Pure: it sees no clock and no screen.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Plain arrows ready at once that are a notch of the wheel.
const NOTCH: usize = 3;
/// Keys ready at once that fingers may have typed; more are a paste.
const FEW: usize = 5;
/// How long after a paste keys belong to it too.
pub(super) const PASTE: Duration = Duration::from_millis(25);
/// Keys that are handed in at once.
pub(super) const MOST: usize = 4_096;

/// A paste came in just before: what comes now may be the rest of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest;

/// Which keys can be parts of the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Burst {
    /// A plain arrow and its direction.
    Arrow(isize),
    /// A key that stands for a character of a text.
    Text,
}

/// What keys of one kind that came together are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// Notches of the wheel, down if positive: terminals send it as arrows.
    Wheel(isize),
    /// A paste of a terminal that does not say so.
    Paste(String),
    /// What they say.
    Keys,
}

impl Burst {
    /// What `key` may be a part of; nothing if it always stands for itself.
    pub(super) fn of(key: KeyEvent) -> Option<Self> {
        match key.code {
            KeyCode::Up if key.modifiers.is_empty() => Some(Self::Arrow(-1)),
            KeyCode::Down if key.modifiers.is_empty() => Some(Self::Arrow(1)),
            _ => text(key).map(|_| Self::Text),
        }
    }
}

/// What `keys`, all of one kind, are. A key that is held down is no paste.
pub(super) fn meant(keys: &[KeyEvent], rest: Option<Rest>) -> Meant {
    match keys.first().and_then(|&first| Burst::of(first)) {
        Some(Burst::Arrow(step)) if keys.len() >= NOTCH => {
            Meant::Wheel(step * isize::try_from(keys.len() / NOTCH).unwrap_or(1))
        }
        Some(Burst::Text) => {
            let held = keys.iter().all(|key| key.code == keys[0].code);
            if rest.is_some() || (keys.len() > FEW && !held && !is_one_line(keys)) {
                Meant::Paste(keys.iter().filter_map(|&key| text(key)).collect())
            } else {
                Meant::Keys
            }
        }
        Some(Burst::Arrow(_)) | None => Meant::Keys,
    }
}

/// A line and the Enter behind it, as a program types it that drives a terminal: it means to send it.
fn is_one_line(keys: &[KeyEvent]) -> bool {
    let mut breaks = keys
        .iter()
        .map(|&key| matches!(text(key), Some('\n' | '\t')));
    breaks.next_back() == Some(true) && !breaks.any(|is_break| is_break)
}

/// The character that a key stands for in a pasted text: Enter and Ctrl+J are how a line's end arrives.
fn text(key: KeyEvent) -> Option<char> {
    match (key.code, key.modifiers) {
        (KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT) => Some(c),
        (KeyCode::Char('j'), KeyModifiers::CONTROL) | (KeyCode::Enter, KeyModifiers::NONE) => {
            Some('\n')
        }
        (KeyCode::Tab, KeyModifiers::NONE) => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<KeyEvent> {
        text.chars()
            .map(|c| {
                let code = match c {
                    '\n' => KeyCode::Enter,
                    '\t' => KeyCode::Tab,
                    '^' => KeyCode::Up,
                    c => KeyCode::Char(c),
                };
                KeyEvent::new(code, KeyModifiers::NONE)
            })
            .collect()
    }

    #[test]
    fn many_keys_at_once_are_a_paste_and_few_or_equal_ones_are_keys() {
        let cases = [
            ("/c\n", Meant::Keys),
            ("2つ", Meant::Keys),
            ("jjjjjjjjjj", Meant::Keys),
            ("\n\n\n\n\n\n\n", Meant::Keys),
            ("one\ttwo\n", Meant::Paste("one\ttwo\n".to_owned())),
            ("one\ntwo\n", Meant::Paste("one\ntwo\n".to_owned())),
            ("read README.md\n", Meant::Keys),
            ("^^", Meant::Keys),
            ("^^^^^^", Meant::Wheel(-2)),
        ];
        for (text, expected) in cases {
            assert_eq!(meant(&keys(text), None), expected, "{text:?}");
        }
        let rest = Meant::Paste("a\n".to_owned());
        assert_eq!(meant(&keys("a\n"), Some(Rest)), rest);
    }
}
