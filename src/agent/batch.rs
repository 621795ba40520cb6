//! The calls of one reply: permission, running, answering. Each call gets exactly one result, whatever becomes of it.

use std::sync::PoisonError;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::event::{AgentEvent, Decision};
use crate::message::{BlockKind, ContentBlock};
use crate::permission::{Rule, Verdict};
use crate::tools::{ToolCall, ToolOutput};

use super::call::{Call, Reply};
use super::{Agent, Questions, Remember};

/// What the model is told of its `compact` call; from the contract.
const COMPACT_ANSWER: &str = "[Compaction requested. This completed turn will be summarized.]";
const INTERRUPTED: &str = "interrupted by the user";
/// Subagents that work at once.
const TASKS_AT_ONCE: usize = 4;

/// What permission made of a call.
enum Permit {
    Granted,
    Refused(String),
}

impl Agent {
    /// Answers all calls of `reply` in their order (tasks that stand together side by side) and stores the results as one
    /// message. Says whether a compaction was asked for.
    pub(super) async fn batch(&mut self, reply: &Reply, cancel: &CancellationToken) -> bool {
        let mut results = Vec::with_capacity(reply.calls.len());
        let mut compact = false;
        self.rounds_without_todos += 1;
        let mut at = 0;
        while at < reply.calls.len() {
            let tasks = reply.calls[at..]
                .iter()
                .take_while(|call| is_task(call))
                .count();
            if tasks > 1 {
                results.extend(self.tasks(&reply.calls[at..at + tasks], cancel).await);
                at += tasks;
            } else {
                let call = &reply.calls[at];
                let result = self.answer(call, cancel).await;
                compact |= call.name == "compact" && !is_error(&result);
                results.push(result);
                at += 1;
            }
        }
        self.store_results(results).await;
        compact
    }

    /// Several subagents at once; their results in the order of the calls.
    async fn tasks(&self, calls: &[Call], cancel: &CancellationToken) -> Vec<ContentBlock> {
        let runs: Vec<_> = calls
            .iter()
            .map(|call| self.whole_answer(call, cancel))
            .collect();
        futures_util::stream::iter(runs)
            .buffered(TASKS_AT_ONCE)
            .collect()
            .await
    }

