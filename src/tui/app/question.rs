//! Keys while a question waits for an answer.

use super::{Again, App, Ask, Effect, Overlay, Pane};
use crate::event::{Command, Decision};
use crate::tui::keys::{Action, Chord, Edit, Go, Place};

impl App {
    /// A key while a question waits: while it is deaf, and always where something is written, keys go to the draft.
    pub(super) fn question_key(&mut self, chord: Chord) -> Vec<Effect> {
        let hears = self.asks.hears(self.now);
        let Some(ask) = self.asks.front_mut() else {
            return Vec::new();
        };
        if hears && ask.because.is_some() {
            return self.because_key(chord);
        }
        if !hears && self.screen.focus != Pane::Input {
            self.asks.typed(self.now);
            return self.pane_key(chord, None);
        }
        match (chord.action(Place::Dialog), chord.typed()) {
            (Some(Action::Help), _) => {
                self.screen.overlay = Some(Overlay::Help(0));
                return Vec::new();
            }
            (Some(Action::Go(Go::Up)), _) => ask.scroll_by(-1),
            (Some(Action::Go(Go::Down)), _) => ask.scroll_by(1),
            (Some(Action::Escape), _) if hears => {
                ask.withdraw();
                let decision = ask.decide();
                return self.answer(decision);
            }
            _ if !hears || !self.prompt.is_empty() => return self.draft_key(chord),
            (_, Some(c)) => {
                if let Some(text) = ask.letter(c) {
                    self.type_beside(&text);
                }
            }
            (Some(action), None) => return self.dialog_key(action, chord),
            (None, None) => return self.draft_key(chord),
        }
        Vec::new()
    }

    /// A key that types nothing, while the question hears and nothing is written.
    fn dialog_key(&mut self, action: Action, chord: Chord) -> Vec<Effect> {
        let Some(ask) = self.asks.front_mut() else {
            return Vec::new();
        };
        match action {
            Action::Go(Go::Left) | Action::PreviousPane => ask.choose(-1),
            Action::Go(Go::Right) | Action::NextPane => ask.choose(1),
            Action::Go(Go::First) => ask.scroll = 0,
            Action::Go(Go::Last) => ask.scroll = usize::MAX,
            Action::Edit(Edit::DeleteBack) => drop(ask.withdraw()),
            Action::Enter => {
                let unread = ask.unread();
                let decision = ask.decide();
                if unread {
                    self.hint(
                        "not yet: PgDn to the end of it first, then allow it",
                        Again::Nothing,
                    );
                }
                return self.answer(decision);
            }
            Action::Go(Go::Up | Go::Down)
            | Action::Edit(_)
            | Action::Screen(_)
            | Action::Answer(_)
            | Action::Escape
            | Action::EndOfInput
            | Action::Help
            | Action::Demo
            | Action::ToInput
            | Action::Maximise => return self.draft_key(chord),
        }
        Vec::new()
    }

    /// Text that was typed for the message although a question is shown.
    fn type_beside(&mut self, text: &str) {
        self.asks.typed(self.now);
        for c in text.chars() {
            self.prompt.insert(c);
        }
        self.screen.focus = Pane::Input;
    }

    /// A key that is meant for the draft while a question is shown. Enter sends what is written and never answers.
    fn draft_key(&mut self, chord: Chord) -> Vec<Effect> {
        self.asks.typed(self.now);
        let letter = self.asks.front_mut().map(Ask::withdraw);
        match (chord.typed(), chord.action(Place::Input)) {
            (Some(c), _) => self.prompt.insert(c),
            (None, Some(Action::Edit(Edit::Newline))) => {
                self.type_beside(&letter.unwrap_or_default());
                self.prompt.newline();
            }
            (None, Some(Action::Enter)) if !self.prompt.is_empty() => return self.enter(),
            (None, Some(Action::EndOfInput)) if self.prompt.is_empty() => {
                return vec![Effect::Quit];
            }
            (None, Some(Action::EndOfInput)) => self.prompt.edit(Edit::DeleteNext),
            (None, Some(Action::NextPane)) => drop(self.complete()),
            (None, Some(Action::Edit(edit))) => self.prompt.edit(edit),
            (None, Some(Action::Go(go))) => self.prompt.go(go),
            (None, Some(_) | None) => {}
        }
        Vec::new()
    }

    /// A key while the reason of a refusal is being written.
    fn because_key(&mut self, chord: Chord) -> Vec<Effect> {
        let Some(ask) = self.asks.front_mut() else {
            return Vec::new();
        };
        let Some(because) = &mut ask.because else {
            return Vec::new();
        };
        let mut decision = None;
        match (chord.typed(), chord.action(Place::Dialog)) {
            (Some(c), _) => because.push(c),
            (None, Some(Action::Edit(Edit::DeleteBack))) => drop(because.pop()),
            (None, Some(Action::Escape)) => ask.because = None,
            (None, Some(Action::Enter)) => {
                let reason = Some(because.trim().to_owned()).filter(|reason| !reason.is_empty());
                decision = Some(Decision::Deny { reason });
            }
            (None, _) => {}
        }
        self.answer(decision)
    }

    fn answer(&mut self, decision: Option<Decision>) -> Vec<Effect> {
        let (Some(decision), Some(ask)) = (decision, self.asks.front()) else {
            return Vec::new();
        };
        let id = ask.id.clone();
        self.asks.remove(&id);
        vec![Effect::Send(Command::Decide { id, decision })]
    }
}
