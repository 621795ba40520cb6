//! What keys, the wheel and pastes do: the question first, then what lies over the panes, then the focused pane.

use crossterm::event::KeyEvent;

use super::command::{self, Typed};
use super::turn::Stop;
use super::{Again, App, Choice, Draft, Effect, Overlay, Pane, Switch};
use crate::context::Limits;
use crate::event::{Command, Decision, Gate};
use crate::tui::keys::{Action, Chord, Edit, Go, Place, Screen};
use crate::tui::view;

/// Rows that a notch of the wheel scrolls.
const NOTCH: isize = 3;

impl App {
    pub(super) fn key(&mut self, event: KeyEvent) -> Vec<Effect> {
        let Some(chord) = Chord::of(event) else {
            return Vec::new();
        };
        // A second press of the same key is looked for first; every other key disarms it.
        let armed = self.screen.hint.take().map(|hint| hint.again);
        if let Some(effects) = self.anywhere(chord, armed) {
            return effects;
        }
        if self.screen.overlay.is_some() {
            return self.overlay_key(chord);
        }
        if self.asks.front().is_some() {
            return self.question_key(chord);
        }
        if self.screen.focus == Pane::Input {
            self.input_key(chord, armed)
        } else {
            self.pane_key(chord, armed)
        }
    }

    pub(super) fn wheel(&mut self, notches: isize) {
        if let Some(Overlay::Help(row)) = &mut self.screen.overlay {
            *row = row.saturating_add_signed(notches * NOTCH);
        } else {
            self.screen.scroll.by(&self.transcript, notches * NOTCH);
        }
    }

    /// Pasted text goes to the draft, or to the reason that is being written. It never answers and never sends.
    pub(super) fn paste(&mut self, text: &str) {
        self.asks.typed(self.now);
        match self.asks.front_mut().and_then(|ask| ask.because.as_mut()) {
            Some(because) => because.push_str(&crate::text::clean_line(text)),
            None => self.prompt.paste(text),
        }
    }

    /// Keys that act whatever is shown.
    fn anywhere(&mut self, chord: Chord, armed: Option<Again>) -> Option<Vec<Effect>> {
        let Some(Action::Screen(action)) = chord.action(Place::Everywhere) else {
            return None;
        };
        match action {
            Screen::Interrupt => return Some(self.interrupt(armed)),
            Screen::Suspend => return Some(vec![Effect::Suspend]),
            Screen::Redraw => return Some(vec![Effect::Redraw]),
            Screen::PageUp => self.page(-1),
            Screen::PageDown => self.page(1),
        }
        Some(Vec::new())
    }

    fn page(&mut self, pages: isize) {
        let rows =
            isize::try_from(self.screen.layout.log.map_or(1, |area| area.height)).unwrap_or(1);
        if let Some(Overlay::Help(row)) = &mut self.screen.overlay {
            *row = row.saturating_add_signed(pages * 10);
        } else if self.screen.focus == Pane::Log && self.asks.front().is_none() {
            self.log_by(pages * rows);
        } else {
            self.screen.scroll.page(&self.transcript, pages);
        }
    }

    fn log_by(&mut self, rows: isize) {
        self.screen.log_skip = self.screen.log_skip.saturating_add_signed(rows);
    }

    /// Ctrl+C: stops what runs, else clears the draft, else leaves at the second press.
    fn interrupt(&mut self, armed: Option<Again>) -> Vec<Effect> {
        match self.turn.stop(self.now) {
            Stop::Running => {
                self.turn.stop_asked(self.now);
                self.hint("stopping", Again::Nothing);
                return vec![Effect::Send(Command::Interrupt)];
            }
            Stop::Stopping => {
                self.hint("stopping", Again::Nothing);
                return Vec::new();
            }
            Stop::Stuck => return vec![Effect::Quit],
            Stop::Nothing => {}
        }
        if self.screen.overlay.take().is_some() {
            return Vec::new();
        }
        if !self.prompt.is_empty() {
            self.prompt.clear();
            self.hint("cleared; Up brings it back", Again::Nothing);
            return Vec::new();
        }
        if armed == Some(Again::Quit) {
            return vec![Effect::Quit];
        }
        self.hint("Ctrl+C again to quit", Again::Quit);
        Vec::new()
    }

