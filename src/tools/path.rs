//! The one way from a path that a model wrote to a real one, and the question whether that lies in the workspace.
//!
//! A path is followed part by part, links included, down to the last part that exists; what does not exist yet is put
//! behind it. Opening then goes through a directory handle, which does not follow a link out that appears later.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// How many links may follow each other, as in most kernels.
const MAX_LINKS: usize = 40;

/// Where a path really leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into the workspace: relative to its root, without links or `..`; empty for the root itself.
    Inside(PathBuf),
    /// Elsewhere: absolute, without links or `..`.
    Outside(PathBuf),
}

/// The folder that the tools work in.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    dir: Arc<Dir>,
    home: Option<PathBuf>,
}

/// A file or folder to work on, reached through a folder that is held open.
#[derive(Debug)]
pub(crate) struct Target {
    /// The folder that is held open.
    pub(crate) dir: Arc<Dir>,
    /// What is meant, from there; `.` for the folder itself.
    pub(crate) name: PathBuf,
    /// How it is called towards the model: from the root, or absolute.
    pub(crate) shown: String,
}

impl Workspace {
    /// Opens the folder `root`.
    ///
    /// # Errors
    /// If it is no folder that can be opened.
    pub fn open(root: &Path) -> anyhow::Result<Self> {
        let real = fs::canonicalize(root)
            .with_context(|| format!("cannot find the workspace {}", root.display()))?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority())
            .with_context(|| format!("cannot open the workspace {}", real.display()))?;
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Ok(Self {
            root: real,
            dir: Arc::new(dir),
            home: home.map(|home| fs::canonicalize(&home).unwrap_or(home)),
        })
    }

    /// The root, absolute and without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user's home folder, if there is one.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where `path`, as a model wrote it, really leads: relative to the root, absolute, or from `~`.
    ///
    /// # Errors
    /// For the model: if `path` is empty or leads nowhere.
    pub fn place(&self, path: &str) -> Result<Place, String> {
        let real = self.real(path)?;
        Ok(match real.strip_prefix(&self.root) {
            Ok(relative) => Place::Inside(relative.to_path_buf()),
            Err(_) => Place::Outside(real),
        })
    }

    /// `path` ready to be worked on.
    pub(crate) fn target(&self, path: &str) -> Result<Target, String> {
        match self.place(path)? {
            Place::Inside(relative) => Ok(Target {
                dir: Arc::clone(&self.dir),
                shown: shown(&relative),
                name: or_dot(relative),
            }),
            Place::Outside(real) => {
                let base = deepest_folder(&real);
                let name = real.strip_prefix(base).unwrap_or(&real).to_path_buf();
                let dir = Dir::open_ambient_dir(base, ambient_authority())
                    .map_err(|problem| format!("cannot open {}: {problem}", base.display()))?;
                Ok(Target {
                    dir: Arc::new(dir),
                    name: or_dot(name),
                    shown: shown(&real),
                })
            }
        }
    }

    /// `path` with every link followed as far as it exists.
    fn real(&self, path: &str) -> Result<PathBuf, String> {
        if path.is_empty() {
            return Err("the path is empty".to_owned());
        }
        if path.contains('\0') {
            return Err("the path has a NUL character in it".to_owned());
        }
        let home = path
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .zip(self.home.as_ref());
        match home {
            Some((rest, home)) => follow(home.clone(), Path::new(rest.trim_start_matches('/'))),
            None => follow(self.root.clone(), Path::new(path)),
        }
        .ok_or_else(|| format!("{path}: too many links that lead to each other"))
    }
}

/// A part of a path still to be gone.
enum Part {
    Anchor(PathBuf),
    Up,
    Name(OsString),
}

/// Goes `path` from `start`, which is real; nothing if links lead to each other without end.
fn follow(start: PathBuf, path: &Path) -> Option<PathBuf> {
    let mut real = start;
    let mut missing = 0_usize; // how many parts at the end of `real` do not exist
    let mut links = 0;
    let mut parts: VecDeque<Part> = parts_of(path).collect();
    while let Some(part) = parts.pop_front() {
        match part {
            Part::Anchor(anchor) => {
                real.push(anchor); // absolute: replaces what is there
                missing = 0;
            }
            Part::Up => {
                real.pop();
                missing = missing.saturating_sub(1);
            }
            Part::Name(name) => {
                real.push(name);
                let found = if missing == 0 {
                    fs::symlink_metadata(&real).ok()
                } else {
                    None
                };
                match found {
                    None => missing += 1,
                    Some(found) if found.is_symlink() => {
                        links += 1;
                        let target = fs::read_link(&real).ok();
                        let target = target.filter(|_| links <= MAX_LINKS)?;
                        real.pop();
                        for part in parts_of(&target).collect::<Vec<_>>().into_iter().rev() {
                            parts.push_front(part);
                        }
                    }
                    Some(_) => {}
                }
            }
        }
    }
    Some(real)
}

fn parts_of(path: &Path) -> impl Iterator<Item = Part> {
    path.components().filter_map(|part| match part {
        Component::Prefix(_) | Component::RootDir => {
            Some(Part::Anchor(PathBuf::from(part.as_os_str())))
        }
        Component::CurDir => None,
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
    })
}

/// The deepest folder on the way to `real`, itself included.
fn deepest_folder(real: &Path) -> &Path {
    real.ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(real)
}

fn or_dot(path: PathBuf) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}

/// A path as one line of text; `.` for the root.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.is_empty() {
        return ".".to_owned();
    }
    if text.chars().any(char::is_control) {
        return text.escape_debug().to_string();
    }
    text.into_owned()
}
