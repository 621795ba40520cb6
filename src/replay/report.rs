//! What one run of the pipeline would do with a recording: as the JSON object of the specification and as lines for people.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::error::ReplayError;
use super::parse::Recording;
use crate::context::{
    Guards, History, Input, Kind, Limits, Outcome, Parts, Pause, Profile, RESULTS_DIR, Saved,
    Stage, Touched, apply, kept_messages, unread,
};
use crate::message::Message;
use crate::text::thousands;

/// The stages that a replay runs; the fifth would call a model.
const STAGES: [Stage; 4] = [
    Stage::ToolResultBudget,
    Stage::SnipCompact,
    Stage::MicroCompact,
    Stage::FitResults,
];

/// What one stage did.
#[derive(Clone, Debug, Serialize)]
pub struct StageLine {
    /// Which.
    pub stage: Stage,
    /// Whether it changed something.
    pub fired: bool,
    /// `estimate_size` before.
    pub size_before: usize,
    /// `estimate_size` after.
    pub size_after: usize,
    /// Messages before.
    pub messages_before: usize,
    /// Messages after.
    pub messages_after: usize,
    /// The results that changed, in the order of the history.
    pub touched: Vec<Touched>,
    /// Why it did nothing, with the figures that decided; what it did where it fired.
    pub reason: String,
    /// What guards kept.
    pub guards: Guards,
}

/// What the pipeline would do with a recording; serialised it is the object that `--format json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Stages 1 to 3 and the fit guard.
    pub stages: Vec<StageLine>,
    /// Whether the history is over the limit after them.
    pub over_limit: bool,
    /// Whether stage 4 would fire.
    pub compact_history: bool,
    /// Messages that stage 4 would keep behind its own.
    pub kept: usize,
    /// Unread results in `messages`.
    pub unread: usize,
    /// The history afterwards.
    pub messages: Vec<Arc<Message>>,
    /// Index of the message that carries the request.
    pub request_at: Option<usize>,
    /// Index of each snip marker, with the number that it says.
    pub markers: BTreeMap<usize, usize>,
    /// The files that would be written, name and text.
    pub files: BTreeMap<String, String>,
    /// What stage 4 would do, or why not.
    pub history: String,
    /// The numbers it was played with.
    pub limits: Limits,
    /// What fills the context afterwards.
    #[serde(skip)]
    pub parts: Parts,
}

/// A history on its way through the stages.
struct Run<'a> {
    history: History,
    saved: Saved,
    limits: &'a Limits,
    files: BTreeMap<String, String>,
}

impl Recording {
    /// Runs stages 1 to 3 and the fit guard once. Settings: what `sets` says, then its own `config`, then `profile`.
    ///
    /// # Errors
    /// If a setting is unknown or its value does not fit.
    pub fn run(&self, profile: Profile, sets: &[(String, String)]) -> Result<Report, ReplayError> {
        let limits = self.limits(profile, sets)?;
        let mut run = Run {
            history: self.history(),
            saved: self.saved(),
            limits: &limits,
            files: BTreeMap::new(),
        };
        let stages = STAGES.into_iter().map(|stage| run.stage(stage)).collect();
        let (compact_history, history) = run.last_stage();
        let Run {
            history: after,
            saved,
            files,
            ..
        } = run;
        Ok(Report {
            stages,
            over_limit: after.size() > limits.context_limit,
            compact_history,
            kept: kept_messages(&after, &limits),
            unread: unread(&after).count(),
            messages: after.messages().cloned().collect(),
            request_at: after.request_at,
            markers: after.markers.clone(),
            files,
            history,
            parts: Parts::of(&after, &saved),
            limits,
        })
    }
}

impl Run<'_> {
    fn apply(&self, stage: Stage) -> Outcome {
        apply(
            stage,
            &Input {
                history: &self.history,
                saved: &self.saved,
                limits: self.limits,
                pause: Pause::default(),
            },
        )
    }

    fn stage(&mut self, stage: Stage) -> StageLine {
        let mut line = StageLine {
            stage,
            fired: false,
            size_before: self.history.size(),
            size_after: self.history.size(),
            messages_before: self.history.len(),
            messages_after: self.history.len(),
            touched: Vec::new(),
            reason: String::new(),
            guards: Guards::default(),
        };
        match self.apply(stage) {
            Outcome::Skipped(skip) => {
                line.reason = skip.reason.text();
                line.guards = skip.guards;
            }
            Outcome::Rewritten(rewrite) => {
                line.fired = true;
                line.size_after = rewrite.history.size();
                line.messages_after = rewrite.history.len();
                line.reason = fired_text(stage, &self.history, &rewrite.history, &rewrite.touched);
                line.touched = rewrite.touched;
                line.guards = rewrite.guards;
                for save in rewrite.saves {
                    self.saved.record(&save.name, &save.text);
                    self.files.insert(save.name, save.text);
                }
                self.history = rewrite.history;
            }
            // None of the stages that are run here asks a model.
            Outcome::NeedsSummary(_) => {}
        }
        line
    }

    /// Whether stage 4 would fire, and what it would do, or why not.
    fn last_stage(&self) -> (bool, String) {
        match self.apply(Stage::CompactHistory) {
            Outcome::Skipped(skip) => (false, skip.reason.text()),
            Outcome::NeedsSummary(plan) => {
                let text = format!(
                    "would summarise {} of {}, 1 API call ({} > {})",
                    thousands(plan.older.len()),
                    counted(self.history.len(), "message"),
                    thousands(self.history.size()),
                    thousands(self.limits.context_limit)
                );
                (true, text)
            }
            // Stage 4 never rewrites without a summary.
            Outcome::Rewritten(_) => (true, String::new()),
        }
    }
}

