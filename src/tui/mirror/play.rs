//! For tests: a run played through the real stages, its events fed to a mirror that is compared after each.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Mirror;
use crate::context::{
    Guards, History, Input, Limits, Outcome, Pause, Profile, RESULTS_DIR, Rewrite, Saved, Stage,
    SummaryPlan, Trigger, apply, estimate_size, plan_compaction, plan_recovery, rebuild,
};
use crate::event::{AgentEvent, Envelope, SessionStarted, SkippedBy, StageReport, StageSkipped};
use crate::message::{ContentBlock, Message, StopReason, Usage};

/// The agent's side of a run without a model, files or tools.
pub(crate) struct Play {
    pub(crate) mirror: Mirror,
    pub(crate) history: History,
    pub(crate) limits: Limits,
    saved: Saved,
    call: u64,
    seq: u64,
    tools: usize,
    sent: usize,
}

impl Play {
    /// A session that has just started.
    pub(crate) fn new(profile: Profile) -> Self {
        Self::with(profile, Limits::of(profile), History::new())
    }

    /// A session with these numbers that goes on with `history`.
    pub(crate) fn with(profile: Profile, limits: Limits, history: History) -> Self {
        let mut play = Self {
            mirror: Mirror::new(),
            history,
            limits,
            saved: Saved::default(),
            call: 0,
            seq: 0,
            tools: 0,
            sent: 0,
        };
        play.tell(AgentEvent::SessionStarted(Box::new(SessionStarted {
            session: "s1".to_owned(),
            log: Some("/home/u/.local/share/plimsoll/sessions/s1.jsonl".to_owned()),
            workspace: "/home/u/parser-demo".to_owned(),
            model: "sonnet".to_owned(),
            scripted: false,
            profile,
            limits: play.limits.clone(),
            system_chars: 1_912,
            tools_chars: 5_240,
            context: play.history.clone(),
        })));
        play
    }

    /// Sends an event of the main agent.
    pub(crate) fn tell(&mut self, event: AgentEvent) {
        self.tell_of(None, event);
    }

    /// Sends an event of the subagent of `task`, or of the main agent.
    pub(crate) fn tell_of(&mut self, task: Option<&str>, event: AgentEvent) {
        self.seq += 1;
        self.mirror.apply(&Envelope {
            seq: self.seq,
            task: task.map(str::to_owned),
            event,
        });
        self.compare();
    }

    /// The mirror holds what the agent holds, and its kinds add up to the one measure.
    fn compare(&self) {
        assert_eq!(self.mirror.context.history().items, self.history.items);
        let size = estimate_size(self.history.messages());
        assert_eq!(self.mirror.context.size(), size);
        assert_eq!(self.mirror.context.by_kind().iter().sum::<usize>(), size);
    }

    fn append(&mut self, message: Message) {
        let message = Arc::new(message);
        let id = self.history.push(Arc::clone(&message));
        let size = self.history.size();
        self.tell(AgentEvent::MessageAppended { id, message, size });
    }

    /// The user's request.
    pub(crate) fn ask(&mut self, text: &str) {
        self.tell(AgentEvent::TurnStarted {
            request: text.to_owned(),
        });
        let id = self.history.push_request(text.to_owned());
        let Some(item) = self.history.items.last().cloned() else {
            return;
        };
        let size = self.history.size();
        self.tell(AgentEvent::MessageAppended {
            id,
            message: item.message,
            size,
        });
    }

    /// One call without tools.
    pub(crate) fn say(&mut self, text: &str) {
        self.pipeline();
        self.send();
        self.append(Message::assistant(vec![ContentBlock::text(text)]));
        self.replied();
    }

    /// One call whose reply asks for these tools, and their results.
    pub(crate) fn work(&mut self, calls: &[(&str, Value, String)]) {
        self.pipeline();
        self.send();
        self.replied();
        let (mut uses, mut results) = (Vec::new(), Vec::new());
        for (name, input, result) in calls {
            self.tools += 1;
            let id = format!("toolu_{:02}", self.tools);
            uses.push(ContentBlock::tool_use(&id, *name, input.clone()));
            results.push(ContentBlock::tool_result(&id, result));
        }
        self.append(Message::assistant(uses));
        self.append(Message::user_blocks(results));
    }

    /// A call that reads a file of `chars` characters.
    pub(crate) fn read(&mut self, path: &str, chars: usize) {
        self.work(&[("read_file", json!({ "path": path }), "x".repeat(chars))]);
    }

    /// The five stages before the next call.
    pub(crate) fn pipeline(&mut self) {
        self.call += 1;
        for stage in Stage::PIPELINE {
            let outcome = apply(stage, &self.input());
            self.carry_out(stage, outcome, Trigger::Pipeline);
        }
    }

    /// The recovery after a refusal.
    pub(crate) fn refused(&mut self) {
        self.call += 1;
        let outcome = plan_recovery(&self.input());
        self.carry_out(
            Stage::ReactiveCompact,
            outcome.into(),
            Trigger::PromptTooLong,
        );
    }

