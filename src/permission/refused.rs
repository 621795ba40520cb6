//! The short list of what is refused in every mode: deleting the root or the home folder, formatting, writing to a raw
//! disk, becoming another user, switching the machine off.

use std::path::Path;

use super::kept::{Place, lexical, without_all};
use super::quoted;
use super::shell::shown;
use super::word::Word;
use super::wrapper::find_starts;

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
        "dd" => args
            .iter()
            .filter_map(|arg| arg.strip_prefix("of="))
            .find_map(|to| check_output(&to, place)),
        "tee" | "shred" | "truncate" => args.iter().find_map(|to| check_disk(to, place)),
        "cp" | "mv" | "install" => args.last().and_then(|to| check_disk(to, place)),
        _ => None,
    }
}

fn erases(verb: &str) -> bool {
    let verb = verb.to_lowercase();
    verb.contains("erase") || verb.contains("partition") || verb == "zerodisk"
}

/// Whether writing to `word` is, or may be, writing to a raw disk.
pub(super) fn check_output(word: &Word, place: &Place) -> Option<Finding> {
    check_disk(word, place).or_else(|| {
        // With something known before it, or a name at its end that is no disk's, it is a file.
        let text = word.without_unknown();
        let name = text.rsplit('/').next().unwrap_or_default();
        let is_open = word.is_unknown() && word.start().is_empty();
        let may_be_disk = name.is_empty() || DISKS.iter().any(|disk| name.starts_with(disk));
        (is_open && may_be_disk)
            .then(|| Finding::Unclear("where it writes to is only known at run time".to_owned()))
    })
}

/// Whether writing to `word` is writing to a raw disk, as far as it is known.
fn check_disk(word: &Word, place: &Place) -> Option<Finding> {
    let text = word.without_unknown();
    let is_disk = place.folders.iter().flatten().any(|folder| {
        let path = lexical(&folder.join(&text));
        let Ok(device) = path.strip_prefix("/dev") else {
            return false;
        };
        let device = device.to_string_lossy();
        DISKS.iter().any(|disk| device.starts_with(disk)) || device.contains(['*', '?', '['])
    });
    is_disk.then(|| Finding::Refused(format!("`{}` is a raw disk", quoted(&text))))
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
    let mut all_under = vec![Word::known("-r")];
    match find_starts(args) {
        [] => all_under.push(Word::known(".")),
        starts => all_under.extend_from_slice(starts),
    }
    let reason = format!(
        "`{}` deletes in the root, the home folder or the system",
        shown("find", args)
    );
    match delete("find", &all_under, place) {
        Some(Finding::Refused(_)) if words.iter().any(|word| CHOICES.contains(word)) => {
            Some(Finding::Unclear(reason))
        }
        Some(Finding::Refused(_)) => Some(Finding::Refused(reason)),
        other => other,
    }
}
