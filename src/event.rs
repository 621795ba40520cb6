//! The protocol between an agent and whoever shows it: commands go in, events come out.
//!
//! Events are plain values (Clone, Serialize): their JSON is what `--format json` and `--events` write, one object a
//! line. Fields marked `skip` are for a screen in the same process and share the agent's pointers. Every `*_started`
//! is followed by exactly one finished, skipped or failed of its kind; deltas are decoration.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::context::{Guards, History, Limits, MessageId, Profile, Skip, Stage, Touched, Trigger};
use crate::message::{Message, StopReason, Usage};

/// How many events may wait for a front end before the agent does.
pub const EVENT_CAPACITY: usize = 256;
/// How many commands may wait for the agent.
pub const COMMAND_CAPACITY: usize = 16;

/// What a front end asks of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A request of the user. While a turn runs it waits for the turn's end.
    Prompt(String),
    /// Stop what runs now.
    Interrupt,
    /// The answer to a [`AgentEvent::PermissionAsked`]; ignored if nothing waits under that id.
    Decide {
        /// The call's id.
        id: String,
        /// The answer.
        decision: Decision,
    },
    /// `/compact`: summarise now.
    Compact,
    /// Other numbers for the pipeline from the next call on.
    SetLimits {
        /// The new numbers.
        limits: Limits,
        /// Why, for the log.
        reason: String,
    },
    /// End the session: stop what runs, then the event channel closes.
    Shutdown,
}

/// An answer to a permission question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum Decision {
    /// This once.
    Allow,
    /// From now on in this project.
    AllowAlways,
    /// No; the reason, if any, goes to the model.
    Deny {
        /// What the user wants the model to know.
        reason: Option<String>,
    },
}

/// An event with its number.
#[derive(Clone, Debug, Serialize)]
pub struct Envelope {
    /// From 1, without a gap.
    pub seq: u64,
    /// The id of the `task` call whose subagent the event belongs to; null for the main agent.
    pub task: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub event: AgentEvent,
}

/// What happened. Field names are those of the specification's table.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AgentEvent {
    /// Always the first.
    SessionStarted(Box<SessionStarted>),
    /// A request begins to be worked on.
    TurnStarted {
        /// The request as typed.
        request: String,
    },
    /// The context grew by a message.
    MessageAppended {
        /// Its number.
        id: MessageId,
        /// The message, in wire form.
        message: Arc<Message>,
        /// `estimate_size` of the whole context now.
        size: usize,
    },
    /// A stage of the pipeline did nothing.
    StageSkipped(StageSkipped),
    /// A stage that calls a model begins.
    StageStarted {
        /// The model call that it precedes.
        call: u64,
        /// Which.
        stage: Stage,
        /// What asked for it.
        trigger: Trigger,
        /// `estimate_size` before it.
        size: usize,
    },
    /// A stage changed the context.
    StageFinished(Box<StageReport>),
    /// A stage that should have changed the context could not; nothing was replaced.
    StageFailed {
        /// The model call that it precedes.
        call: u64,
        /// Which.
        stage: Stage,
        /// Why.
        error: String,
        /// Model calls that it made.
        api_calls: u32,
    },
    /// A request goes to the model.
    ModelCallStarted {
        /// Its number in the session, from 1.
        call: u64,
        /// `estimate_size` of what is sent.
        size: usize,
        /// How many messages.
        messages: usize,
    },
    /// A piece of the reply's text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A piece of the model's reasoning, where it shows any.
    ThinkingDelta {
        /// The piece.
        text: String,
    },
    /// The call is made again; deltas since it started are void.
    Retrying {
        /// 1 for the first retry.
        attempt: u32,
        /// How long until then, in milliseconds.
        wait_ms: u64,
        /// Why.
        reason: String,
    },
    /// The reply is complete, or ended as `stop_reason` (null: cut) says.
    ModelCallFinished {
        /// Why the model stopped.
        stop_reason: Option<StopReason>,
        /// What it used.
        usage: Usage,
    },
    /// The agent waits for a [`Command::Decide`] with this id.
    PermissionAsked {
        /// The call's id.
        id: String,
        /// The tool's name.
        tool: String,
        /// The tool's input.
        input: Value,
        /// Why it asks.
        reason: String,
    },
    /// A question was answered, or fell away with an interrupt.
    PermissionAnswered {
        /// The call's id.
        id: String,
        /// The answer.
        #[serde(flatten)]
        decision: Decision,
    },
    /// A tool begins.
    ToolStarted {
        /// The call's id.
        id: String,
        /// The tool's name.
        tool: String,
        /// Its input.
        input: Value,
    },
    /// A tool ended.
    ToolFinished {
        /// The call's id.
        id: String,
        /// What it said: the text of its result.
        output: String,
        /// Whether it failed, was refused or was interrupted.
        is_error: bool,
        /// How long it took.
        duration_ms: u64,
    },
    /// The todo list changed.
    TodosChanged {
        /// The whole list.
        todos: Vec<Todo>,
    },
    /// Something that the user should know and that is no error of the turn.
    Notice {
        /// What.
        text: String,
    },
    /// The pipeline's numbers changed.
    LimitsChanged {
        /// The new numbers.
        limits: Limits,
        /// Why.
        reason: String,
    },
    /// A turn ended; the last event of it.
    TurnFinished {
        /// How.
        end: TurnEnd,
        /// What went wrong, if anything.
        error: Option<String>,
        /// What all its model calls used.
        usage: Usage,
    },
}

