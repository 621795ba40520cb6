//! Carries out what the pure stages say: files first, then the swap, then the report.
//!
//! Nothing is replaced before what it replaces is on disk: a result that cannot be saved stays whole, a history whose
//! transcript or session log cannot be written stays as it is.

use std::io::ErrorKind;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::{
    Input, Outcome, RESULTS_DIR, Rewrite, Save, Skip, Stage, SummaryPlan, Trigger, apply,
    plan_compaction, plan_recovery, rebuild, what_fills,
};
use crate::event::{AgentEvent, SkippedBy, StageReport, StageSkipped};

use super::Agent;
use crate::text::thousands;

/// Where transcripts live, relative to the workspace.
const TRANSCRIPTS: &str = ".transcripts/";
/// Why a summary that the user stopped failed.
pub(super) const STOPPED: &str = "stopped by the user";

/// What a rewrite is reported with.
pub(super) struct Made {
    pub(super) stage: Stage,
    pub(super) trigger: Trigger,
    pub(super) started: Instant,
    pub(super) api_calls: u32,
    pub(super) transcript: Option<String>,
    pub(super) unread_lost: usize,
}

/// What became of the files of a rewrite.
#[derive(Default)]
struct Saving {
    /// Files written, relative to the workspace.
    files: Vec<String>,
    /// How many results could not be saved.
    refused: usize,
    /// Why the first of them could not.
    error: Option<String>,
}

impl Agent {
    /// The five stages before a model call, in their order. Each says what it did or why not, also where the turn is
    /// stopped meanwhile: only a summary is worth stopping.
    pub(super) async fn pipeline(&mut self, cancel: &CancellationToken) {
        self.take_limits().await;
        self.keep_within_window().await;
        // What could not be saved is tried again at every run: a full disk may have room by now.
        self.saved.refused.clear();
        for stage in Stage::PIPELINE {
            self.run_stage(stage, cancel).await;
        }
    }

