//! Files the agent itself writes (persisted results, transcripts, session logs), behind one narrow door.
//!
//! Never knows what it stores. Names are relative to the store's root; a name that leaves the root is refused.

use std::io;

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
    /// Whatever the file system says.
    fn append(&self, name: &str, text: &str) -> io::Result<()>;

    /// The text under `name`.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    fn read(&self, name: &str) -> io::Result<String>;
}
