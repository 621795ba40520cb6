//! Plain orders in typed text, parsed into calls of tools. Knows the tools' names and inputs, nothing else.

use serde_json::{Value, json};

/// What the model says when it understands nothing, and for `help`.
pub(super) const HELP: &str = include_str!("../../../assets/demo/orders.md");

/// Words that may stand before an order and mean nothing here.
const FILLERS: [&str; 12] = [
    "please", "now", "also", "and", "then", "first", "next", "finally", "can", "could", "you", "-",
];
/// The words that an order begins with.
const WORDS: [&str; 10] = [
    "read", "run", "find", "write", "edit", "todo", "task", "skill", "compact", "help",
];
/// What parts two orders, if an order follows.
const JOINTS: [&str; 6] = ["; ", ";", "\n", ", then ", " and ", " then "];

/// One call to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// Its input.
    pub(super) input: Value,
}

/// What was understood, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parsed {
    /// The calls, in their order.
    pub(super) orders: Vec<Order>,
    /// Clauses that are no order, each with the reason.
    pub(super) misread: Vec<String>,
    /// Whether the user asked what there is.
    help: bool,
}

impl Parsed {
    /// What the model says before its calls; never empty where it makes none.
    pub(super) fn preface(&self) -> String {
        let mut lines = self.misread.clone();
        if self.orders.is_empty() || self.help {
            lines.push(HELP.trim_end().to_owned());
        }
        lines.join("\n\n")
    }
}

/// Whether `text` holds an order.
pub(super) fn has_one(text: &str) -> bool {
    !parse(text).orders.is_empty()
}

/// The orders in `text`.
pub(super) fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    for clause in clauses(text) {
        let Some((word, rest)) = order_at(&clause) else {
            parsed
                .misread
                .push(format!("I did not understand “{clause}”."));
            continue;
        };
        if word == "help" {
            parsed.help = true;
            continue;
        }
        match calls_for(word, rest) {
            Ok(orders) => parsed.orders.extend(orders),
            Err(form) => parsed
                .misread
                .push(format!("I did not understand “{clause}”: I need {form}.")),
        }
    }
    parsed
}

/// `text` parted where one order ends and the next begins; what stands in quotes is never parted.
fn clauses(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        if let Some(end) = quoted_end(text, at) {
            at = end;
            continue;
        }
        let joint = JOINTS
            .iter()
            .find(|joint| text[at..].starts_with(*joint))
            .filter(|joint| parts(&text[start..at], &text[at + joint.len()..]));
        if let Some(joint) = joint {
            out.push(&text[start..at]);
            at += joint.len();
            start = at;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    out.push(&text[start..]);
    out.into_iter()
        .map(|clause| clause.trim().to_owned())
        .filter(|clause| !clause.is_empty())
        .collect()
}

/// Whether a joint between `before` and `after` parts two clauses: an order follows, or no order came before.
fn parts(before: &str, after: &str) -> bool {
    order_at(after)
        .is_some_and(|(word, rest)| matches!(word, "compact" | "help") || !rest.trim().is_empty())
        || (before.trim().is_empty() && !after.trim().is_empty())
}

/// The end of the quoted passage that begins at `at`, if one does and is closed.
fn quoted_end(text: &str, at: usize) -> Option<usize> {
    let quote = text[at..].chars().next().filter(|c| "\"`'".contains(*c))?;
    let opens = text[..at]
        .chars()
        .next_back()
        .is_none_or(|c| c.is_whitespace() || c == '=' || c == '(');
    let inside = at + 1;
    let end = inside + text[inside..].find(quote)? + 1;
    opens.then_some(end)
}

/// The order that `clause` begins with, fillers and a leading `something: ` left out, and what follows it.
fn order_at(clause: &str) -> Option<(&'static str, &str)> {
    begins_with_order(clause).or_else(|| begins_with_order(clause.split_once(": ")?.1))
}

fn begins_with_order(clause: &str) -> Option<(&'static str, &str)> {
    let mut rest = clause.trim_start();
    loop {
        let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let bare = first
            .trim_end_matches([':', ',', '.', '!', '?', ';'])
            .to_lowercase();
        if let Some(word) = WORDS.iter().find(|word| **word == bare) {
            let is_alone = matches!(*word, "compact" | "help");
            return (!is_alone || after.trim().is_empty() || begins_with_joint(after))
                .then_some((*word, after.trim()));
        }
        if after.is_empty() || !FILLERS.contains(&bare.as_str()) {
            return None;
        }
        rest = after.trim_start();
    }
}

/// Whether `after` goes on with another order rather than with more words of this one.
fn begins_with_joint(after: &str) -> bool {
    let after = after.trim_start();
    after.starts_with([';', '-'])
        || after.starts_with("and ")
        || after.starts_with("then ")
        || begins_with_order(after).is_some()
}

/// The calls for one order; the error says what form it must have.
fn calls_for(word: &str, rest: &str) -> Result<Vec<Order>, &'static str> {
    let one = |tool, input| Ok(vec![Order { tool, input }]);
    match word {
        "read" => read(rest),
        "run" => match unquoted(rest) {
            "" => Err("a command, as in `run ls`"),
            command => one("bash", json!({ "command": command })),
        },
        "find" => find(rest),
        "write" => match rest.split_once(char::is_whitespace) {
            Some((path, text)) if !text.trim().is_empty() => one(
                "write_file",
                json!({ "path": unquoted(path.trim_end_matches(':')), "content": unquoted(text) }),
            ),
            _ => Err("a path and a text, as in `write notes.md Hello`"),
        },
        "edit" => edit(rest).ok_or("a path and two texts, as in `edit notes.md old => new`"),
        "todo" => todo(rest),
        "task" => match unquoted(rest) {
            "" => Err("orders for the subagent, as in `task \"read a.md\"`"),
            prompt => one("task", json!({ "prompt": prompt })),
        },
        "skill" => match unquoted(rest) {
            "" => Err("a skill's name, as in `skill harbour-notes`"),
            name => one("load_skill", json!({ "name": name })),
        },
        _ => one("compact", json!({})),
    }
}

