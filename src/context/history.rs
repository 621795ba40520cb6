//! The messages that the model sees, and the state beside them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::Message;

/// The number of a message (`m43`): given in the order in which messages enter the session, never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub u32);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

/// One message of a history with its number. A rewritten message keeps its number; one that a stage wrote gets a new one.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The number.
    pub id: MessageId,
    /// The message; a message that nothing changed stays the same pointer.
    pub message: Arc<Message>,
}

/// What the model sees, and what the program knows about it. Nothing of this state is ever read back out of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The messages in their order.
    pub items: Vec<Item>,
    /// The number that the next message gets, from 1.
    pub next_id: u32,
    /// The current request as the user typed it; `None` before the first.
    pub request: Option<String>,
    /// Index of the message that carries the current request.
    pub request_at: Option<usize>,
    /// Index of each snip marker that the program wrote, with the N of its text.
    pub markers: BTreeMap<usize, usize>,
    /// Whether the first message is one that `compact_history` or `reactive_compact` wrote.
    pub compacted: bool,
    /// Whether a compaction has taken away results that the model had not read.
    pub lost_unread: bool,
}

impl History {
    /// No messages, no request.
    #[must_use]
    pub fn new() -> Self {
        Self {
            next_id: 1,
            ..Self::default()
        }
    }

    /// How many messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The messages without their numbers.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> + ExactSizeIterator {
        self.items.iter().map(|item| &item.message)
    }

    /// Appends `message` under the next number.
    pub fn push(&mut self, message: Arc<Message>) -> MessageId {
        let id = self.fresh_id();
        self.items.push(Item { id, message });
        id
    }

    /// Appends the user's own message and makes it the current request.
    pub fn push_request(&mut self, text: String) -> MessageId {
        let id = self.push(Arc::new(Message::user(text.clone())));
        self.request = Some(text);
        self.request_at = Some(self.items.len() - 1);
        id
    }

    /// The message of `after` in the place of the first of the `sent` first messages here that did not stay where it was,
    /// by identity: up to there a server's prompt cache still fits. `None` where all of them stayed.
    #[must_use]
    pub fn first_unlike(&self, after: &Self, sent: usize) -> Option<MessageId> {
        let same = self
            .messages()
            .zip(after.messages())
            .take_while(|(was, is)| Arc::ptr_eq(was, is))
            .count();
        let item = after.items.get(same)?;
        (same < sent).then_some(item.id)
    }

    /// A number that no message has yet.
    pub fn fresh_id(&mut self) -> MessageId {
        let id = MessageId(self.next_id.max(1));
        self.next_id = id.0 + 1;
        id
    }
}
