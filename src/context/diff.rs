//! What became of each message between two states of a history.
//!
//! A message that nothing changed is the same pointer, one that was rewritten has the same number.

use std::collections::HashSet;
use std::sync::Arc;

use super::{History, MessageId};

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
    let ids = |history: &History| -> HashSet<MessageId> {
        history.items.iter().map(|item| item.id).collect()
    };
    let (old_ids, new_ids) = (ids(before), ids(after));
    let mut changes = Vec::with_capacity(before.len().max(after.len()));
    let (mut b, mut a) = (0, 0);
    while b < before.len() || a < after.len() {
        match (before.items.get(b), after.items.get(a)) {
            (Some(old), Some(new)) if old.id == new.id => {
                let same = Arc::ptr_eq(&old.message, &new.message);
                changes.push(if same {
                    Change::Kept {
                        before: b,
                        after: a,
                    }
                } else {
                    Change::Rewritten {
                        before: b,
                        after: a,
                    }
                });
                b += 1;
                a += 1;
            }
            // A number that both have, met out of order, is taken as gone and come back.
            (Some(old), new) if new.is_none() || !new_ids.contains(&old.id) => {
                changes.push(Change::Removed { before: b });
                b += 1;
            }
            (_, Some(_)) => {
                changes.push(Change::Inserted { after: a });
                a += 1;
            }
            (_, None) => b += 1,
        }
        debug_assert!(
            old_ids.len() == before.len(),
            "numbers are never given twice"
        );
    }
    changes
}
