//! Where text is now that left the context, in a row and in a sentence.

use crate::context::Stage;
use crate::text::thousands;
use crate::tui::mirror::{Changed, Fired};

/// What the log says behind that, each where there is room for it: text, where the row's figure is load, and where it is now.
#[must_use]
pub(crate) fn fired_more(
    stage: Stage,
    fired: &Fired,
    (largest, logged): (Option<&Changed>, bool),
) -> Vec<String> {
    let mut more = Vec::new();
    match stage {
        Stage::ToolResultBudget | Stage::MicroCompact | Stage::FitResults => {
            more.extend(largest.map(|change| {
                let (before, after) = change.chars;
                format!("text {} → {}", thousands(before), thousands(after))
            }));
        }
        Stage::SnipCompact | Stage::CompactHistory | Stage::ReactiveCompact => {}
    }
    more.extend(place(stage, fired, logged));
    more
}

/// Where the text is that a snip or a micro took out of the context, for a row.
#[must_use]
pub(crate) fn place(stage: Stage, fired: &Fired, logged: bool) -> Option<String> {
    match (stage, fired.files.as_slice()) {
        (Stage::MicroCompact, [file]) => Some(format!("full text: {file}")),
        (Stage::MicroCompact, [file, more @ ..]) => Some(format!(
            "full text: {file} and {} more",
            thousands(more.len())
        )),
        (Stage::SnipCompact | Stage::MicroCompact, []) if logged => {
            Some("full text: session log".to_owned())
        }
        (
            Stage::ToolResultBudget
            | Stage::SnipCompact
            | Stage::MicroCompact
            | Stage::FitResults
            | Stage::CompactHistory
            | Stage::ReactiveCompact,
            _,
        ) => None,
    }
}

/// Where the text is that a snip or a micro took out of the context.
pub(super) fn place_sentence(stage: Stage, fired: &Fired, logged: bool) -> Option<String> {
    let unkept = "No log keeps what went out: this session is in memory only.";
    match stage {
        Stage::SnipCompact if logged => Some("What went out stays in the session log.".to_owned()),
        Stage::MicroCompact => match fired.files.as_slice() {
            [file] => Some(format!("The full text is in {file}.")),
            [file, more @ ..] => Some(format!(
                "The full texts are in {file} and {} beside it.",
                thousands(more.len())
            )),
            [] if logged => Some("The full text stays in the session log.".to_owned()),
            [] => Some(unkept.to_owned()),
        },
        Stage::SnipCompact => Some(unkept.to_owned()),
        Stage::ToolResultBudget
        | Stage::FitResults
        | Stage::CompactHistory
        | Stage::ReactiveCompact => None,
    }
}
