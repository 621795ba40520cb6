//! A command line taken apart: every command in it, wherever it stands, is looked at.
//!
//! Lists, pipelines, substitutions, here-documents, functions and the strings given to other shells are gone through;
//! what cannot be read, or is only known at run time, is *unclear* and asks in every mode.

use std::path::{Path, PathBuf};

use tree_sitter::{Node, Parser, Tree};

use super::command::{Stdin, stdin, variables, words};
use super::kept::Place;
use super::refused;
use super::word::{Variables, Word};
use super::wrapper::{self, Inner};
use super::{plain, quoted};
use crate::tools::Workspace;

/// How deep scripts in scripts and commands in commands are followed.
const MAX_DEPTH: usize = 32;
/// From how many bytes on a command line is not read any more.
const MAX_LINE: usize = 200_000;
/// What a command line would do.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// Why it is refused in every mode.
    pub(super) refused: Option<String>,
    /// Why nobody can say what it does.
    pub(super) unclear: Option<String>,
    /// The words of its commands, if they are all there is to it.
    pub(super) commands: Option<Vec<Vec<String>>>,
}

/// Takes `line` apart.
pub(super) fn read(line: &str, workspace: &Workspace) -> Script {
    let mut inspection = Inspection {
        home: workspace.home(),
        place: Place::new(workspace),
        depth: 0,
        script: Script::default(),
    };
    inspection.line(line);
    let mut script = inspection.script;
    script.commands = parse(line).and_then(|tree| plain::commands(&tree, line));
    script
}

/// The words of the one plain command that `line` is, filters behind it apart.
pub(super) fn only_command(line: &str) -> Option<Vec<String>> {
    let tree = parse(line)?;
    let mut commands = plain::commands(&tree, line)?;
    if commands.len() == 1 {
        commands.pop()
    } else {
        None
    }
}

fn parse(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    parser.parse(line, None)
}

struct Inspection<'w> {
    home: Option<&'w Path>,
    place: Place,
    depth: usize,
    script: Script,
}

