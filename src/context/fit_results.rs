//! The guard between stages 3 and 4: results that the model has not read are made to fit instead of being summarised away.

use std::cmp::Reverse;

use super::edit::{Edit, carry_out, persist};
use super::persisted::{self, Persisted};
use super::results::{ResultRef, unread};
use super::saved::Shelf;
use super::{Guards, History, Input, KeepUnread, Limits, Outcome, Reason};
use crate::text;

/// Whether unread results are kept now.
pub(super) fn keeps_unread(history: &History, limits: &Limits) -> bool {
    match limits.keep_unread {
        KeepUnread::Off => false,
        KeepUnread::AfterLoss => history.lost_unread,
        KeepUnread::Always => true,
    }
}

pub(super) fn apply(input: &Input<'_>) -> Outcome {
    let (history, limits) = (input.history, input.limits);
    let load = history.size();
    if load <= limits.context_limit {
        return Outcome::skipped(Reason::UnderLimit {
            load,
            limit: limits.context_limit,
        });
    }
    if limits.keep_unread == KeepUnread::Off {
        return Outcome::skipped(Reason::KeepUnreadOff);
    }
    if !keeps_unread(history, limits) {
        return Outcome::skipped(Reason::WaitsForLoss);
    }
    let mut waiting: Vec<_> = unread(history).collect();
    let total: usize = waiting.iter().map(|result| result.chars).sum();
    let share = limits.unread_max();
    if total <= share {
        return Outcome::skipped(Reason::UnreadFits {
            unread: total,
            share,
        });
    }
    waiting.sort_by_key(|result| Reverse(result.chars));
    let mut shelf = Shelf::new(input.saved);
    let mut edits = Vec::new();
    let mut left = total;
    for result in &waiting {
        if left <= share {
            break;
        }
        if let Some(edit) = shorten(result, &mut shelf, limits.fit_preview_chars) {
            left -= edit.saving();
            edits.push(edit);
        }
    }
    if edits.is_empty() {
        return Outcome::skipped(Reason::NothingToFit {
            unread: total,
            share,
        });
    }
    Outcome::Rewritten(carry_out(
        history,
        edits,
        shelf.into_saves(),
        Guards::default(),
    ))
}

/// Persists `result`, or cuts the preview of one that is persisted already.
fn shorten(result: &ResultRef<'_>, shelf: &mut Shelf<'_>, preview: usize) -> Option<Edit> {
    let Some(known) = result.persisted(shelf.saved()) else {
        return persist(result, shelf, preview);
    };
    let shorter = Persisted {
        preview: text::head(known.preview, preview),
        ..known
    };
    Edit::shorter(result, persisted::render(&shorter))
}
