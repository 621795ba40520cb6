//! Opening and replacing single files, safely: no FIFO or device that blocks, no file that fills the memory, never half a
//! file on disk. Knows nothing of the tools that use it; its errors are sentences for the model.

use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt as _, Permissions};
use cap_tempfile::TempFile;

use super::path::{Target, shown};
use crate::text::thousands;

/// The largest file that is taken into memory, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// How much of a file is looked at for NUL bytes, which text has none of.
const SNIFFED: usize = 8192;
/// How many similar names an error proposes.
const PROPOSED: usize = 3;
/// From which likeness on a name is similar.
const LIKENESS: f64 = 0.6;

/// A file's bytes and what must outlive a change of them.
#[derive(Debug)]
pub(crate) struct Content {
    /// All of it.
    pub(crate) bytes: Vec<u8>,
    /// Its mode.
    pub(crate) permissions: Permissions,
}

/// What stands in the regular file `target`; nothing if there is no such file.
pub(crate) fn read(target: &Target) -> Result<Option<Content>, String> {
    let fail = |problem: std::io::Error| format!("cannot read {}: {problem}", target.shown);
    match target.dir.metadata(&target.name) {
        Ok(found) if found.is_dir() => {
            return Err(format!(
                "{} is a folder: list it with glob, or `ls` in bash",
                target.shown
            ));
        }
        Ok(found) if !found.is_file() => return Err(not_regular(target)),
        Ok(_) => {}
        Err(problem) if is_missing(&problem) => return Ok(None),
        Err(problem) => return Err(fail(problem)),
    }
    let file = open(target).map_err(fail)?;
    let found = file.metadata().map_err(fail)?;
    if !found.is_file() {
        return Err(not_regular(target));
    }
    if found.len() > MAX_BYTES {
        return Err(too_large(target, found.len()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large(target, bytes.len() as u64));
    }
    Ok(Some(Content {
        bytes,
        permissions: found.permissions(),
    }))
}

/// Opens for reading; a FIFO put there in the meantime does not block.
fn open(target: &Target) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    options.custom_flags(i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default());
    target.dir.open_with(&target.name, &options)
}

fn not_regular(target: &Target) -> String {
    format!(
        "{} is no regular file but a pipe, a socket or a device: it cannot be read or written with this tool",
        target.shown
    )
}

fn too_large(target: &Target, bytes: u64) -> String {
    format!(
        "{} is too large ({} MB): look at parts of it with bash, for example `head -c 2000` or `grep -n`",
        target.shown,
        bytes >> 20
    )
}

/// Whether `problem` says that there is nothing at that path.
fn is_missing(problem: &std::io::Error) -> bool {
    matches!(
        problem.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory
    )
}

/// The text of `content`, or why it is none.
pub(crate) fn text<'a>(content: &'a Content, target: &Target) -> Result<&'a str, String> {
    refuse_binary(content, target)?;
    std::str::from_utf8(&content.bytes).map_err(|problem| {
        let before = &content.bytes[..problem.valid_up_to()];
        format!(
            "{} is not UTF-8 (line {}): it is left as it is. Change it with bash, or convert it first with `iconv`",
            target.shown,
            before.split(|byte| *byte == b'\n').count()
        )
    })
}

/// An error if `content` is no text at all.
pub(crate) fn refuse_binary(content: &Content, target: &Target) -> Result<(), String> {
    let sniffed = &content.bytes[..content.bytes.len().min(SNIFFED)];
    if sniffed.contains(&0) {
        return Err(format!(
            "{} is binary ({} bytes): it is no text to read or edit; look at it with bash, for example `file` or `xxd | head`",
            target.shown,
            thousands(content.bytes.len())
        ));
    }
    Ok(())
}

/// Puts `bytes` in the place of `target`, wholly or not at all; missing folders are made.
pub(crate) fn replace(
    target: &Target,
    bytes: &[u8],
    permissions: Option<Permissions>,
) -> Result<(), String> {
    let fail = |problem: std::io::Error| format!("cannot write {}: {problem}", target.shown);
    let Some(name) = target.name.file_name() else {
        return Err(format!("{} is a folder, not a file", target.shown));
    };
    let parent = match target.name.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    target.dir.create_dir_all(parent).map_err(fail)?;
    let folder = target.dir.open_dir(parent).map_err(fail)?;
    let mut file = TempFile::new(&folder).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions).map_err(fail)?;
    }
    file.replace(name).map_err(fail)
}

/// Why `target` cannot be read: there is none, but perhaps one of a similar name.
pub(crate) fn missing(target: &Target) -> String {
    let mut message = format!("{} does not exist", target.shown);
    let similar = similar(target);
    if !similar.is_empty() {
        message.push_str("; is it ");
        message.push_str(&similar.join(" or "));
        message.push('?');
    }
    message
}

/// Paths beside `target` whose names are like its own, the likest first.
fn similar(target: &Target) -> Vec<String> {
    let (Some(name), Some(parent)) = (target.name.file_name(), target.name.parent()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy().to_lowercase();
    let folder = if parent.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        parent.to_path_buf()
    };
    let mut found: Vec<(f64, String)> = names(&target.dir, &folder)
        .into_iter()
        .map(|other| {
            let likeness = strsim::normalized_damerau_levenshtein(&name, &other.to_lowercase());
            (likeness, other)
        })
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let shown_parent = Path::new(&target.shown).parent().unwrap_or(Path::new(""));
    found
        .into_iter()
        .take(PROPOSED)
        .map(|(_, other)| shown(&shown_parent.join(other)))
        .collect()
}

fn names(dir: &Dir, folder: &Path) -> Vec<String> {
    let Ok(entries) = dir.read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
