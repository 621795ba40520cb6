//! The nine tools: what the model asked for, parsed once, and what came of it.
//!
//! Never asks, never draws, never touches a history. `task` and `compact` are calls that only the agent can carry out.

use serde::Deserialize;

use crate::event::Todo;

/// A call of a tool, checked.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolCall {
    /// Run a shell command.
    Bash(Bash),
    /// Read a text file.
    ReadFile(ReadFile),
    /// Write a whole file.
    WriteFile(WriteFile),
    /// Replace a passage of a file.
    EditFile(EditFile),
    /// Find files by pattern.
    Glob(Glob),
    /// Replace the todo list.
    TodoWrite(TodoWrite),
    /// Hand a piece of work to a subagent.
    Task(Task),
    /// Read a skill's text.
    LoadSkill(LoadSkill),
    /// Ask for a compaction after this batch.
    Compact,
}

/// Input of `bash`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bash {
    /// The command line.
    pub command: String,
    /// Seconds until it is stopped; 120 if absent, at most 600.
    pub timeout: Option<u64>,
}

/// Input of `read_file`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file, in the workspace or absolute.
    pub path: String,
    /// First line, from 1.
    pub offset: Option<usize>,
    /// How many lines.
    pub limit: Option<usize>,
}

/// Input of `write_file`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file.
    pub path: String,
    /// All of its new text.
    pub content: String,
}

/// Input of `edit_file`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// The file.
    pub path: String,
    /// The passage that must occur exactly once (or at least once with `replace_all`).
    pub old_text: String,
    /// What takes its place.
    pub new_text: String,
    /// Whether every occurrence is replaced.
    #[serde(default)]
    pub replace_all: bool,
}

/// Input of `glob`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glob {
    /// The pattern, `src/**/*.rs`.
    pub pattern: String,
    /// The folder to look in; the workspace if absent.
    pub path: Option<String>,
}

/// Input of `todo_write`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TodoWrite {
    /// The whole new list.
    pub todos: Vec<Todo>,
}

/// Input of `task`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What the subagent is to do.
    pub prompt: String,
}

/// Input of `load_skill`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadSkill {
    /// The skill's name.
    pub name: String,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text of the result, never empty.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}