    /// [`Self::answer_one`] under a type of its own: an answer may hold a subagent's whole turn.
    fn whole_answer<'a>(
        &'a self,
        call: &'a Call,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, ContentBlock> {
        Box::pin(self.answer_one(call, cancel))
    }

    /// The result of one call, and what follows from it for the agent's own state.
    async fn answer(&mut self, call: &Call, cancel: &CancellationToken) -> ContentBlock {
        let result = self.whole_answer(call, cancel).await;
        if !is_error(&result)
            && let Ok(ToolCall::TodoWrite(write)) = ToolCall::parse(&call.name, &call.input)
        {
            self.rounds_without_todos = 0;
            self.todos.clone_from(&write.todos);
            let logged = self.session.todos(&self.todos);
            self.logged(logged).await;
            self.emit(AgentEvent::TodosChanged { todos: write.todos })
                .await;
        }
        result
    }

    /// Parses, asks, runs. Changes nothing of the agent, so that several can go on at once.
    async fn answer_one(&self, call: &Call, cancel: &CancellationToken) -> ContentBlock {
        if cancel.is_cancelled() {
            return self.refuse(call, &format!("not run: {INTERRUPTED}")).await;
        }
        if let Some(raw) = &call.broken {
            let shown = crate::text::head(raw, 400);
            return self
                .refuse(
                    call,
                    &format!("not run: the input is not valid JSON; it began: {shown}"),
                )
                .await;
        }
        let parsed = match ToolCall::parse(&call.name, &call.input) {
            Ok(parsed) => parsed,
            Err(why) => return self.refuse(call, &why).await,
        };
        match self.permit(call, &parsed, cancel).await {
            Permit::Granted => self.run(call, &parsed, cancel).await,
            Permit::Refused(why) => self.refuse(call, &why).await,
        }
    }

    /// What the policy says to a call.
    fn judge(&self, parsed: &ToolCall) -> Verdict {
        let shared = &self.shared;
        let policy = shared.policy.lock().unwrap_or_else(PoisonError::into_inner);
        policy.judge(parsed, shared.tools.workspace())
    }

    /// What the policy, or the user, says to a call.
    async fn permit(&self, call: &Call, parsed: &ToolCall, cancel: &CancellationToken) -> Permit {
        let reason = match self.judge(parsed) {
            Verdict::Allow => return Permit::Granted,
            Verdict::Deny { reason } => return Permit::Refused(format!("refused: {reason}")),
            Verdict::Ask { reason } => reason,
        };
        match &self.shared.questions {
            Questions::Ask(remember) => self.question(call, parsed, cancel, remember).await,
            Questions::Refuse => {
                Permit::Refused(format!("refused: {reason}, and nobody can be asked here"))
            }
        }
    }

    /// Asks the user, once every earlier question is answered.
    async fn question(
        &self,
        call: &Call,
        parsed: &ToolCall,
        cancel: &CancellationToken,
        remember: &Remember,
    ) -> Permit {
        let controls = &self.shared.controls;
        let Some(_floor) = controls.floor(cancel).await else {
            return Permit::Refused(format!("not run: {INTERRUPTED}"));
        };
        // The answer to the question before may have been a rule that holds for this one too.
        let Verdict::Ask { reason } = self.judge(parsed) else {
            return Permit::Granted;
        };
        let asked = self.emit(AgentEvent::PermissionAsked {
            id: call.id.clone(),
            tool: call.name.clone(),
            input: call.input.clone(),
            reason,
        });
        let decision = controls.ask(&call.id, cancel, asked).await;
        let given = decision.clone().unwrap_or(Decision::Deny {
            reason: Some(INTERRUPTED.to_owned()),
        });
        self.emit(AgentEvent::PermissionAnswered {
            id: call.id.clone(),
            decision: given,
        })
        .await;
        match decision {
            Some(Decision::Allow) => Permit::Granted,
            Some(Decision::AllowAlways) => {
                self.remember(parsed, remember).await;
                Permit::Granted
            }
            Some(Decision::Deny {
                reason: Some(reason),
            }) => Permit::Refused(format!("refused by the user, who says: {reason}")),
            Some(Decision::Deny { reason: None }) => {
                Permit::Refused("refused by the user".to_owned())
            }
            None => Permit::Refused(format!("not run: {INTERRUPTED}")),
        }
    }

    /// Adds the rule that allows a call like this one from now on.
    async fn remember(&self, parsed: &ToolCall, remember: &Remember) {
        let Some(rule) = Rule::for_call(parsed) else {
            self.notice(
                "allowed this once: no rule for it would be narrow enough to be safe".to_owned(),
            )
            .await;
            return;
        };
        let said = rule.describe();
        let kept = remember(&rule);
        self.shared
            .policy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(rule);
        self.notice(match kept {
            Ok(()) => format!("allowed in this project from now on: {said} (kept in rules.jsonl; delete its line to take it back)"),
            Err(error) => format!("allowed in this session from now on: {said} (not kept: {error:#})"),
        })
        .await;
    }

    /// Runs a permitted call.
    async fn run(
        &self,
        call: &Call,
        parsed: &ToolCall,
        cancel: &CancellationToken,
    ) -> ContentBlock {
        self.emit(AgentEvent::ToolStarted {
            id: call.id.clone(),
            tool: call.name.clone(),
            input: call.input.clone(),
        })
        .await;
        let started = Instant::now();
        let output = match parsed {
            ToolCall::Compact => ToolOutput {
                text: COMPACT_ANSWER.to_owned(),
                is_error: false,
            },
            ToolCall::Task(task) => self.subagent(&call.id, &task.prompt, cancel).await,
            ToolCall::Bash(_)
            | ToolCall::ReadFile(_)
            | ToolCall::WriteFile(_)
            | ToolCall::EditFile(_)
            | ToolCall::Glob(_)
            | ToolCall::TodoWrite(_)
            | ToolCall::LoadSkill(_) => self.shared.tools.run(parsed, cancel).await,
        };
        let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.finished(call, output, took).await
    }

    /// Answers a call that is not run.
    pub(super) async fn refuse(&self, call: &Call, why: &str) -> ContentBlock {
        self.finished(
            call,
            ToolOutput {
                text: why.to_owned(),
                is_error: true,
            },
            0,
        )
        .await
    }

    /// Answers calls of which none is run.
    pub(super) async fn refuse_all(&mut self, calls: &[Call], why: &str) {
        let mut results = Vec::new();
        for call in calls {
            results.push(self.refuse(call, why).await);
        }
        self.store_results(results).await;
    }

    async fn finished(&self, call: &Call, output: ToolOutput, duration_ms: u64) -> ContentBlock {
        let result = if output.is_error {
            ContentBlock::tool_error(call.id.clone(), output.text.clone())
        } else {
            ContentBlock::tool_result(call.id.clone(), output.text.clone())
        };
        self.emit(AgentEvent::ToolFinished {
            id: call.id.clone(),
            output: output.text,
            is_error: output.is_error,
            duration_ms,
        })
        .await;
        result
    }
}

fn is_error(result: &ContentBlock) -> bool {
    matches!(result.kind(), BlockKind::ToolResult { is_error: true, .. })
}

fn is_task(call: &Call) -> bool {
    call.name == "task"
}
