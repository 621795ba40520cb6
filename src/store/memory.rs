//! A store in memory: for tests, and for runs that leave nothing behind. Can be told to fail.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Store, checked, taken};

/// Files in memory, by name.
#[derive(Debug, Default)]
pub struct MemStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    files: BTreeMap<String, String>,
    /// Starts of names that cannot be written, and the error.
    failing: Vec<(String, io::ErrorKind)>,
}

impl MemStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on a write to a name that begins with `start` fails with `kind`.
    pub fn fail(&self, start: &str, kind: io::ErrorKind) {
        self.lock().failing.push((start.to_owned(), kind));
    }

    /// Every name can be written again.
    pub fn heal(&self) {
        self.lock().failing.clear();
    }

    /// All files, name to text.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        self.lock().files.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files, if `name` may be written.
    fn writable(&self, name: &str) -> io::Result<MutexGuard<'_, Inner>> {
        checked(name)?;
        let inner = self.lock();
        let failing = inner
            .failing
            .iter()
            .find(|(start, _)| name.starts_with(start.as_str()));
        match failing {
            Some((_, kind)) => Err(io::Error::from(*kind)),
            None => Ok(inner),
        }
    }
}

impl Store for MemStore {
    fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let mut inner = self.writable(name)?;
        match inner.files.get(name) {
            Some(old) if old == text => Ok(()),
            Some(_) => Err(taken(name)),
            None => {
                inner.files.insert(name.to_owned(), text.to_owned());
                Ok(())
            }
        }
    }

    fn append(&self, name: &str, text: &str) -> io::Result<()> {
        let mut inner = self.writable(name)?;
        inner
            .files
            .entry(name.to_owned())
            .or_default()
            .push_str(text);
        Ok(())
    }

    fn read(&self, name: &str) -> io::Result<String> {
        checked(name)?;
        self.lock()
            .files
            .get(name)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn path(&self, _: &str) -> Option<PathBuf> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fails_where_it_is_told_to_until_it_is_healed() {
        let store = MemStore::new();
        store.fail(".transcripts/", io::ErrorKind::StorageFull);
        let full = store.put(".transcripts/a.jsonl", "x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        store.put("other.txt", "x").unwrap();
        store.heal();
        store.append(".transcripts/a.jsonl", "x").unwrap();
        let names: Vec<String> = store.files().into_keys().collect();
        assert_eq!(names, [".transcripts/a.jsonl", "other.txt"]);
    }
}
