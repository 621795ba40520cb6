//! What holds of the events of any run: each beginning has exactly one end, a pipeline run says something of each of its
//! stages, and a session's log tells the same story.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll::context::{History, Limits, Pause, Stage, Trigger};
use plimsoll::event::{AgentEvent, Envelope, Todo};
use plimsoll::session::{Folded, fold};

/// The fields of each event: what scripts rely on, then what came to it.
const FIELDS: [(&str, &str); 20] = [
    (
        "session_started",
        "session log workspace model profile limits scripted system_chars tools_chars",
    ),
    ("turn_started", "request"),
    ("message_appended", "message size id"),
    (
        "stage_skipped",
        "stage reason measured threshold call by guards",
    ),
    ("stage_started", "stage trigger size call"),
    (
        "stage_finished",
        "stage trigger size_before size_after messages_before messages_after touched files api_calls duration_ms call \
         guards unread_lost cache_from",
    ),
    ("stage_failed", "stage error call api_calls"),
    ("model_call_started", "call size messages"),
    ("text_delta", "text"),
    ("thinking_delta", "text"),
    ("retrying", "attempt wait_ms reason"),
    ("model_call_finished", "stop_reason usage"),
    ("permission_asked", "id tool input reason"),
    ("permission_answered", "id decision"),
    ("tool_started", "id tool input"),
    ("tool_finished", "id output is_error duration_ms"),
    ("todos_changed", "todos"),
    ("notice", "text"),
    ("limits_changed", "limits reason"),
    ("turn_finished", "end error usage"),
];

/// Each event has its fields and no others, but for a transcript where one was written and the reason of a refusal.
fn assert_fields(envelope: &Envelope) {
    let value = serde_json::to_value(envelope).unwrap_or_default();
    let name = value["event"].as_str().unwrap_or_default();
    let of = FIELDS.iter().find(|(of, _)| *of == name);
    let (_, fields) = of.unwrap_or_else(|| panic!("{name} is no event"));
    let mut expected: BTreeSet<&str> = fields.split(' ').collect();
    expected.extend(["seq", "task", "event"]);
    let wrote =
        matches!(&envelope.event, AgentEvent::StageFinished(report) if report.transcript.is_some());
    if wrote {
        expected.insert("transcript");
    }
    if value["decision"] == "deny" {
        expected.insert("reason");
    }
    let found: BTreeSet<&str> = value
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys().map(String::as_str))
        .collect();
    assert_eq!(found, expected, "{name}");
}

/// Who an event belongs to: the main agent or the subagent of a call.
type Who = Option<String>;

/// What has begun and not ended.
#[derive(Default)]
struct Open {
    turn: BTreeSet<Who>,
    call: BTreeSet<Who>,
    stage: BTreeMap<Who, Stage>,
    tools: BTreeSet<(Who, String)>,
    question: Option<(Who, String)>,
}

/// Numbers without a gap, and exactly one end for each beginning; nothing is open at the end of a turn.
pub fn assert_brackets(events: &[Envelope]) {
    let mut open = Open::default();
    for (at, envelope) in events.iter().enumerate() {
        assert_eq!(envelope.seq, at as u64 + 1, "no gap");
        assert_eq!(
            matches!(envelope.event, AgentEvent::SessionStarted(_)),
            at == 0,
            "it begins with the session"
        );
        assert_fields(envelope);
        open.take(envelope);
    }
}

