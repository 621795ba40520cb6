//! What must not be deleted, and whether a path that a command names would take it along. By text alone: no disk is read.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use super::word::Word;
use crate::tools::Workspace;

/// Folders without which the system does not run.
const SYSTEM: [&str; 20] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/root",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
    "/System",
    "/Library",
    "/Applications",
    "/Users",
    "/private",
    "/Volumes",
];
/// Where a command works, and what must stay there.
#[derive(Debug)]
pub(super) struct Place {
    /// Folders that may be the current one, the likeliest last; none: one that is not known.
    pub(super) folders: Vec<Option<PathBuf>>,
    /// The workspace.
    pub(super) root: PathBuf,
    home: Option<PathBuf>,
}

impl Place {
    pub(super) fn new(workspace: &Workspace) -> Self {
        Self {
            folders: vec![Some(workspace.root().to_path_buf())],
            root: workspace.root().to_path_buf(),
            home: workspace.home().map(Path::to_path_buf),
        }
    }

    /// `cd` with `args`.
    pub(super) fn enter(&mut self, args: &[Word], home: Option<&Path>) {
        let target = args
            .iter()
            .find(|arg| !matches!(arg.literal(), Some("-L" | "-P" | "-e" | "--")));
        let folder = match target {
            None => home.map(Path::to_path_buf),
            Some(word) => match (word.literal(), self.folders.last()) {
                (Some("-") | None, _) => None,
                (Some(path), Some(Some(folder))) => Some(lexical(&folder.join(path))),
                (Some(path), _) => Some(lexical(Path::new(path))).filter(|path| path.is_absolute()),
            },
        };
        self.folders.push(folder);
    }

    /// Whether deleting `pattern` would take the root, the home or the system with it.
    pub(super) fn holds(&self, pattern: &str, folder: &Path) -> bool {
        let path = lexical(&without_all(&folder.join(pattern)));
        let home = self.home.as_deref();
        let is_kept = |kept: &Path| path == kept || kept.starts_with(&path);
        if path.parent().is_none() || home.is_some_and(is_kept) {
            return true;
        }
        let kept = SYSTEM.iter().map(Path::new).chain(home);
        if path.to_string_lossy().contains(['*', '?', '[']) {
            let glob = GlobBuilder::new(&path.to_string_lossy())
                .literal_separator(true)
                .build();
            return match glob.map(|glob| glob.compile_matcher()) {
                Ok(matcher) => kept.into_iter().any(|kept| matcher.is_match(kept)),
                Err(_) => true,
            };
        }
        kept.into_iter().any(|kept| path == kept)
    }
}

/// `path` without `.` and `..`, by its text alone.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// `path` without parts at its end that mean all there is: deleting all in a folder is deleting the folder.
pub(super) fn without_all(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    while path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.contains(['*', '?', '[']) && name.chars().all(|c| "*?[]!^.".contains(c))
    }) {
        path.pop();
    }
    path
}