fn read(rest: &str) -> Result<Vec<Order>, &'static str> {
    const FORM: &str = "a path, as in `read README.md` or `read README.md lines 1-20`";
    let (paths, lines) = match rest.split_once(" lines ") {
        Some((paths, lines)) => (paths, Some(range(lines).ok_or(FORM)?)),
        None => (rest, None),
    };
    let orders: Vec<Order> = words(paths)
        .into_iter()
        .map(|path| {
            let input = match lines {
                Some((first, count)) => json!({"path": path, "offset": first, "limit": count}),
                None => json!({ "path": path }),
            };
            Order {
                tool: "read_file",
                input,
            }
        })
        .collect();
    if orders.is_empty() {
        return Err(FORM);
    }
    Ok(orders)
}

/// `10-20` or `10 to 20` as first line and count.
fn range(text: &str) -> Option<(usize, usize)> {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().ok());
    let first: usize = numbers.next()??;
    let last: usize = numbers.next().unwrap_or(Some(first))?;
    (first >= 1 && last >= first).then(|| (first, last - first + 1))
}

fn find(rest: &str) -> Result<Vec<Order>, &'static str> {
    let (patterns, folder) = match rest.rsplit_once(" in ") {
        Some((patterns, folder)) => (patterns, Some(unquoted(folder))),
        None => (rest, None),
    };
    let orders: Vec<Order> = words(patterns)
        .into_iter()
        .map(|pattern| Order {
            tool: "glob",
            input: match folder {
                Some(folder) => json!({"pattern": pattern, "path": folder}),
                None => json!({ "pattern": pattern }),
            },
        })
        .collect();
    if orders.is_empty() {
        return Err("a pattern, as in `find **/*.md`");
    }
    Ok(orders)
}

fn edit(rest: &str) -> Option<Vec<Order>> {
    let (path, texts) = rest.split_once(char::is_whitespace)?;
    let (old, new) = texts.split_once(" => ")?;
    let input = json!({
        "path": unquoted(path),
        "old_text": unquoted(old),
        "new_text": unquoted(new),
    });
    Some(vec![Order {
        tool: "edit_file",
        input,
    }])
}

fn todo(rest: &str) -> Result<Vec<Order>, &'static str> {
    let todos: Vec<Value> = rest
        .split([',', '\n'])
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let (status, content) = match entry.split_once(']') {
                Some(("[x" | "[X", content)) => ("completed", content),
                Some(("[>", content)) => ("in_progress", content),
                Some(("[ " | "[", content)) => ("pending", content),
                _ => ("pending", entry),
            };
            json!({"content": content.trim(), "status": status})
        })
        .collect();
    if todos.is_empty() {
        return Err("entries, as in `todo read, compare, write`");
    }
    Ok(vec![Order {
        tool: "todo_write",
        input: json!({ "todos": todos }),
    }])
}