/// The fields of `session_started`.
#[derive(Clone, Debug, Serialize)]
pub struct SessionStarted {
    /// The session's id.
    pub session: String,
    /// The session's log; null where it is in memory only.
    pub log: Option<String>,
    /// The folder that the agent works in.
    pub workspace: String,
    /// The model's name.
    pub model: String,
    /// Whether the model is the scripted one.
    pub scripted: bool,
    /// The profile in force.
    pub profile: Profile,
    /// The pipeline's numbers.
    pub limits: Limits,
    /// Characters of the system prompt, sent but not counted.
    pub system_chars: usize,
    /// Characters of the tool specifications, sent but not counted.
    pub tools_chars: usize,
    /// The context that a resumed session starts with.
    #[serde(skip)]
    pub context: History,
}

/// The fields of `stage_skipped`.
#[derive(Clone, Debug, Serialize)]
pub struct StageSkipped {
    /// The model call that it precedes.
    pub call: u64,
    /// Which.
    pub stage: Stage,
    /// The reason as the screen says it.
    pub reason: String,
    /// What was measured.
    pub measured: Option<usize>,
    /// What it was held against.
    pub threshold: Option<usize>,
    /// Who decided.
    pub by: SkippedBy,
    /// What guards kept.
    pub guards: Guards,
    /// The reason as a value.
    #[serde(skip)]
    pub skip: Skip,
}

/// Who decided that a stage does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkippedBy {
    /// The pipeline's rules.
    Rule,
    /// The user, in step mode.
    User,
}

/// The fields of `stage_finished`.
#[derive(Clone, Debug, Serialize)]
pub struct StageReport {
    /// The model call that it precedes.
    pub call: u64,
    /// Which.
    pub stage: Stage,
    /// What asked for it.
    pub trigger: Trigger,
    /// `estimate_size` before.
    pub size_before: usize,
    /// `estimate_size` after; larger where a summary that was asked for grew.
    pub size_after: usize,
    /// Messages before.
    pub messages_before: usize,
    /// Messages after.
    pub messages_after: usize,
    /// The results that changed.
    pub touched: Vec<Touched>,
    /// Files written, relative to the workspace.
    pub files: Vec<String>,
    /// Model calls that it made.
    pub api_calls: u32,
    /// How long it took.
    pub duration_ms: u64,
    /// The transcript that was written, relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// What guards kept.
    pub guards: Guards,
    /// Unread results that went into a summary.
    pub unread_lost: usize,
    /// The first message that no longer fits what was sent before: a server's prompt cache ends in front of it. Null where
    /// nothing changed of what was sent and still fitted.
    pub cache_from: Option<MessageId>,
    /// The context before.
    #[serde(skip)]
    pub before: History,
    /// The context after.
    #[serde(skip)]
    pub after: History,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model had nothing more to do.
    Done,
    /// The user stopped it.
    Interrupted,
    /// The output limit cut the reply.
    MaxTokens,
    /// An error, or a refusal.
    Failed,
}

/// One entry of the todo list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a todo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

/// A front end's two ends of a running agent.
#[derive(Debug)]
pub struct Handle {
    /// Commands in; dropping it ends the session.
    pub commands: mpsc::Sender<Command>,
    /// Events out, in order, none dropped; closed when the session has ended.
    pub events: mpsc::Receiver<Envelope>,
}

/// A pause in a demo: a sentence for whoever watches, then the request that goes to the agent when they press Enter.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What is about to happen, and what to look at.
    pub say: String,
    /// Numbers that hold from here on, where the demo changes them.
    pub limits: Option<Limits>,
    /// The request that is sent.
    pub prompt: String,
}
