//! `read_file`: a text file as it is, or lines of it, with a note when there is more.

use super::file::{self, Content};
use super::path::Target;
use super::{MAX_CHARS, ReadFile, Workspace};
use crate::text::{head, thousands};

/// Room for the note behind a text that was cut.
const NOTE: usize = 400;

pub(super) fn run(call: &ReadFile, workspace: &Workspace) -> Result<String, String> {
    let target = workspace.target(&call.path)?;
    let content = file::read(&target)?.ok_or_else(|| file::missing(&target))?;
    file::refuse_binary(&content, &target)?;
    let text = decode(&content);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = call.offset.unwrap_or(1).max(1);
    if first > lines.len() {
        return if lines.is_empty() && first == 1 {
            Ok(format!("({} is empty)", target.shown))
        } else {
            Err(format!(
                "{} has only {} lines: there is no line {}",
                target.shown,
                thousands(lines.len()),
                thousands(first)
            ))
        };
    }
    let wanted = call.limit.unwrap_or(usize::MAX).max(1);
    Ok(part(&lines, first, wanted, &target))
}

/// The file's text, without its byte order mark; what is not UTF-8 becomes U+FFFD.
fn decode(content: &Content) -> String {
    let bytes = content
        .bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&content.bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

/// At most `wanted` of `lines` from line `first` on, as many as a result may hold, and what else there is.
fn part(lines: &[&str], first: usize, wanted: usize, target: &Target) -> String {
    let asked = &lines[first - 1..];
    let asked = &asked[..asked.len().min(wanted)];
    let fits: usize = asked.iter().map(|line| line.chars().count()).sum();
    if fits <= MAX_CHARS && first - 1 + asked.len() == lines.len() {
        return asked.concat();
    }
    let mut taken = 0;
    let mut size = 0;
    for line in asked {
        size += line.chars().count();
        if size > MAX_CHARS - NOTE {
            break;
        }
        taken += 1;
    }
    if taken == 0 {
        return format!(
            "{}\n[line {} of {} goes on: it is longer than a result may be; look at the rest with bash, for example `sed -n {first}p {} | cut -c {}-`]",
            head(asked[0], MAX_CHARS - NOTE),
            thousands(first),
            thousands(lines.len()),
            head(&target.shown, NOTE / 2),
            MAX_CHARS - NOTE + 1
        );
    }
    let mut text = asked[..taken].concat();
    let last = first - 1 + taken;
    if last == lines.len() {
        return text;
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let note = format!(
        "[lines {}-{} of {}; go on with offset {}]",
        thousands(first),
        thousands(last),
        thousands(lines.len()),
        last + 1
    );
    text + &note
}
