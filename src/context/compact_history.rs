//! Stage 4: when a summary takes the history's place, what it is asked of, and what the history is afterwards.

use std::ops::Range;
use std::sync::Arc;

use super::fit_results::keeps_unread;
use super::pairs::Pairs;
use super::request::summary_text;
use super::results::{last_reply, results, unread};
use super::{
    Guards, History, Input, Item, Limits, Outcome, Reason, Rewrite, Skip, Stage, SummaryPlan,
    Trigger,
};
use crate::message::Message;
use crate::text;

/// So many compactions in a row that leave the history over the limit pause the stage.
pub(super) const MAX_ROUNDS: usize = 3;

pub(super) fn apply(input: &Input<'_>) -> Outcome {
    let (history, limits) = (input.history, input.limits);
    let load = history.size();
    if load <= limits.context_limit {
        return Outcome::skipped(Reason::UnderLimit {
            load,
            limit: limits.context_limit,
        });
    }
    match (plan(input, Trigger::Pipeline), input.pause.reason(limits)) {
        (Ok(_), Some(reason)) => Outcome::skipped(reason),
        (plan, _) => plan.into(),
    }
}

/// A compaction that was asked for, whatever the size: by `/compact` (unread results are kept as the automatic stage does)
/// or by the model (the whole history).
///
/// # Errors
/// Why there is nothing to summarise.
pub fn plan_compaction(input: &Input<'_>, trigger: Trigger) -> Result<SummaryPlan, Skip> {
    plan(input, trigger)
}

/// How many messages stage 4 keeps behind its own.
#[must_use]
pub fn kept_messages(history: &History, limits: &Limits) -> usize {
    history.len() - unread_cut(history, limits)
}

fn plan(input: &Input<'_>, trigger: Trigger) -> Result<SummaryPlan, Skip> {
    let history = input.history;
    let end = match trigger {
        Trigger::Tool => history.len(),
        Trigger::Pipeline | Trigger::Command | Trigger::PromptTooLong => {
            unread_cut(history, input.limits)
        }
    };
    if end == 0 {
        return Err(Skip::new(Reason::Empty));
    }
    if is_one_summary(history, &(0..end)) {
        return Err(Skip::new(Reason::AlreadyCompacted));
    }
    Ok(SummaryPlan {
        stage: Stage::CompactHistory,
        trigger,
        older: 0..end,
        unread_lost: unread_before(history, end),
        kept: None,
    })
}

/// The first message that stays behind the summary: that of the unread batch, if it is kept.
fn unread_cut(history: &History, limits: &Limits) -> usize {
    if !keeps_unread(history, limits) || unread(history).next().is_none() {
        return history.len();
    }
    last_reply(history).map_or(history.len(), |reply| Pairs::of(history).back(reply))
}

/// Whether `older` is nothing but a summary that the program wrote.
pub(super) fn is_one_summary(history: &History, older: &Range<usize>) -> bool {
    history.compacted && *older == (0..1)
}

/// Unread results before `end`.
pub(super) fn unread_before(history: &History, end: usize) -> usize {
    unread(history)
        .filter(|result| result.message < end)
        .count()
}

/// The history with `summary` in the place of what `plan` summarises. `history` is the one that the plan was made for.
#[must_use]
pub fn rebuild(history: &History, plan: &SummaryPlan, summary: &str) -> Rewrite {
    let before = plan.kept.as_ref().map_or(history, |kept| &kept.history);
    let Range { end, .. } = plan.older;
    let request = history.request.as_deref().unwrap_or_default();
    let mut after = before.clone();
    let item = Item {
        id: after.fresh_id(),
        message: Arc::new(Message::user(summary_text(plan.stage, request, summary))),
    };
    after.items.splice(..end, [item]);
    after.markers = before
        .markers
        .range(end..)
        .map(|(&index, &count)| (index - end + 1, count))
        .collect();
    after.request_at = Some(0);
    after.compacted = true;
    after.lost_unread |= plan.unread_lost > 0 && plan.trigger != Trigger::Tool;

    let (touched, saves) = plan.kept.as_ref().map_or_else(Default::default, |kept| {
        (kept.touched.clone(), kept.saves.clone())
    });
    let kept_unread = match plan.stage {
        Stage::ReactiveCompact => 0,
        Stage::ToolResultBudget
        | Stage::SnipCompact
        | Stage::MicroCompact
        | Stage::FitResults
        | Stage::CompactHistory => results(before)
            .filter(|result| result.unread && result.message >= end)
            .count(),
    };
    Rewrite {
        history: after,
        touched,
        saves,
        guards: Guards {
            unread: kept_unread,
            ..Guards::default()
        },
    }
}

/// The messages `older` as the summariser is shown them: JSON of at most `max` characters. Of a longer one the first quarter
/// and the last three quarters of `max` are shown, with a line between that says how much is left out.
#[must_use]
pub fn summary_input(history: &History, older: Range<usize>, max: usize) -> String {
    let messages: Vec<&Arc<Message>> = history
        .messages()
        .skip(older.start)
        .take(older.len())
        .collect();
    // A message is plain data with string keys, which JSON can always say.
    let json = serde_json::to_string(&messages).unwrap_or_default();
    let chars = json.chars().count();
    if chars <= max {
        return json;
    }
    let first = max / 4;
    format!(
        "{}\n[{} characters left out here]\n{}",
        text::head(&json, first),
        text::thousands(chars - max),
        text::tail(&json, max - first)
    )
}