/// What a stage did, in the words of the screen.
fn fired_text(stage: Stage, before: &History, after: &History, touched: &[Touched]) -> String {
    match stage {
        Stage::ToolResultBudget => format!("{} saved to disk", counted(touched.len(), "result")),
        Stage::SnipCompact => {
            let so_far: usize = after.markers.values().sum();
            let out = so_far.saturating_sub(before.markers.values().sum());
            match counted(out, "message") {
                out_now if out == so_far => format!("{out_now} out"),
                out_now => format!("{out_now} out, {} so far", thousands(so_far)),
            }
        }
        Stage::MicroCompact => format!("{} → placeholder", counted(touched.len(), "result")),
        Stage::FitResults => format!("{} → preview", counted(touched.len(), "unread result")),
        Stage::CompactHistory | Stage::ReactiveCompact => String::new(),
    }
}

/// `1 message`, `2 messages`.
fn counted(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(n))
}

impl Report {
    /// The report for people: a line for each stage, then what came of it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let before = self.stages.first().map_or(0, |line| line.size_before);
        let messages = self.stages.first().map_or(0, |line| line.messages_before);
        let after = self.parts.total();
        writeln!(
            out,
            "before: {} in {}; the limit is {}\n",
            counted(before, "character"),
            counted(messages, "message"),
            thousands(self.limits.context_limit)
        )?;
        for line in &self.stages {
            let lamp = if line.fired { '●' } else { '○' };
            let reason = format!("{}{}", line.reason, kept_text(&line.guards));
            let sizes = (line.size_before, line.size_after);
            write_stage(out, (line.stage, lamp), sizes, &reason)?;
        }
        let lamp = if self.compact_history { '▲' } else { '○' };
        let kept = match self.kept {
            kept if self.compact_history && kept > 0 => {
                format!("; {} stay behind it", thousands(kept))
            }
            _ => String::new(),
        };
        let reason = format!("{}{kept}", self.history);
        write_stage(out, (Stage::CompactHistory, lamp), (after, after), &reason)?;
        writeln!(
            out,
            "\nafter: {} ({}) in {}, {}: {} the limit",
            counted(after, "character"),
            difference(before, after),
            counted(self.messages.len(), "message"),
            counted(self.unread, "unread result"),
            if self.over_limit { "over" } else { "within" }
        )?;
        let parts: Vec<String> = Kind::ALL
            .into_iter()
            .filter(|kind| self.parts.get(*kind) > 0)
            .map(|kind| format!("{} {}", word(kind), thousands(self.parts.get(kind))))
            .collect();
        writeln!(out, "holds: {}", parts.join(" · "))?;
        for (name, text) in &self.files {
            let chars = counted(text.chars().count(), "character");
            writeln!(out, "would write: {RESULTS_DIR}{name}, {chars}")?;
        }
        writeln!(
            out,
            "\n● changed something   ○ did not, and why   ▲ would ask a model"
        )
    }
}

/// A stage with its lamp, the size after it, what that changed, and what it did or why not.
fn write_stage(
    out: &mut String,
    (stage, lamp): (Stage, char),
    (before, after): (usize, usize),
    reason: &str,
) -> std::fmt::Result {
    let (number, name, size) = (number(stage), stage.name(), thousands(after));
    let change = if before == after {
        "—".to_owned()
    } else {
        difference(before, after)
    };
    writeln!(
        out,
        "{lamp} {number} {name:<18} {size:>11} {change:>11}  {reason}"
    )
}

fn number(stage: Stage) -> char {
    match stage {
        Stage::ToolResultBudget => '1',
        Stage::SnipCompact => '2',
        Stage::MicroCompact => '3',
        Stage::FitResults => 'f',
        Stage::CompactHistory => '4',
        Stage::ReactiveCompact => 'R',
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Summary => "summary",
        Kind::User => "user",
        Kind::Assistant => "assistant",
        Kind::Calls => "calls",
        Kind::Results => "results",
        Kind::Previews => "previews",
        Kind::Placeholders => "placeholders",
        Kind::Frame => "frame",
    }
}

/// The difference with its sign: `−1,994`, or `+12` where it grew.
fn difference(before: usize, after: usize) -> String {
    match after.cmp(&before) {
        Ordering::Less => format!("−{}", thousands(before - after)),
        Ordering::Equal => "as before".to_owned(),
        Ordering::Greater => format!("+{}", thousands(after - before)),
    }
}

/// What guards kept, behind the reason.
fn kept_text(guards: &Guards) -> String {
    let unread = (guards.unread > 0).then(|| format!("kept: {} unread", thousands(guards.unread)));
    let paths = (guards.paths > 0).then(|| format!("kept: {}", counted(guards.paths, "path")));
    let carried = guards.carried.then(|| "request carried on".to_owned());
    let mut kept = vec![String::new()];
    kept.extend([unread, paths, carried].into_iter().flatten());
    kept.join("; ")
}
