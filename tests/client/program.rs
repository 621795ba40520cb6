//! The built program in a home and a workspace of its own, with nothing of this machine's environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// A home with a workspace in it; both go with it.
#[derive(Debug)]
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.work()).unwrap();
        home
    }

    /// The workspace.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// Writes a file beside the workspace.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs the program with `arguments` and `variables`.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
        let home = self.0.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home)
            .env("TMPDIR", home)
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        for kind in ["CONFIG", "DATA", "STATE", "CACHE"] {
            command.env(format!("XDG_{kind}_HOME"), home.join(kind.to_lowercase()));
        }
        let output = command.output().unwrap();
        Said {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap(),
        }
    }

    /// All files that were written, with what is in them.
    pub(crate) fn written(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        collect(self.0.path(), &mut files);
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
