//! One word of a command line: what of it is known before the command runs.
//!
//! Quotes and backslashes are taken away; what only the shell can know (variables that nobody set in the line,
//! substitutions, braces) stays marked as unknown.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// As it reaches the program.
    Text(String),
    /// An unquoted `*`, `?` or `[`.
    Wild(char),
    /// Known at run time only; `loose` if it may become several words, or none.
    Unknown { loose: bool },
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pieces: Vec<Piece>,
}

/// What is known of variables.
#[derive(Debug, Default)]
pub(super) struct Variables(HashMap<String, Option<String>>);

impl Variables {
    /// `name` has `value` wherever it is used; none: it is not known. A second time makes it unknown for good.
    pub(super) fn assign(&mut self, name: &str, value: Option<String>) {
        self.0
            .entry(name.to_owned())
            .and_modify(|known| *known = None)
            .or_insert(value);
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        for value in self.0.values_mut() {
            *value = None;
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_deref()
    }
}

impl Word {
    /// A word of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self {
            pieces: vec![Piece::Unknown { loose: true }],
        }
    }

    /// A word that is known.
    pub(super) fn known(text: &str) -> Self {
        let mut word = Self::default();
        word.text(text);
        word
    }

    /// The word that `node` of `source` stands for.
    pub(super) fn read(node: Node<'_>, source: &str, variables: &Variables) -> Self {
        let mut expansions = Vec::new();
        collect_expansions(node, &mut expansions);
        let mut reader = Reader {
            source,
            variables,
            expansions: &expansions,
            word: Self::default(),
        };
        reader.read(node.byte_range());
        reader.word
    }

    /// The word if all of it is known and none of it is a pattern.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The word as a file name pattern, if nothing in it is unknown.
    pub(super) fn pattern(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Some(text.clone()),
                Piece::Wild(c) => Some(c.to_string()),
                Piece::Unknown { .. } => None,
            })
            .collect()
    }

    /// The word if what is unknown in it were empty.
    pub(super) fn without_unknown(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Wild(c) => c.to_string(),
                Piece::Unknown { .. } => String::new(),
            })
            .collect()
    }

    /// The known text that it begins with.
    pub(super) fn start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Wild(_) | Piece::Unknown { .. }) | None => "",
        }
    }

    /// Whether a part of it is unknown.
    pub(super) fn is_unknown(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Unknown { .. }))
    }

    /// Whether it may become several words, or other ones: then options can hide in it.
    pub(super) fn is_loose(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Unknown { loose: true }))
    }

    /// It without `prefix`, if it begins with that text.
    pub(super) fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        let rest = self.start().strip_prefix(prefix)?.to_owned();
        let mut pieces = self.pieces.clone();
        if let Some(first) = pieces.first_mut() {
            *first = Piece::Text(rest);
        }
        Some(Self { pieces })
    }

    fn text(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }
}

/// The outermost parts of `node` that the shell replaces.
fn collect_expansions<'t>(node: Node<'t>, found: &mut Vec<Node<'t>>) {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "ansi_c_string"
            | "brace_expression" => found.push(node),
            _ => {
                let mut cursor = node.walk();
                waiting.extend(node.children(&mut cursor));
            }
        }
    }
    found.sort_by_key(Node::start_byte);
}

/// Reads one word from left to right.
struct Reader<'a, 't> {
    source: &'a str,
    variables: &'a Variables,
    expansions: &'a [Node<'t>],
    word: Word,
}

impl Reader<'_, '_> {
    fn read(&mut self, range: Range<usize>) {
        let mut at = range.start;
        let mut in_double = false;
        while at < range.end {
            if let Some(node) = self.expansions.iter().find(|node| node.start_byte() == at) {
                self.expand(*node, in_double);
                at = node.end_byte();
                continue;
            }
            let rest = &self.source[at..range.end];
            let Some(c) = rest.chars().next() else { break };
            let mut taken = c.len_utf8();
            match c {
                '"' => in_double = !in_double,
                '\'' if !in_double => {
                    let inner = rest[1..].split('\'').next().unwrap_or_default();
                    self.word.text(inner);
                    taken = inner.len() + 2;
                }
                '\\' => taken = self.escaped(rest, in_double),
                '*' | '?' | '[' if !in_double => self.word.pieces.push(Piece::Wild(c)),
                '{' if !in_double => taken = self.brace(rest),
                '~' if !in_double && at == range.start => taken = self.tilde(rest),
                c => self.word.text(c.encode_utf8(&mut [0; 4])),
            }
            at += taken;
        }
        if self.word.pieces.is_empty() {
            self.word.text("");
        }
    }

    /// A backslash and what follows; how many bytes that were.
    fn escaped(&mut self, rest: &str, in_double: bool) -> usize {
        let Some(next) = rest[1..].chars().next() else {
            self.word.text("\\");
            return 1;
        };
        if in_double && !matches!(next, '$' | '`' | '"' | '\\' | '\n') {
            self.word.text("\\");
            return 1;
        }
        if next != '\n' {
            self.word.text(next.encode_utf8(&mut [0; 4]));
        }
        1 + next.len_utf8()
    }

    /// An opening brace: a choice of texts is unknown, anything else is text.
    fn brace(&mut self, rest: &str) -> usize {
        if let Some(end) = rest.find('}')
            && (rest[..end].contains(',') || rest[..end].contains(".."))
        {
            self.word.pieces.push(Piece::Unknown { loose: true });
            return end + 1;
        }
        self.word.text("{");
        1
    }

    /// A tilde and the name behind it; how many bytes that were.
    fn tilde(&mut self, rest: &str) -> usize {
        let end = rest.find('/').unwrap_or(rest.len());
        let alone = end == 1;
        match self.variables.get("HOME") {
            Some(home) if alone => {
                let home = home.to_owned();
                self.word.text(&home);
            }
            // Another user's home, the last folder, or no home that is known.
            _ => self.word.pieces.push(Piece::Unknown { loose: false }),
        }
        end
    }

    fn expand(&mut self, node: Node<'_>, quoted: bool) {
        let text = &self.source[node.byte_range()];
        if is_new_folder(text) {
            self.word.text("/tmp/new");
            return;
        }
        let name = text
            .strip_prefix("${")
            .and_then(|name| name.strip_suffix('}'))
            .or_else(|| text.strip_prefix('$'))
            .unwrap_or_default();
        match self.variables.get(name) {
            Some(value) if quoted || is_one_word(value) => {
                let value = value.to_owned();
                self.word.text(&value);
            }
            _ => {
                let loose = !quoted && node.kind() != "ansi_c_string";
                self.word.pieces.push(Piece::Unknown { loose });
            }
        }
    }
}

/// Whether `substitution` makes something new and says where: whatever it is called, deleting it is harmless.
fn is_new_folder(substitution: &str) -> bool {
    substitution.strip_prefix("$(mktemp").is_some_and(|rest| {
        rest.starts_with([' ', ')'])
            && rest.strip_suffix(')').is_some_and(|args| {
                args.chars()
                    .all(|c| c.is_ascii_alphanumeric() || " -_./".contains(c))
            })
    })
}

/// Whether a value stays one word, as it is, where it is put without quotes.
fn is_one_word(value: &str) -> bool {
    !value.is_empty()
        && !value.contains(|c: char| c.is_whitespace() || matches!(c, '*' | '?' | '['))
}
