//! The table of keys: what each does in which place, in the order in which the help shows them.

use crossterm::event::KeyCode;

use super::{ALT, Action, Binding, CTRL, Chord, Edit, Go, NONE, Place, SHIFT, Screen};
use crate::tui::app::Choice;

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
            Everywhere,
            A::Screen(Screen::First),
            &[Chord(K::Home, CTRL)],
            "to the start of the conversation",
        ),
        row(
            Everywhere,
            A::Screen(Screen::Last),
            &[Chord(K::End, CTRL)],
            "to its end, and follow",
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
        row(
            Dialog,
            A::Go(Go::Up),
            &[plain(K::Up)],
            "scroll up; PgUp and the wheel too",
        ),
        row(
            Dialog,
            A::Go(Go::Down),
            &[plain(K::Down)],
            "scroll down: nothing is allowed before its end was in view",
        ),
        row(Dialog, A::Go(Go::First), &[plain(K::Home)], "its start"),
        row(Dialog, A::Go(Go::Last), &[plain(K::End)], "its end"),
        row(
            Dialog,
            A::Enter,
            &[plain(K::Enter)],
            "give the marked answer; send the message if one is written",
        ),
        row(Dialog, A::Escape, &[plain(K::Esc)], "no, for this call"),
        row(
            Dialog,
            A::Answer(Choice::Once),
            &[letter('y')],
            "mark: yes, this once",
        ),
        row(
            Dialog,
            A::Answer(Choice::Always),
            &[letter('a')],
            "mark: always in this project",
        ),
        row(Dialog, A::Answer(Choice::No), &[letter('n')], "mark: no"),
        row(
            Dialog,
            A::Answer(Choice::NoBecause),
            &[letter('w')],
            "mark: no, and say why",
        ),
        row(
            Dialog,
            A::Edit(Edit::DeleteBack),
            &[plain(K::Backspace)],
            "",
        ),
    ]
};
