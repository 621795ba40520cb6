//! The context as the screen mirrors it: one cell a message with its parts by kind, and what became of every message.

use std::collections::HashMap;

use super::run::Changed;
use crate::context::{
    History, Item, Kind, MessageId, Parts, RESULTS_DIR, Saved, Stage, Touched, letter,
};

/// What the model still sees of something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// All of it.
    Full,
    /// The start of it; the rest is on disk.
    Preview,
    /// A note that there was something.
    Placeholder,
    /// It is a summary that the program wrote.
    Summary,
    /// Nothing but what a summary says of it.
    Summarised,
    /// Nothing: it was snipped.
    Snipped,
    /// Nothing, or not yet: the context does not hold it.
    Gone,
}

/// One message of the context, measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    /// Its number.
    pub(crate) id: MessageId,
    /// Its characters by kind.
    pub(crate) parts: Parts,
    /// The kind that it is mostly made of, the frame left out: its letter.
    pub(crate) kind: Kind,
    /// Its letter on the map.
    pub(crate) letter: char,
    /// Whether it is a snip marker.
    pub(crate) marker: bool,
    /// Whether a result in it was replaced by a note before the model had read it.
    pub(crate) unseen: bool,
}

/// What is worth a mark below a message's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `!`: replaced before the model saw it.
    Unseen,
    /// `~`: a snip marker.
    Marker,
    /// `n`: the request before the last one did not have it.
    New,
    /// `h`: a first message that snips keep.
    Head,
}

impl Mark {
    /// The sign on the map.
    #[must_use]
    pub(crate) fn sign(self) -> char {
        match self {
            Self::Unseen => '!',
            Self::Marker => '~',
            Self::New => 'n',
            Self::Head => 'h',
        }
    }
}

/// What became of a block of a message that is still in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fade {
    block: usize,
    kind: Kind,
    unread: bool,
}

/// The context: the same items as the agent's, shared, and what is known of each.
#[derive(Debug, Default)]
pub(crate) struct Context {
    history: History,
    cells: Vec<Cell>,
    at: HashMap<MessageId, usize>,
    fades: HashMap<MessageId, Vec<Fade>>,
    /// What became of messages that left; the only thing here that grows with the session, by a few bytes each.
    left: HashMap<MessageId, Sight>,
    /// What the messages hold together, without the list around them.
    parts: Parts,
    size: usize,
    /// The persisted results that this session is known to have written, by name.
    saved: Saved,
    /// First number that the newest request, and the one before it, did not have.
    sent: [u32; 2],
}

impl Context {
    /// Starts with the history of a session, empty or resumed.
    pub(super) fn start(&mut self, history: &History) {
        *self = Self {
            sent: [history.next_id; 2],
            ..Self::default()
        };
        self.take(history);
        self.size = history.size();
    }

    /// Adds a message at the end; `size` is that of the whole context then.
    pub(super) fn append(&mut self, item: Item, size: usize) {
        let at = self.history.items.len();
        let cell = self.cell(&item, at, &self.history);
        self.parts += cell.parts;
        self.at.insert(item.id, at);
        self.history.next_id = self.history.next_id.max(item.id.0 + 1);
        self.history.items.push(item);
        self.cells.push(cell);
        self.size = size;
    }

    /// Takes the history that a stage left behind; says how many messages are gone, snip markers not counted.
    pub(super) fn rewrite(
        &mut self,
        stage: Stage,
        (touched, files): (&[Touched], &[String]),
        after: &History,
    ) -> usize {
        let names = files
            .iter()
            .filter_map(|file| file.strip_prefix(RESULTS_DIR));
        for name in names {
            // Only the name counts here; what stands in the file is the agent's matter.
            self.saved.record(name, "");
        }
        for change in touched {
            self.fade(stage, change);
        }
        let sight = match stage {
            Stage::SnipCompact => Sight::Snipped,
            Stage::CompactHistory | Stage::ReactiveCompact => Sight::Summarised,
            Stage::ToolResultBudget | Stage::MicroCompact | Stage::FitResults => Sight::Gone,
        };
        let before = std::mem::take(&mut self.at);
        let markers = std::mem::take(&mut self.history.markers);
        self.take(after);
        let mut gone = 0;
        for (id, at) in before {
            if !self.at.contains_key(&id) {
                self.left.insert(id, sight);
                self.fades.remove(&id);
                gone += usize::from(!markers.contains_key(&at));
            }
        }
        gone
    }

    /// Sets the size that the agent measured after a rewrite.
    pub(super) fn set_size(&mut self, size: usize) {
        self.size = size;
    }

    /// Notes that a request with all that is here went out.
    pub(super) fn sent(&mut self) {
        self.sent = [self.history.next_id, self.sent[0]];
    }

