//! Which key does what: one table, from which keys are looked up and the help is made.
//!
//! No state and no effects; what an [`Action`] means is for `update` to say.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::app::Choice;

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

const fn plain(code: KeyCode) -> Chord {
    Chord(code, NONE)
}

const fn letter(c: char) -> Chord {
    Chord(KeyCode::Char(c), NONE)
}

const fn ctrl(c: char) -> Chord {
    Chord(KeyCode::Char(c), CTRL)
}

const fn alt(c: char) -> Chord {
    Chord(KeyCode::Char(c), ALT)
}

const fn row(place: Place, action: Action, keys: &'static [Chord], does: &'static str) -> Binding {
    Binding {
        keys,
        place,
        action,
        does,
    }
}

/// All keys, in the order in which the help shows them.
pub(crate) const TABLE: &[Binding] = {
    use Action as A;
    use KeyCode as K;
    use Place::{Dialog, Everywhere, Input, Pane};
    &[
        row(Everywhere, A::Help, &[plain(K::F(1))], "this help"),
        row(
            Everywhere,
            A::Demo,
            &[plain(K::F(2))],
            "the demo tour, in a fresh practice folder",
        ),
        row(Everywhere, A::NextPane, &[plain(K::Tab)], "next pane"),
        row(
            Everywhere,
            A::PreviousPane,
            &[
                plain(K::BackTab),
                Chord(K::BackTab, SHIFT),
                Chord(K::Tab, SHIFT),
            ],
            "previous pane",
        ),
        row(
            Everywhere,
            A::Escape,
            &[plain(K::Esc)],
            "close, go back; twice stops a turn that runs",
        ),
        row(
            Everywhere,
            A::Screen(Screen::Interrupt),
            &[ctrl('c')],
            "stop the turn, or clear the message, or (twice) quit",
        ),
        row(
            Everywhere,
            A::Screen(Screen::Suspend),
            &[ctrl('z')],
            "back to the shell; `fg` returns",
        ),
        row(
            Everywhere,
            A::Screen(Screen::Redraw),
            &[ctrl('l')],
            "draw the screen anew",
        ),
        row(
            Everywhere,
            A::Screen(Screen::PageUp),
            &[plain(K::PageUp)],
            "scroll back; the wheel does too",
        ),
        row(
            Everywhere,
            A::Screen(Screen::PageDown),
            &[plain(K::PageDown)],
            "scroll on",
        ),
        row(
            Input,
            A::Enter,
            &[plain(K::Enter)],
            "send; while a turn runs it queues",
        ),
        row(
            Input,
            A::Edit(Edit::Newline),
            &[Chord(K::Enter, ALT), ctrl('j'), Chord(K::Enter, SHIFT)],
            "new line; so does \\ before Enter",
        ),
        row(
            Input,
            A::EndOfInput,
            &[ctrl('d')],
            "quit, where the message is empty",
        ),
        row(
            Input,
            A::Go(Go::Up),
            &[plain(K::Up)],
            "line up; at the top, what was sent before",
        ),
        row(Input, A::Go(Go::Down), &[plain(K::Down)], "line down"),
        row(Input, A::Go(Go::Left), &[plain(K::Left), ctrl('b')], ""),
        row(Input, A::Go(Go::Right), &[plain(K::Right), ctrl('f')], ""),
        row(
            Input,
            A::Edit(Edit::WordLeft),
            &[alt('b'), Chord(K::Left, CTRL), Chord(K::Left, ALT)],
            "word left",
        ),
        row(
            Input,
            A::Edit(Edit::WordRight),
            &[alt('f'), Chord(K::Right, CTRL), Chord(K::Right, ALT)],
            "word right",
        ),
        row(
            Input,
            A::Edit(Edit::LineStart),
            &[ctrl('a')],
            "start of the line",
        ),
        row(
            Input,
            A::Edit(Edit::LineEnd),
            &[ctrl('e')],
            "end of the line",
        ),
        row(
            Input,
            A::Go(Go::First),
            &[plain(K::Home)],
            "line start; of the conversation if nothing is written",
        ),
        row(
            Input,
            A::Go(Go::Last),
            &[plain(K::End)],
            "line end; of the conversation if nothing is written",
        ),
        row(
            Input,
            A::Edit(Edit::DeleteBack),
            &[plain(K::Backspace), ctrl('h'), Chord(K::Backspace, SHIFT)],
            "",
        ),
        row(Input, A::Edit(Edit::DeleteNext), &[plain(K::Delete)], ""),
        row(
            Input,
            A::Edit(Edit::DeleteWord),
            &[
                ctrl('w'),
                Chord(K::Backspace, ALT),
                Chord(K::Backspace, CTRL),
            ],
            "delete the word before",
        ),
        row(
            Input,
            A::Edit(Edit::DeleteToStart),
            &[ctrl('u')],
            "delete to the start of the line",
        ),
        row(
            Input,
            A::Edit(Edit::DeleteToEnd),
            &[ctrl('k')],
            "delete to the end of the line",
        ),
        row(
            Input,
            A::Edit(Edit::Undo),
            &[Chord(K::Char('_'), CTRL), Chord(K::Char('7'), CTRL)],
            "undo",
        ),
        row(Input, A::Edit(Edit::Redo), &[ctrl('y')], "redo"),
        row(Pane, A::Help, &[letter('?')], "help"),
        row(Pane, A::ToInput, &[letter('i')], "to the message"),
        row(
            Pane,
            A::Maximise,
            &[letter('m'), plain(K::Enter)],
            "this pane alone, and back",
        ),
        row(Pane, A::Go(Go::Up), &[plain(K::Up), letter('k')], "up"),
        row(
            Pane,
            A::Go(Go::Down),
            &[plain(K::Down), letter('j')],
            "down",
        ),
        row(
            Pane,
            A::Go(Go::Left),
            &[plain(K::Left), letter('h')],
            "to the left",
        ),
        row(
            Pane,
            A::Go(Go::Right),
            &[plain(K::Right), letter('l')],
            "to the right",
        ),
        row(
            Pane,
            A::Go(Go::First),
            &[plain(K::Home), letter('g')],
            "first",
        ),
        row(
            Pane,
            A::Go(Go::Last),
            &[plain(K::End), letter('G')],
            "last, and follow",
        ),
        row(
            Dialog,
            A::Go(Go::Left),
            &[plain(K::Left)],
            "the choice before",
        ),
        row(
            Dialog,
            A::Go(Go::Right),
            &[plain(K::Right)],
            "the next choice",
        ),
        row(Dialog, A::Go(Go::Up), &[plain(K::Up)], "scroll up"),
        row(Dialog, A::Go(Go::Down), &[plain(K::Down)], "scroll down"),
        row(Dialog, A::Enter, &[plain(K::Enter)], "the marked choice"),
        row(
            Dialog,
            A::Answer(Choice::Once),
            &[letter('y')],
            "yes, this once",
        ),
        row(
            Dialog,
            A::Answer(Choice::Always),
            &[letter('a')],
            "always in this project",
        ),
        row(Dialog, A::Answer(Choice::No), &[letter('n')], "no"),
        row(
            Dialog,
            A::Answer(Choice::NoBecause),
            &[letter('w')],
            "no, and say why",
        ),
        row(
            Dialog,
            A::Edit(Edit::DeleteBack),
            &[plain(K::Backspace)],
            "",
        ),
    ]
};

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
            ctrl('c'),
            Chord(KeyCode::Enter, ALT),
            plain(KeyCode::BackTab),
            plain(KeyCode::F(1)),
            letter('G'),
        ]
        .map(Chord::name)
        .to_vec();
        assert_eq!(names, ["Ctrl+C", "Alt+Enter", "Shift+Tab", "F1", "G"]);
    }
}
