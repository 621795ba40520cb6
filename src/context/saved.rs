//! What the program knows of the folder of persisted results, so that a pure stage can choose a file name.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::MessageId;

/// The content of a file, as far as telling two contents apart needs it (length and 128 bits). Not for keeping on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(usize, u64, u64);

impl Digest {
    /// The digest of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let hash = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            text.hash(&mut hasher);
            hasher.finish()
        };
        Self(text.len(), hash(1), hash(2))
    }
}

/// The files in `.task_outputs/tool-results/`, by name (`toolu_01.txt`), and what could not be written there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// Files that the program wrote in this session: the contract's `known_files`.
    pub known: BTreeMap<String, Digest>,
    /// Names that something else has taken with other content (another session, another program).
    pub taken: BTreeSet<String>,
    /// Results (message, index of the block) that could not be written: the stages pass them over.
    pub refused: BTreeSet<(MessageId, usize)>,
}
