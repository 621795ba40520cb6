//! One order as the calls of tools that carry it out. Knows the tools' names and inputs.

use serde_json::{Value, json};

use super::Order;
use super::quotes::{argument, rsplit_once, split, split_once, unquoted, whole, words};

/// The calls for one order; the error says what form it must have.
pub(super) fn calls_for(word: &str, rest: &str) -> Result<Vec<Order>, &'static str> {
    match word {
        "read" => read(rest),
        "run" => match unquoted(rest) {
            "" => Err("a command, as in `run ls`"),
            command => Ok(one("bash", json!({ "command": command }))),
        },
        "find" => find(rest),
        "write" => write(rest),
        "edit" => edit(rest),
        "todo" => todo(rest),
        "task" => match unquoted(rest) {
            "" => Err("orders for the subagent, as in `task \"read a.md\"`"),
            prompt => Ok(one("task", json!({ "prompt": prompt }))),
        },
        "skill" => match whole(rest) {
            Some(name) if !name.is_empty() => Ok(one("load_skill", json!({ "name": name }))),
            _ => Err("a skill's name, as in `skill harbour-notes`"),
        },
        _ => Ok(one("compact", json!({}))),
    }
}

fn one(tool: &'static str, input: Value) -> Vec<Order> {
    vec![Order { tool, input }]
}

fn each(
    tool: &'static str,
    words: Vec<&str>,
    form: &'static str,
    input: impl Fn(&str) -> Value,
) -> Result<Vec<Order>, &'static str> {
    if words.is_empty() {
        return Err(form);
    }
    let order = |word: &str| Order {
        tool,
        input: input(word),
    };
    Ok(words.into_iter().map(order).collect())
}

fn read(rest: &str) -> Result<Vec<Order>, &'static str> {
    const FORM: &str = "a path, as in `read README.md` or `read \"my notes.md\" lines 1-20`";
    let (paths, lines) = match rsplit_once(rest, " lines ") {
        Some((paths, lines)) => (paths, Some(range(lines).ok_or(FORM)?)),
        None => (rest, None),
    };
    let paths = words(paths).ok_or(FORM)?;
    each("read_file", paths, FORM, |path| match lines {
        Some((first, count)) => json!({"path": path, "offset": first, "limit": count}),
        None => json!({ "path": path }),
    })
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
    const FORM: &str = "a pattern, as in `find **/*.md` or `find *.md in \"my notes\"`";
    let (patterns, folder) = match rsplit_once(rest, " in ") {
        Some((patterns, folder)) => (patterns, Some(whole(folder).ok_or(FORM)?)),
        None => (rest, None),
    };
    let patterns = words(patterns).ok_or(FORM)?;
    each("glob", patterns, FORM, |pattern| match folder {
        Some(folder) => json!({"pattern": pattern, "path": folder}),
        None => json!({ "pattern": pattern }),
    })
}

fn write(rest: &str) -> Result<Vec<Order>, &'static str> {
    match argument(rest) {
        Some((path, text)) if !path.is_empty() && !text.trim().is_empty() => Ok(one(
            "write_file",
            json!({ "path": path, "content": unquoted(text) }),
        )),
        _ => {
            Err("a path and a text, as in `write notes.md Hello` or `write \"my notes.md\" Hello`")
        }
    }
}

fn edit(rest: &str) -> Result<Vec<Order>, &'static str> {
    const ARROW: &str = " => ";
    let parted = argument(rest)
        .filter(|(path, _)| !path.is_empty())
        .and_then(|(path, texts)| {
            // A lone quote in a text opens nothing that an arrow could be inside of.
            let parted = split_once(texts, ARROW).or_else(|| texts.split_once(ARROW));
            parted.map(|(old, new)| (path, unquoted(old), unquoted(new)))
        });
    let Some((path, old, new)) = parted else {
        return Err("a path and two texts, as in `edit notes.md old => new`");
    };
    Ok(one(
        "edit_file",
        json!({"path": path, "old_text": old, "new_text": new}),
    ))
}

fn todo(rest: &str) -> Result<Vec<Order>, &'static str> {
    let todos: Vec<Value> = split(rest, &[","], |_, _| true)
        .into_iter()
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let (status, content) = match entry.split_once(']') {
                Some(("[x" | "[X", content)) => ("completed", content),
                Some(("[>", content)) => ("in_progress", content),
                Some(("[ " | "[", content)) => ("pending", content),
                _ => ("pending", entry),
            };
            json!({"content": unquoted(content), "status": status})
        })
        .collect();
    if todos.is_empty() {
        return Err("entries, as in `todo read, compare, write`");
    }
    Ok(one("todo_write", json!({ "todos": todos })))
}
