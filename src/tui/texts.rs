//! What the rows say, word for word, with their figures. Whole sentences stand in `caption`.
//!
//! Written with the program's Unicode signs; `Look::words` puts others in their place. Texts of others come in clean.

mod caption;
mod next;
mod place;
#[cfg(test)]
mod tests;
mod usage;

use serde_json::Value;

use crate::context::{Limits, Stage};
use crate::event::TurnEnd;
use crate::text::thousands;

pub(crate) use caption::{Caption, caption};
pub(crate) use next::next;
pub(crate) use place::{fired_more, place};
pub(crate) use usage::{chars_per_token, input_tokens, tokens, usage};

use super::mirror::{Changed, Fired, Session};

/// `1 result`, `2 results`.
#[must_use]
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { many })
}

/// A change of the load with its sign: `−1,994`, `+1,204`, `0`.
#[must_use]
pub(crate) fn change(n: i64) -> String {
    let figure = thousands(usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX));
    match n {
        0 => figure,
        1.. => format!("+{figure}"),
        i64::MIN..=-1 => format!("−{figure}"),
    }
}

/// How long something took: `<1 ms`, `12 ms`, `3.2 s`.
#[must_use]
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0 => "<1 ms".to_owned(),
        1..1_000 => format!("{ms} ms"),
        _ => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
    }
}

/// The row of a stage that asks for a summary.
#[must_use]
pub(crate) fn summarising(size: usize) -> String {
    format!("summarising {} chars", thousands(size))
}

/// What the pipeline pane says of a stage that fired; `snipped` is what all snips took out so far.
#[must_use]
pub(crate) fn fired_row(stage: Stage, fired: &Fired, snipped: usize) -> String {
    let grew = if fired.change() > 0 { "(grew) " } else { "" };
    let said = match stage {
        Stage::ToolResultBudget => format!("{} saved to disk", thousands(fired.results)),
        Stage::SnipCompact => format!(
            "{} out, {} so far",
            count(fired.gone, "msg", "msgs"),
            thousands(snipped)
        ),
        Stage::MicroCompact => {
            format!(
                "{} → placeholder",
                count(fired.results, "result", "results")
            )
        }
        Stage::FitResults => format!("{} unread → preview", thousands(fired.results)),
        Stage::CompactHistory => {
            let kept = fired.messages.1.saturating_sub(1);
            let messages = count(fired.messages.0, "message", "messages");
            if kept == 0 {
                format!("{messages} → 1")
            } else {
                format!("{messages} → 1, {} kept unread", thousands(kept))
            }
        }
        Stage::ReactiveCompact => {
            let kept = fired.messages.1.saturating_sub(1);
            format!("{} → 1 + {}", thousands(fired.messages.0), thousands(kept))
        }
    };
    format!("{grew}{said}")
}

/// What the log says of a stage that fired, behind its lamp and figure.
#[must_use]
pub(crate) fn fired_log(stage: Stage, fired: &Fired, largest: Option<&Changed>) -> String {
    match stage {
        Stage::ToolResultBudget | Stage::MicroCompact | Stage::FitResults => {
            changed(fired.results, largest)
        }
        Stage::SnipCompact => format!(
            "{} out, marker now says {}",
            count(fired.gone, "message", "messages"),
            thousands(fired.marker)
        ),
        Stage::CompactHistory | Stage::ReactiveCompact => format!(
            "{}, load {} → {}",
            fired_row(stage, fired, 0),
            thousands(fired.size.0),
            thousands(fired.size.1)
        ),
    }
}

fn changed(results: usize, largest: Option<&Changed>) -> String {
    let Some(change) = largest else {
        return format!("{} shortened", count(results, "result", "results"));
    };
    let label = if change.label.is_empty() {
        String::new()
    } else {
        format!(" {}", change.label)
    };
    let became = Changed::word(change.kinds.1);
    if results == 1 {
        format!("{}{label} → {became}", change.id)
    } else {
        format!(
            "{} → {became}, largest {}{label}",
            count(results, "result", "results"),
            change.id
        )
    }
}

