//! A demo on the screen: which of its boxes is shown, and the words of the last one.

use super::App;
use crate::event::Gate;
use crate::tui::mirror::{ROWS, short};
use crate::tui::texts::count;

/// Whether a demo is played, and how far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Demo {
    /// There is none.
    #[default]
    None,
    /// It plays, or its end is being told.
    Played,
    /// It is over, and whoever watched has gone on.
    Closed,
}

impl Demo {
    pub(super) fn of(gates: &[Gate]) -> Self {
        if gates.is_empty() {
            Self::None
        } else {
            Self::Played
        }
    }
}

impl App {
    /// Whether the last gate's turn is over and the end is being told.
    pub(crate) fn closing(&self) -> bool {
        self.demo == Demo::Played && self.gates.is_empty() && !self.turn.busy() && !self.turn.over()
    }

    /// What a demo's box says now, a paragraph each: the gate that waits, or the end. Empty where there is no box.
    pub(crate) fn told(&self) -> Vec<String> {
        if self.turn.busy() {
            return Vec::new();
        }
        match self.gates.front() {
            Some(gate) => vec![gate.say.clone()],
            None if self.closing() => self.the_end(),
            None => Vec::new(),
        }
    }

    fn the_end(&self) -> Vec<String> {
        let counted = ROWS.into_iter().zip(self.mirror.counts.fired);
        let (fired, not): (Vec<_>, Vec<_>) = counted.partition(|(_, times)| *times > 0);
        let fired: Vec<String> = fired
            .into_iter()
            .map(|(stage, times)| format!("{} {}", short(stage), count(times, "time", "times")))
            .collect();
        let not: Vec<&str> = not.into_iter().map(|(stage, _)| short(stage)).collect();
        let mut said = if fired.is_empty() {
            "No stage fired in this demo.".to_owned()
        } else {
            format!("Fired in this demo: {}.", fired.join(", "))
        };
        if !not.is_empty() && !fired.is_empty() {
            said = format!("{said} Not: {}.", not.join(", "));
        }
        let mut told = vec![said];
        if let Some(session) = &self.mirror.session {
            told.push(format!("Practice folder: {}", session.workspace));
            told.push(match &session.log {
                Some(log) => format!("Session log: {log}"),
                None => "Session log: none, it is in memory only".to_owned(),
            });
        }
        let names = self.demos.join(" ");
        told.push(format!(
            "Next: /demo NAME ({names}), or type freely to go on here; Ctrl+D leaves."
        ));
        told
    }
}
