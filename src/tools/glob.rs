//! `glob`: the files under a folder whose path matches a pattern, sorted, bounded, without following links.

use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use super::path::shown;
use super::{Glob, Place, Workspace};
use crate::text::thousands;

/// How many paths a result holds.
const MAX_PATHS: usize = 1000;
/// How many folders are named where only folders match.
const MAX_FOLDERS: usize = 20;

/// What a walk found.
#[derive(Default)]
struct Found {
    files: First<MAX_PATHS>,
    folders: First<MAX_FOLDERS>,
}

/// The first `N` of many paths in their order, and how many there are.
#[derive(Default)]
struct First<const N: usize> {
    paths: Vec<PathBuf>,
    total: usize,
}

impl<const N: usize> First<N> {
    fn push(&mut self, path: PathBuf) {
        self.total += 1;
        self.paths.push(path);
        if self.paths.len() >= 4 * N {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.paths.sort_unstable();
        self.paths.truncate(N);
    }
}

/// A pattern, compiled, and the folder where the walk begins.
struct Search {
    base: PathBuf,
    matcher: GlobMatcher,
    hidden: bool,
    git: bool,
}

impl Glob {
    /// The folder in which it looks, as a path for the workspace: `path` and the leading plain part of the pattern.
    pub(crate) fn base(&self) -> String {
        let (plain, _) = split(&self.pattern);
        let folder = match &self.path {
            Some(path) if plain.as_os_str().is_empty() => return path.clone(),
            Some(path) => Path::new(path).join(plain),
            None if plain.as_os_str().is_empty() => return ".".to_owned(),
            None => plain,
        };
        folder.to_string_lossy().into_owned()
    }
}

/// `pattern` as its leading folders without wildcards, and the rest.
fn split(pattern: &str) -> (PathBuf, String) {
    let mut plain = PathBuf::new();
    let parts: Vec<Component<'_>> = Path::new(pattern).components().collect();
    let mut taken = 0;
    for part in &parts[..parts.len().saturating_sub(1)] {
        let text = part.as_os_str().to_string_lossy();
        if text.contains(['*', '?', '[', '{', '\\']) {
            break;
        }
        plain.push(part);
        taken += 1;
    }
    let rest: PathBuf = parts[taken..].iter().collect();
    (plain, rest.to_string_lossy().into_owned())
}

pub(super) fn run(
    call: &Glob,
    workspace: &Workspace,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let base = call.base();
    let (folder, inside) = match workspace.place(&base)? {
        Place::Inside(relative) => (workspace.root().join(relative), true),
        Place::Outside(real) => (real, false),
    };
    if !folder.is_dir() {
        return Err(format!("{base} is no folder that exists"));
    }
    let search = Search::new(&call.pattern, folder)?;
    let mut found = search.walk(Ignored::Skip, cancel)?;
    let mut note = "";
    // What lies in a folder that was named is wanted even if .gitignore leaves it out: build output, saved results.
    if found.files.paths.is_empty() && search.base != workspace.root() {
        found = search.walk(Ignored::Take, cancel)?;
        note = "\n[.gitignore leaves these out]";
    }
    let name = |path: &PathBuf| {
        if inside {
            shown(path.strip_prefix(workspace.root()).unwrap_or(path))
        } else {
            shown(path)
        }
    };
    if found.files.paths.is_empty() {
        return Ok(nothing(&call.pattern, &base, &found.folders, &name));
    }
    let total = found.files.total;
    let mut text: Vec<String> = found.files.paths.iter().map(name).collect();
    if total > MAX_PATHS {
        text.push(format!(
            "[the first {} of {} files; use a narrower pattern for the others]",
            thousands(MAX_PATHS),
            thousands(total)
        ));
    }
    Ok(text.join("\n") + note)
}

/// What to do with files that .gitignore and its like leave out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Skip,
    Take,
}

impl Search {
    fn new(pattern: &str, base: PathBuf) -> Result<Self, String> {
        let (_, rest) = split(pattern);
        let matcher = GlobBuilder::new(&rest)
            .literal_separator(true)
            .build()
            .map_err(|problem| format!("`{pattern}` is no pattern: {}", problem.kind()))?
            .compile_matcher();
        let names = |name: &str| {
            pattern
                .split(['/', '{', ','])
                .any(|part| part.starts_with(name))
        };
        Ok(Self {
            base,
            matcher,
            hidden: names("."),
            git: names(".git") && !names(".github") && !names(".gitignore"),
        })
    }

    /// Every match, sorted. Ends early, as an error, once `cancel` fires.
    fn walk(&self, ignored: Ignored, cancel: &CancellationToken) -> Result<Found, String> {
        let git = self.git;
        let walk = WalkBuilder::new(&self.base)
            .standard_filters(ignored == Ignored::Skip)
            .hidden(!self.hidden)
            .require_git(false)
            .follow_links(false)
            .filter_entry(move |entry| git || entry.depth() == 0 || entry.file_name() != ".git")
            .build_parallel();
        let found = Mutex::new(Found::default());
        walk.run(|| {
            Box::new(|entry| {
                if cancel.is_cancelled() {
                    return WalkState::Quit;
                }
                if let Ok(entry) = entry
                    && entry.depth() > 0
                    && let Ok(relative) = entry.path().strip_prefix(&self.base)
                    && self.matcher.is_match(relative)
                    && let Ok(mut found) = found.lock()
                {
                    if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                        found.folders.push(entry.into_path());
                    } else {
                        found.files.push(entry.into_path());
                    }
                }
                WalkState::Continue
            })
        });
        if cancel.is_cancelled() {
            return Err("interrupted".to_owned());
        }
        let mut found = found.into_inner().unwrap_or_default();
        found.files.cut();
        found.folders.cut();
        Ok(found)
    }
}

fn nothing(
    pattern: &str,
    base: &str,
    folders: &First<MAX_FOLDERS>,
    name: &dyn Fn(&PathBuf) -> String,
) -> String {
    let text = format!("no file matches `{pattern}` in {base}");
    let names: Vec<String> = folders
        .paths
        .iter()
        .map(|folder| name(folder) + "/")
        .collect();
    let names = names.join(", ");
    match folders.total {
        0 => text,
        1 => format!("{text}; 1 folder does: {names}"),
        n => format!("{text}; {} folders do: {names}", thousands(n)),
    }
}
