//! The real binary with a home and a workspace of its own.
#![expect(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A home and a workspace of its own, and the program in them.
#[derive(Debug)]
pub struct Place(tempfile::TempDir);

impl Place {
    /// Fresh and empty.
    pub fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.work()).unwrap();
        place
    }

    /// The home folder: everything that the program writes is below it.
    pub fn home(&self) -> &Path {
        self.0.path()
    }

    /// The workspace.
    pub fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// Writes a file in the workspace.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The program with `arguments`, and nothing of this process's environment but `PATH`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let home = self.0.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home)
            .env("TMPDIR", home);
        for kind in ["CONFIG", "DATA", "STATE", "CACHE"] {
            command.env(format!("XDG_{kind}_HOME"), home.join(kind.to_lowercase()));
        }
        command
    }

    /// Standard output, standard error, exit code.
    pub fn run(&self, arguments: &[&str]) -> (String, String, i32) {
        told(
            self.command(arguments)
                .stdin(Stdio::null())
                .output()
                .unwrap(),
        )
    }
}

/// Standard output, standard error, exit code.
pub fn told(output: Output) -> (String, String, i32) {
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap(),
    )
}
