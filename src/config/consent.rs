//! What the user has agreed to for good: which folders' settings files count, and which addresses may be plain http.
//! One line each in a file of the user's state folder; an agreement is taken back by deleting its line.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::store::{FsStore, Store};

/// The file's name.
const NAME: &str = "consents.jsonl";

/// Settings files of a folder as they were when they were read. A changed file is another one: it is asked about again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// The folder's path, for people.
    path: String,
    /// SHA-256 over the folder's path and the files, in hexadecimal.
    digest: String,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// The settings files of a folder count.
    Folder(Folder),
    /// Key and text may go to this address over plain http.
    PlainHttp(String),
}

impl Folder {
    /// `folder` with `files`, each of which may be missing.
    pub(super) fn new(folder: &Path, files: &[Option<&str>]) -> Self {
        // Lengths go first, so that no two lists of files are the same bytes.
        let mut bytes = Vec::new();
        let path = folder.as_os_str().as_encoded_bytes();
        for part in
            std::iter::once(Some(path)).chain(files.iter().map(|file| file.map(str::as_bytes)))
        {
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            bytes.extend(length.to_le_bytes());
            bytes.extend(part.unwrap_or_default());
        }
        Self {
            path: folder.display().to_string(),
            digest: hexadecimal(digest(&SHA256, &bytes).as_ref()),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl Consent {
    /// Whether it is kept in the state folder `state`; never where the system has none.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn is_kept(&self, state: Option<&Path>) -> anyhow::Result<bool> {
        let Some(state) = state else {
            return Ok(false);
        };
        let path = state.join(NAME);
        let text = match FsStore::new(state).read(NAME) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => {
                return Err(error).with_context(|| format!("{}: cannot be read", path.display()));
            }
        };
        let lines = text.lines().enumerate();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let kept: Self = serde_json::from_str(line).with_context(|| {
                format!(
                    "{}:{}: is no agreement; delete the line",
                    path.display(),
                    at + 1
                )
            })?;
            let same = match (&kept, self) {
                // The path in the line is for people only.
                (Self::Folder(kept), Self::Folder(asked)) => kept.digest == asked.digest,
                (Self::PlainHttp(kept), Self::PlainHttp(asked)) => kept == asked,
                (Self::Folder(_), Self::PlainHttp(_)) | (Self::PlainHttp(_), Self::Folder(_)) => {
                    false
                }
            };
            if same {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps it in the state folder `state`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, state: Option<&Path>) -> anyhow::Result<()> {
        let state = state.context("this system has no folder for what is remembered; set HOME")?;
        let line = format!("{}\n", serde_json::to_string(self)?);
        FsStore::new(state)
            .append(NAME, &line)
            .with_context(|| format!("{}: cannot be written", state.join(NAME).display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agreement_is_kept_for_the_same_folder_and_files_only() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("plimsoll");
        let of = |path: &str, files: &[Option<&str>]| {
            Consent::Folder(Folder::new(Path::new(path), files))
        };
        let agreed = of("/a", &[Some("x"), None]);
        assert!(!agreed.is_kept(Some(&state)).unwrap());
        agreed.keep(Some(&state)).unwrap();
        assert!(agreed.is_kept(Some(&state)).unwrap());
        assert!(!agreed.is_kept(None).unwrap());
        for other in [
            of("/b", &[Some("x"), None]),
            of("/a", &[Some("y"), None]),
            of("/a", &[Some("x"), Some("")]),
            of("/a", &[None, Some("x")]),
            of("/a", &[Some(""), Some("x")]),
            Consent::PlainHttp("/a".to_owned()),
        ] {
            assert!(!other.is_kept(Some(&state)).unwrap(), "{other:?}");
        }
        let address = Consent::PlainHttp("http://10.0.0.1".to_owned());
        address.keep(Some(&state)).unwrap();
        assert!(address.is_kept(Some(&state)).unwrap());
        assert!(agreed.is_kept(Some(&state)).unwrap());
        let text = std::fs::read_to_string(state.join(NAME)).unwrap();
        assert!(
            text.starts_with("{\"folder\":{\"path\":\"/a\",\"digest\":\""),
            "{text}"
        );
    }

    #[test]
    fn a_line_that_is_no_agreement_is_named() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(NAME), "\nyes to all\n").unwrap();
        let asked = Consent::PlainHttp("http://10.0.0.1".to_owned());
        let error = asked.is_kept(Some(home.path())).unwrap_err().to_string();
        assert!(
            error.ends_with("consents.jsonl:2: is no agreement; delete the line"),
            "{error}"
        );
    }
}
