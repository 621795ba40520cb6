//! What will happen next, told from the context and the numbers in force: only what holds.

use crate::context::{Limits, MessageId, MicroWhen, Reason, Stage};
use crate::message::{BlockKind, ResultContent};
use crate::text::thousands;
use crate::tui::mirror::{Context, Mirror, Sight};
use crate::tui::theme::Lamp;

use super::count;

/// How far back the newest results are looked for: a figure for `Next` is not worth a walk through a long session.
const LOOK_BACK: usize = 100;

/// What will happen, as parts that hold, each in its long and its short form.
#[must_use]
pub(crate) fn next(mirror: &Mirror) -> Vec<[String; 2]> {
    let limits = mirror.limits();
    let context = &mirror.context;
    let mut parts: Vec<_> = over(mirror, &limits).into_iter().collect();
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

/// What comes of a load that is over the line.
fn over(mirror: &Mirror, limits: &Limits) -> Option<[String; 2]> {
    let context = &mirror.context;
    let over = context.size().checked_sub(limits.context_limit);
    let over = thousands(over.filter(|over| *over > 0)?);
    let history = mirror.run.check(Stage::CompactHistory);
    let same = |text: String| [text.clone(), text];
    Some(if mirror.run.running().is_some() {
        same("the summary that is being written takes the history's place".to_owned())
    } else if mirror.pause.reason(limits).is_some() {
        [
            "stage 4 is paused until /compact or a new request".to_owned(),
            "stage 4 paused until /compact or a new request".to_owned(),
        ]
    } else if history.text == Reason::AlreadyCompacted.text()
        || context.history().compacted && context.len() == 1
    {
        [
            "nothing is left to summarise: it waits for what the provider says".to_owned(),
            "waits for the provider".to_owned(),
        ]
    } else if history.lamp == Lamp::Failed {
        same("stage 4 again at the next call".to_owned())
    } else {
        [
            format!("stage 4 at the next call, unless the stages before it free {over}"),
            format!("stage 4 at the next call unless {over} go before"),
        ]
    })
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
