//! Files the agent itself writes (persisted results, transcripts, session logs), behind one narrow door.
//!
//! Never knows what it stores. Names are relative to the store's root; a name that leaves the root is refused.

mod disk;
mod memory;

use std::io;
use std::path::{Component, Path, PathBuf};

pub use disk::FsStore;
pub use memory::MemStore;

/// A place for files that are written once or only ever grow.
pub trait Store: Send + Sync {
    /// Writes `text` under `name`, completely or not at all; missing folders are made (0700, the file 0600).
    ///
    /// # Errors
    /// `AlreadyExists` if `name` is taken by a file with other content; the same content again is fine.
    fn put(&self, name: &str, text: &str) -> io::Result<()>;

    /// Appends `text` to `name`, which is made if missing.
    ///
    /// # Errors
    /// Whatever the file system says; then nothing of `text` was kept.
    fn append(&self, name: &str, text: &str) -> io::Result<()>;

    /// The text under `name`.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    fn read(&self, name: &str) -> io::Result<String>;

    /// Where `name` can be found by a person; `None` where it is in memory only.
    fn path(&self, name: &str) -> Option<PathBuf>;
}

/// `name` as a path, if every part of it is a plain name: no `..`, no root, no drive.
fn checked(name: &str) -> io::Result<&Path> {
    let path = Path::new(name);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || name.ends_with('/') || !plain {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{name}` is no name inside the store"),
        ));
    }
    Ok(path)
}

/// The error for a name that something else has taken.
fn taken(name: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("`{name}` exists with other content"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every store promises, whatever is behind it.
    fn keeps_its_promises(store: &dyn Store) {
        store.put("a/b/one.txt", "é漢").unwrap();
        store.put("a/b/one.txt", "é漢").unwrap();
        let other = store.put("a/b/one.txt", "other").unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(store.read("a/b/one.txt").unwrap(), "é漢");

        store.append("log.jsonl", "1\n").unwrap();
        store.append("log.jsonl", "2\n").unwrap();
        assert_eq!(store.read("log.jsonl").unwrap(), "1\n2\n");
        let missing = store.read("a/none.txt").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);

        for name in ["", "..", "../x", "a/../../x", "/x", "a/..", "."] {
            for result in [
                store.put(name, "x"),
                store.append(name, "x"),
                store.read(name).map(drop),
            ] {
                assert_eq!(
                    result.unwrap_err().kind(),
                    io::ErrorKind::InvalidInput,
                    "{name:?}"
                );
            }
        }
    }

    #[test]
    fn memory_keeps_the_promises_of_a_store() {
        keeps_its_promises(&MemStore::new());
    }

    #[test]
    fn a_folder_keeps_the_promises_of_a_store() {
        let folder = tempfile::tempdir().unwrap();
        keeps_its_promises(&FsStore::new(folder.path()));
    }
}
