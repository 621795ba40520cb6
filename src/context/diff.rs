//! What became of each message between two states of a history.
//!
//! A message that nothing changed is the same pointer, one that was rewritten has the same number.

use std::collections::HashSet;
use std::sync::Arc;

use super::{History, Item, MessageId};

/// What became of one message; indexes are those of the history before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is still there, untouched.
    Kept {
        /// Where it was.
        before: usize,
        /// Where it is.
        after: usize,
    },
    /// It is another message under the same number.
    Rewritten {
        /// Where it was.
        before: usize,
        /// Where it is.
        after: usize,
    },
    /// It is gone.
    Removed {
        /// Where it was.
        before: usize,
    },
    /// It is new.
    Inserted {
        /// Where it is.
        after: usize,
    },
}

/// What became of each message from `before` to `after`, in order: what went stands before what came in its place.
#[must_use]
pub fn diff(before: &History, after: &History) -> Vec<Change> {
    let still_there: HashSet<MessageId> = after.items.iter().map(|item| item.id).collect();
    let mut changes = Vec::with_capacity(before.len().max(after.len()));
    let (mut b, mut a) = (0, 0);
    loop {
        match (before.items.get(b), after.items.get(a)) {
            (Some(old), Some(new)) if old.id == new.id => {
                changes.push(became(old, new, b, a));
                b += 1;
                a += 1;
            }
            (Some(old), Some(_)) if still_there.contains(&old.id) => {
                changes.push(Change::Inserted { after: a });
                a += 1;
            }
            (Some(_), _) => {
                changes.push(Change::Removed { before: b });
                b += 1;
            }
            (None, Some(_)) => {
                changes.push(Change::Inserted { after: a });
                a += 1;
            }
            (None, None) => return changes,
        }
    }
}

/// What became of a message that both histories have.
fn became(old: &Item, new: &Item, before: usize, after: usize) -> Change {
    if Arc::ptr_eq(&old.message, &new.message) {
        Change::Kept { before, after }
    } else {
        Change::Rewritten { before, after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn each_message_is_accounted_for() {
        let mut before = History::new();
        for text in ["a", "b", "c", "d", "e"] {
            before.push(Arc::new(Message::user(text)));
        }
        let mut after = before.clone();
        let id = after.fresh_id();
        let message = Arc::new(Message::user("[snipped 2 messages]"));
        after.items.splice(1..3, [Item { id, message }]);
        after.items[2].message = Arc::new(Message::user("D"));
        after.push(Arc::new(Message::user("f")));
        assert_eq!(
            diff(&before, &after),
            [
                Change::Kept {
                    before: 0,
                    after: 0
                },
                Change::Removed { before: 1 },
                Change::Removed { before: 2 },
                Change::Inserted { after: 1 },
                Change::Rewritten {
                    before: 3,
                    after: 2
                },
                Change::Kept {
                    before: 4,
                    after: 3
                },
                Change::Inserted { after: 4 },
            ]
        );
        assert_eq!(diff(&before, &History::new()).len(), 5);
    }
}
