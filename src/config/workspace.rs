//! The settings files of a workspace: read once, so that what was agreed to is what is then used.

use std::path::{Path, PathBuf};

use super::consent::Folder;
use super::{ConfigError, Given, Origin, file};

/// The names of the two files, below the workspace.
const NAMES: [&str; 2] = [".plimsoll/config.toml", ".env"];

/// The two files as they are on disk.
pub(super) struct Files {
    workspace: PathBuf,
    settings: Result<Option<String>, ConfigError>,
    dotenv: Result<Option<String>, ConfigError>,
}

impl Files {
    pub(super) fn read(workspace: &Path) -> Self {
        Self {
            workspace: workspace.to_owned(),
            settings: file::read(&workspace.join(NAMES[0])),
            dotenv: file::read(&workspace.join(NAMES[1])),
        }
    }

    /// Those that hold settings. A project's `.env` mostly holds other things: then there is nothing to say.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let settings = !matches!(self.settings, Ok(None));
        let dotenv = match &self.dotenv {
            Ok(Some(text)) => file::dotenv(&self.workspace.join(NAMES[1]), text)
                .map_or(true, |found| !found.is_empty()),
            // One that cannot be read says so once it is trusted.
            Ok(None) | Err(_) => false,
        };
        let present = NAMES.into_iter().zip([settings, dotenv]);
        present
            .filter_map(|(name, is)| is.then_some(name))
            .collect()
    }

    /// What the user can agree to; `None` where nothing is there, or a file cannot be read.
    pub(super) fn consent(&self) -> Option<Folder> {
        let names = self.names();
        let text = |at: usize, read: &'_ Result<Option<String>, ConfigError>| match read {
            Ok(text) => Some(text.clone().filter(|_| names.contains(&NAMES[at]))),
            Err(_) => None,
        };
        let settings = text(0, &self.settings)?;
        let dotenv = text(1, &self.dotenv)?;
        (!names.is_empty())
            .then(|| Folder::new(&self.workspace, &[settings.as_deref(), dotenv.as_deref()]))
    }

    /// What the files say: the project's settings, and the variables of the `.env`.
    pub(super) fn parse(self) -> Result<(Vec<Given>, Vec<Given>), ConfigError> {
        let [settings, dotenv] = NAMES.map(|name| self.workspace.join(name));
        Ok((
            file::settings(&settings, self.settings?.as_deref(), Origin::Project)?,
            file::dotenv(&dotenv, self.dotenv?.as_deref().unwrap_or_default())?,
        ))
    }
}
