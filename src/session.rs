//! The session log: append-only JSONL from which a session can be built again exactly as it was.
//!
//! One entry a line: the header, each message as it was appended, each rewrite of the context, and the state beside
//! them. [`fold`] gives back the history that the model last saw and everything that the user saw.

mod entry;
mod fold;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{Timestamp, ZonedDateTime};

use crate::context::{History, Item, Limits, Pause, Profile};
use crate::event::{StageReport, Todo, TurnEnd};
use crate::store::Store;
use entry::{Appended, Entry, Part, Rewritten, State};

pub use entry::{Header, Logged, TaskOf};
pub use fold::{FoldError, Folded, Shown, fold};

/// How often another id is drawn when one is taken.
const ID_TRIES: u32 = 20;

/// A session's log, open for more entries.
///
/// An entry that could not be written is kept and goes out before the next one, so that a full disk that is cleared
/// again leaves no gap. A rewrite is not: it happens with its entry or not at all. What waits is therefore no more than
/// the messages themselves.
pub struct Session {
    store: Arc<dyn Store>,
    name: String,
    header: Header,
    /// The state beside the messages that [`fold`] has after the entries so far.
    state: State,
    /// Lines that the store has not taken yet.
    pending: String,
}

impl Header {
    /// The header of a session that begins now.
    #[must_use]
    pub fn new(workspace: String, model: String, profile: Profile, limits: Limits) -> Self {
        let now = ZonedDateTime::now();
        Self {
            version: entry::VERSION,
            session: draw_id(&now),
            created: now.timestamp(),
            workspace,
            model,
            profile,
            limits,
            task: None,
        }
    }
}

/// `2026-12-01T1405-k3x9`: the minute, so that names sort, and four characters, so that two in a minute differ.
fn draw_id(now: &ZonedDateTime) -> String {
    let mut id = now.strftime("%Y-%m-%dT%H%M-").to_string();
    id.extend((0..4).map(|_| {
        fastrand::choice(b"0123456789abcdefghijklmnopqrstuvwxyz").map_or('0', |c| char::from(*c))
    }));
    id
}

/// The name of a session's log in its store.
#[must_use]
pub fn log_name(id: &str) -> String {
    format!("{id}.jsonl")
}