    fn fade(&mut self, stage: Stage, change: &Touched) {
        let fade = Fade {
            block: change.block,
            kind: Changed::kind_after(stage),
            unread: change.unread,
        };
        let fades = self.fades.entry(change.id).or_default();
        match fades.iter_mut().find(|known| known.block == fade.block) {
            Some(known) => *known = fade,
            None => fades.push(fade),
        }
    }

    /// Takes over `history`; a message that is the same pointer keeps its cell.
    fn take(&mut self, history: &History) {
        let old: HashMap<MessageId, (Item, Cell)> = std::mem::take(&mut self.history.items)
            .into_iter()
            .zip(std::mem::take(&mut self.cells))
            .map(|(item, cell)| (item.id, (item, cell)))
            .collect();
        self.parts = Parts::default();
        self.at.clear();
        for (at, item) in history.items.iter().enumerate() {
            let same = old.get(&item.id).filter(|(was, cell)| {
                std::sync::Arc::ptr_eq(&was.message, &item.message)
                    && cell.marker == history.markers.contains_key(&at)
                    && (at > 0 || (cell.kind == Kind::Summary) == history.compacted)
            });
            let cell = match same {
                Some((_, cell)) => cell.clone(),
                None => self.cell(item, at, history),
            };
            self.parts += cell.parts;
            self.at.insert(item.id, at);
            self.cells.push(cell);
        }
        self.history = history.clone();
    }
}

/// Looking at it.
impl Context {
    /// `estimate_size` of all of it, as the agent measured it.
    #[must_use]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Its characters by kind, in stack order; they add up to [`Context::size`].
    #[must_use]
    pub(crate) fn by_kind(&self) -> [usize; 8] {
        // The brackets of the list and the commas between the messages are frame too.
        let list = 2 + 2 * self.cells.len().saturating_sub(1);
        Kind::ALL.map(|kind| match kind {
            Kind::Frame => self.parts.get(kind) + list,
            Kind::Summary
            | Kind::User
            | Kind::Assistant
            | Kind::Calls
            | Kind::Results
            | Kind::Previews
            | Kind::Placeholders => self.parts.get(kind),
        })
    }

    /// How many messages.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The messages as the agent has them.
    #[must_use]
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// The messages, measured.
    #[must_use]
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Where the message of that number stands.
    #[must_use]
    pub(crate) fn position(&self, id: MessageId) -> Option<usize> {
        self.at.get(&id).copied()
    }

    /// What the model still sees of a block of a message (block 0 of a message of one string).
    #[must_use]
    pub(crate) fn sight(&self, id: MessageId, block: usize) -> Sight {
        let Some(&at) = self.at.get(&id) else {
            return self.left.get(&id).copied().unwrap_or(Sight::Gone);
        };
        if at == 0 && self.history.compacted {
            return Sight::Summary;
        }
        let fade = self
            .fades
            .get(&id)
            .and_then(|fades| fades.iter().find(|fade| fade.block == block));
        match fade.map(|fade| fade.kind) {
            Some(Kind::Previews) => Sight::Preview,
            Some(Kind::Placeholders) => Sight::Placeholder,
            Some(
                Kind::Summary
                | Kind::User
                | Kind::Assistant
                | Kind::Calls
                | Kind::Results
                | Kind::Frame,
            )
            | None => Sight::Full,
        }
    }

    /// The mark below the letter of the message at `at`.
    #[must_use]
    pub(crate) fn mark(&self, at: usize) -> Option<Mark> {
        let cell = self.cells.get(at)?;
        let head = self.history.markers.keys().next().copied().unwrap_or(0);
        if cell.unseen {
            Some(Mark::Unseen)
        } else if cell.marker {
            Some(Mark::Marker)
        } else if cell.id.0 >= self.sent[1] {
            Some(Mark::New)
        } else {
            (at < head).then_some(Mark::Head)
        }
    }

    fn cell(&self, item: &Item, at: usize, history: &History) -> Cell {
        let fades = self.fades.get(&item.id).map_or(&[][..], Vec::as_slice);
        let marker = history.markers.contains_key(&at);
        // Alone in a history it is measured alone: what a message costs must not grow with those before it.
        let alone = History {
            items: vec![item.clone()],
            markers: history
                .markers
                .get(&at)
                .map(|n| (0, *n))
                .into_iter()
                .collect(),
            compacted: at == 0 && history.compacted,
            ..History::default()
        };
        let parts = Parts::of_message(&alone, &self.saved, 0);
        let letter = letter(&alone, &self.saved, 0);
        Cell {
            id: item.id,
            kind: kind_of(letter),
            letter,
            parts,
            marker,
            unseen: fades
                .iter()
                .any(|fade| fade.unread && fade.kind == Kind::Placeholders),
        }
    }
}

/// The kind that a letter of the map stands for; a marker's characters count as placeholders.
fn kind_of(letter: char) -> Kind {
    Kind::ALL
        .into_iter()
        .find(|kind| kind.letter() == letter)
        .unwrap_or(Kind::Placeholders)
}
