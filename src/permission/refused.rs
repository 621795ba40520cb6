//! The short list of what is refused in every mode: deleting the root or the home folder, formatting, writing to a raw
//! disk, becoming another user, switching the machine off.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use super::shell::shown;
use super::word::Word;
use super::wrapper::find_starts;
use crate::tools::Workspace;

/// Become another user.
const OTHER_USER: [&str; 8] = [
    "sudo", "sudoedit", "doas", "su", "runuser", "pkexec", "run0", "gksudo",
];
/// Switch the machine off.
const SWITCH_OFF: [&str; 5] = ["shutdown", "reboot", "halt", "poweroff", "telinit"];
/// What `systemctl` and its like switch off with.
const OFF_VERBS: [&str; 7] = [
    "poweroff",
    "reboot",
    "halt",
    "kexec",
    "suspend",
    "hibernate",
    "soft-reboot",
];
/// Make or remove file systems and partitions.
const FORMAT: [&str; 12] = [
    "mkfs",
    "mke2fs",
    "mkdosfs",
    "mkntfs",
    "mkswap",
    "newfs",
    "wipefs",
    "blkdiscard",
    "sfdisk",
    "sgdisk",
    "fdisk",
    "parted",
];
/// Names of disks under `/dev`.
const DISKS: [&str; 14] = [
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "mapper/", "loop",
    "mem", "kmem",
];
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
/// Tests of `find` that choose among what it finds.
const CHOICES: [&str; 14] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-newer",
    "-mtime",
    "-mmin",
    "-size",
    "-empty",
    "-user",
    "-perm",
];

/// What is wrong with a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// It is on the list.
    Refused(String),
    /// It may be.
    Unclear(String),
}

