//! What will happen next, told from the context and the numbers in force: only what holds.

use crate::context::{Limits, MessageId, MicroWhen};
use crate::message::{BlockKind, ResultContent};
use crate::text::thousands;
use crate::tui::mirror::{Context, Mirror, Sight};

use super::count;

/// How far back the newest results are looked for: a figure for `Next` is not worth a walk through a long session.
const LOOK_BACK: usize = 100;

/// What will happen, as parts that hold, each in its long and its short form.
#[must_use]
pub(crate) fn next(mirror: &Mirror) -> Vec<[String; 2]> {
    let limits = mirror.limits();
    let context = &mirror.context;
    let mut parts = Vec::new();
    if let Some((id, chars)) = oldest_kept(context, &limits) {
        let what = format!("{id} ({})", thousands(chars));
        parts.push([
            format!("{what} becomes a placeholder at the next result"),
            format!("{what} → placeholder at the next result"),
        ]);
    }
    if let Some(messages) = until_snip(context, &limits) {
        let when = match messages {
            0 => "snip at the next call".to_owned(),
            1 => "snip in 1 message".to_owned(),
            more => format!("snip in {} messages", thousands(more)),
        };
        parts.push([when.clone(), when]);
    }
    let room = limits.context_limit.checked_sub(context.size());
    if let Some(calls) = room.and_then(|room| mirror.growth.calls_for(room)) {
        let when = format!("~{} to the line", count(calls, "call", "calls"));
        parts.push([when.clone(), when]);
    }
    parts
}

/// The oldest of the results that stage 3 keeps, where one more result makes it replace that one.
fn oldest_kept(context: &Context, limits: &Limits) -> Option<(MessageId, usize)> {
    if limits.micro_when != MicroWhen::Always || limits.keep_recent == 0 {
        return None;
    }
    let mut seen = 0;
    for item in context.history().items.iter().rev().take(LOOK_BACK) {
        for (block, content) in item.message.blocks().iter().enumerate().rev() {
            let BlockKind::ToolResult { content, .. } = content.kind() else {
                continue;
            };
            seen += 1;
            if seen < limits.keep_recent {
                continue;
            }
            let ResultContent::Text(text) = content else {
                return None;
            };
            let whole = context.sight(item.id, block) == Sight::Full;
            let chars = text.chars().count();
            return (whole && chars > limits.placeholder_min).then_some((item.id, chars));
        }
    }
    None
}

/// How many more messages make stage 2 fire.
fn until_snip(context: &Context, limits: &Limits) -> Option<usize> {
    if limits.max_messages == 0 {
        return None;
    }
    let marker = usize::from(limits.guards && !context.history().markers.is_empty());
    let between = limits.keep_head + limits.keep_tail + marker;
    let fires_at = (limits.max_messages + 1).max(between + 1);
    Some(fires_at.saturating_sub(context.len()))
}
