//! The built program with variables of a test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::support::place::{Place, told};

/// What it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// A home with a workspace in it; both go with it.
#[derive(Debug)]
pub(crate) struct Home(Place);

impl Home {
    pub(crate) fn new() -> Self {
        Self(Place::new())
    }

    /// The workspace.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.work()
    }

    /// Writes a file beside the workspace.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.home().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs the program with `arguments` and `variables`.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
        let mut command = self.0.command(arguments);
        command.envs(variables.iter().copied()).stdin(Stdio::null());
        let (out, err, code) = told(command.output().unwrap());
        Said { out, err, code }
    }

    /// All files that were written, with what is in them.
    pub(crate) fn written(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        collect(self.0.home(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            let bytes = fs::read(&path).unwrap();
            files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}
