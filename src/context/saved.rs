//! What the program knows of the folder of persisted results, so that a pure stage can choose a file name.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::persisted::base_name;
use super::results::ResultRef;
use super::{MessageId, Save};

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

impl Saved {
    /// Whether the program wrote the file `name`.
    #[must_use]
    pub fn is_known(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// Remembers that `text` was written as the file `name`.
    pub fn record(&mut self, name: &str, text: &str) {
        self.known.insert(name.to_owned(), Digest::of(text));
    }
}

/// The folder as one run of a stage sees it: what is there, and what the run itself wants to write.
pub(super) struct Shelf<'a> {
    saved: &'a Saved,
    saves: Vec<Save>,
    /// What the saves hold, by name.
    written: HashMap<String, Digest>,
}

/// A place on the shelf for one text.
pub(super) struct Place {
    /// The file's name.
    pub name: String,
    /// The content of a file that must be written; `None` where it stands there already.
    new: Option<Digest>,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(saved: &'a Saved) -> Self {
        Self {
            saved,
            saves: Vec::new(),
            written: HashMap::new(),
        }
    }

    /// The name under which `text`, a result of the call `tool_use_id`, can stand without taking another text's place.
    pub(super) fn find(&self, tool_use_id: &str, text: &str) -> Place {
        let digest = LazyCell::new(|| Digest::of(text));
        let base = base_name(tool_use_id);
        let mut name = format!("{base}.txt");
        let mut number = 2_usize;
        loop {
            let same = self
                .written
                .get(&name)
                .or_else(|| self.saved.known.get(&name))
                .map(|there| *there == *digest);
            match same {
                Some(true) => {
                    return Place { name, new: None };
                }
                None if !self.saved.taken.contains(&name) => {
                    return Place {
                        name,
                        new: Some(*digest),
                    };
                }
                Some(false) | None => {}
            }
            name = format!("{base}-{number}.txt");
            number += 1;
        }
    }

    /// Takes `place` for the text of `result`.
    pub(super) fn put(&mut self, place: Place, text: &str, result: &ResultRef<'_>) {
        if let Some(digest) = place.new {
            self.written.insert(place.name.clone(), digest);
            self.saves.push(Save {
                name: place.name,
                text: text.to_owned(),
                result: (result.id, result.block),
            });
        }
    }

    pub(super) fn saved(&self) -> &'a Saved {
        self.saved
    }

    pub(super) fn into_saves(self) -> Vec<Save> {
        self.saves
    }
}