    /// What the stages look at.
    pub(super) fn input(&self) -> Input<'_> {
        Input {
            history: &self.history,
            saved: &self.saved,
            limits: &self.limits,
            pause: self.pause,
        }
    }

    async fn run_stage(&mut self, stage: Stage, cancel: &CancellationToken) {
        let started = Instant::now();
        let (outcome, saving) = self.save_files(|agent| apply(stage, &agent.input())).await;
        match outcome {
            Outcome::Skipped(skip) => match saving.error {
                Some(error) => {
                    self.failed(stage, 0, format!("not saved: {error}; kept whole"))
                        .await;
                }
                None => self.skipped(stage, skip).await,
            },
            Outcome::Rewritten(rewrite) => {
                self.say_refused(&saving).await;
                let made = Made {
                    stage,
                    trigger: Trigger::Pipeline,
                    started,
                    api_calls: 0,
                    transcript: None,
                    unread_lost: 0,
                };
                self.swap(rewrite, made, saving.files).await;
            }
            Outcome::NeedsSummary(_) if cancel.is_cancelled() => {
                self.failed(stage, 0, STOPPED.to_owned()).await;
            }
            Outcome::NeedsSummary(plan) => self.carry_out(plan, Vec::new(), cancel).await,
        }
    }

    /// `/compact`, and the stage of a `compact` call.
    pub(super) async fn compact(&mut self, trigger: Trigger, cancel: &CancellationToken) {
        match plan_compaction(&self.input(), trigger) {
            Ok(plan) => self.carry_out(plan, Vec::new(), cancel).await,
            Err(skip) => self.skipped(Stage::CompactHistory, skip).await,
        }
    }

    /// A compaction: transcript, summary, swap. Whatever fails on the way leaves the history as it is.
    ///
    /// `files` are those that the plan needed, written before.
    pub(super) async fn carry_out(
        &mut self,
        plan: SummaryPlan,
        files: Vec<String>,
        cancel: &CancellationToken,
    ) {
        let started = Instant::now();
        let size = self.history.size();
        self.emit(AgentEvent::StageStarted {
            call: self.calls + 1,
            stage: plan.stage,
            trigger: plan.trigger,
            size,
        })
        .await;
        let transcript = match self.write_down().await {
            Ok(name) => name,
            Err(error) => return self.failed(plan.stage, 0, error).await,
        };
        let (summary, api_calls) = self.summarise(&plan, cancel).await;
        let summary = match summary {
            Ok(summary) => summary,
            Err(error) => return self.summary_failed(plan.stage, api_calls, error).await,
        };
        let rewrite = rebuild(&self.history, &plan, &summary);
        let after = rewrite.history.size();
        if plan.trigger == Trigger::Pipeline && after >= size {
            let error = format!(
                "the summary is no shorter than what it would replace ({} → {})",
                thousands(size),
                thousands(after)
            );
            return self.summary_failed(plan.stage, api_calls, error).await;
        }
        let made = Made {
            stage: plan.stage,
            trigger: plan.trigger,
            started,
            api_calls,
            transcript: Some(transcript),
            unread_lost: plan.unread_lost,
        };
        if self.swap(rewrite, made, files).await {
            match plan.trigger {
                Trigger::Tool | Trigger::Command => self.pause.reset(),
                // The provider asked, nobody by hand: what is paused stays so.
                Trigger::PromptTooLong if self.pause.reason(&self.limits).is_some() => {}
                Trigger::Pipeline | Trigger::PromptTooLong => {
                    self.pause.compacted(after, &self.limits);
                }
            }
            self.log_pause().await;
            if self.pause.still_over > 0 && self.pause.reason(&self.limits).is_some() {
                self.notice(what_fills(&self.history, &self.limits)).await;
            }
        }
    }

    async fn summary_failed(&mut self, stage: Stage, api_calls: u32, error: String) {
        self.pause.failed();
        self.log_pause().await;
        self.failed(stage, api_calls, error).await;
    }

    async fn log_pause(&mut self) {
        let logged = self.session.pause(self.pause);
        self.logged(logged).await;
    }

    /// What must be on disk before the history may be replaced: the session log so far, and the transcript, whose name this
    /// gives. Comes before the summary, so that no call is paid for in vain.
    async fn write_down(&mut self) -> Result<String, String> {
        let logged = self.session.flush();
        self.logged(logged).await;
        if let Some(error) = &self.log_error {
            return Err(format!(
                "the session log cannot be written: {error}; nothing was replaced"
            ));
        }
        self.write_transcript().map_err(|error| {
            format!("the transcript could not be written: {error}; nothing was replaced")
        })
    }

    /// Writes the files that a plan for a recovery needs; the plan whose files are all there.
    pub(super) async fn plan_recovery(&mut self) -> Result<(SummaryPlan, Vec<String>), Skip> {
        let mut saving = Saving::default();
        loop {
            let plan = plan_recovery(&self.input())?;
            let saves = plan.kept.as_ref().map_or(&[][..], |kept| &kept.saves);
            if self.save_all(saves, &mut saving).await {
                self.say_refused(&saving).await;
                return Ok((plan, saving.files));
            }
        }
    }

    /// Plans and writes files until all of a plan's files are on disk; a plan changes where a name turns out to be taken,
    /// or a file cannot be written.
    async fn save_files(&mut self, plan: impl Fn(&Self) -> Outcome) -> (Outcome, Saving) {
        let mut saving = Saving::default();
        loop {
            let outcome = plan(self);
            let Outcome::Rewritten(rewrite) = &outcome else {
                return (outcome, saving);
            };
            if self.save_all(&rewrite.saves, &mut saving).await {
                return (outcome, saving);
            }
        }
    }

    /// Writes files; says whether the plan that they are for still holds.
    async fn save_all(&mut self, saves: &[Save], saving: &mut Saving) -> bool {
        let mut whole = true;
        for save in saves {
            whole &= self.save(save, saving).await;
        }
        whole
    }

    /// Writes one file; says whether the plan still holds.
    async fn save(&mut self, save: &Save, saving: &mut Saving) -> bool {
        let path = format!("{RESULTS_DIR}{}", save.name);
        match self.shared.store.put(&path, &save.text) {
            Ok(()) => {
                self.saved.record(&save.name, &save.text);
                let logged = self.session.known_file(&save.name);
                self.logged(logged).await;
                saving.files.push(path);
                true
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.saved.taken.insert(save.name.clone());
                false
            }
            Err(error) => {
                self.saved.refused.insert(save.result);
                saving.refused += 1;
                saving
                    .error
                    .get_or_insert_with(|| format!("{path}: {error}"));
                false
            }
        }
    }

    /// Says which results a stage that changed something else could not save: once a run, however many there are.
    async fn say_refused(&self, saving: &Saving) {
        let Some(error) = &saving.error else { return };
        let what = match saving.refused {
            1 => "a result stays whole, its file".to_owned(),
            n => format!("{} results stay whole, their files", thousands(n)),
        };
        self.notice(format!("{what} could not be written: {error}"))
            .await;
    }

    /// Writes the whole history, one JSON message a line, under a name of its own.
    fn write_transcript(&mut self) -> std::io::Result<String> {
        let mut text = String::new();
        for message in self.history.messages() {
            text.push_str(&serde_json::to_string(&**message)?);
            text.push('\n');
        }
        loop {
            self.transcripts += 1;
            let name = format!(
                "{TRANSCRIPTS}{}-{:03}.jsonl",
                self.session.id(),
                self.transcripts
            );
            match self.shared.store.put(&name, &text) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts the new history in the old one's place and reports it; refuses while the session log cannot be written.
    async fn swap(&mut self, rewrite: Rewrite, made: Made, files: Vec<String>) -> bool {
        let after = rewrite.history;
        let report = StageReport {
            call: self.calls + 1,
            stage: made.stage,
            trigger: made.trigger,
            size_before: self.history.size(),
            size_after: after.size(),
            messages_before: self.history.len(),
            messages_after: after.len(),
            touched: rewrite.touched,
            files,
            api_calls: made.api_calls,
            duration_ms: u64::try_from(made.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            transcript: made.transcript,
            guards: rewrite.guards,
            unread_lost: made.unread_lost,
            cache_from: self.history.first_unlike(&after, self.sent),
            before: self.history.clone(),
            after: after.clone(),
        };
        let logged = self.session.rewrite(&report);
        self.logged(logged).await;
        if let Some(error) = &self.log_error {
            let error = format!("the session log cannot be written: {error}; nothing was replaced");
            self.failed(made.stage, made.api_calls, error).await;
            return false;
        }
        if let Some(first) = report.cache_from {
            let at = after.items.iter().position(|item| item.id == first);
            self.sent = at.unwrap_or(0);
        }
        self.history = after;
        self.emit(AgentEvent::StageFinished(Box::new(report))).await;
        true
    }

    pub(super) async fn skipped(&self, stage: Stage, skip: Skip) {
        self.emit(AgentEvent::StageSkipped(StageSkipped {
            call: self.calls + 1,
            stage,
            reason: skip.reason.text(),
            measured: skip.measured,
            threshold: skip.threshold,
            by: SkippedBy::Rule,
            guards: skip.guards,
            skip,
        }))
        .await;
    }

    async fn failed(&self, stage: Stage, api_calls: u32, error: String) {
        self.emit(AgentEvent::StageFailed {
            call: self.calls + 1,
            stage,
            error,
            api_calls,
        })
        .await;
    }
}
