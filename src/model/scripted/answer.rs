//! What the model says after its orders were carried out: what came back, from the results as they stand there.

use serde_json::Value;

use super::sight::{Seen, Sight, State, state};
use crate::text::{head, thousands};

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

/// A call in a few words.
pub(super) fn what(tool: &str, input: &Value) -> String {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let object = field("path")
        .or_else(|| field("command"))
        .or_else(|| field("pattern"))
        .or_else(|| field("name"))
        .unwrap_or_default();
    let object = head(object, QUOTE).replace('\n', " ");
    match (tool, object.as_str()) {
        ("", _) => "a result".to_owned(),
        (tool, "") => tool.to_owned(),
        (tool, object) => format!("{tool} {object}"),
    }
}

/// The first line of a result that holds something, without a line number that a tool put there.
pub(super) fn first_line(text: &str) -> &str {
    let line = text
        .lines()
        .map(unnumbered)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    head(line, QUOTE)
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