impl Inspection<'_> {
    fn refuse(&mut self, reason: String) {
        self.script.refused.get_or_insert(reason);
    }

    fn unclear(&mut self, reason: impl Into<String>) {
        self.script.unclear.get_or_insert(reason.into());
    }

    /// Looks at all commands of `line`.
    fn line(&mut self, line: &str) {
        if self.depth >= MAX_DEPTH || line.len() > MAX_LINE {
            self.unclear("the command is too long or too deep to be read");
            return;
        }
        let Some(tree) = parse(line) else {
            self.unclear("the command cannot be read");
            return;
        };
        let root = tree.root_node();
        if is_glued(line) {
            self.unclear("a word is cut by a line break");
        }
        if root.has_error() {
            self.unclear("the command cannot be read: its syntax is not clear");
        }
        self.depth += 1;
        let variables = variables(root, line, self.home);
        let mut scopes: Vec<(usize, Vec<Option<PathBuf>>)> = Vec::new();
        for node in nodes(root) {
            while scopes
                .last()
                .is_some_and(|(end, _)| *end <= node.start_byte())
            {
                if let Some((_, folders)) = scopes.pop() {
                    self.place.folders = folders;
                }
            }
            match node.kind() {
                "command" => {
                    let words = words(node, line, &variables);
                    let stdin = stdin(node, line, &variables);
                    self.command(&words, &stdin);
                }
                "file_redirect" => self.redirect(node, line, &variables),
                "subshell" | "command_substitution" | "process_substitution" => {
                    scopes.push((node.end_byte(), self.place.folders.clone()));
                }
                _ => {}
            }
        }
        if let Some((_, folders)) = scopes.into_iter().next() {
            self.place.folders = folders;
        }
        self.depth -= 1;
    }

    /// A script in a string: what it does to the current folder stays in it.
    fn nested(&mut self, script: &Word) {
        let Some(line) = script.literal().map(str::to_owned) else {
            self.unclear("it runs a text that is only known at run time");
            return;
        };
        let folders = self.place.folders.clone();
        self.line(&line);
        self.place.folders = folders;
    }

    /// A command and those that it runs.
    fn command(&mut self, words: &[Word], stdin: &Stdin) {
        let Some((program, args)) = words.split_first() else {
            return;
        };
        let Some(program) = program.literal().filter(|name| !name.contains("{}")) else {
            self.unclear("which program it runs is only known at run time");
            return;
        };
        if self.depth >= MAX_DEPTH {
            self.unclear("the command is too deep to be read");
            return;
        }
        let name = program.rsplit('/').next().unwrap_or(program).to_lowercase();
        if name == "cd" || name == "pushd" {
            self.place.enter(args, self.home);
        }
        match refused::check(&name, args, &self.place) {
            Some(refused::Finding::Refused(reason)) => self.refuse(reason),
            Some(refused::Finding::Unclear(reason)) => self.unclear(reason),
            None => {}
        }
        self.depth += 1;
        for inner in wrapper::inside(&name, args, stdin) {
            match inner {
                Inner::Command(words) => self.command(&words, stdin),
                Inner::Script(script) => self.nested(&script),
                Inner::Unclear(reason) => self.unclear(reason),
            }
        }
        self.depth -= 1;
    }

    fn redirect(&mut self, node: Node<'_>, line: &str, variables: &Variables) {
        let Some(to) = node.child_by_field_name("destination") else {
            return;
        };
        if line[node.byte_range()].contains('\n') || has_stray_words(node) {
            self.unclear("the words behind a redirection belong to no command");
        }
        if !is_output(node, line) {
            return;
        }
        let to = Word::read(to, line, variables);
        match refused::check_output(&to, &self.place) {
            Some(refused::Finding::Refused(reason)) => self.refuse(reason),
            Some(refused::Finding::Unclear(reason)) => self.unclear(reason),
            None => {}
        }
    }
}

/// Whether a backslash at a line's end joins two parts of a word: the grammar takes them for two words.
fn is_glued(line: &str) -> bool {
    line.match_indices("\\\n").any(|(at, joint)| {
        let before = line[..at].chars().next_back();
        let after = line[at + joint.len()..].chars().next();
        !before.is_none_or(char::is_whitespace) && !after.is_none_or(char::is_whitespace)
    })
}

/// Whether there are words behind a redirection that are not those of a command before it.
fn has_stray_words(redirect: Node<'_>) -> bool {
    let mut cursor = redirect.walk();
    let several = redirect
        .children_by_field_name("destination", &mut cursor)
        .nth(1)
        .is_some();
    let of_command = redirect.parent().is_some_and(|parent| {
        let body = parent.child_by_field_name("body");
        parent.kind() == "command" || body.is_some_and(|body| body.kind() == "command")
    });
    several && !of_command
}

/// Whether a redirection writes.
pub(super) fn is_output(node: Node<'_>, line: &str) -> bool {
    let text = &line[node.byte_range()];
    text.trim_start_matches(|c: char| c.is_ascii_digit())
        .starts_with(['>', '&'])
        || text.contains("<>")
}

/// `root` and all under it, in the order of the text. Without recursion: the depth is the model's.
pub(super) fn nodes(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = root.walk();
    let mut next = Some(root);
    std::iter::from_fn(move || {
        let node = next?;
        next = None;
        if cursor.goto_first_child() {
            next = Some(cursor.node());
        } else {
            loop {
                if cursor.goto_next_sibling() {
                    next = Some(cursor.node());
                    break;
                }
                if !cursor.goto_parent() {
                    break;
                }
            }
        }
        Some(node)
    })
}

/// A command for a sentence.
pub(super) fn shown(name: &str, args: &[Word]) -> String {
    let mut line = name.to_owned();
    for arg in args {
        line.push(' ');
        line.push_str(&arg.without_unknown());
    }
    quoted(&line)
}
