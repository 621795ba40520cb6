//! A store in a folder: files and folders for the user only, nothing outside the root, no half-written file.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Store, checked, taken};

/// Files under one folder of the file system.
#[derive(Clone, Debug)]
pub struct FsStore {
    root: PathBuf,
    /// Whether the root is the user's own folder, where the store's folders are to be kept out of git.
    ignored: Ignored,
}

#[derive(Clone, Copy, Debug)]
enum Ignored {
    /// The root belongs to the program: made if missing, nothing to hide.
    Nothing,
    /// Each top folder gets a `.gitignore` that hides it.
    TopFolders,
}

impl FsStore {
    /// A store in a folder of the program's own, made at the first write.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            ignored: Ignored::Nothing,
        }
    }

    /// A store in the folder that the agent works in: each top folder that is written to hides itself from git.
    #[must_use]
    pub fn in_workspace(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            ignored: Ignored::TopFolders,
        }
    }

    /// The real path of `name`, its folder made where it is missing.
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        let path = checked(name)?;
        if let Ignored::Nothing = self.ignored {
            make_folder_and_parents(&self.root)?;
        }
        let root = fs::canonicalize(&self.root)?;
        let mut folder = root.clone();
        for (depth, part) in path.parent().into_iter().flatten().enumerate() {
            folder.push(part);
            make_folder(&folder)?;
            folder = inside(&root, &folder)?;
            if depth == 0 {
                self.hide(&folder)?;
            }
        }
        Ok(folder.join(path.file_name().unwrap_or_default()))
    }

    /// The real path of `name`, where its folder exists.
    fn find(&self, name: &str) -> io::Result<PathBuf> {
        let path = checked(name)?;
        let root = fs::canonicalize(&self.root)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = inside(&root, &root.join(folder))?;
        Ok(folder.join(path.file_name().unwrap_or_default()))
    }

    fn hide(&self, folder: &Path) -> io::Result<()> {
        match self.ignored {
            Ignored::Nothing => Ok(()),
            Ignored::TopFolders => {
                let path = folder.join(".gitignore");
                // The user's own rules stay.
                if fs::symlink_metadata(&path).is_ok() {
                    return Ok(());
                }
                match write_whole(&path, "*\n") {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                    other => other,
                }
            }
        }
    }
}

impl Store for FsStore {
    fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.place(name)?;
        if fs::symlink_metadata(&path).is_ok() {
            return same_content(&path, name, text);
        }
        match write_whole(&path, text) {
            // Another program was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                same_content(&path, name, text)
            }
            other => other,
        }
    }

    fn append(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.place(name)?;
        refuse_other_than_file(&path)?;
        let mut file = private().append(true).create(true).open(&path)?;
        let before = file.metadata()?.len();
        file.write_all(text.as_bytes()).inspect_err(|_| {
            // Half a line would spoil the next one. If this fails too, the reader drops it.
            let _ = file.set_len(before);
        })
    }

    /// Bytes that are no UTF-8 (a file that was torn in the middle of a character) read as U+FFFD.
    fn read(&self, name: &str) -> io::Result<String> {
        let path = self.find(name)?;
        refuse_other_than_file(&path)?;
        let bytes = fs::read(&path)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.root.join(name))
    }
}

/// A new file at `path` that holds all of `text`, or none: a full disk leaves no half of it.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)
        .map(drop)
        .map_err(|error| error.error)
}

/// Fine if `path` is a plain file that holds `text`; a link is never followed.
fn same_content(path: &Path, name: &str, text: &str) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let same =
        found.is_file() && found.len() == text.len() as u64 && fs::read(path)? == text.as_bytes();
    if same { Ok(()) } else { Err(taken(name)) }
}