/// What the log says of a stage that did not fire, of the reason that the pane shows.
#[must_use]
pub(crate) fn skipped_row(reason: &str) -> String {
    match reason.strip_prefix("no: ") {
        Some(why) => format!("not needed   {why}"),
        None => reason.to_owned(),
    }
}

/// The row that opens a run of the pipeline.
#[must_use]
pub(crate) fn check(size: usize, messages: usize, limit: usize) -> String {
    let line = if size > limit {
        "over the line"
    } else {
        "under the line"
    };
    format!(
        "{} chars, {}: {line}",
        thousands(size),
        count(messages, "message", "messages")
    )
}

/// The row of a request that goes out.
#[must_use]
pub(crate) fn send(size: usize, session: Option<&Session>) -> String {
    let counted = format!("{} chars", thousands(size));
    match session {
        Some(session) if session.system_chars + session.tools_chars > 0 => format!(
            "{counted}  (+ system {} + tools {})",
            thousands(session.system_chars),
            thousands(session.tools_chars)
        ),
        Some(_) | None => counted,
    }
}

/// What stands where the log's path would.
pub(crate) const NO_LOG: &str = "none: this session is in memory only";

/// The row of a call that is made again.
#[must_use]
pub(crate) fn retry(attempt: u32, wait_ms: u64, reason: &str) -> String {
    format!("{attempt} in {}: {reason}", duration(wait_ms))
}

/// Which numbers changed, and from what to what: `the line 50,000 → 30,000, guards off → on`.
#[must_use]
pub(crate) fn limits_changed(before: &Limits, after: &Limits) -> String {
    let value = |limits: &Limits| serde_json::to_value(limits).unwrap_or_default();
    let (before, after) = (value(before), value(after));
    let changes: Vec<String> = (after.as_object().into_iter().flatten())
        .filter(|(name, now)| before[name.as_str()] != **now)
        .map(|(name, now)| {
            let label = match name.as_str() {
                "context_limit" => "the line",
                "keep_recent" => "newest results kept",
                other => other,
            };
            format!(
                "{label} {} → {}",
                setting(&before[name.as_str()]),
                setting(now)
            )
        })
        .collect();
    if changes.is_empty() {
        "no number changed".to_owned()
    } else {
        changes.join(", ")
    }
}

/// The value of a setting as a person writes it.
fn setting(value: &Value) -> String {
    match value {
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        Value::String(word) => word.clone(),
        other => match other.as_u64().map(usize::try_from) {
            Some(Ok(n)) => thousands(n),
            Some(Err(_)) | None => other.to_string(),
        },
    }
}

/// The first row.
#[must_use]
pub(crate) fn session(session: &Session) -> String {
    let model = if session.scripted {
        "scripted model".to_owned()
    } else {
        format!("model {}", session.model)
    };
    format!(
        "{model}   profile {}   line {}",
        profile(session.profile),
        thousands(session.limits.context_limit)
    )
}

/// The name of a profile as the settings have it.
#[must_use]
pub(crate) fn profile(profile: crate::context::Profile) -> &'static str {
    match profile {
        crate::context::Profile::Plain => "plain",
        crate::context::Profile::Lesson => "lesson",
        crate::context::Profile::Session => "session",
    }
}

/// The row of a turn's end; none where it simply ended.
#[must_use]
pub(crate) fn turn_end(end: TurnEnd, error: Option<&str>) -> Option<String> {
    let said = match end {
        TurnEnd::Done => None,
        TurnEnd::Interrupted => Some("stopped"),
        TurnEnd::MaxTokens => Some("cut: the output limit was hit"),
        TurnEnd::Failed => Some("failed"),
    };
    match (said, error) {
        (Some(said), Some(error)) => Some(format!("{said}: {error}")),
        (Some(said), None) => Some(said.to_owned()),
        (None, error) => error.map(str::to_owned),
    }
}