    /// A compaction that was asked for.
    pub(crate) fn compact(&mut self, trigger: Trigger) {
        self.call += 1;
        let outcome = plan_compaction(&self.input(), trigger);
        self.carry_out(Stage::CompactHistory, outcome.into(), trigger);
        self.call -= 1;
    }

    fn input(&self) -> Input<'_> {
        Input {
            history: &self.history,
            saved: &self.saved,
            limits: &self.limits,
            pause: Pause::default(),
        }
    }

    fn carry_out(&mut self, stage: Stage, outcome: Outcome, trigger: Trigger) {
        match outcome {
            Outcome::Skipped(skip) => {
                let skipped = StageSkipped {
                    call: self.call,
                    stage,
                    reason: skip.reason.text(),
                    measured: skip.measured,
                    threshold: skip.threshold,
                    by: SkippedBy::Rule,
                    guards: skip.guards,
                    skip,
                };
                self.tell(AgentEvent::StageSkipped(skipped));
            }
            Outcome::Rewritten(rewrite) => self.swap((stage, trigger), rewrite, None),
            Outcome::NeedsSummary(plan) => {
                self.tell(AgentEvent::StageStarted {
                    call: self.call,
                    stage,
                    trigger,
                    size: self.history.size(),
                });
                let summary = "Goal: fix the parser. ".repeat(40);
                let rewrite = rebuild(&self.history, &plan, &summary);
                self.swap((stage, trigger), rewrite, Some(&plan));
            }
        }
    }

    fn swap(
        &mut self,
        (stage, trigger): (Stage, Trigger),
        rewrite: Rewrite,
        plan: Option<&SummaryPlan>,
    ) {
        let before = std::mem::replace(&mut self.history, rewrite.history.clone());
        for save in &rewrite.saves {
            self.saved.record(&save.name, &save.text);
        }
        let cache_from = before.first_unlike(&self.history, self.sent);
        if let Some(first) = cache_from {
            let at = self.history.items.iter().position(|item| item.id == first);
            self.sent = at.unwrap_or(0);
        }
        let report = StageReport {
            call: self.call,
            stage,
            trigger,
            size_before: before.size(),
            size_after: self.history.size(),
            messages_before: before.len(),
            messages_after: self.history.len(),
            touched: rewrite.touched,
            files: rewrite
                .saves
                .iter()
                .map(|save| format!("{RESULTS_DIR}{}", save.name))
                .collect(),
            api_calls: u32::from(plan.is_some()),
            duration_ms: if plan.is_some() { 6_100 } else { 0 },
            transcript: plan.map(|_| ".transcripts/run-1.jsonl".to_owned()),
            guards: rewrite.guards,
            unread_lost: plan.map_or(0, |plan| plan.unread_lost),
            cache_from,
            before,
            after: rewrite.history,
        };
        self.tell(AgentEvent::StageFinished(Box::new(report)));
    }

    /// The request goes out.
    pub(crate) fn send(&mut self) {
        let (size, messages) = (self.history.size(), self.history.len());
        self.sent = messages;
        self.tell(AgentEvent::ModelCallStarted {
            call: self.call,
            size,
            messages,
        });
    }

    /// The reply is complete.
    pub(crate) fn replied(&mut self) {
        self.tell(AgentEvent::ModelCallFinished {
            stop_reason: Some(StopReason::EndTurn),
            usage: Usage {
                input_tokens: Some(self.history.size() as u64 / 4 + 1_000),
                output_tokens: Some(318),
                ..Usage::default()
            },
        });
    }

    /// A failed stage.
    pub(crate) fn fail(&mut self, stage: Stage, error: &str) {
        self.tell(AgentEvent::StageFailed {
            call: self.call,
            stage,
            error: error.to_owned(),
            api_calls: u32::from(matches!(
                stage,
                Stage::CompactHistory | Stage::ReactiveCompact
            )),
        });
    }

    /// A stage that was passed over, with what guards kept there.
    pub(crate) fn kept(&mut self, guards: Guards) {
        let skip = crate::context::Skip::new(crate::context::Reason::OlderAreUnread);
        self.tell(AgentEvent::StageSkipped(StageSkipped {
            call: self.call,
            stage: Stage::MicroCompact,
            reason: skip.reason.text(),
            measured: None,
            threshold: None,
            by: SkippedBy::Rule,
            guards,
            skip,
        }));
    }
}

/// The run of the drawings: snips and micros, a summary behind it, call 43.
pub(crate) fn drawing() -> Play {
    let mut play = Play::new(Profile::Lesson);
    play.ask("Fix the failing tests in the parser crate");
    play.say("I'll start with the tokenizer tests.");
    play.ask("Go on");
    for n in 0..20 {
        let chars = [911, 3_107, 150, 2_600, 12_242][n % 5];
        play.read(&format!("src/part{n}.rs"), chars);
    }
    play.work(&[(
        "bash",
        json!({"command": "cargo test -p parser"}),
        "x".repeat(5_209),
    )]);
    play.say("The offset is off by one after a tab.");
    play.ask("Now explain it in the changelog too.");
    for path in ["src/lexer.rs", "src/span.rs", "CHANGELOG.md"] {
        play.read(path, 6_180);
    }
    play.pipeline();
    play.send();
    play
}
