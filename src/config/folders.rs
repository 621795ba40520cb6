//! Where the program's own files lie on this platform.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{ConfigError, TEMPLATE};

/// Where the user's settings file is, or would be.
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    folders().map(|folders| folders.config_dir().join("config.toml"))
}

/// The folder of the session logs.
#[must_use]
pub fn sessions_folder() -> Option<PathBuf> {
    folders().map(|folders| folders.data_dir().join("sessions"))
}

/// The folder of what the program remembers by itself.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    folders().map(|folders| {
        let state = folders.state_dir();
        state.unwrap_or_else(|| folders.data_local_dir()).to_owned()
    })
}

fn folders() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "plimsoll")
}

/// Writes [`TEMPLATE`] to `path`.
///
/// # Errors
/// If there is a file already, or it cannot be written.
pub fn init(path: &Path) -> Result<(), ConfigError> {
    let written = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::File::create_new(path))
        .and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
    written.map_err(|error| ConfigError::Setting {
        origin: path.display().to_string(),
        reason: match error.kind() {
            ErrorKind::AlreadyExists => "exists already and was left as it is".to_owned(),
            _ => format!("cannot be written: {error}"),
        },
    })
}
