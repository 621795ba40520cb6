//! *Always in this project*: what the user has allowed once and for all, as it is shown, stored and compared.

use std::path::{Component, Path};

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use super::shell;
use crate::tools::{Place, ToolCall};

/// Programs of which the word behind them says what they do: a rule covers that word, not the whole program.
const WITH_SUBCOMMANDS: [&str; 15] = [
    "cargo", "git", "npm", "pnpm", "yarn", "go", "make", "just", "uv", "pip", "docker", "kubectl",
    "dotnet", "gradle", "bundle",
];
/// Subcommands that run any command that is given to them, or undo work: no rule for all of their arguments.
const TOO_WIDE: [&str; 12] = [
    "run", "exec", "x", "dlx", "clean", "reset", "push", "config", "checkout", "restore", "rm",
    "delete",
];

/// A kind of call that runs unasked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// A command line, or with ` *` at its end all that begin with these words.
    Bash {
        /// `cargo test *`.
        command: String,
    },
    /// Reading.
    ReadFile {
        /// A glob pattern, from the root of the workspace or absolute.
        path: String,
    },
    /// Writing whole files.
    WriteFile {
        /// A glob pattern, from the root of the workspace or absolute.
        path: String,
    },
    /// Editing.
    EditFile {
        /// A glob pattern, from the root of the workspace or absolute.
        path: String,
    },
    /// Finding files.
    Glob {
        /// A glob pattern of the folder, from the root of the workspace or absolute.
        path: String,
    },
}

impl Rule {
    /// The rule that *always in this project* would make of `call`; nothing if no rule is narrow enough to be safe.
    #[must_use]
    pub fn for_call(call: &ToolCall) -> Option<Self> {
        Some(match call {
            ToolCall::Bash(bash) => Self::Bash {
                command: command_rule(&bash.command)?,
            },
            ToolCall::ReadFile(read) => Self::ReadFile {
                path: folder_pattern(&read.path)?,
            },
            ToolCall::WriteFile(write) => Self::WriteFile {
                path: folder_pattern(&write.path)?,
            },
            ToolCall::EditFile(edit) => Self::EditFile {
                path: folder_pattern(&edit.path)?,
            },
            ToolCall::Glob(glob) => Self::Glob {
                path: plain(&glob.base())?,
            },
            ToolCall::TodoWrite(_)
            | ToolCall::Task(_)
            | ToolCall::LoadSkill(_)
            | ToolCall::Compact => return None,
        })
    }

    /// One line for people: `bash: cargo test *`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Bash { command } => format!("bash: {command}"),
            Self::ReadFile { path } => format!("read_file: {path}"),
            Self::WriteFile { path } => format!("write_file: {path}"),
            Self::EditFile { path } => format!("edit_file: {path}"),
            Self::Glob { path } => format!("glob: {path}"),
        }
    }

    /// Whether it is about `call`, which leads to `place`.
    pub(super) fn covers_path(&self, call: &ToolCall, place: &Place, root: &Path) -> bool {
        let ((Self::ReadFile { path }, ToolCall::ReadFile(_))
        | (Self::WriteFile { path }, ToolCall::WriteFile(_))
        | (Self::EditFile { path }, ToolCall::EditFile(_))
        | (Self::Glob { path }, ToolCall::Glob(_))) = (self, call)
        else {
            return false;
        };
        let Ok(glob) = GlobBuilder::new(path).literal_separator(true).build() else {
            return false;
        };
        let matcher = glob.compile_matcher();
        match place {
            Place::Inside(relative) => {
                matcher.is_match(relative) || matcher.is_match(root.join(relative))
            }
            Place::Outside(real) => matcher.is_match(real),
        }
    }

    /// Whether it names just this command line.
    pub(super) fn covers_line(&self, line: &str) -> bool {
        matches!(self, Self::Bash { command } if command == line.trim() && !command.ends_with(" *"))
    }

    /// Whether it covers a command of these words.
    pub(super) fn covers_words(&self, words: &[String]) -> bool {
        let Self::Bash { command } = self else {
            return false;
        };
        match command.strip_suffix(" *") {
            Some(prefix) => {
                let prefix: Vec<&str> = prefix.split_whitespace().collect();
                words.len() >= prefix.len() && prefix.iter().zip(words).all(|(a, b)| a == b)
            }
            None => command
                .split_whitespace()
                .eq(words.iter().map(String::as_str)),
        }
    }
}

/// `git status *` for a plain command of such a program, otherwise the line itself.
fn command_rule(line: &str) -> Option<String> {
    let line = line.trim();
    let words = shell::only_command(line)?;
    if let [program, sub, ..] = words.as_slice()
        && WITH_SUBCOMMANDS.contains(&program.as_str())
        && !TOO_WIDE.contains(&sub.as_str())
        && sub
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '_'))
        && !sub.starts_with('-')
    {
        return Some(format!("{program} {sub} *"));
    }
    // A star at the end would be read as one of a rule.
    (!line.ends_with(" *")).then(|| line.to_owned())
}

/// All files in and under the folder of `path`; a file at the root alone.
fn folder_pattern(path: &str) -> Option<String> {
    let path = plain(path)?;
    Some(match path.rsplit_once('/') {
        Some((folder, _)) if !folder.is_empty() => format!("{folder}/**"),
        _ => path,
    })
}

/// `path` as a pattern for itself; nothing if it does not say where it leads.
fn plain(path: &str) -> Option<String> {
    if path.starts_with('~') {
        return None;
    }
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
            Component::RootDir => parts.push(String::new()),
            Component::Normal(name) => parts.push(globset::escape(name.to_str()?)),
        }
    }
    Some(parts.join("/"))
}