/// The words of a list, quoted ones whole; commas, `and` and articles are no words.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = quoted_end(rest, 0).unwrap_or_else(|| {
            rest.find(|c: char| c.is_whitespace() || c == ',')
                .unwrap_or(rest.len())
        });
        let word = unquoted(&rest[..end]);
        if !word.is_empty() && !matches!(word, "and" | "the" | "file" | "files") {
            out.push(word);
        }
        rest = rest[end..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }
    out
}

/// `text` without the quotes around the whole of it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    match quoted_end(text, 0) {
        Some(end) if end == text.len() => &text[1..end - 1],
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Vec<(&'static str, String)> {
        let parsed = parse(text);
        assert_eq!(parsed.misread, Vec::<String>::new(), "{text}");
        parsed
            .orders
            .into_iter()
            .map(|order| (order.tool, order.input.to_string()))
            .collect()
    }

    #[test]
    fn every_order_becomes_its_call() {
        let cases: [(&str, &[(&str, &str)]); 14] = [
            ("read a.md", &[("read_file", r#"{"path":"a.md"}"#)]),
            (
                "Read the files a.md, \"b c.md\" and d.md",
                &[
                    ("read_file", r#"{"path":"a.md"}"#),
                    ("read_file", r#"{"path":"b c.md"}"#),
                    ("read_file", r#"{"path":"d.md"}"#),
                ],
            ),
            (
                "read a.md lines 10-20",
                &[("read_file", r#"{"path":"a.md","offset":10,"limit":11}"#)],
            ),
            (
                "run ls -l; wc -l *",
                &[("bash", r#"{"command":"ls -l; wc -l *"}"#)],
            ),
            (
                "run `echo salt and read`",
                &[("bash", r#"{"command":"echo salt and read"}"#)],
            ),
            (
                "please find **/*.md in lessons then run ls",
                &[
                    ("glob", r#"{"pattern":"**/*.md","path":"lessons"}"#),
                    ("bash", r#"{"command":"ls"}"#),
                ],
            ),
            (
                "write n.md \"salt and read it\"",
                &[(
                    "write_file",
                    r#"{"path":"n.md","content":"salt and read it"}"#,
                )],
            ),
            (
                "write n.md first line\nsecond line",
                &[(
                    "write_file",
                    r#"{"path":"n.md","content":"first line\nsecond line"}"#,
                )],
            ),
            (
                "edit n.md one => two",
                &[(
                    "edit_file",
                    r#"{"path":"n.md","old_text":"one","new_text":"two"}"#,
                )],
            ),
            (
                "todo [x] read, [>] compare, write",
                &[(
                    "todo_write",
                    r#"{"todos":[{"content":"read","status":"completed"},{"content":"compare","status":"in_progress"},{"content":"write","status":"pending"}]}"#,
                )],
            ),
            (
                "task \"read a.md; find *.rs\"",
                &[("task", r#"{"prompt":"read a.md; find *.rs"}"#)],
            ),
            (
                "Look at the exercises: find *.py; skill harbour-notes",
                &[
                    ("glob", r#"{"pattern":"*.py"}"#),
                    ("load_skill", r#"{"name":"harbour-notes"}"#),
                ],
            ),
            ("Compact.", &[("compact", "{}")]),
            (
                "- read a.md\n- compact",
                &[("read_file", r#"{"path":"a.md"}"#), ("compact", "{}")],
            ),
        ];
        for (text, expected) in cases {
            let expected: Vec<(&str, String)> = expected
                .iter()
                .map(|(tool, input)| (*tool, (*input).to_owned()))
                .collect();
            assert_eq!(calls(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_order_is_named_beside_what_is_one() {
        let parsed = parse("dance a jig; read a.md and write n.md");
        assert_eq!(parsed.orders.len(), 1);
        assert_eq!(
            parsed.preface(),
            "I did not understand “dance a jig”.\n\n\
             I did not understand “write n.md”: I need a path and a text, as in `write notes.md Hello`."
        );
    }

    #[test]
    fn without_any_order_the_model_says_what_it_understands() {
        for text in [
            "hello",
            "don't read",
            "compact the boxes",
            "",
            "読んで",
            "read",
        ] {
            let parsed = parse(text);
            assert_eq!(parsed.orders, [], "{text}");
            assert!(parsed.preface().ends_with(HELP.trim_end()), "{text}");
        }
        assert_eq!(parse("help").preface(), HELP.trim_end());
    }
}
