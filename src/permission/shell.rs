//! A command line taken apart: every command in it, wherever it stands, is looked at.
//!
//! Lists, pipelines, substitutions, here-documents, functions and the strings given to other shells are gone through;
//! what cannot be read, or is only known at run time, is *unclear* and asks in every mode.

use std::path::{Path, PathBuf};

use tree_sitter::{Node, Parser, Tree};

use super::refused::{self, Place};
use super::word::{Variables, Word};
use super::wrapper::{self, Inner};
use super::{plain, quoted};
use crate::tools::Workspace;

/// How deep scripts in scripts and commands in commands are followed.
const MAX_DEPTH: usize = 32;
/// From how many bytes on a command line is not read any more.
const MAX_LINE: usize = 200_000;
/// Commands that set variables in ways that are not followed.
const SETTERS: [&str; 7] = [
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "unset",
    "let",
    "eval",
];

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

/// What a program reads.
#[derive(Clone, Debug)]
pub(super) enum Stdin {
    /// Nothing, or a file.
    Plain,
    /// This text.
    Text(Word),
    /// What another program writes.
    Piped,
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
        if !is_output(node, line) {
            return;
        }
        let to = Word::read(to, line, variables);
        match refused::check_output(&to) {
            Some(refused::Finding::Refused(reason)) => self.refuse(reason),
            Some(refused::Finding::Unclear(reason)) => self.unclear(reason),
            None => {}
        }
    }
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

/// What variables hold that the line sets itself, once and to something known.
fn variables(root: Node<'_>, line: &str, home: Option<&Path>) -> Variables {
    let mut variables = Variables::default();
    if let Some(home) = home.and_then(Path::to_str) {
        variables.assign("HOME", Some(home.to_owned()));
    }
    let mut names: Vec<&str> = Vec::new();
    let mut assignments = Vec::new();
    let mut forget = false;
    for node in nodes(root) {
        match node.kind() {
            "variable_assignment" => {
                if let Some(name) = node.child_by_field_name("name") {
                    let name = &line[name.byte_range()];
                    if names.contains(&name) {
                        variables.assign(name, None);
                    }
                    names.push(name);
                    assignments.push((name, node));
                }
            }
            "for_statement" | "c_style_for_statement" => {
                if let Some(name) = node.child_by_field_name("variable") {
                    variables.assign(&line[name.byte_range()], None);
                }
            }
            // `${x:=…}` and `((x = …))` set variables too.
            "expansion" | "arithmetic_expansion" | "compound_statement" => {
                let text = &line[node.byte_range()];
                let counts = text.starts_with("((") || text.starts_with("$((");
                forget |= counts && text.contains(['=', '+', '-']) || text.contains(":=");
            }
            "command_name" => forget |= SETTERS.contains(&&line[node.byte_range()]),
            "command" => forget |= line[node.byte_range()].starts_with("printf -v"),
            _ => {}
        }
    }
    for (name, node) in assignments {
        let for_one_command = node
            .parent()
            .is_some_and(|parent| parent.kind() == "command");
        let appends = line[node.byte_range()][name.len()..].starts_with('+');
        let value = match node.child_by_field_name("value") {
            _ if for_one_command || appends => None,
            None => Some(String::new()),
            Some(value) if value.kind() == "array" => None,
            Some(value) => Word::read(value, line, &variables)
                .literal()
                .map(str::to_owned),
        };
        variables.assign(name, value);
    }
    if forget {
        variables.forget();
    }
    variables
}

/// The words of a command, those behind a redirection included.
fn words(command: Node<'_>, line: &str, variables: &Variables) -> Vec<Word> {
    let mut found = Vec::new();
    let mut cursor = command.walk();
    for child in command.children(&mut cursor) {
        match child.kind() {
            "variable_assignment" | "herestring_redirect" => {}
            "file_redirect" | "heredoc_redirect" => behind_redirect(child, &mut found),
            _ => found.push(child),
        }
    }
    if let Some(parent) = command
        .parent()
        .filter(|parent| parent.kind() == "redirected_statement")
    {
        let mut cursor = parent.walk();
        for redirect in parent.children_by_field_name("redirect", &mut cursor) {
            behind_redirect(redirect, &mut found);
        }
    }
    found
        .into_iter()
        .map(|node| Word::read(node, line, variables))
        .collect()
}

/// The grammar takes the words behind a redirection for more of its targets: they are the command's.
fn behind_redirect<'t>(redirect: Node<'t>, found: &mut Vec<Node<'t>>) {
    let mut cursor = redirect.walk();
    found.extend(
        redirect
            .children_by_field_name("destination", &mut cursor)
            .skip(1),
    );
    found.extend(redirect.children_by_field_name("argument", &mut cursor));
}

/// What a command reads.
fn stdin(command: Node<'_>, line: &str, variables: &Variables) -> Stdin {
    let mut node = command;
    let mut own = true;
    if let Some(text) = here_text(command, line, variables) {
        return text;
    }
    while let Some(parent) = node.parent() {
        match parent.kind() {
            "redirected_statement" => {
                if let Some(text) = here_text(parent, line, variables) {
                    return if own { text } else { Stdin::Piped };
                }
            }
            "heredoc_redirect" => return Stdin::Piped,
            "pipeline" if parent.named_child(0) != Some(node) => {
                return match node.prev_named_sibling() {
                    Some(before) if own => said(before, line, variables),
                    Some(_) | None => Stdin::Piped,
                };
            }
            _ => own = false,
        }
        node = parent;
    }
    Stdin::Plain
}

/// The text of a here-document or here-string of `node` itself.
fn here_text(node: Node<'_>, line: &str, variables: &Variables) -> Option<Stdin> {
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let mut inner = child.walk();
        let text = match child.kind() {
            "herestring_redirect" => child.named_child(0),
            "heredoc_redirect" => child
                .children(&mut inner)
                .find(|part| part.kind() == "heredoc_body"),
            _ => continue,
        };
        return Some(match text {
            None => Stdin::Plain,
            Some(body) if body.kind() == "heredoc_body" && body.named_child_count() == 0 => {
                Stdin::Text(Word::known(&line[body.byte_range()]))
            }
            Some(body) if body.kind() == "heredoc_body" => Stdin::Piped,
            Some(text) => Stdin::Text(Word::read(text, line, variables)),
        });
    }
    None
}

/// What the command before a pipe says, if it only says something.
fn said(before: Node<'_>, line: &str, variables: &Variables) -> Stdin {
    if before.kind() != "command" {
        return Stdin::Piped;
    }
    let words = words(before, line, variables);
    let Some(words) = words.iter().map(Word::literal).collect::<Option<Vec<_>>>() else {
        return Stdin::Piped;
    };
    match words.as_slice() {
        ["echo", text @ ..]
            if text
                .iter()
                .all(|word| !word.starts_with('-') && !word.contains('\\')) =>
        {
            Stdin::Text(Word::known(&text.join(" ")))
        }
        [text] if !text.contains(['%', '\\']) => Stdin::Text(Word::known(text)),
        _ => Stdin::Piped,
    }
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
