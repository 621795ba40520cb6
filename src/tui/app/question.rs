//! Keys while a question waits for an answer.

use super::{Again, App, Choice, Draft, Effect, Pane};
use crate::event::{Command, Decision};
use crate::tui::keys::{Action, Chord, Edit, Go, Place};

impl App {
    /// A key while a question waits: while it is deaf, and always where something is written, letters go to the draft.
    pub(super) fn question_key(&mut self, chord: Chord) -> Vec<Effect> {
        let hears = self.asks.hears(self.now);
        let draft = if self.prompt.is_empty() {
            Draft::Empty
        } else {
            Draft::Written
        };
        let action = chord.action(Place::Dialog);
        let Some(ask) = self.asks.front_mut() else {
            return Vec::new();
        };
        if hears && ask.because.is_some() {
            return self.because_key(chord);
        }
        let letter = chord.typed().is_some();
        if !hears && self.screen.focus != Pane::Input {
            self.asks.typed(self.now);
            return self.pane_key(chord, None);
        }
        if !hears || (letter && draft == Draft::Written) {
            self.draft_key(chord);
            return Vec::new();
        }
        let mut decision = None;
        match action {
            Some(Action::Go(Go::Left) | Action::PreviousPane) => ask.choose(-1),
            Some(Action::Go(Go::Right) | Action::NextPane) => ask.choose(1),
            Some(Action::Go(Go::Up)) => ask.scroll = ask.scroll.saturating_sub(1),
            Some(Action::Go(Go::Down)) => ask.scroll = ask.scroll.saturating_add(1),
            Some(Action::Answer(choice)) => decision = ask.decide(choice),
            Some(Action::Escape) => decision = ask.decide(Choice::No),
            Some(Action::Enter) => {
                decision = ask.entered(draft);
                if decision.is_none() && ask.because.is_none() {
                    self.hint(
                        "the arrows choose an answer, Enter gives it",
                        Again::Nothing,
                    );
                }
            }
            Some(
                Action::Go(Go::First | Go::Last)
                | Action::Edit(_)
                | Action::Screen(_)
                | Action::EndOfInput
                | Action::Help
                | Action::Demo
                | Action::ToInput
                | Action::Maximise,
            )
            | None => self.draft_key(chord),
        }
        self.answer(decision)
    }

    /// A key that is meant for the draft while a question is shown; Enter does nothing then.
    fn draft_key(&mut self, chord: Chord) {
        self.asks.typed(self.now);
        match (chord.typed(), chord.action(Place::Input)) {
            (Some(c), _) => self.prompt.insert(c),
            (None, Some(Action::Edit(edit))) => self.prompt.edit(edit),
            (None, Some(Action::Go(go))) => self.prompt.go(go),
            (None, Some(_) | None) => {}
        }
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
