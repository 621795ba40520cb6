//! What may run unasked: a pure decision over a parsed call and the place that its path leads to.
//!
//! Never asks, never runs anything. It is a help against accidents, not a wall: a wall is a container or a user of its own.

mod command;
mod kept;
mod plain;
mod refused;
mod rule;
mod shell;
mod word;
mod wrapper;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use rule::Rule;

use crate::tools::{Bash, Place, ToolCall, Workspace, one_line};

/// How many characters of a path or command a reason quotes.
const QUOTED: usize = 200;

/// What may run unasked, from the narrowest to the widest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading in the workspace; all else is refused.
    ReadOnly,
    /// Reading in the workspace; all else asks.
    #[default]
    Ask,
    /// Also writing and editing in the workspace.
    Edits,
    /// Everything but leaving the workspace with a file tool.
    All,
}

impl Mode {
    /// Its name in settings and options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Edits => "edits",
            Self::All => "all",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::ReadOnly, Self::Ask, Self::Edits, Self::All]
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or_else(|| {
                format!("`{name}` is no permission mode: use ask, edits, all or read-only")
            })
    }
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// Only if the user says so.
    Ask {
        /// Why, for the user.
        reason: String,
    },
    /// It does not run.
    Deny {
        /// Why, for the model and the user.
        reason: String,
    },
}

/// What may run unasked in one session: the mode, and what the user allowed for this project.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    mode: Mode,
    rules: Vec<Rule>,
}

/// How a file tool touches a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl Policy {
    /// A policy of `mode` with what the user has allowed before.
    #[must_use]
    pub fn new(mode: Mode, rules: Vec<Rule>) -> Self {
        Self { mode, rules }
    }

    /// The mode in force.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What the user has allowed, oldest first.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// From now on `rule` holds too.
    pub fn add(&mut self, rule: Rule) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }

    /// Whether `call` may run. Looks at links on disk, changes nothing.
    #[must_use]
    pub fn judge(&self, call: &ToolCall, workspace: &Workspace) -> Verdict {
        match call {
            ToolCall::Bash(bash) => self.judge_bash(bash, workspace),
            ToolCall::ReadFile(read) => self.judge_path(call, &read.path, Access::Read, workspace),
            ToolCall::WriteFile(write) => {
                self.judge_path(call, &write.path, Access::Write, workspace)
            }
            ToolCall::EditFile(edit) => self.judge_path(call, &edit.path, Access::Write, workspace),
            ToolCall::Glob(glob) => self.judge_path(call, &glob.base(), Access::Read, workspace),
            ToolCall::TodoWrite(_)
            | ToolCall::Task(_)
            | ToolCall::LoadSkill(_)
            | ToolCall::Compact => Verdict::Allow,
        }
    }

    fn judge_path(
        &self,
        call: &ToolCall,
        path: &str,
        access: Access,
        workspace: &Workspace,
    ) -> Verdict {
        let place = match workspace.place(path) {
            Ok(place) => place,
            Err(reason) => return Verdict::Deny { reason },
        };
        let inside = matches!(place, Place::Inside(_));
        let free = match (self.mode, access) {
            (_, Access::Read) | (Mode::Edits | Mode::All, Access::Write) => inside,
            (Mode::ReadOnly | Mode::Ask, Access::Write) => false,
        };
        if free {
            return Verdict::Allow;
        }
        if self.mode == Mode::ReadOnly {
            let what = if inside {
                "writing"
            } else {
                "leaving the workspace"
            };
            return Verdict::Deny {
                reason: format!("{what} is refused in read-only mode"),
            };
        }
        if self
            .rules
            .iter()
            .any(|rule| rule.covers_path(call, &place, workspace.root()))
        {
            return Verdict::Allow;
        }
        Verdict::Ask {
            reason: match place {
                Place::Inside(_) => format!("{} changes a file", call.name()),
                Place::Outside(real) => {
                    format!("outside the workspace: {}", quoted(&real.to_string_lossy()))
                }
            },
        }
    }

    /// Whether each of `commands` is covered by a rule.
    fn covers(&self, commands: &[Vec<String>]) -> bool {
        commands
            .iter()
            .all(|words| self.rules.iter().any(|rule| rule.covers_words(words)))
    }

    fn judge_bash(&self, bash: &Bash, workspace: &Workspace) -> Verdict {
        if self.mode == Mode::ReadOnly {
            return Verdict::Deny {
                reason: "commands are refused in read-only mode".to_owned(),
            };
        }
        let script = shell::read(&bash.command, workspace);
        if let Some(reason) = script.refused {
            return Verdict::Deny {
                reason: format!("refused in every mode: {reason}"),
            };
        }
        if let Some(reason) = script.unclear {
            return Verdict::Ask { reason };
        }
        let is_covered = |commands: Vec<Vec<String>>| self.covers(&commands);
        if self.mode == Mode::All
            || self
                .rules
                .iter()
                .any(|rule| rule.covers_line(&bash.command))
            || script.commands.is_some_and(is_covered)
        {
            return Verdict::Allow;
        }
        Verdict::Ask {
            reason: "a command can change anything that you can".to_owned(),
        }
    }
}

/// `text` for a sentence on one line.
fn quoted(text: &str) -> String {
    one_line(text, QUOTED)
}
