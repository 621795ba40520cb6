//! What Enter in the input does: a message, a command, or on through a demo's gate.

use super::command::{self, Typed};
use super::{Again, App, Demo, Effect, Overlay, Switch};
use crate::context::Limits;
use crate::event::{Command, Gate};
use crate::tui::transcript::Fold;

impl App {
    /// Enter in the input: a gate, a command, a line that goes on, or a message.
    pub(super) fn enter(&mut self) -> Vec<Effect> {
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
            Some(text) => {
                if self.gates.is_empty() && self.demo == Demo::Played {
                    self.demo = Demo::Closed;
                }
                self.send(text)
            }
            None => Vec::new(),
        }
    }

    fn send(&mut self, text: String) -> Vec<Effect> {
        self.turn.request(text.clone());
        self.screen.box_skip = 0;
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
        let typed = match command::parse(draft, &self.demos, &self.offers) {
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
            Typed::Agree(offer) => {
                let question = "Begin a new session with it? This one is kept.";
                return self.instead(question.to_owned(), Effect::Agree(offer));
            }
            Typed::Compact if self.mirror.context.len() == 0 => {
                self.hint("nothing to compact yet", Again::Nothing);
            }
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
            Typed::Thinking => match self.transcript.turn_thinking() {
                Fold::Open => self.hint("thinking is shown", Again::Nothing),
                Fold::Folded => self.hint("thinking is folded", Again::Nothing),
            },
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
    pub(super) fn demo(&mut self, name: String) -> Vec<Effect> {
        let question = format!("Leave this session for the demo {name}? The session is kept.");
        self.instead(question, Effect::SwitchTo(name))
    }

    /// Does what ends this session: at once while nothing was said, else after `question`.
    fn instead(&mut self, question: String, then: Effect) -> Vec<Effect> {
        if self.mirror.context.len() == 0 && !self.turn.busy() {
            return vec![then];
        }
        self.screen.overlay = Some(Overlay::Confirm { question, then });
        Vec::new()
    }

    /// Completes a command's name, if one is being written and only one goes on that way.
    pub(super) fn complete(&mut self) -> bool {
        let draft = self.prompt.draft();
        if !draft.starts_with('/') || draft.contains([' ', '\n']) {
            return false;
        }
        let mut names = command::completions(&draft, &self.offers);
        if let (Some(name), None) = (names.next(), names.next()) {
            self.prompt.set(&format!("{name} "));
        }
        true
    }
}
