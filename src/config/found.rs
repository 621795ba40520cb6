//! A setting as it was found: its place, its value, and the error where it cannot be taken.

use std::fmt;
use std::path::PathBuf;

/// Where a setting came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The program itself.
    Default,
    /// The user's settings file, with line and column.
    User(Place),
    /// The project's settings file.
    Project(Place),
    /// The workspace's `.env`.
    Dotenv(Place),
    /// A variable of the environment.
    Environment(&'static str),
    /// An option, as typed.
    Option(String),
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// Why the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file is there and cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file is not what it should be.
    #[error("{place}: {reason}")]
    File {
        /// Where.
        place: Place,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A setting from elsewhere cannot be taken.
    #[error("{origin}: {reason}")]
    Setting {
        /// Where it came from.
        origin: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// What the user agreed to cannot be looked up.
    #[error("{0}")]
    Consent(String),
}

/// A setting as it was found, not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: Raw,
    pub(super) origin: Origin,
}

/// A value as it was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    /// From a file, with its type.
    Typed(serde_json::Value),
    /// From the command line or the environment: the setting decides what it means.
    Text(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(place) | Self::Project(place) | Self::Dotenv(place) => {
                write!(f, "{}:{}", place.path.display(), place.line)
            }
            Self::Environment(name) => f.write_str(name),
            Self::Option(option) => f.write_str(option),
        }
    }
}

impl Origin {
    /// The error for what was found there.
    pub(super) fn error(&self, reason: String) -> ConfigError {
        match self {
            Self::User(place) | Self::Project(place) | Self::Dotenv(place) => ConfigError::File {
                place: place.clone(),
                reason,
            },
            Self::Default | Self::Environment(_) | Self::Option(_) => ConfigError::Setting {
                origin: self.to_string(),
                reason,
            },
        }
    }
}