/// Where a command works, and what must stay there.
#[derive(Debug)]
pub(super) struct Place {
    /// Folders that may be the current one, the likeliest last; none: one that is not known.
    pub(super) folders: Vec<Option<PathBuf>>,
    root: PathBuf,
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
    fn holds(&self, pattern: &str, folder: &Path) -> bool {
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
fn lexical(path: &Path) -> PathBuf {
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
fn without_all(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    while path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.contains(['*', '?', '[']) && name.chars().all(|c| "*?[]!^.".contains(c))
    }) {
        path.pop();
    }
    path
}

/// Whether the command `name` with `args` is on the list, not looking at what it runs itself.
pub(super) fn check(name: &str, args: &[Word], place: &Place) -> Option<Finding> {
    let has = |wanted: &[&str]| {
        args.iter()
            .filter_map(Word::literal)
            .any(|arg| wanted.contains(&arg))
    };
    let refuse = |why: &str| Some(Finding::Refused(format!("`{}` {why}", shown(name, args))));
    if OTHER_USER.contains(&name) {
        return refuse("acts as another user");
    }
    if SWITCH_OFF.contains(&name)
        || matches!(name, "systemctl" | "loginctl") && has(&OFF_VERBS)
        || name == "init" && has(&["0", "6"])
    {
        return refuse("switches the machine off");
    }
    let lists_only = has(&["-l", "--list", "--help", "--version", "-V"]);
    if (FORMAT.contains(&name) || name.starts_with("mkfs.") || name.starts_with("newfs_"))
        && !lists_only
        || name == "diskutil" && args.first().and_then(Word::literal).is_some_and(erases)
    {
        return refuse("formats a disk");
    }
    match name {
        "rm" => delete(name, args, place),
        "find" => find(args, place),
        "dd" => outputs(name, args.iter().filter_map(|arg| arg.strip_prefix("of="))),
        "tee" | "shred" | "truncate" => outputs(name, args.iter().cloned()),
        "cp" | "mv" | "install" => outputs(name, args.last().cloned().into_iter()),
        _ => None,
    }
}

fn erases(verb: &str) -> bool {
    let verb = verb.to_lowercase();
    verb.contains("erase") || verb.contains("partition") || verb == "zerodisk"
}

/// Whether writing to one of `words` is writing to a raw disk.
fn outputs(name: &str, words: impl Iterator<Item = Word>) -> Option<Finding> {
    let mut found = None;
    for word in words {
        match check_output(&word) {
            Some(Finding::Refused(reason)) => return Some(Finding::Refused(reason)),
            // Only `dd` is made for disks; the others would ask about every variable.
            Some(unclear) if name == "dd" => found = Some(unclear),
            Some(Finding::Unclear(_)) | None => {}
        }
    }
    found
}

/// Whether writing to `word` is writing to a raw disk.
pub(super) fn check_output(word: &Word) -> Option<Finding> {
    let text = word.without_unknown();
    let path = lexical(Path::new(&text));
    if let Ok(device) = path.strip_prefix("/dev") {
        let device = device.to_string_lossy();
        let is_disk = DISKS.iter().any(|disk| device.starts_with(disk));
        if is_disk || device.contains(['*', '?', '[']) {
            return Some(Finding::Refused(format!("`{text}` is a raw disk")));
        }
    }
    // With something known before it, or an ending, it is a file's name.
    if word.is_unknown() && word.start().is_empty() && !text.contains('.') {
        return Some(Finding::Unclear(
            "where it writes to is only known at run time".to_owned(),
        ));
    }
    None
}

/// `rm`.
fn delete(name: &str, args: &[Word], place: &Place) -> Option<Finding> {
    let mut options_end = false;
    let mut recursive = false;
    let mut targets = Vec::new();
    for arg in args {
        let start = arg.start();
        if !options_end && start == "--" {
            options_end = true;
        } else if !options_end && start.starts_with('-') && start.len() > 1 {
            let long = start.starts_with("--");
            recursive |= if long {
                "--recursive".starts_with(start)
            } else {
                start.contains(['r', 'R'])
            };
        } else {
            recursive |= arg.is_loose(); // options may hide in it
            targets.push(arg);
        }
    }
    let refused = || {
        Finding::Refused(format!(
            "`{}` deletes the root, the home folder or the system",
            shown(name, args)
        ))
    };
    let mut unclear = None;
    for target in targets {
        let text = target.without_unknown();
        let folders = place.folders.iter().rev();
        for (at, folder) in folders.enumerate() {
            let is_relative = !text.starts_with('/');
            let holds = match folder {
                Some(folder) => place.holds(&text, folder),
                None if is_relative => {
                    without_all(Path::new(&text)).as_os_str().is_empty() || text.contains("..")
                }
                None => place.holds(&text, Path::new("/")),
            };
            let is_known = !target.is_unknown() && folder.is_some();
            if holds && at == 0 && is_known {
                return Some(refused());
            }
            if holds {
                unclear = Some("what it deletes is only known at run time");
            }
        }
        if recursive && target.is_unknown() && text.trim_matches('/').is_empty() {
            unclear = Some("what it deletes is only known at run time");
        }
        let up = lexical(&without_all(&place.root.join(&text)));
        if recursive && place.root.starts_with(&up) && up != place.root {
            unclear = Some("it deletes a folder that the workspace lies in");
        }
    }
    unclear.map(|reason| Finding::Unclear(reason.to_owned()))
}

/// `find` that deletes.
fn find(args: &[Word], place: &Place) -> Option<Finding> {
    let words: Vec<&str> = args.iter().filter_map(Word::literal).collect();
    let executes = words
        .iter()
        .any(|word| word.starts_with("-exec") || word.starts_with("-ok"));
    let deletes = words.contains(&"-delete") || executes && words.contains(&"rm");
    if !deletes {
        return None;
    }
    let starts = find_starts(args);
    let here = [Word::known(".")];
    let found = delete(
        "find",
        if starts.is_empty() { &here } else { starts },
        place,
    );
    match found {
        Some(Finding::Refused(reason)) if words.iter().any(|word| CHOICES.contains(word)) => {
            Some(Finding::Unclear(reason))
        }
        other => other,
    }
}
