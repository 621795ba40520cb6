//! Stage 2: the middle of a long list of messages goes, a marker says how much.

use std::sync::Arc;

use super::pairs::Pairs;
use super::request::marker_text;
use super::{Guards, History, Input, Item, Limits, Outcome, Reason, Rewrite};
use crate::message::{Message, Role};

pub(super) fn apply(input: &Input<'_>) -> Outcome {
    let (history, limits) = (input.history, input.limits);
    let messages = history.len();
    if limits.max_messages == 0 {
        return Outcome::skipped(Reason::SnipOff);
    }
    if messages <= limits.max_messages {
        return Outcome::skipped(Reason::FewMessages {
            messages,
            max: limits.max_messages,
        });
    }
    let tail = messages.saturating_sub(limits.keep_tail);
    if limits.keep_head >= tail {
        return Outcome::skipped(Reason::HeadMeetsTail);
    }
    let (head, tail) = if limits.guards {
        let pairs = Pairs::of(history);
        (pairs.forward(limits.keep_head), pairs.back(tail))
    } else {
        plain_cuts(history, limits.keep_head, tail)
    };
    if head >= tail {
        return Outcome::skipped(Reason::CutSplitsPair);
    }
    let only_markers = (head..tail).all(|index| history.markers.contains_key(&index));
    if limits.guards && only_markers {
        return Outcome::skipped(Reason::OnlyTheMarker { messages });
    }
    Outcome::Rewritten(snip(history, limits, head, tail))
}

/// The cuts as the lesson makes them: results behind the head's last call stay, one message before the tail's first results.
fn plain_cuts(history: &History, mut head: usize, mut tail: usize) -> (usize, usize) {
    let message = |index: usize| &history.items[index].message;
    let answers =
        |index: usize| message(index).role() == Role::User && message(index).has_results();
    let calls = |index: usize| message(index).tool_uses().next().is_some();
    if head > 0 && calls(head - 1) {
        while head < history.len() && answers(head) {
            head += 1;
        }
    }
    if tail > 0 && tail < history.len() && answers(tail) && calls(tail - 1) {
        tail -= 1;
    }
    (head, tail)
}

/// `history` with a marker in the place of the messages from `head` to before `tail`.
fn snip(history: &History, limits: &Limits, head: usize, tail: usize) -> Rewrite {
    let gone = if limits.guards {
        (head..tail)
            .map(|index| history.markers.get(&index).copied().unwrap_or(1))
            .sum()
    } else {
        tail - head
    };
    let removed = |index: usize| (head..tail).contains(&index);
    let moved = |index: usize| {
        if index < head {
            index
        } else {
            index - (tail - head) + 1
        }
    };
    let still_there = history.request_at.filter(|&at| !removed(at));
    let carried = history
        .request
        .as_deref()
        .filter(|_| limits.guards && still_there.is_none());

    let mut after = history.clone();
    let marker = Item {
        id: after.fresh_id(),
        message: Arc::new(Message::user(marker_text(gone, carried))),
    };
    after.items.splice(head..tail, [marker]);
    after.markers = history
        .markers
        .iter()
        .filter(|&(&index, _)| !removed(index))
        .map(|(&index, &count)| (moved(index), count))
        .chain([(head, gone)])
        .collect();
    after.request_at = carried.map_or(still_there.map(moved), |_| Some(head));
    after.compacted = history.compacted && head > 0;
    Rewrite {
        history: after,
        touched: Vec::new(),
        saves: Vec::new(),
        guards: Guards {
            carried: carried.is_some(),
            ..Guards::default()
        },
    }
}
