//! One command of a line as the program gets it: its words, what it reads, and the variables that the line itself sets.

use std::path::Path;

use tree_sitter::Node;

use super::shell::nodes;
use super::word::{Variables, Word};

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

/// What variables hold that the line sets itself, once and to something known.
pub(super) fn variables(root: Node<'_>, line: &str, home: Option<&Path>) -> Variables {
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
pub(super) fn words(command: Node<'_>, line: &str, variables: &Variables) -> Vec<Word> {
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
pub(super) fn stdin(command: Node<'_>, line: &str, variables: &Variables) -> Stdin {
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
        ["printf", text] if !text.contains(['%', '\\']) => Stdin::Text(Word::known(text)),
        _ => Stdin::Piped,
    }
}