impl Open {
    fn take(&mut self, envelope: &Envelope) {
        let who = envelope.task.clone();
        let at = format!("at event {} of {who:?}", envelope.seq);
        match &envelope.event {
            AgentEvent::TurnStarted { .. } => assert!(self.turn.insert(who), "{at}"),
            AgentEvent::TurnFinished { .. } => {
                self.assert_closed(&who, &at);
                assert!(self.turn.remove(&who), "{at}");
            }
            AgentEvent::ModelCallStarted { .. } => {
                assert!(!self.stage.contains_key(&who), "{at}");
                assert!(self.call.insert(who), "{at}");
            }
            AgentEvent::TextDelta { .. }
            | AgentEvent::ThinkingDelta { .. }
            | AgentEvent::Retrying { .. } => {
                assert!(self.call.contains(&who), "{at}");
            }
            AgentEvent::ModelCallFinished { .. } => assert!(self.call.remove(&who), "{at}"),
            AgentEvent::StageStarted { stage, .. } => {
                let model = matches!(stage, Stage::CompactHistory | Stage::ReactiveCompact);
                assert!(model && !self.call.contains(&who), "{at}");
                assert_eq!(self.stage.insert(who, *stage), None, "{at}");
            }
            AgentEvent::StageFinished(report) => {
                let begun = self.stage.remove(&who);
                let model = report.api_calls > 0;
                assert_eq!(begun, model.then_some(report.stage), "{at}");
            }
            AgentEvent::StageFailed { stage, .. } => {
                let begun = self.stage.remove(&who);
                assert!(begun.is_none_or(|begun| begun == *stage), "{at}");
            }
            AgentEvent::StageSkipped(_) => assert!(!self.stage.contains_key(&who), "{at}"),
            AgentEvent::ToolStarted { id, .. } => {
                assert!(self.tools.insert((who, id.clone())), "{at}");
            }
            // Also for a call that was not run; then nothing had begun.
            AgentEvent::ToolFinished { id, .. } => {
                self.tools.remove(&(who, id.clone()));
            }
            AgentEvent::PermissionAsked { id, .. } => {
                assert_eq!(self.question.replace((who, id.clone())), None, "{at}");
            }
            AgentEvent::PermissionAnswered { id, .. } => {
                assert_eq!(self.question.take(), Some((who, id.clone())), "{at}");
            }
            AgentEvent::SessionStarted(_)
            | AgentEvent::MessageAppended { .. }
            | AgentEvent::TodosChanged { .. }
            | AgentEvent::Notice { .. }
            | AgentEvent::LimitsChanged { .. } => {}
        }
    }

    fn assert_closed(&self, who: &Who, at: &str) {
        assert!(
            !self.call.contains(who) && !self.stage.contains_key(who),
            "{at}"
        );
        assert!(self.tools.iter().all(|(of, _)| of != who), "{at}");
        assert!(
            self.question.as_ref().is_none_or(|(of, _)| of != who),
            "{at}"
        );
    }
}

/// A pipeline run says something of each of its five stages, in their order; before a call there is one run at most.
pub fn assert_five_stages(events: &[Envelope]) {
    let mut said: BTreeMap<(Who, u64), Vec<Stage>> = BTreeMap::new();
    for envelope in events {
        let (call, stage) = match &envelope.event {
            AgentEvent::StageSkipped(skipped) => (skipped.call, skipped.stage),
            AgentEvent::StageFinished(report) if report.trigger == Trigger::Pipeline => {
                (report.call, report.stage)
            }
            AgentEvent::StageFailed { call, stage, .. } => (*call, *stage),
            _ => continue,
        };
        if stage != Stage::ReactiveCompact {
            said.entry((envelope.task.clone(), call))
                .or_default()
                .push(stage);
        }
    }
    for (of, stages) in said {
        // A summary that was asked for may have failed, or been needless, around the run.
        let run: Vec<Stage> = stages
            .iter()
            .copied()
            .filter(|stage| *stage != Stage::CompactHistory)
            .collect();
        let history = stages.len() - run.len();
        assert!(
            run.is_empty() || run.chunks(4).all(|run| run == &Stage::PIPELINE[..4]),
            "{of:?}: {stages:?}"
        );
        assert!(history >= run.len() / 4, "{of:?}: {stages:?}");
    }
}

/// A session as its events tell it.
#[derive(Debug, Default, PartialEq)]
pub struct Live {
    pub history: History,
    pub todos: Vec<Todo>,
    pub limits: Limits,
    pub known: BTreeSet<String>,
    pub pause: Pause,
    asked: Option<String>,
    summarising: bool,
}

