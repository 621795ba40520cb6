//! What the model may ask for: the nine calls, parsed once from their JSON, and the specifications that it is told.
//!
//! Nothing here runs anything. The specifications are an asset; a test holds them against the types below.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::event::Todo;
use crate::text;

/// The nine specifications, exactly as sent.
const SPECS: &str = include_str!("../../assets/tools.json");
/// How long a call's one line for people may be.
const SUMMARY: usize = 120;

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

/// Input of `compact`: nothing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compact {}

/// The nine tool specifications in their fixed order, as sent to a model.
#[must_use]
pub fn specs() -> Arc<[Value]> {
    static PARSED: OnceLock<Arc<[Value]>> = OnceLock::new();
    Arc::clone(PARSED.get_or_init(|| {
        // The asset is part of the program and a test parses it: an empty list cannot ship.
        serde_json::from_str::<Vec<Value>>(SPECS)
            .unwrap_or_default()
            .into()
    }))
}

impl ToolCall {
    /// Checks what a model asked for.
    ///
    /// # Errors
    /// The text for the model: what is wrong and how the tool is called, or which tools there are.
    pub fn parse(name: &str, input: &Value) -> Result<Self, String> {
        match name {
            "bash" => typed(name, input).map(Self::Bash),
            "read_file" => typed(name, input).map(Self::ReadFile),
            "write_file" => typed(name, input).map(Self::WriteFile),
            "edit_file" => typed(name, input).map(Self::EditFile),
            "glob" => typed(name, input).map(Self::Glob),
            "todo_write" => typed(name, input).map(Self::TodoWrite),
            "task" => typed(name, input).map(Self::Task),
            "load_skill" => typed(name, input).map(Self::LoadSkill),
            "compact" => typed::<Compact>(name, input).map(|_| Self::Compact),
            _ => Err(unknown(name)),
        }
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bash(_) => "bash",
            Self::ReadFile(_) => "read_file",
            Self::WriteFile(_) => "write_file",
            Self::EditFile(_) => "edit_file",
            Self::Glob(_) => "glob",
            Self::TodoWrite(_) => "todo_write",
            Self::Task(_) => "task",
            Self::LoadSkill(_) => "load_skill",
            Self::Compact => "compact",
        }
    }

    /// One line for people, cleaned and at most 120 characters: `bash cargo test`, `read src/lexer.rs`.
    #[must_use]
    pub fn summary(&self) -> String {
        let line = match self {
            Self::Bash(call) => format!("bash {}", call.command),
            Self::ReadFile(call) => match (call.offset, call.limit) {
                (None, None) => format!("read {}", call.path),
                (offset, None) => format!("read {} from line {}", call.path, offset.unwrap_or(1)),
                (offset, Some(limit)) => {
                    let first = offset.unwrap_or(1).max(1);
                    let last = first.saturating_add(limit).saturating_sub(1);
                    format!("read {} lines {first}-{last}", call.path)
                }
            },
            Self::WriteFile(call) => format!("write {}", call.path),
            Self::EditFile(call) => format!("edit {}", call.path),
            Self::Glob(call) => match &call.path {
                Some(path) => format!("glob {} in {path}", call.pattern),
                None => format!("glob {}", call.pattern),
            },
            Self::TodoWrite(call) => match call.todos.len() {
                1 => "todo 1 item".to_owned(),
                n => format!("todo {n} items"),
            },
            Self::Task(call) => format!("task {}", call.prompt),
            Self::LoadSkill(call) => format!("skill {}", call.name),
            Self::Compact => "compact".to_owned(),
        };
        one_line(line.trim_end(), SUMMARY)
    }
}

/// `text` cleaned, on one line of at most `max` characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let line = text::clean_line(text);
    if text::head(&line, max).len() == line.len() {
        return line;
    }
    format!("{}…", text::head(&line, max - 1))
}

/// `input` as a tool's own type.
fn typed<T: DeserializeOwned>(name: &str, input: &Value) -> Result<T, String> {
    // A struct can also be read from a list of its fields: not what the specification says.
    let problem = if input.is_object() {
        match T::deserialize(input) {
            Ok(call) => return Ok(call),
            Err(problem) => problem.to_string(),
        }
    } else {
        "the input must be a JSON object".to_owned()
    };
    let mut message = format!("{name}: {problem}. Nothing was run.");
    if let Some(spec) = specs().iter().find(|spec| spec["name"] == name) {
        let _ = write!(
            message,
            "\nThe input of {name} is: {}",
            spec["input_schema"]
        );
    }
    Err(message)
}

fn unknown(name: &str) -> String {
    let specs = specs();
    let names: Vec<&str> = specs
        .iter()
        .filter_map(|spec| spec["name"].as_str())
        .collect();
    format!(
        "there is no tool `{}`. The tools are: {}.",
        text::head(name, SUMMARY),
        names.join(", ")
    )
}
