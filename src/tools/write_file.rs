//! `write_file`: all of a file anew. A file that was there keeps its mode, its byte order mark and its line endings.

use super::file::{self, Content};
use super::{Workspace, WriteFile};
use crate::text::thousands;

const BOM: &[u8] = b"\xef\xbb\xbf";

pub(super) fn run(call: &WriteFile, workspace: &Workspace) -> Result<String, String> {
    let target = workspace.target(&call.path)?;
    let old = file::read(&target)?;
    let mut bytes = call.content.clone().into_bytes();
    let mut notes = String::new();
    if let Some(old) = &old {
        if is_crlf(&old.bytes) && !call.content.contains('\r') && call.content.contains('\n') {
            bytes = call.content.replace('\n', "\r\n").into_bytes();
            notes.push_str(", with its CR LF line endings kept");
        }
        if old.bytes.starts_with(BOM) && !bytes.starts_with(BOM) {
            bytes.splice(..0, BOM.iter().copied());
            notes.push_str(", with its byte order mark kept");
        }
    }
    let permissions = old.as_ref().map(|old: &Content| old.permissions.clone());
    file::replace(&target, &bytes, permissions)?;
    Ok(format!(
        "{} {}: {}, {}{notes}",
        if old.is_some() {
            "replaced"
        } else {
            "wrote new file"
        },
        target.shown,
        counted(call.content.lines().count(), "line"),
        counted(call.content.chars().count(), "character"),
    ))
}

/// Whether every line of `bytes` that ends, ends in CR LF.
fn is_crlf(bytes: &[u8]) -> bool {
    let ends = bytes.split(|byte| *byte == b'\n').count() - 1;
    ends > 0 && bytes.windows(2).filter(|pair| pair == b"\r\n").count() == ends
}

fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", thousands(n), if n == 1 { "" } else { "s" })
}