    fn overlay_key(&mut self, chord: Chord) -> Vec<Effect> {
        let action = chord.action(Place::Pane);
        match self.screen.overlay.take() {
            Some(Overlay::Help(row)) => {
                let row = match action {
                    Some(Action::Go(Go::Up)) => row.saturating_sub(1),
                    Some(Action::Go(Go::Down)) => row.saturating_add(1),
                    Some(Action::Go(Go::First)) => 0,
                    Some(Action::Go(Go::Last)) => usize::MAX,
                    Some(_) | None => return Vec::new(),
                };
                self.screen.overlay = Some(Overlay::Help(row));
                Vec::new()
            }
            Some(Overlay::Confirm { then, .. }) => {
                if chord.typed().is_some_and(|c| c.eq_ignore_ascii_case(&'y')) {
                    self.confirmed(&then);
                    vec![then]
                } else {
                    self.hint("not done", Again::Nothing);
                    Vec::new()
                }
            }
            None => Vec::new(),
        }
    }

    fn confirmed(&mut self, then: &Effect) {
        if *then == Effect::Send(Command::Compact) {
            self.turn.compact(self.now);
        }
    }

    /// A key while a question waits: while it is deaf, and always where something is written, letters go to the draft.
    fn question_key(&mut self, chord: Chord) -> Vec<Effect> {
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

    fn input_key(&mut self, chord: Chord, armed: Option<Again>) -> Vec<Effect> {
        if let Some(c) = chord.typed() {
            self.prompt.insert(c);
            return Vec::new();
        }
        let Some(action) = chord.action(Place::Input) else {
            return Vec::new();
        };
        match action {
            Action::Enter => return self.enter(),
            Action::EndOfInput if self.prompt.is_empty() => return vec![Effect::Quit],
            Action::EndOfInput => self.prompt.edit(Edit::DeleteNext),
            Action::NextPane if self.complete() => {}
            Action::Go(Go::First) if self.prompt.is_empty() => {
                self.screen.scroll.go_first(&self.transcript);
            }
            Action::Go(Go::Last) if self.prompt.is_empty() => {
                self.screen.scroll.go_last(&self.transcript);
            }
            Action::Go(go) => self.prompt.go(go),
            Action::Edit(edit) => self.prompt.edit(edit),
            other => return self.common(other, armed),
        }
        Vec::new()
    }

    fn pane_key(&mut self, chord: Chord, armed: Option<Again>) -> Vec<Effect> {
        match chord.action(Place::Pane) {
            Some(Action::Go(go)) if self.screen.focus == Pane::Log => self.go_log(go),
            Some(Action::Go(go)) => self.go_conversation(go),
            Some(other) => return self.common(other, armed),
            None => {}
        }
        Vec::new()
    }

    /// The log has its newest row on top.
    fn go_log(&mut self, go: Go) {
        match go {
            Go::Up => self.log_by(-1),
            Go::Down => self.log_by(1),
            Go::First => self.screen.log_skip = 0,
            Go::Last => self.screen.log_skip = usize::MAX,
            Go::Left | Go::Right => {}
        }
    }

    fn go_conversation(&mut self, go: Go) {
        match go {
            Go::Up => self.screen.scroll.by(&self.transcript, -1),
            Go::Down => self.screen.scroll.by(&self.transcript, 1),
            Go::First => self.screen.scroll.go_first(&self.transcript),
            Go::Last => self.screen.scroll.go_last(&self.transcript),
            Go::Left | Go::Right => {}
        }
    }

    /// What keys do alike in the input and in the panes.
    fn common(&mut self, action: Action, armed: Option<Again>) -> Vec<Effect> {
        match action {
            Action::Help => self.screen.overlay = Some(Overlay::Help(0)),
            Action::Demo => return self.demo("tour".to_owned()),
            Action::NextPane => self.focus(view::pane_beside(&self.screen, 1)),
            Action::PreviousPane => self.focus(view::pane_beside(&self.screen, -1)),
            Action::Escape => return self.escape(armed),
            Action::Maximise => self.screen.alone = !self.screen.alone,
            Action::ToInput => self.focus(Pane::Input),
            Action::Screen(_)
            | Action::Go(_)
            | Action::Edit(_)
            | Action::Answer(_)
            | Action::Enter
            | Action::EndOfInput => {}
        }
        Vec::new()
    }

    fn focus(&mut self, pane: Pane) {
        if self.screen.focus != Pane::Input {
            self.screen.last = Some(self.screen.focus);
        }
        self.screen.focus = pane;
        self.screen.alone = false;
    }

    /// Esc: back from one pane alone; asks before it stops a turn; else between the input and the last pane.
    fn escape(&mut self, armed: Option<Again>) -> Vec<Effect> {
        if self.screen.alone {
            self.screen.alone = false;
        } else if self.turn.stop(self.now) != Stop::Nothing {
            if armed == Some(Again::Stop) {
                self.turn.stop_asked(self.now);
                self.hint("stopping", Again::Nothing);
                return vec![Effect::Send(Command::Interrupt)];
            }
            self.hint("Esc again to stop", Again::Stop);
        } else if self.screen.focus == Pane::Input {
            let last = self.screen.last.unwrap_or(Pane::Conversation);
            self.focus(last);
        } else {
            self.focus(Pane::Input);
        }
        Vec::new()
    }

    /// Enter in the input: a gate, a command, a line that goes on, or a message.
    fn enter(&mut self) -> Vec<Effect> {
        if self.prompt.continue_line() {
            return Vec::new();
        }
        let draft = self.prompt.draft();
        let draft = draft.trim();
        if draft.is_empty() {
            return self.pass_gate();
        }
        if command::is_command(draft) {
            return self.command(draft);
        }
        if self.turn.over() {
            self.hint("there is no agent to send it to", Again::Nothing);
            return Vec::new();
        }
        match self.prompt.take() {
            Some(text) => self.send(text),
            None => Vec::new(),
        }
    }

    fn send(&mut self, text: String) -> Vec<Effect> {
        self.turn.request(text.clone());
        self.screen.scroll.go_last(&self.transcript);
        vec![Effect::Send(Command::Prompt(text))]
    }

    /// Goes through the gate that waits, if the agent is not at work.
    fn pass_gate(&mut self) -> Vec<Effect> {
        if self.turn.busy() || self.turn.over() {
            return Vec::new();
        }
        let Some(Gate { limits, prompt, .. }) = self.gates.pop_front() else {
            return Vec::new();
        };
        let limits = limits.map(|limits| {
            Effect::Send(Command::SetLimits {
                limits,
                reason: "the demo".to_owned(),
            })
        });
        limits.into_iter().chain(self.send(prompt)).collect()
    }

    fn command(&mut self, draft: &str) -> Vec<Effect> {
        let typed = match command::parse(draft, &self.demos) {
            Ok(typed) => typed,
            Err(why) => {
                // The draft stays, so that it can be put right.
                self.hint(why, Again::Nothing);
                return Vec::new();
            }
        };
        self.prompt.clear();
        match typed {
            Typed::Help => self.screen.overlay = Some(Overlay::Help(0)),
            Typed::Quit => return vec![Effect::Quit],
            Typed::Demo(name) => return self.demo(name),
            Typed::Compact => {
                let messages = self.mirror.context.len();
                let plural = if messages == 1 { "" } else { "s" };
                self.screen.overlay = Some(Overlay::Confirm {
                    question: format!("Compact {messages} message{plural} now? 1 API call."),
                    then: Effect::Send(Command::Compact),
                });
            }
            Typed::Limit(n) => {
                return self.limits(format!("/limit {n}"), |limits| limits.context_limit = n);
            }
            Typed::Keep(n) => {
                return self.limits(format!("/keep {n}"), |limits| limits.keep_recent = n);
            }
            Typed::Learn(switch) => {
                self.learn = switch.unwrap_or(match self.learn {
                    Switch::On => Switch::Off,
                    Switch::Off => Switch::On,
                });
            }
        }
        Vec::new()
    }

    fn limits(&mut self, reason: String, change: impl FnOnce(&mut Limits)) -> Vec<Effect> {
        let mut limits = self.mirror.limits();
        change(&mut limits);
        vec![Effect::Send(Command::SetLimits { limits, reason })]
    }

    /// A demo takes this session's place: at once while nothing was said, else after a question.
    fn demo(&mut self, name: String) -> Vec<Effect> {
        if self.mirror.context.len() == 0 && !self.turn.busy() {
            return vec![Effect::SwitchTo(name)];
        }
        self.screen.overlay = Some(Overlay::Confirm {
            question: format!("Leave this session for the demo {name}? The session is kept."),
            then: Effect::SwitchTo(name),
        });
        Vec::new()
    }

    /// Completes a command's name, if one is being written and only one goes on that way.
    fn complete(&mut self) -> bool {
        let draft = self.prompt.draft();
        if !draft.starts_with('/') || draft.contains([' ', '\n']) {
            return false;
        }
        let mut names = command::completions(&draft);
        if let (Some(name), None) = (names.next(), names.next()) {
            self.prompt.set(&format!("{name} "));
        }
        true
    }
}
