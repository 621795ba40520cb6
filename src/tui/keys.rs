//! Which key does what: one table, from which keys are looked up and the help is made.
//!
//! No state and no effects; what an [`Action`] means is for `update` to say.

mod table;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::app::Choice;
pub(crate) use table::TABLE;

/// What a key press asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Screen(Screen),
    Go(Go),
    Edit(Edit),
    Answer(Choice),
    /// Send the draft, give the marked answer: what Enter means where it was pressed.
    Enter,
    EndOfInput,
    Escape,
    Help,
    Demo,
    NextPane,
    PreviousPane,
    ToInput,
    Maximise,
}

/// What acts whatever is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Interrupt,
    Suspend,
    Redraw,
    PageUp,
    PageDown,
    First,
    Last,
}

/// A movement; by what, is for the place to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    Up,
    Down,
    Left,
    Right,
    First,
    Last,
}

/// A change of the draft, or a movement that only text knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Newline,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    DeleteBack,
    DeleteNext,
    DeleteWord,
    DeleteToStart,
    DeleteToEnd,
    Undo,
    Redo,
}

/// Where a key acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Everywhere, before all else.
    Everywhere,
    /// In the message that is being written.
    Input,
    /// In the conversation and the instrument panes.
    Pane,
    /// In a question that waits for an answer.
    Dialog,
}

impl Place {
    /// The heading of its part of the help.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Input => "Message",
            Self::Pane => "Panes",
            Self::Dialog => "A question",
        }
    }
}

/// A key with its modifiers. A character stands for itself as typed: `A` is Shift and `a` already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chord(pub(crate) KeyCode, pub(crate) KeyModifiers);

/// Keys that do the same in one place, and the words for it.
pub(crate) struct Binding {
    /// The first is the one that help and footer name.
    pub(crate) keys: &'static [Chord],
    pub(crate) place: Place,
    pub(crate) action: Action,
    /// What it does, for the help; empty where a key needs no explaining.
    pub(crate) does: &'static str,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const ALT: KeyModifiers = KeyModifiers::ALT;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

impl Chord {
    /// The chord of a key event; `None` for a release.
    pub(crate) fn of(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let mut modifiers = event.modifiers & (CTRL | ALT | SHIFT);
        if matches!(event.code, KeyCode::Char(_)) {
            modifiers -= SHIFT;
        }
        // Terminals that report capitals together with Ctrl mean the same key.
        let code = match event.code {
            KeyCode::Char(c) if modifiers.contains(CTRL) => KeyCode::Char(c.to_ascii_lowercase()),
            other => other,
        };
        Some(Self(code, modifiers))
    }

    /// The character that the chord types, if it types one.
    pub(crate) fn typed(self) -> Option<char> {
        match self {
            // Ctrl with Alt is how several layouts type `@`, `{` or `\`.
            Self(KeyCode::Char(c), modifiers) if modifiers == NONE || modifiers == CTRL | ALT => {
                Some(c)
            }
            Self(..) => None,
        }
    }

    /// What the chord does in `place`, or everywhere.
    pub(crate) fn action(self, place: Place) -> Option<Action> {
        let found = |wanted: Place| {
            TABLE
                .iter()
                .find(|binding| binding.place == wanted && binding.keys.contains(&self))
                .map(|binding| binding.action)
        };
        found(place).or_else(|| found(Place::Everywhere))
    }

    /// The name that help and footer show.
    pub(crate) fn name(self) -> String {
        let Self(code, modifiers) = self;
        let key = match code {
            KeyCode::Char(c) if modifiers.contains(CTRL) => c.to_ascii_uppercase().to_string(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::F(n) => format!("F{n}"),
            KeyCode::BackTab => "Shift+Tab".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            other => other.to_string(),
        };
        let mut name = String::new();
        for (bit, prefix) in [(CTRL, "Ctrl+"), (ALT, "Alt+"), (SHIFT, "Shift+")] {
            if modifiers.contains(bit) && !(bit == SHIFT && code == KeyCode::BackTab) {
                name.push_str(prefix);
            }
        }
        name + &key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(c: char) -> Chord {
        Chord(KeyCode::Char(c), NONE)
    }

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for (at, one) in TABLE.iter().enumerate() {
            for other in &TABLE[at + 1..] {
                for key in one.keys {
                    assert!(
                        one.place != other.place || !other.keys.contains(key),
                        "{} in {:?}",
                        key.name(),
                        one.place
                    );
                }
            }
        }
    }

    #[test]
    fn shifted_letters_are_typed_and_releases_are_not() {
        let event = |code, modifiers, kind| KeyEvent::new_with_kind(code, modifiers, kind);
        let typed = |code, modifiers| {
            Chord::of(event(code, modifiers, KeyEventKind::Press)).and_then(Chord::typed)
        };
        assert_eq!(typed(KeyCode::Char('Ä'), SHIFT), Some('Ä'));
        assert_eq!(typed(KeyCode::Char('@'), CTRL | ALT), Some('@'));
        assert_eq!(typed(KeyCode::Char('c'), CTRL), None);
        assert_eq!(
            Chord::of(event(KeyCode::Char('a'), NONE, KeyEventKind::Release)),
            None
        );
    }

    #[test]
    fn keys_have_the_names_that_people_use() {
        let names: Vec<String> = [
            Chord(KeyCode::Char('c'), CTRL),
            Chord(KeyCode::Enter, ALT),
            Chord(KeyCode::BackTab, NONE),
            Chord(KeyCode::F(1), NONE),
            letter('G'),
        ]
        .map(Chord::name)
        .to_vec();
        assert_eq!(names, ["Ctrl+C", "Alt+Enter", "Shift+Tab", "F1", "G"]);
    }
}
