//! `edit_file`: replaces a passage of a text file and touches no byte outside it.
//!
//! A line feed in the passage also matches CR LF in the file; what is put in then ends its lines as the file does there.

use std::ops::Range;

use super::file;
use super::{EditFile, Workspace};
use crate::text::thousands;

/// How many lines an error names.
const NAMED: usize = 10;

pub(super) fn run(call: &EditFile, workspace: &Workspace) -> Result<String, String> {
    if call.old_text.is_empty() {
        return Err("old_text is empty: give the passage to replace, or use write_file".to_owned());
    }
    if call.old_text == call.new_text {
        return Err("old_text and new_text are the same: there is nothing to change".to_owned());
    }
    let target = workspace.target(&call.path)?;
    let content = file::read(&target)?.ok_or_else(|| file::missing(&target))?;
    let text = file::text(&content, &target)?;
    let found = find(text, &call.old_text);
    let chosen = match found.len() {
        0 => return Err(not_found(text, &call.old_text, &target.shown)),
        1 => found,
        _ if call.replace_all => apart(found),
        n => {
            return Err(format!(
                "old_text occurs {} times in {} (lines {}), it must occur once: add lines around it, or set replace_all. Nothing was changed",
                thousands(n),
                target.shown,
                lines_of(text, &found)
            ));
        }
    };
    let changed = spliced(text, &chosen, &call.new_text);
    file::replace(
        &target,
        changed.as_bytes(),
        Some(content.permissions.clone()),
    )?;
    Ok(format!(
        "edited {}: {} at line{} {}",
        target.shown,
        match chosen.len() {
            1 => "1 replacement".to_owned(),
            n => format!("{} replacements", thousands(n)),
        },
        if chosen.len() == 1 { "" } else { "s" },
        lines_of(text, &chosen)
    ))
}

/// Where `old` occurs in `text`, overlapping ones too.
fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    let (text, old) = (text.as_bytes(), old.as_bytes());
    let mut found = Vec::new();
    for at in 0..text.len() {
        // The line feed of a CR LF begins no passage of its own: the one from its CR is found already.
        let inside_crlf =
            old[0] == b'\n' && at > 0 && text[at..].starts_with(b"\n") && text[at - 1] == b'\r';
        if !inside_crlf && let Some(end) = match_at(text, at, old) {
            found.push(at..end);
        }
    }
    found
}

/// The end of `old` in `text` if it stands at `at`.
fn match_at(text: &[u8], at: usize, old: &[u8]) -> Option<usize> {
    let mut end = at;
    for (index, byte) in old.iter().enumerate() {
        let bare_line_feed = *byte == b'\n' && (index == 0 || old[index - 1] != b'\r');
        if bare_line_feed && text[end..].starts_with(b"\r\n") {
            end += 2;
        } else if text.get(end) == Some(byte) {
            end += 1;
        } else {
            return None;
        }
    }
    Some(end)
}

/// Those of `found` that do not overlap one before them.
fn apart(found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    found
        .into_iter()
        .filter(|passage| {
            let free = passage.start >= end;
            if free {
                end = passage.end;
            }
            free
        })
        .collect()
}

/// `text` with `new` in the place of each of `passages`.
fn spliced(text: &str, passages: &[Range<usize>], new: &str) -> String {
    let mut out = String::with_capacity(text.len() + new.len());
    let mut from = 0;
    for passage in passages {
        out.push_str(&text[from..passage.start]);
        if is_crlf_at(text, passage) && !new.contains('\r') {
            out.push_str(&new.replace('\n', "\r\n"));
        } else {
            out.push_str(new);
        }
        from = passage.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Whether the lines at `passage` end in CR LF: the first line end in or behind it decides, else the last before it.
fn is_crlf_at(text: &str, passage: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let end = text[passage.start..]
        .find('\n')
        .map(|at| passage.start + at)
        .or_else(|| text[..passage.start].rfind('\n'));
    end.is_some_and(|end| end > 0 && bytes[end - 1] == b'\r')
}

/// The line numbers of `passages`, the first few of them.
fn lines_of(text: &str, passages: &[Range<usize>]) -> String {
    let mut lines = Vec::new();
    let (mut line, mut from) = (1, 0);
    for passage in passages.iter().take(NAMED) {
        line += text[from..passage.start].matches('\n').count();
        from = passage.start;
        lines.push(line.to_string());
    }
    if passages.len() > NAMED {
        lines.push("…".to_owned());
    }
    lines.join(", ")
}

/// Why nothing matched, with what comes closest.
fn not_found(text: &str, old: &str, shown: &str) -> String {
    let message = format!("old_text does not occur in {shown}. Nothing was changed");
    let first = old.lines().map(str::trim).find(|line| !line.is_empty());
    let near = first.and_then(|first| {
        text.lines()
            .position(|line| line.trim() == first)
            .map(|at| at + 1)
    });
    match near {
        Some(line) => format!(
            "{message}; its first line stands, apart from spaces around it, at line {line}: read the file from there and copy the passage exactly"
        ),
        None => format!("{message}; read the file and copy the passage exactly as it stands there"),
    }
}
