//! What the model says after its orders were carried out: what came back, from the results as they stand there.

use std::borrow::Cow;

use serde_json::Value;

use super::sight::{Seen, Sight, State, state};
use crate::text::{cut, thousands};

/// How much of a first line or a command is quoted, in characters.
const QUOTE: usize = 80;

/// The closing reply to the newest results.
pub(super) fn closing(sight: &Sight) -> String {
    let results = sight.new_results();
    if results.is_empty() {
        return after_compaction(sight);
    }
    let mut lines: Vec<String> = results.iter().map(line).collect();
    if lines.len() > 1 {
        let failed = results.iter().filter(|seen| seen.is_error).count();
        let chars = results.iter().map(|seen| seen.text.chars().count()).sum();
        lines.push(format!(
            "{} results, {} characters in sight, {failed} failed.",
            lines.len(),
            thousands(chars)
        ));
    }
    lines.join("\n")
}

/// One result as a line.
fn line(seen: &Seen) -> String {
    let what = what(&seen.tool, &seen.input);
    if seen.is_error {
        return format!("{what}: failed: {}", first_line(&seen.text));
    }
    match state(&seen.text) {
        State::Whole if seen.tool != "read_file" && is_one_short_line(&seen.text) => {
            format!("{what}: {}", seen.text.trim())
        }
        State::Whole => {
            let lines = seen.text.lines().count();
            format!(
                "{what}: {} characters, {} line{}, begins “{}”",
                thousands(seen.text.chars().count()),
                thousands(lines),
                if lines == 1 { "" } else { "s" },
                first_line(&seen.text)
            )
        }
        State::Saved(path) => {
            format!("{what}: I see a preview only; the full output is in {path}")
        }
        State::Replaced(Some(path)) => {
            format!("{what}: replaced before I could read it; the full output is in {path}")
        }
        State::Replaced(None) => format!("{what}: replaced before I could read it"),
    }
}

fn is_one_short_line(text: &str) -> bool {
    text.lines().count() == 1 && text.chars().count() <= QUOTE
}

/// A call in a few words: what tells it from another of the same tool.
fn what(tool: &str, input: &Value) -> String {
    if tool.is_empty() {
        return "a result".to_owned();
    }
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let mut words = vec![tool.to_owned()];
    let named = match (tool, field("pattern"), field("path")) {
        ("glob", Some(pattern), Some(folder)) => {
            words.push(quoted(pattern));
            words.push("in".to_owned());
            Some(folder)
        }
        (_, pattern, path) => path
            .or_else(|| field("command"))
            .or(pattern)
            .or_else(|| field("name")),
    };
    words.extend(named.map(quoted).filter(|named| !named.is_empty()));
    words.extend(lines(input));
    words.join(" ")
}

/// The lines that a read asked for.
fn lines(input: &Value) -> Option<String> {
    let number = |name: &str| input.get(name).and_then(Value::as_u64);
    let first = number("offset");
    match number("limit") {
        Some(count) => {
            let first = first.unwrap_or(1);
            let last = first.saturating_add(count.saturating_sub(1));
            Some(format!("lines {first}-{last}"))
        }
        None => first.map(|first| format!("from line {first}")),
    }
}

/// `text` on one line, cut.
fn quoted(text: &str) -> String {
    cut(text, QUOTE).replace('\n', " ")
}

/// The first line of a result that holds something, without a line number that a tool put there.
pub(super) fn first_line(text: &str) -> Cow<'_, str> {
    let line = text
        .lines()
        .map(unnumbered)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    cut(line, QUOTE)
}

/// `line` without the number, and what parts it from the text, that `read_file` may put in front.
pub(super) fn unnumbered(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return line;
    }
    rest.strip_prefix(['\t', '→', '│', '|'])
        .map_or(line, str::trim)
}

/// What can still be said when a compaction came between the results and the reply.
fn after_compaction(sight: &Sight) -> String {
    match sight.summary() {
        Some(summary) => format!(
            "The history was compacted. I go on from a summary of {} characters; what came back before is known to me only \
             as far as it stands there.",
            thousands(summary.chars().count())
        ),
        None => "There is no result in sight any more.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_told_from_others_of_its_tool() {
        for (tool, input, expected) in [
            ("read_file", json!({"path": "a"}), "read_file a"),
            (
                "read_file",
                json!({"path": "a", "offset": 10, "limit": 11}),
                "read_file a lines 10-20",
            ),
            (
                "read_file",
                json!({"path": "a", "limit": 5}),
                "read_file a lines 1-5",
            ),
            (
                "read_file",
                json!({"path": "a", "offset": 7}),
                "read_file a from line 7",
            ),
            (
                "glob",
                json!({"pattern": "**/*.md", "path": "sub"}),
                "glob **/*.md in sub",
            ),
            ("glob", json!({"pattern": "**/*.md"}), "glob **/*.md"),
            ("bash", json!({"command": "ls\nwc"}), "bash ls wc"),
            ("load_skill", json!({"name": "x"}), "load_skill x"),
            ("compact", json!({}), "compact"),
            ("", json!({"path": "a"}), "a result"),
        ] {
            assert_eq!(what(tool, &input), expected);
        }
    }

    #[test]
    fn whatever_is_cut_shows_it() {
        let long = "word ".repeat(40);
        assert_eq!(first_line(&long), format!("{}word…", "word ".repeat(15)));
        let shown = what("bash", &json!({ "command": long }));
        assert_eq!(shown, format!("bash {}word…", "word ".repeat(15)));
    }
}
