//! From the entries of a log back to the session: the context, the state beside it, and what the user saw.

use std::collections::BTreeSet;

use super::entry::{Appended, Entry, Header, Part, Rewritten, VERSION};
use crate::context::{History, Item, Limits, MessageId, Pause, Stage, Trigger};
use crate::event::{Todo, TurnEnd};

/// Where persisted results lie, as events name it.
const RESULTS: &str = ".task_outputs/tool-results/";

/// A session as its log tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// What it began with.
    pub header: Header,
    /// The context that the model last saw, with the state beside it.
    pub history: History,
    /// The names of persisted results that the program wrote (`toolu_01.txt`).
    pub known: BTreeSet<String>,
    /// The todo list.
    pub todos: Vec<Todo>,
    /// What stage 4 remembers of its last summaries.
    pub pause: Pause,
    /// The pipeline's numbers in force at the end.
    pub limits: Limits,
    /// Everything that the user saw, compacted messages included, in its order.
    pub conversation: Vec<Shown>,
    /// Whether a turn had begun and not ended.
    pub in_turn: bool,
    /// Whether the last line was cut off; it was dropped.
    pub torn: bool,
}

/// Something that the user saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A turn began.
    TurnStarted {
        /// The request as typed.
        request: String,
    },
    /// The context grew by a message.
    Message(Item),
    /// A stage rewrote the context.
    Rewritten {
        /// The model call that it preceded.
        call: u64,
        /// Which.
        stage: Stage,
        /// What asked for it.
        trigger: Trigger,
        /// `estimate_size` before.
        size_before: usize,
        /// `estimate_size` after.
        size_after: usize,
        /// The messages that it changed or wrote.
        put: Vec<Item>,
        /// Files that it wrote, relative to the workspace.
        files: Vec<String>,
        /// The transcript that it wrote, relative to the workspace.
        transcript: Option<String>,
    },
    /// A turn ended.
    TurnFinished {
        /// How.
        end: TurnEnd,
        /// What went wrong, if anything.
        error: Option<String>,
    },
}

/// Why a text is no session log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// It does not begin with a header.
    #[error("this is no session log: its first line is not a header")]
    NoHeader,
    /// A later program wrote it.
    #[error(
        "this session log has version {0}, and this program reads up to {VERSION}; use a newer one"
    )]
    Version(u32),
    /// A line other than the last cannot be read.
    #[error("line {line} of the session log is damaged: {reason}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// Builds a session again from the text of its log.
///
/// # Errors
/// If the text has no header, or a line that is whole is no entry. A last line that was cut off is dropped.
pub fn fold(text: &str) -> Result<Folded, FoldError> {
    let (whole, rest) = text
        .rfind('\n')
        .map_or(("", text), |at| text.split_at(at + 1));
    let mut lines = whole.lines().enumerate();
    let header = match lines.next().map(|(_, line)| serde_json::from_str(line)) {
        Some(Ok(Entry::Header(header))) => *header,
        _ => return Err(FoldError::NoHeader),
    };
    if header.version > VERSION {
        return Err(FoldError::Version(header.version));
    }
    let mut folded = Folded {
        limits: header.limits.clone(),
        header,
        history: History::new(),
        known: BTreeSet::new(),
        todos: Vec::new(),
        pause: Pause::default(),
        conversation: Vec::new(),
        in_turn: false,
        torn: !rest.is_empty(),
    };
    for (at, line) in lines {
        serde_json::from_str(line)
            .map_err(|error| error.to_string())
            .and_then(|entry| folded.take(entry))
            .map_err(|reason| FoldError::Line {
                line: at + 1,
                reason,
            })?;
    }
    Ok(folded)
}

impl Folded {
    fn take(&mut self, entry: Entry) -> Result<(), String> {
        match entry {
            Entry::Header(_) => return Err("a second header".to_owned()),
            Entry::Message(appended) => self.append(appended),
            Entry::Rewrite(rewritten) => self.rewrite(*rewritten)?,
            Entry::File(name) => {
                self.known.insert(name);
            }
            Entry::Todos(todos) => self.todos = todos,
            Entry::Pause(pause) => self.pause = pause,
            Entry::Limits { limits, .. } => self.limits = *limits,
            Entry::TurnStarted { request } => {
                self.in_turn = true;
                // A new request wakes stage 4.
                self.pause.reset();
                self.conversation.push(Shown::TurnStarted { request });
            }
            Entry::TurnFinished { end, error } => {
                self.in_turn = false;
                self.conversation.push(Shown::TurnFinished { end, error });
            }
        }
        Ok(())
    }

    fn append(&mut self, appended: Appended) {
        let history = &mut self.history;
        let item = Item {
            id: appended.id,
            message: appended.message,
        };
        if appended.request {
            history.request = Some(item.message.text().unwrap_or_default());
            history.request_at = Some(history.len());
        }
        history.next_id = item.id.0.saturating_add(1);
        history.items.push(item.clone());
        if let Some(state) = appended.state {
            state.apply(history);
        }
        self.conversation.push(Shown::Message(item));
    }

    fn rewrite(&mut self, rewritten: Rewritten) -> Result<(), String> {
        let mut items = Vec::new();
        let mut put = Vec::new();
        for part in &rewritten.context {
            match part {
                Part::Keep { from, to } => items.extend_from_slice(self.run(*from, *to)?),
                Part::Put(logged) => {
                    items.push(logged.item());
                    put.push(logged.item());
                }
            }
        }
        self.history.items = items;
        rewritten.state.apply(&mut self.history);
        let names = rewritten
            .files
            .iter()
            .filter_map(|file| file.strip_prefix(RESULTS));
        self.known.extend(names.map(ToOwned::to_owned));
        self.conversation.push(Shown::Rewritten {
            call: rewritten.call,
            stage: rewritten.stage,
            trigger: rewritten.trigger,
            size_before: rewritten.size_before,
            size_after: rewritten.size_after,
            put,
            files: rewritten.files,
            transcript: rewritten.transcript,
        });
        Ok(())
    }

    /// The messages from one number to another in the context as it stands.
    fn run(&self, from: MessageId, to: MessageId) -> Result<&[Item], String> {
        let place = |id: MessageId| {
            let at = self.history.items.iter().position(|item| item.id == id);
            at.ok_or_else(|| format!("{id} is kept, but is not in the context before"))
        };
        self.history
            .items
            .get(place(from)?..=place(to)?)
            .ok_or_else(|| format!("{from} to {to} is no run of messages"))
    }
}