/// Keeps from writing through a link, or waiting for ever on a pipe.
fn refuse_other_than_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{}` is not a plain file", path.display()),
        )),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// `folder` with its links resolved, if that is still under `root`.
fn inside(root: &Path, folder: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(folder)?;
    if real.starts_with(root) {
        return Ok(real);
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "`{}` is a link that leads out of `{}`; remove it",
            folder.display(),
            root.display()
        ),
    ))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match for_the_user_only().create(folder) {
        // Also a link: where it leads is looked at by the caller.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn make_folder_and_parents(folder: &Path) -> io::Result<()> {
    for_the_user_only().recursive(true).create(folder)
}

fn for_the_user_only() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes exist on Unix only"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Options that make a file that nobody else can read.
fn private() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_it_makes_is_for_the_user_only_and_hidden_from_git() {
        let work = tempfile::tempdir().unwrap();
        let store = FsStore::in_workspace(work.path());
        store.put(".task_outputs/tool-results/a.txt", "x").unwrap();
        store.append(".transcripts/b.jsonl", "{}\n").unwrap();
        let outputs = work.path().join(".task_outputs");
        let results = outputs.join("tool-results");
        assert_eq!(names(&outputs), [".gitignore", "tool-results"]);
        assert_eq!(names(&results), ["a.txt"]);
        assert_eq!(
            fs::read_to_string(outputs.join(".gitignore")).unwrap(),
            "*\n"
        );
        let transcripts = work.path().join(".transcripts");
        assert_eq!(names(&transcripts), [".gitignore", "b.jsonl"]);
        for folder in [&outputs, &results, &transcripts] {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
        for file in [results.join("a.txt"), transcripts.join("b.jsonl")] {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }

    #[test]
    fn rules_for_git_that_the_user_wrote_stay() {
        let work = tempfile::tempdir().unwrap();
        let folder = work.path().join(".transcripts");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".gitignore"), "!keep\n").unwrap();
        let store = FsStore::in_workspace(work.path());
        store.put(".transcripts/a.jsonl", "x").unwrap();
        let rules = fs::read_to_string(folder.join(".gitignore")).unwrap();
        assert_eq!(rules, "!keep\n");
    }

    #[test]
    fn a_folder_of_its_own_is_made_and_not_hidden() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("share/sessions");
        FsStore::new(&root).append("s.jsonl", "1\n").unwrap();
        assert_eq!(names(&root), ["s.jsonl"]);
        assert_eq!(mode(&root), 0o700);
    }

    #[test]
    fn a_workspace_that_is_gone_is_not_made_again() {
        let work = tempfile::tempdir().unwrap();
        let gone = work.path().join("gone");
        let error = FsStore::in_workspace(&gone)
            .put(".transcripts/a", "x")
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!gone.exists());
    }

    #[test]
    fn a_folder_that_is_a_link_out_is_refused_and_nothing_outside_changes() {
        let outside = tempfile::tempdir().unwrap();
        let work = tempfile::tempdir().unwrap();
        symlink(outside.path(), work.path().join(".task_outputs")).unwrap();
        symlink(work.path().join("nowhere"), work.path().join(".dangling")).unwrap();
        let store = FsStore::in_workspace(work.path());
        for result in [
            store.put(".task_outputs/a.txt", "x"),
            store.append(".task_outputs/a.txt", "x"),
            store.read(".task_outputs/a.txt").map(drop),
        ] {
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        }
        store.put(".dangling/a.txt", "x").unwrap_err();
        assert_eq!(names(outside.path()), [""; 0]);
        assert!(!work.path().join("nowhere").exists());
    }

    #[test]
    fn a_file_that_is_a_link_is_neither_followed_nor_replaced() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("secret");
        fs::write(&target, "secret").unwrap();
        let work = tempfile::tempdir().unwrap();
        symlink(&target, work.path().join("a.txt")).unwrap();
        let store = FsStore::in_workspace(work.path());
        let put = store.put("a.txt", "secret").unwrap_err();
        assert_eq!(put.kind(), io::ErrorKind::AlreadyExists);
        store.append("a.txt", "more").unwrap_err();
        store.read("a.txt").unwrap_err();
        assert_eq!(fs::read_to_string(&target).unwrap(), "secret");
        let link = fs::symlink_metadata(work.path().join("a.txt")).unwrap();
        assert!(link.is_symlink());
    }

    #[test]
    fn a_link_that_stays_inside_is_fine() {
        let work = tempfile::tempdir().unwrap();
        fs::create_dir(work.path().join("real")).unwrap();
        symlink("real", work.path().join(".transcripts")).unwrap();
        let store = FsStore::in_workspace(work.path());
        store.put(".transcripts/a.txt", "x").unwrap();
        assert_eq!(names(&work.path().join("real")), [".gitignore", "a.txt"]);
    }

    #[test]
    fn a_write_that_fails_leaves_nothing_behind() {
        let work = tempfile::tempdir().unwrap();
        fs::write(work.path().join("file"), "").unwrap();
        let store = FsStore::in_workspace(work.path());
        store.put("file/a.txt", "x").unwrap_err();
        fs::create_dir(work.path().join("folder")).unwrap();
        let taken = store.put("folder", "x").unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        store.append("folder", "x").unwrap_err();
        assert_eq!(names(work.path()), ["file", "folder"]);
    }
}