impl Session {
    /// Begins a log; another id is drawn if that of `header` is taken.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn create(store: Arc<dyn Store>, mut header: Header) -> io::Result<Self> {
        let mut tries = 1;
        loop {
            let name = log_name(&header.session);
            match store.put(&name, &line(&Entry::Header(Box::new(header.clone())))?) {
                Ok(()) => {
                    return Ok(Self {
                        store,
                        name,
                        header,
                        state: State::default(),
                        pending: String::new(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < ID_TRIES => {
                    tries += 1;
                    header.created = Timestamp::now();
                    header.session = draw_id(&ZonedDateTime::now());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.header.session
    }

    /// Where the log can be found by a person; `None` where it is in memory only.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        self.store.path(&self.name)
    }

    /// Begins the log of the subagent of the `task` call `id`.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn child(&self, id: &str, limits: &Limits) -> io::Result<Self> {
        let now = ZonedDateTime::now();
        let header = Header {
            session: draw_id(&now),
            created: now.timestamp(),
            limits: limits.clone(),
            task: Some(TaskOf {
                session: self.header.session.clone(),
                call: id.to_owned(),
            }),
            ..self.header.clone()
        };
        Self::create(Arc::clone(&self.store), header)
    }

    /// `item` has just been appended to `history` as its last message.
    ///
    /// # Errors
    /// If the log cannot be written to; the entry goes out with the next one.
    pub fn message(&mut self, item: &Item, history: &History) -> io::Result<()> {
        let at = history.len().saturating_sub(1);
        let request = history.request_at == Some(at);
        self.state.append(item, at, request);
        let state = (!self.state.is_that_of(history)).then(|| self.state.change_to(history));
        self.write(&Entry::Message(Appended {
            id: item.id,
            request,
            message: Arc::clone(&item.message),
            state,
        }))
    }

    /// A stage puts `report.after` in the place of `report.before`, if this can be written.
    ///
    /// # Errors
    /// If the log cannot be written to. Then the entry is forgotten, not kept for later: nothing may be replaced without
    /// its entry on disk, so the rewrite must not happen either.
    pub fn rewrite(&mut self, report: &StageReport) -> io::Result<()> {
        let (state_before, pending_before) = (self.state.clone(), self.pending.len());
        let state = self.state.change_to(&report.after);
        let written = self.write(&Entry::Rewrite(Box::new(Rewritten {
            call: report.call,
            stage: report.stage,
            trigger: report.trigger,
            size_before: report.size_before,
            size_after: report.size_after,
            context: parts(&report.before, &report.after),
            files: report.files.clone(),
            transcript: report.transcript.clone(),
            state,
        })));
        if written.is_err() {
            self.state = state_before;
            self.pending.truncate(pending_before);
        }
        written
    }

    /// `name` (`toolu_01.txt`) in the folder of persisted results holds what the program wrote: also where no rewrite
    /// lists it.
    ///
    /// # Errors
    /// If the log cannot be written to; the entry goes out with the next one.
    pub fn known_file(&mut self, name: &str) -> io::Result<()> {
        self.write(&Entry::File(name.to_owned()))
    }

    /// The todo list is now `todos`.
    ///
    /// # Errors
    /// If the log cannot be written to; the entry goes out with the next one.
    pub fn todos(&mut self, todos: &[Todo]) -> io::Result<()> {
        self.write(&Entry::Todos(todos.to_vec()))
    }

    /// What stage 4 remembers of its last summaries is now `pause`.
    ///
    /// # Errors
    /// If the log cannot be written to; the entry goes out with the next one.
    pub fn pause(&mut self, pause: Pause) -> io::Result<()> {
        self.write(&Entry::Pause(pause))
    }

    /// The pipeline's numbers are now `limits`.
    ///
    /// # Errors
    /// If the log cannot be written to; the entry goes out with the next one.
    pub fn limits(&mut self, limits: &Limits, reason: &str) -> io::Result<()> {
        self.write(&Entry::Limits {
            limits: Box::new(limits.clone()),
            reason: reason.to_owned(),
        })
    }

    /// A turn begins.
    ///
    /// # Errors
    /// If the log cannot be written to; the entry goes out with the next one.
    pub fn turn_started(&mut self, request: &str) -> io::Result<()> {
        self.write(&Entry::TurnStarted {
            request: request.to_owned(),
        })
    }

    /// The turn ended.
    ///
    /// # Errors
    /// If the log cannot be written to; the entry goes out with the next one.
    pub fn turn_finished(&mut self, end: TurnEnd, error: Option<&str>) -> io::Result<()> {
        self.write(&Entry::TurnFinished {
            end,
            error: error.map(ToOwned::to_owned),
        })
    }

    /// Writes what the store has not taken yet, if there is any.
    ///
    /// # Errors
    /// If the log still cannot be written to.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.store.append(&self.name, &self.pending)?;
        self.pending.clear();
        Ok(())
    }

    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        self.pending.push_str(&line(entry)?);
        self.flush()
    }
}

fn line(entry: &Entry) -> io::Result<String> {
    let mut line = serde_json::to_string(entry)?;
    line.push('\n');
    Ok(line)
}

/// `after` in terms of `before`: runs of messages that stayed the same pointer, and the others whole.
fn parts(before: &History, after: &History) -> Vec<Part> {
    let places: HashMap<_, usize> = before
        .items
        .iter()
        .enumerate()
        .map(|(at, item)| (item.id, at))
        .collect();
    let mut parts = Vec::new();
    let mut next_of_run = None;
    for item in &after.items {
        let place = places
            .get(&item.id)
            .copied()
            .filter(|at| Arc::ptr_eq(&before.items[*at].message, &item.message));
        match (place, parts.last_mut()) {
            (Some(at), Some(Part::Keep { to, .. })) if next_of_run == Some(at) => *to = item.id,
            (Some(_), _) => parts.push(Part::Keep {
                from: item.id,
                to: item.id,
            }),
            (None, _) => parts.push(Part::Put(Logged::of(item))),
        }
        next_of_run = place.map(|at| at + 1);
    }
    parts
}

#[cfg(test)]
mod tests;
