//! Stage 3: older results become placeholders.

use super::edit::{Edit, carry_out};
use super::persisted::{PLACEHOLDER, placeholder_name, placeholder_of};
use super::results::{ResultRef, results};
use super::saved::Shelf;
use super::size::{content_size, string_size};
use super::{Guards, Input, MicroWhen, Outcome, Reason, Skip};
use crate::message::ResultContent;

/// What the stage would do with one older result.
enum Verdict {
    Replace(Edit),
    Short,
    Unread,
    NotText,
    Refused,
    NotShorter,
}

/// What kept older results whole.
#[derive(Default)]
struct Kept {
    unread: usize,
    not_text: usize,
    refused: usize,
    not_shorter: usize,
}

pub(super) fn apply(input: &Input<'_>) -> Outcome {
    let (history, limits) = (input.history, input.limits);
    let over_limit = match limits.micro_when {
        MicroWhen::Always => None,
        MicroWhen::OverLimit => Some(history.size()),
    };
    if let Some(load) = over_limit.filter(|&load| load <= limits.context_limit) {
        return Outcome::skipped(Reason::UnderLimit {
            load,
            limit: limits.context_limit,
        });
    }
    let all: Vec<_> = results(history).collect();
    if all.len() <= limits.keep_recent {
        return Outcome::skipped(Reason::FewResults {
            results: all.len(),
            keep: limits.keep_recent,
        });
    }
    let needed = over_limit.map(|load| load.saturating_sub(limits.micro_goal()));
    let older = &all[..all.len() - limits.keep_recent];
    let mut shelf = Shelf::new(input.saved);
    let (mut edits, mut kept, mut guards, mut freed) =
        (Vec::new(), Kept::default(), Guards::default(), 0);
    for result in older {
        if needed.is_some_and(|needed| freed >= needed) {
            break;
        }
        match judge(input, result, &mut shelf, &mut guards) {
            Verdict::Replace(edit) => {
                freed += content_size(result.content) - string_size(edit.text());
                edits.push(edit);
            }
            Verdict::Short => {}
            Verdict::Unread => kept.unread += 1,
            Verdict::NotText => kept.not_text += 1,
            Verdict::Refused => kept.refused += 1,
            Verdict::NotShorter => kept.not_shorter += 1,
        }
    }
    guards.unread = kept.unread;
    if edits.is_empty() {
        return Outcome::Skipped(Skip::new(kept.why(limits.placeholder_min)).guarded(guards));
    }
    if let Some(needed) = needed.filter(|&needed| freed < needed) {
        let reason = Reason::OutOfReach {
            could_free: freed,
            needed,
        };
        return Outcome::Skipped(Skip::new(reason).guarded(guards));
    }
    Outcome::Rewritten(carry_out(history, edits, shelf.into_saves(), guards))
}

fn judge(
    input: &Input<'_>,
    result: &ResultRef<'_>,
    shelf: &mut Shelf<'_>,
    guards: &mut Guards,
) -> Verdict {
    let limits = input.limits;
    if result.chars <= limits.placeholder_min {
        return Verdict::Short;
    }
    if limits.guards && result.unread {
        return Verdict::Unread;
    }
    if limits.guards && !is_replaceable(result.content) {
        return Verdict::NotText;
    }
    if !limits.guards && !limits.recoverable {
        return Edit::shorter(result, PLACEHOLDER.to_owned())
            .map_or(Verdict::NotShorter, Verdict::Replace);
    }
    if let Some(persisted) = result.persisted(input.saved) {
        let edit = Edit::shorter(result, placeholder_of(persisted.name));
        guards.paths += usize::from(limits.guards && edit.is_some());
        return edit.map_or(Verdict::NotShorter, Verdict::Replace);
    }
    // A path that is kept once is kept for good, however long it makes the placeholder.
    if keeps_path(input, result) {
        return Verdict::NotShorter;
    }
    if limits.recoverable {
        return save(result, shelf);
    }
    Edit::shorter(result, PLACEHOLDER.to_owned()).map_or(Verdict::NotShorter, Verdict::Replace)
}

/// Puts a placeholder with its path in the place of `result`, whose text is saved first.
fn save(result: &ResultRef<'_>, shelf: &mut Shelf<'_>) -> Verdict {
    if result.is_refused(shelf.saved()) {
        return Verdict::Refused;
    }
    let Some(full) = result.text() else {
        return Verdict::NotText;
    };
    let place = shelf.find(result.tool_use_id, &full);
    match Edit::shorter(result, placeholder_of(&place.name)) {
        Some(edit) => {
            shelf.put(place, &full, result);
            Verdict::Replace(edit)
        }
        None => Verdict::NotShorter,
    }
}

/// Whether `result` is a placeholder that names a file of ours.
fn keeps_path(input: &Input<'_>, result: &ResultRef<'_>) -> bool {
    match result.content {
        ResultContent::Text(text) => {
            placeholder_name(text).is_some_and(|name| input.saved.is_known(name))
        }
        ResultContent::Empty | ResultContent::Blocks(_) | ResultContent::Other(_) => false,
    }
}

/// Whether the model loses nothing but what it can ask for again: a `tool_reference`, say, makes a tool callable.
fn is_replaceable(content: ResultContent<'_>) -> bool {
    match content {
        ResultContent::Empty | ResultContent::Text(_) => true,
        ResultContent::Blocks(blocks) => blocks.iter().all(|block| {
            matches!(
                block.get("type").and_then(serde_json::Value::as_str),
                Some("text" | "image" | "document" | "search_result")
            )
        }),
        ResultContent::Other(_) => false,
    }
}

impl Kept {
    /// Why nothing was replaced.
    fn why(&self, min: usize) -> Reason {
        if self.unread > 0 {
            Reason::OlderAreUnread
        } else if self.not_text > 0 {
            Reason::OlderAreNotText
        } else if self.refused > 0 {
            Reason::Refused
        } else if self.not_shorter > 0 {
            Reason::NotShorter
        } else {
            Reason::OlderAreShort { min }
        }
    }
}
