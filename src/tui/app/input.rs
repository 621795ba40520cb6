//! What keys, the wheel and pastes do: the question first, then what lies over the panes, then the focused pane.

use crossterm::event::KeyEvent;

use super::turn::Stop;
use super::{Again, App, Demo, Effect, Overlay, Pane};
use crate::event::Command;
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
            // What was pressed for the overlay must not answer a question below it.
            self.asks.typed(self.now);
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
        } else if let Some(ask) = self.asks.front_mut() {
            ask.scroll_by(notches * NOTCH);
        } else {
            self.screen.scroll.by(&self.transcript, notches * NOTCH);
        }
    }

    /// Pasted text goes to the draft, or to the reason that is being written. It never answers and never sends.
    pub(super) fn paste(&mut self, text: &str) {
        self.asks.typed(self.now);
        if let Some(ask) = self.asks.front_mut() {
            if let Some(because) = &mut ask.because {
                because.push_str(&crate::text::clean_line(text));
                return;
            }
            let letter = ask.withdraw();
            self.prompt.paste(&letter);
        }
        self.prompt.paste(text);
        self.focus(Pane::Input);
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
            Screen::First => self.screen.scroll.go_first(&self.transcript),
            Screen::Last => self.screen.scroll.go_last(&self.transcript),
        }
        Some(Vec::new())
    }

    fn page(&mut self, pages: isize) {
        let rows =
            isize::try_from(self.screen.layout.log.map_or(1, |area| area.height)).unwrap_or(1);
        if let Some(Overlay::Help(row)) = &mut self.screen.overlay {
            *row = row.saturating_add_signed(pages * 10);
        } else if let Some(ask) = self.asks.front_mut() {
            ask.page(pages);
        } else if self.screen.focus == Pane::Log {
            self.log_by(pages * rows);
        } else if self.screen.focus == Pane::Input && view::box_last(self) > 0 {
            self.screen.box_skip = self.screen.box_skip.saturating_add_signed(pages * 3);
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
                self.hint("stopping", Again::Stopping);
                return vec![Effect::Send(Command::Interrupt)];
            }
            Stop::Stopping => {
                self.hint("stopping", Again::Stopping);
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

    pub(super) fn pane_key(&mut self, chord: Chord, armed: Option<Again>) -> Vec<Effect> {
        match chord.action(Place::Pane) {
            Some(Action::Go(go)) if self.screen.focus == Pane::Log => self.go_log(go),
            Some(Action::Go(go))
                if self.screen.focus == Pane::Pipeline && self.screen.layout.alone.is_some() =>
            {
                self.go_pipeline(go);
            }
            Some(Action::Go(go)) => self.go_conversation(go),
            Some(other) => return self.common(other, armed),
            None => {
                // What means nothing here was meant for the message.
                if let Some(c) = chord.typed() {
                    self.focus(Pane::Input);
                    self.prompt.insert(c);
                }
            }
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

    fn go_pipeline(&mut self, go: Go) {
        self.screen.pane_skip = match go {
            Go::Up => self.screen.pane_skip.saturating_sub(1),
            Go::Down => self.screen.pane_skip.saturating_add(1),
            Go::First => 0,
            Go::Last => usize::MAX,
            Go::Left | Go::Right => return,
        };
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

    /// Esc puts lit lamps out, and more: back from one pane alone; asks before it stops a turn; closes what a demo says at
    /// its end; else between the input and the last pane.
    fn escape(&mut self, armed: Option<Again>) -> Vec<Effect> {
        self.lamps.put_out();
        if self.screen.alone {
            self.screen.alone = false;
        } else if self.turn.stop(self.now) != Stop::Nothing {
            if armed == Some(Again::Stop) {
                self.turn.stop_asked(self.now);
                self.hint("stopping", Again::Stopping);
                return vec![Effect::Send(Command::Interrupt)];
            }
            self.hint("Esc again to stop", Again::Stop);
        } else if self.closing() && self.screen.focus == Pane::Input {
            self.demo = Demo::Closed;
        } else if self.screen.focus == Pane::Input {
            let last = self.screen.last.unwrap_or(Pane::Conversation);
            self.focus(last);
        } else {
            self.focus(Pane::Input);
        }
        Vec::new()
    }
}
