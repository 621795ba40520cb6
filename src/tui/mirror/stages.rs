//! How the events of a stage change the picture: context, lamps and rows.

use super::run::{Check, Fired, ROWS, row, short};
use super::{Changed, Growth, Idle, Last, Mirror, Row, Sight, Work};
use crate::context::{Kind, Reason, Stage, Trigger};
use crate::event::{SkippedBy, StageReport, StageSkipped};
use crate::text::clean_line;
use crate::tui::texts;
use crate::tui::theme::Lamp;

impl Mirror {
    /// Notes that the stages before `call` begin, unless they have.
    pub(super) fn begin(&mut self, call: u64, stage: Option<Stage>) {
        let size = self.context.size();
        if self.run.begin(call, stage, size) {
            let text = texts::check(size, self.context.len(), self.limit());
            self.row("check", None, text);
        }
    }

    /// A stage asks the model for a summary.
    pub(super) fn summarising(&mut self, (call, stage): (u64, Stage), size: usize) {
        self.begin(call, Some(stage));
        let check = Check {
            lamp: Lamp::Running,
            text: texts::summarising(size),
            ..Check::default()
        };
        self.run.set(stage, check);
        self.work = Work::Summary { stage };
    }

    /// A stage could not do what it should have done.
    pub(super) fn failed(&mut self, (call, stage): (u64, Stage), error: &str) {
        self.begin(call, Some(stage));
        self.row(short(stage), Some(Lamp::Failed), error.to_owned());
        let check = Check {
            lamp: Lamp::Failed,
            text: error.to_owned(),
            ..Check::default()
        };
        self.run.set(stage, check);
        self.end_summary();
    }

    /// A stage did nothing.
    pub(super) fn skipped(&mut self, skipped: &StageSkipped) {
        self.begin(skipped.call, Some(skipped.stage));
        let lamp = match (skipped.by, &skipped.skip.reason) {
            (SkippedBy::User, _) => Lamp::Skipped,
            (SkippedBy::Rule, Reason::NotSaved { .. } | Reason::Refused) => Lamp::Failed,
            (SkippedBy::Rule, _) => Lamp::Unneeded,
        };
        let text = clean_line(&skipped.reason);
        self.log.push(Row {
            source: self.source(),
            name: short(skipped.stage),
            lamp: Some(lamp),
            change: None,
            text: texts::skipped_row(&text),
            more: Vec::new(),
            idle: idle(skipped),
        });
        self.run.set(
            skipped.stage,
            Check {
                lamp,
                text,
                guards: skipped.guards,
                fired: None,
            },
        );
    }

    /// A stage changed the context.
    pub(super) fn finished(&mut self, report: &StageReport) {
        self.begin(report.call, Some(report.stage));
        let largest = self.largest(report);
        let paths_lost = self.paths_lost(report);
        let gone = self.context.rewrite(
            report.stage,
            (&report.touched, &report.files),
            &report.after,
        );
        self.context.set_size(report.size_after);
        let mut fired = fired(report, gone);
        fired.paths_lost = paths_lost;
        self.last[row(report.stage)] = Some(Last {
            call: report.call,
            change: fired.change(),
        });
        match report.stage {
            Stage::SnipCompact => self.counts.snipped += gone,
            Stage::CompactHistory | Stage::ReactiveCompact => {
                self.counts.compactions += 1;
                self.growth = Growth::default();
                self.compacted(report);
            }
            Stage::ToolResultBudget | Stage::MicroCompact | Stage::FitResults => {}
        }
        for (stage, times) in ROWS.iter().zip(&mut self.counts.fired) {
            *times += usize::from(*stage == report.stage);
        }
        let lamp = if report.api_calls > 0 {
            Lamp::FiredByCall
        } else {
            Lamp::Fired
        };
        self.log.push(Row {
            source: self.source(),
            name: short(report.stage),
            lamp: Some(lamp),
            change: Some(fired.change()),
            text: texts::fired_log(report.stage, &fired, largest.as_ref()),
            more: texts::fired_more(report.stage, &fired, (largest.as_ref(), self.has_log())),
            idle: None,
        });
        if let Some(kept) = cache_kept(report) {
            self.row("cache", None, kept);
        }
        for file in report.transcript.iter().chain(&report.files) {
            self.row("saved", None, clean_line(file));
        }
        let text = texts::fired_row(report.stage, &fired, self.counts.snipped);
        self.run.add(&fired, largest);
        self.run.set(
            report.stage,
            Check {
                lamp,
                text,
                guards: report.guards,
                fired: Some(fired),
            },
        );
        let context = &self.context;
        self.labels.keep(|id| context.position(id).is_some());
        self.end_summary();
    }

    /// Keeps the count of summaries that did not help, as the agent keeps it.
    fn compacted(&mut self, report: &StageReport) {
        let limits = self.limits();
        match report.trigger {
            Trigger::Tool | Trigger::Command => self.pause.reset(),
            Trigger::PromptTooLong if self.pause.reason(&limits).is_some() => {}
            Trigger::Pipeline | Trigger::PromptTooLong => {
                self.pause.compacted(report.size_after, &limits);
            }
        }
    }

