//! Events as lines of JSON: the form of `--format json` and of `--events FILE`.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::event::{EVENT_CAPACITY, Envelope, Handle};

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

/// A file that gets each event as a line.
#[derive(Debug)]
pub struct EventLog(File);

impl EventLog {
    /// Begins the file at `path`, for the user only; what was in it goes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map(Self)
    }

    /// Writes one event.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, envelope: &Envelope) -> io::Result<()> {
        self.0.write_all(json_line(envelope)?.as_bytes())
    }

    /// Puts the log between an agent and its front end: the handle that comes back gives the same events, each
    /// written first. The task ends with the agent and gives the first error; after it events go on unwritten.
    ///
    /// Needs a running tokio runtime.
    #[must_use]
    pub fn tee(mut self, handle: Handle) -> (Handle, JoinHandle<io::Result<()>>) {
        let (sender, receiver) = mpsc::channel(EVENT_CAPACITY);
        let Handle {
            commands,
            mut events,
        } = handle;
        let task = tokio::spawn(async move {
            let mut written = Ok(());
            while let Some(envelope) = events.recv().await {
                if written.is_ok() {
                    written = self.write(&envelope);
                }
                // A front end that is gone reads no more, but the file still gets what happens.
                let _ = sender.send(envelope).await;
            }
            written
        });
        let events = receiver;
        (Handle { commands, events }, task)
    }
}
