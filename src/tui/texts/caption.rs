//! The sentences of the pane Why: what the stages before the last call did.
//!
//! Nothing is said that the report does not show: no "because", no "would have".

use crate::context::{KeepUnread, Limits, MicroWhen, Stage, Trigger};
use crate::text::thousands;
use crate::tui::mirror::{Check, Fired, Mirror, Run};
use crate::tui::theme::Lamp;

use super::count;
use super::place::place_sentence;

/// The stages by how much they matter to whoever watches: the first that fired speaks, all warn.
const WEIGHT: [Stage; 6] = [
    Stage::ReactiveCompact,
    Stage::CompactHistory,
    Stage::ToolResultBudget,
    Stage::FitResults,
    Stage::SnipCompact,
    Stage::MicroCompact,
];

/// What is to be said, in sentences of falling weight, and what may go first where there is no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caption {
    /// Where the load stood; stands in front, goes first.
    pub(crate) lead: Option<String>,
    /// The most important first; after the lead, the second of these goes first.
    pub(crate) sentences: Vec<String>,
    /// What it costs; stands behind, goes before all others.
    pub(crate) aside: Option<String>,
}

impl Caption {
    fn of(sentence: String) -> Self {
        Self {
            sentences: vec![sentence],
            ..Self::default()
        }
    }
}

/// What the stages before the newest call did: the most important of it first.
#[must_use]
pub(crate) fn caption(mirror: &Mirror) -> Caption {
    let run = &mirror.run;
    let Some(before) = run.before else {
        return Caption::of("Nothing was sent yet. The stages look before every call.".to_owned());
    };
    let limits = mirror.limits();
    let (mut sentences, mut main) = (Vec::new(), Vec::new());
    for stage in WEIGHT {
        let check = run.check(stage);
        if check.lamp == Lamp::Failed {
            sentences.extend(failed(stage, check));
        }
        if let Some(fired) = &check.fired {
            sentences.extend(warnings(fired, &limits));
            if main.is_empty() {
                main = said(stage, fired, &limits);
                main.extend(place_sentence(stage, fired, mirror.has_log()));
            }
        }
    }
    sentences.append(&mut main);
    sentences.extend(guards(run));
    if sentences.is_empty() {
        return Caption::of(quiet(run, before, limits.context_limit));
    }
    Caption {
        lead: over(before, limits.context_limit),
        sentences,
        aside: cost(run),
    }
}

fn quiet(run: &Run, before: usize, limit: usize) -> String {
    match (run.running(), over(before, limit)) {
        (Some(_), over) => over.unwrap_or_else(|| "A summary is being written.".to_owned()),
        (None, Some(over)) => format!("{over} No stage could free anything."),
        (None, None) => format!(
            "No stage had anything to do: {} of {}.",
            thousands(before),
            thousands(limit)
        ),
    }
}

fn over(before: usize, limit: usize) -> Option<String> {
    let over = before.checked_sub(limit).filter(|over| *over > 0)?;
    Some(format!("Over the line by {}.", thousands(over)))
}

fn failed(stage: Stage, check: &Check) -> Vec<String> {
    let why = check.text.trim_end_matches('.');
    match stage {
        Stage::CompactHistory | Stage::ReactiveCompact => vec![
            format!("Summary failed: {why}."),
            "Nothing was replaced.".to_owned(),
        ],
        Stage::ToolResultBudget | Stage::SnipCompact | Stage::MicroCompact | Stage::FitResults => {
            vec![format!("A stage failed: {why}.")]
        }
    }
}

fn warnings(fired: &Fired, limits: &Limits) -> Vec<String> {
    let mut out = Vec::new();
    if fired.unread_lost > 0 {
        let lost = count(fired.unread_lost, "result", "results");
        // A compaction that the model asked for is not counted as a loss.
        let kept = limits.keep_unread == KeepUnread::AfterLoss && fired.trigger != Trigger::Tool;
        let then = if kept {
            "; from now on unread results are kept"
        } else {
            ""
        };
        out.push(format!("{lost} went into the summary unread{then}."));
    }
    if fired.unseen > 0 {
        let was = if fired.unseen == 1 { "was" } else { "were" };
        out.push(format!(
            "{} {was} replaced before the model ever saw {}.",
            count(fired.unseen, "result", "results"),
            if fired.unseen == 1 { "it" } else { "them" }
        ));
    }
    if fired.paths_lost == 1 {
        out.push("The saved file's path is no longer in the context.".to_owned());
    } else if fired.paths_lost > 1 {
        out.push(format!(
            "The paths of {} saved files are no longer in the context.",
            thousands(fired.paths_lost)
        ));
    }
    if let Ok(grown @ 1..) = usize::try_from(fired.change()) {
        out.push(format!(
            "The summary is longer than what it replaced: +{}.",
            thousands(grown)
        ));
    }
    out
}

