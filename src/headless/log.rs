//! Events as lines of JSON: the form of `--format json` and of `--events FILE`.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::event::Envelope;

/// `envelope` as one line, its newline included.
///
/// JSON itself escapes the control characters up to U+001F; here those up to U+009F and the direction controls are
/// escaped too, so that a line can go to a terminal.
///
/// # Errors
/// If the event has no JSON form.
pub fn json_line(envelope: &Envelope) -> io::Result<String> {
    let mut line = escape_json(serde_json::to_string(envelope)?);
    line.push('\n');
    Ok(line)
}

/// `json` with an escape for each character that a terminal acts on. Such a character can only stand in a string, and
/// there `\u009b` means the same.
#[must_use]
pub fn escape_json(json: String) -> String {
    if !json.contains(is_unsafe) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if is_unsafe(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

fn is_unsafe(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the file at `path` ends within a line; what is no plain file has no end to look at.
fn is_cut_off(path: &Path) -> io::Result<bool> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() || found.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

/// A file that gets each event as a line.
#[derive(Debug)]
pub struct EventLog {
    file: File,
    /// The first error; nothing is written after it.
    failure: Option<io::Error>,
}

impl EventLog {
    /// Opens the file at `path` to go on at its end, behind a line that was cut off if need be; a new one is for the
    /// user only.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        if is_cut_off(path)? {
            file.write_all(b"\n")?;
        }
        Ok(Self {
            file,
            failure: None,
        })
    }

    /// Writes one event. The first error is kept for [`failure`](Self::failure), and nothing is written after it.
    pub fn record(&mut self, envelope: &Envelope) {
        if self.failure.is_none() {
            let written = json_line(envelope).and_then(|line| self.file.write_all(line.as_bytes()));
            self.failure = written.err();
        }
    }

    /// Why the file is not complete, if it is not.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}
