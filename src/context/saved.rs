//! What the program knows of the folder of persisted results, so that a pure stage can choose a file name.

use std::collections::{BTreeMap, BTreeSet};
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
}

/// A place on the shelf for one text.
pub(super) struct Place {
    /// The file's name.
    pub name: String,
    /// Whether the file must be written, or stands there already with the same content.
    is_new: bool,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(saved: &'a Saved) -> Self {
        Self {
            saved,
            saves: Vec::new(),
        }
    }

    /// The name under which `text`, a result of the call `tool_use_id`, can stand without taking another text's place.
    pub(super) fn find(&self, tool_use_id: &str, text: &str) -> Place {
        let base = base_name(tool_use_id);
        let mut name = format!("{base}.txt");
        let mut number = 2_usize;
        loop {
            if let Some(is_new) = self.holds(&name, text) {
                return Place { name, is_new };
            }
            name = format!("{base}-{number}.txt");
            number += 1;
        }
    }

    /// Whether `text` would be new under `name`; `None` if another text has the name.
    fn holds(&self, name: &str, text: &str) -> Option<bool> {
        if let Some(save) = self.saves.iter().find(|save| save.name == name) {
            return (save.text == text).then_some(false);
        }
        if let Some(known) = self.saved.known.get(name) {
            return (*known == Digest::of(text)).then_some(false);
        }
        (!self.saved.taken.contains(name)).then_some(true)
    }

    /// Takes `place` for the text of `result`.
    pub(super) fn put(&mut self, place: Place, text: &str, result: &ResultRef<'_>) {
        if place.is_new {
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
