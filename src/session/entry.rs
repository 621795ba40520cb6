//! The entries of a session log in the form in which they stand in the file.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::context::{History, Item, Limits, MessageId, Pause, Profile, Stage, Trigger};
use crate::event::{Todo, TurnEnd};
use crate::message::Message;

/// The version of the form; one that is higher cannot be read.
pub(crate) const VERSION: u32 = 1;

/// What a session began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the log's form.
    pub version: u32,
    /// The session's id, `2026-12-01T1405-k3x9` (local time).
    pub session: String,
    /// When it began.
    pub created: Timestamp,
    /// The folder that the agent works in.
    pub workspace: String,
    /// The model's name.
    pub model: String,
    /// The profile in force.
    pub profile: Profile,
    /// The pipeline's numbers.
    pub limits: Limits,
    /// Where it is the session of a subagent: of which call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskOf>,
}

/// The `task` call that a subagent works for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOf {
    /// The session that the call belongs to.
    pub session: String,
    /// The call's id.
    pub call: String,
}

/// One line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    Header(Box<Header>),
    Message(Appended),
    Rewrite(Box<Rewritten>),
    /// A file in the folder of persisted results that the program wrote.
    File(String),
    Todos(Vec<Todo>),
    Pause(Pause),
    Limits {
        limits: Box<Limits>,
        reason: String,
    },
    TurnStarted {
        request: String,
    },
    TurnFinished {
        end: TurnEnd,
        error: Option<String>,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Appended {
    pub(crate) id: MessageId,
    /// Whether it is the user's own message and from now on the current request.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) request: bool,
    pub(crate) message: Arc<Message>,
    /// The state beside the messages, where it is not what follows from the rest of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<Beside>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rewritten {
    pub(crate) call: u64,
    pub(crate) stage: Stage,
    pub(crate) trigger: Trigger,
    pub(crate) size_before: usize,
    pub(crate) size_after: usize,
    /// The whole context afterwards.
    pub(crate) context: Vec<Part>,
    pub(crate) files: Vec<String>,
    pub(crate) transcript: Option<String>,
    pub(crate) state: Beside,
}

/// A piece of a context that was rewritten.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    /// The messages from one number to the other, as they stood in the context before.
    Keep { from: MessageId, to: MessageId },
    /// A message that was changed or written by the stage.
    Put(Logged),
}

/// A message with its number, as logged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    /// The number.
    pub id: MessageId,
    /// The message.
    pub message: Arc<Message>,
}

impl Logged {
    pub(crate) fn of(item: &Item) -> Self {
        Self {
            id: item.id,
            message: Arc::clone(&item.message),
        }
    }

    pub(crate) fn item(&self) -> Item {
        Item {
            id: self.id,
            message: Arc::clone(&self.message),
        }
    }
}

/// The state beside the messages, as logged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beside {
    #[serde(default, skip_serializing_if = "Request::is_same")]
    request: Request,
    request_at: Option<usize>,
    /// Pairs, because a map with numbers as keys does not survive every form of serde.
    markers: Vec<(usize, usize)>,
    compacted: bool,
    lost_unread: bool,
    next_id: u32,
}

/// The current request in terms of the one before: a long one is not logged again with every rewrite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    #[default]
    Same,
    None,
    Is(String),
}

impl Request {
    fn is_same(&self) -> bool {
        *self == Self::Same
    }
}

/// The state beside the messages, as a history holds it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    request: Option<String>,
    request_at: Option<usize>,
    markers: Vec<(usize, usize)>,
    compacted: bool,
    lost_unread: bool,
    next_id: u32,
}

impl Default for State {
    fn default() -> Self {
        let mut state = Self {
            request: None,
            request_at: None,
            markers: Vec::new(),
            compacted: false,
            lost_unread: false,
            next_id: 0,
        };
        let _ = state.change_to(&History::new());
        state
    }
}

impl State {
    /// What follows from appending `item` at index `at`.
    pub(crate) fn append(&mut self, item: &Item, at: usize, request: bool) {
        self.next_id = item.id.0.saturating_add(1);
        if request {
            self.request = Some(item.message.text().unwrap_or_default());
            self.request_at = Some(at);
        }
    }

    pub(crate) fn is_that_of(&self, history: &History) -> bool {
        self.request == history.request
            && self.request_at == history.request_at
            && self.markers.len() == history.markers.len()
            && self.markers.iter().copied().eq(markers(history))
            && self.compacted == history.compacted
            && self.lost_unread == history.lost_unread
            && self.next_id == history.next_id
    }

    /// Takes over the state of `history`; what to log for that.
    pub(crate) fn change_to(&mut self, history: &History) -> Beside {
        let request = match &history.request {
            request if *request == self.request => Request::Same,
            None => Request::None,
            Some(text) => Request::Is(text.clone()),
        };
        if request != Request::Same {
            self.request.clone_from(&history.request);
        }
        self.request_at = history.request_at;
        self.markers = markers(history).collect();
        self.compacted = history.compacted;
        self.lost_unread = history.lost_unread;
        self.next_id = history.next_id;
        Beside {
            request,
            request_at: self.request_at,
            markers: self.markers.clone(),
            compacted: self.compacted,
            lost_unread: self.lost_unread,
            next_id: self.next_id,
        }
    }
}

fn markers(history: &History) -> impl Iterator<Item = (usize, usize)> {
    history.markers.iter().map(|(at, n)| (*at, *n))
}

impl Beside {
    /// Puts the logged state beside the messages of `history`.
    pub(crate) fn apply(self, history: &mut History) {
        match self.request {
            Request::Same => {}
            Request::None => history.request = None,
            Request::Is(text) => history.request = Some(text),
        }
        history.request_at = self.request_at;
        history.markers = self.markers.into_iter().collect();
        history.compacted = self.compacted;
        history.lost_unread = self.lost_unread;
        history.next_id = self.next_id;
    }
}