    /// Whether the session has a log that keeps what left the context.
    pub(crate) fn has_log(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.log.is_some())
    }

    /// Persisted results whose path went with the preview: a guard, or saving what is replaced, would have kept it.
    fn paths_lost(&self, report: &StageReport) -> usize {
        let kept = self
            .session
            .as_ref()
            .is_some_and(|session| session.limits.guards || session.limits.recoverable);
        if kept || report.stage != Stage::MicroCompact {
            return 0;
        }
        report
            .touched
            .iter()
            .filter(|change| self.context.sight(change.id, change.block) == Sight::Preview)
            .count()
    }

    /// The result that `report` made smaller by the most, with its label.
    fn largest(&self, report: &StageReport) -> Option<Changed> {
        let change = report
            .touched
            .iter()
            .max_by_key(|change| change.chars_before.saturating_sub(change.chars_after))?;
        let from = match self.context.sight(change.id, change.block) {
            Sight::Preview => Kind::Previews,
            Sight::Placeholder => Kind::Placeholders,
            Sight::Full | Sight::Summary | Sight::Summarised | Sight::Snipped | Sight::Gone => {
                Kind::Results
            }
        };
        Some(Changed {
            id: change.id,
            kinds: (from, Changed::kind_after(report.stage)),
            label: self.labels.of(change.id, change.block).to_owned(),
            chars: (change.chars_before, change.chars_after),
        })
    }
}

/// The figures of `report`; what became of paths is the mirror's to add.
pub(super) fn fired(report: &StageReport, gone: usize) -> Fired {
    let marker = report
        .after
        .markers
        .iter()
        .next_back()
        .map(|(at, messages)| (*at, *messages));
    Fired {
        trigger: report.trigger,
        size: (report.size_before, report.size_after),
        messages: (report.messages_before, report.messages_after),
        results: report.touched.len(),
        text: report
            .touched
            .iter()
            .map(|change| change.chars_before)
            .sum(),
        unseen: match report.stage {
            Stage::MicroCompact => report.touched.iter().filter(|change| change.unread).count(),
            Stage::ToolResultBudget
            | Stage::SnipCompact
            | Stage::FitResults
            | Stage::CompactHistory
            | Stage::ReactiveCompact => 0,
        },
        unread_lost: report.unread_lost,
        gone,
        kept: marker.map_or((0, 0), |(at, _)| {
            (at, report.messages_after.saturating_sub(at + 1))
        }),
        marker: marker.map_or(0, |(_, messages)| messages),
        paths_lost: 0,
        first: report.cache_from,
        files: report.files.iter().map(|file| clean_line(file)).collect(),
        api_calls: report.api_calls,
        duration_ms: report.duration_ms,
    }
}

/// How far what was sent still fits, where a stage changed something of it.
fn cache_kept(report: &StageReport) -> Option<String> {
    let first = report.cache_from?;
    let items = &report.after.items;
    let at = items.iter().position(|item| item.id == first)?;
    Some(match at.checked_sub(1).and_then(|at| items.get(at)) {
        Some(last) => format!("kept up to {}", last.id),
        None => "kept up to the tools".to_owned(),
    })
}

/// The word for a stage that did nothing and that nobody need look at.
fn idle(skipped: &StageSkipped) -> Option<Idle> {
    match (skipped.by, &skipped.skip.reason) {
        (SkippedBy::User, _)
        | (
            SkippedBy::Rule,
            Reason::NotSaved { .. }
            | Reason::Refused
            | Reason::PausedByFailures { .. }
            | Reason::StillOver { .. }
            | Reason::AlreadyRetried { .. }
            | Reason::NothingToPersist { .. }
            | Reason::NothingOfText { .. }
            | Reason::NothingToFit { .. }
            | Reason::OutOfReach { .. }
            | Reason::AlreadyCompacted,
        ) => None,
        (SkippedBy::Rule, Reason::SnipOff | Reason::KeepUnreadOff) => Some(Idle::Off),
        (SkippedBy::Rule, Reason::WaitsForLoss | Reason::WaitsForRefusal) => Some(Idle::Waits),
        (
            SkippedBy::Rule,
            Reason::NoResults
            | Reason::UnderBudget { .. }
            | Reason::FewMessages { .. }
            | Reason::OnlyTheMarker { .. }
            | Reason::HeadMeetsTail
            | Reason::CutSplitsPair
            | Reason::UnderLimit { .. }
            | Reason::FewResults { .. }
            | Reason::OlderAreShort { .. }
            | Reason::OlderAreUnread
            | Reason::OlderAreNotText
            | Reason::NotShorter
            | Reason::UnreadFits { .. }
            | Reason::Empty,
        ) => Some(Idle::NotNeeded),
    }
}