impl Live {
    /// Takes one event of the main agent; says whether the log has an entry for it.
    pub fn take(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::SessionStarted(started) => {
                self.history = started.context.clone();
                self.limits = started.limits.clone();
            }
            AgentEvent::TurnStarted { request } => {
                self.asked = Some(request.clone());
                self.pause = Pause::default();
            }
            AgentEvent::MessageAppended { id, message, size } => {
                let given = match self.asked.take() {
                    Some(request) => self.history.push_request(request),
                    None => self.history.push(Arc::clone(message)),
                };
                assert_eq!((given, self.history.size()), (*id, *size));
            }
            AgentEvent::StageStarted { .. } => {
                self.summarising = true;
                return false;
            }
            AgentEvent::StageFailed { error, .. } => {
                // A disk that is full says nothing of summaries.
                let on_disk = error.ends_with("; nothing was replaced");
                if std::mem::take(&mut self.summarising) && !on_disk {
                    self.pause.failures += 1;
                }
                return false;
            }
            AgentEvent::StageFinished(report) => {
                assert_eq!(report.before, self.history, "what a stage begins with");
                assert_eq!(report.size_before, self.history.size());
                self.history = report.after.clone();
                assert_eq!(report.size_after, self.history.size());
                let names = report.files.iter().map(|file| {
                    let name = file.strip_prefix(".task_outputs/tool-results/");
                    name.expect("a file of the folder").to_owned()
                });
                self.known.extend(names);
                if std::mem::take(&mut self.summarising) {
                    self.summarised(report.trigger);
                }
            }
            AgentEvent::TodosChanged { todos } => self.todos.clone_from(todos),
            AgentEvent::LimitsChanged { limits, .. } => self.limits = limits.clone(),
            AgentEvent::TurnFinished { .. } => {}
            AgentEvent::StageSkipped(_)
            | AgentEvent::ModelCallStarted { .. }
            | AgentEvent::TextDelta { .. }
            | AgentEvent::ThinkingDelta { .. }
            | AgentEvent::Retrying { .. }
            | AgentEvent::ModelCallFinished { .. }
            | AgentEvent::PermissionAsked { .. }
            | AgentEvent::PermissionAnswered { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::Notice { .. } => return false,
        }
        true
    }

    fn summarised(&mut self, trigger: Trigger) {
        let size = self.history.size();
        match trigger {
            Trigger::Tool | Trigger::Command => self.pause = Pause::default(),
            Trigger::PromptTooLong if self.pause.reason(&self.limits).is_some() => {}
            Trigger::Pipeline | Trigger::PromptTooLong => self.pause.compacted(size, &self.limits),
        }
    }

    /// Holds what a log says against what was seen.
    pub fn assert_is(&self, folded: &Folded) {
        assert_eq!(folded.history, self.history);
        assert_eq!(folded.todos, self.todos);
        assert_eq!(folded.limits, self.limits);
        // A recovery writes files before its summary, which may fail: no report names those.
        assert!(folded.known.is_superset(&self.known));
        assert!(!folded.torn);
    }
}

/// Holds the log against the events entry by entry: cut behind any of them it is the session of that moment.
pub fn assert_log_tells(events: &[Envelope], log: &str) {
    let mut live = Live::default();
    let mut ends = log.match_indices('\n').map(|(at, _)| at + 1);
    let mut text = "";
    for envelope in events.iter().filter(|envelope| envelope.task.is_none()) {
        if !live.take(&envelope.event) {
            continue;
        }
        // An entry that is not an event's of its own (a file, a pause) comes before or behind it.
        loop {
            let end = ends
                .next()
                .unwrap_or_else(|| panic!("event {} has an entry", envelope.seq));
            let entry = &log[text.len()..end];
            text = &log[..end];
            if !(entry.starts_with("{\"file\":") || entry.starts_with("{\"pause\":")) {
                break;
            }
        }
        live.assert_is(&fold(text).unwrap_or_else(|error| panic!("{error}")));
    }
    let folded = fold(log).unwrap_or_else(|error| panic!("{error}"));
    live.assert_is(&folded);
    assert_eq!(folded.pause, live.pause);
}