fn said(stage: Stage, fired: &Fired, limits: &Limits) -> Vec<String> {
    match stage {
        Stage::ToolResultBudget => vec![
            format!(
                "The last results were over {} chars together.",
                thousands(limits.budget_max)
            ),
            format!(
                "The largest went to disk ({}); the model keeps a path and {} chars of each.",
                thousands(fired.results),
                thousands(limits.preview_chars)
            ),
        ],
        Stage::FitResults => vec![
            format!(
                "Unread results may fill {} chars of the line.",
                thousands(limits.unread_max())
            ),
            format!(
                "The largest went to disk ({}); the model keeps a path and {} chars of each.",
                thousands(fired.results),
                thousands(limits.fit_preview_chars)
            ),
        ],
        Stage::SnipCompact => snip(fired, limits),
        Stage::MicroCompact => micro(fired, limits),
        Stage::CompactHistory => history(fired, limits),
        Stage::ReactiveCompact => reactive(fired),
    }
}

fn snip(fired: &Fired, limits: &Limits) -> Vec<String> {
    let head = fired.kept.0.min(limits.keep_head);
    let tail = fired.kept.1.min(limits.keep_tail);
    // The rule's numbers, and what stays beyond them: a cut never stands between a call and its result.
    let more = fired.kept.0 + fired.kept.1 - head - tail;
    let more = match more {
        0 => String::new(),
        more => format!(
            ", and {} so that no call is parted from its result",
            thousands(more)
        ),
    };
    vec![
        format!(
            "{} is over {}.",
            count(fired.messages.0, "message", "messages"),
            thousands(limits.max_messages)
        ),
        format!(
            "The first {} and the newest {} stay{more}; {} in between {} dropped for good from the context.",
            thousands(head),
            thousands(tail),
            thousands(fired.gone),
            if fired.gone == 1 { "was" } else { "were" }
        ),
    ]
}

fn micro(fired: &Fired, limits: &Limits) -> Vec<String> {
    match (limits.micro_when, limits.keep_recent) {
        (MicroWhen::Always, 0) => {
            vec!["micro never looks at the line: it shortens every result.".to_owned()]
        }
        (MicroWhen::Always, 1) => vec![
            "micro never looks at the line: it shortens every result older than the newest."
                .to_owned(),
        ],
        (MicroWhen::Always, keep) => vec![format!(
            "micro never looks at the line: it shortens every result older than the newest {}.",
            thousands(keep)
        )],
        (MicroWhen::OverLimit, _) => vec![format!(
            "micro shortened the oldest {} until the load was at most {}.",
            count(fired.results, "result", "results"),
            thousands(limits.micro_goal())
        )],
    }
}

fn history(fired: &Fired, limits: &Limits) -> Vec<String> {
    let first = match fired.trigger {
        Trigger::Pipeline | Trigger::PromptTooLong => format!(
            "Still {} after the cheap stages, over {}.",
            thousands(fired.size.0),
            thousands(limits.context_limit)
        ),
        Trigger::Tool => "The model asked for this itself.".to_owned(),
        Trigger::Command => "You asked for this.".to_owned(),
    };
    vec![
        first,
        "The model wrote a summary; your request was kept word for word.".to_owned(),
    ]
}

fn reactive(fired: &Fired) -> Vec<String> {
    let stayed = match fired.messages.1.saturating_sub(1) {
        0 => "The whole history became a summary, one retry.".to_owned(),
        1 => "Older history became a summary, the newest message stayed, one retry.".to_owned(),
        kept => format!(
            "Older history became a summary, the newest {} messages stayed, one retry.",
            thousands(kept)
        ),
    };
    vec!["The API refused: prompt too long.".to_owned(), stayed]
}

/// What guards kept, over all stages of the run, as far as it is still kept after the last of them.
fn guards(run: &Run) -> Option<String> {
    let (mut unread, mut paths, mut carried) = (0, 0, false);
    for stage in WEIGHT {
        let guards = run.kept(stage);
        unread += guards.unread;
        paths += guards.paths;
        carried |= guards.carried;
    }
    let mut kept = Vec::new();
    if unread > 0 {
        kept.push(count(unread, "unread result", "unread results"));
    }
    if paths > 0 {
        kept.push(count(paths, "path to a saved file", "paths to saved files"));
    }
    if carried {
        kept.push("the request".to_owned());
    }
    (!kept.is_empty()).then(|| format!("Guards kept {}.", kept.join(" and ")))
}

/// From where on a server's prompt cache is of no use; after a summary that is plain.
fn cost(run: &Run) -> Option<String> {
    let summary = [Stage::CompactHistory, Stage::ReactiveCompact];
    if summary
        .iter()
        .any(|stage| run.check(*stage).fired.is_some())
    {
        return None;
    }
    let first = WEIGHT
        .iter()
        .filter_map(|stage| run.check(*stage).fired.as_ref()?.first)
        .min()?;
    Some(format!("The prompt cache is lost from {first} on."))
}
