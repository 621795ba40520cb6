//! Command lines that are nothing but plain commands: only those can be covered by a rule of the user.

use tree_sitter::{Node, Tree};

use super::shell::{is_output, nodes};
use super::word::{Variables, Word};

/// Programs that only cut down what another one says, if they are given no file.
const FILTERS: [&str; 3] = ["head", "tail", "wc"];
/// All that may stand in a plain line.
const PLAIN: [&str; 22] = [
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "number",
    "string",
    "string_content",
    "raw_string",
    "concatenation",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "comment",
    "&&",
    "||",
    "|",
    ";",
    "\n",
    "\"",
    ">",
];

/// The words of each command of `line`, filters left out; nothing if there is anything else in it.
pub(super) fn commands(tree: &Tree, line: &str) -> Option<Vec<Vec<String>>> {
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut commands = Vec::new();
    for node in nodes(root) {
        match node.kind() {
            "file_redirect" if !is_harmless(node, line) => return None,
            "command" => {
                let words = words(node, line)?;
                if !is_filter(node, &words) {
                    commands.push(words);
                }
            }
            ">&" | "2>&1" => {}
            kind if PLAIN.contains(&kind) => {}
            _ => return None,
        }
    }
    (!commands.is_empty()).then_some(commands)
}

/// Whether a redirection only joins two outputs or throws one away.
fn is_harmless(node: Node<'_>, line: &str) -> bool {
    let mut cursor = node.walk();
    let targets: Vec<&str> = node
        .children_by_field_name("destination", &mut cursor)
        .map(|target| &line[target.byte_range()])
        .collect();
    is_output(node, line) && matches!(targets.as_slice(), ["/dev/null" | "1" | "2"])
}

fn words(command: Node<'_>, line: &str) -> Option<Vec<String>> {
    let variables = Variables::default();
    let mut cursor = command.walk();
    command
        .children(&mut cursor)
        .filter(|child| child.kind() != "file_redirect")
        .map(|child| Word::read(child, line, &variables).pattern())
        .collect()
}

fn is_filter(command: Node<'_>, words: &[String]) -> bool {
    let mut node = command;
    if let Some(parent) = node
        .parent()
        .filter(|parent| parent.kind() == "redirected_statement")
    {
        node = parent;
    }
    let behind_pipe = node
        .parent()
        .is_some_and(|parent| parent.kind() == "pipeline" && parent.named_child(0) != Some(node));
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    behind_pipe
        && FILTERS.contains(&program.as_str())
        && args.iter().all(|arg| {
            arg.starts_with('-') && !arg.contains(['/', '='])
                || arg.chars().all(|c| c.is_ascii_digit())
        })
}
