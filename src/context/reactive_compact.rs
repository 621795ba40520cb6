//! The recovery after "prompt too long": everything before the newest messages is summarised, and what stays is made to fit.

use super::compact_history::{is_one_summary, unread_before};
use super::edit::{carry_out, persist};
use super::pairs::Pairs;
use super::results::results;
use super::saved::Shelf;
use super::{Guards, Input, Reason, Rewrite, Skip, Stage, SummaryPlan, Trigger};

/// What to do when the provider says that the prompt is too long.
///
/// Where nothing but an earlier summary lies before the messages that would be kept, none is kept: summarising a summary
/// frees nothing.
///
/// # Errors
/// Why there is nothing to summarise.
pub fn plan_recovery(input: &Input<'_>) -> Result<SummaryPlan, Skip> {
    let (history, limits) = (input.history, input.limits);
    let messages = history.len();
    if messages == 0 {
        return Err(Skip::new(Reason::Empty));
    }
    if is_one_summary(history, &(0..messages)) {
        return Err(Skip::new(Reason::AlreadyCompacted));
    }
    let cut = Pairs::of(history).back(messages.saturating_sub(limits.reactive_keep));
    let end = if cut == 0 || is_one_summary(history, &(0..cut)) {
        messages
    } else {
        cut
    };
    Ok(SummaryPlan {
        stage: Stage::ReactiveCompact,
        trigger: Trigger::PromptTooLong,
        older: 0..end,
        unread_lost: unread_before(history, end),
        kept: persist_kept(input, end),
    })
}

/// The large results from message `from` on, persisted.
fn persist_kept(input: &Input<'_>, from: usize) -> Option<Rewrite> {
    let limits = input.limits;
    let mut shelf = Shelf::new(input.saved);
    let edits: Vec<_> = results(input.history)
        .filter(|result| result.message >= from && result.chars > limits.persist_threshold)
        .filter_map(|result| persist(&result, &mut shelf, limits.preview_chars))
        .collect();
    (!edits.is_empty())
        .then(|| carry_out(input.history, edits, shelf.into_saves(), Guards::default()))
}
