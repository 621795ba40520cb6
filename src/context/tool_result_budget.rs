//! Stage 1: large new results go to disk, a preview with the path stays.

use std::cmp::Reverse;

use super::edit::{carry_out, persist};
use super::results::{ResultRef, results};
use super::saved::Shelf;
use super::{Guards, Input, Outcome, Reason};
use crate::message::Role;

pub(super) fn apply(input: &Input<'_>) -> Outcome {
    let (history, limits) = (input.history, input.limits);
    let mut last = last_results(input);
    if last.is_empty() {
        return Outcome::skipped(Reason::NoResults);
    }
    let total: usize = last.iter().map(|result| result.chars).sum();
    if total <= limits.budget_max {
        return Outcome::skipped(Reason::UnderBudget {
            total,
            max: limits.budget_max,
        });
    }
    last.sort_by_key(|result| Reverse(result.chars));
    let mut shelf = Shelf::new(input.saved);
    let mut edits = Vec::new();
    let mut left = total;
    for result in &last {
        if left <= limits.budget_max {
            break;
        }
        if result.chars > limits.persist_threshold
            && let Some(edit) = persist(result, &mut shelf, limits.preview_chars)
        {
            left -= edit.saving();
            edits.push(edit);
        }
    }
    if edits.is_empty() {
        return Outcome::skipped(why_not(input, &last, total));
    }
    Outcome::Rewritten(carry_out(
        history,
        edits,
        shelf.into_saves(),
        Guards::default(),
    ))
}

/// The results of the last message, if it is the user's.
fn last_results<'a>(input: &Input<'a>) -> Vec<ResultRef<'a>> {
    let from_user = input
        .history
        .messages()
        .next_back()
        .is_some_and(|message| message.role() == Role::User);
    if !from_user {
        return Vec::new();
    }
    let last = input.history.len() - 1;
    let mut found: Vec<_> = results(input.history)
        .rev()
        .take_while(|result| result.message == last)
        .collect();
    found.reverse();
    found
}

/// Why nothing of `last`, which is over the budget, could be persisted.
fn why_not(input: &Input<'_>, last: &[ResultRef<'_>], total: usize) -> Reason {
    let threshold = input.limits.persist_threshold;
    let open = |result: &&ResultRef<'_>| {
        result.is_text && result.persisted(input.saved).is_none() && !result.is_refused(input.saved)
    };
    match last.iter().filter(open).map(|result| result.chars).max() {
        Some(largest) if largest <= threshold => Reason::NothingToPersist {
            largest,
            threshold,
            total,
        },
        Some(_) => Reason::NotShorter,
        None if last.iter().any(|result| result.is_refused(input.saved)) => Reason::Refused,
        None => Reason::NothingOfText { total },
    }
}
