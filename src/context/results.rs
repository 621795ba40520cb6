//! The tool results of a history: where each stands, how large it is, and whether the model has read it.

use std::borrow::Cow;

use serde_json::Value;

use super::persisted::{self, Persisted};
use super::size::content_size;
use super::{History, MessageId, Saved};
use crate::message::{BlockKind, Message, ResultContent, ResultSize, Role};

/// One tool result of a history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultRef<'a> {
    /// Index of the message.
    pub message: usize,
    /// Number of the message.
    pub id: MessageId,
    /// Index of the block in it.
    pub block: usize,
    /// The id of the call that it answers.
    pub tool_use_id: &'a str,
    /// What it holds.
    pub content: ResultContent<'a>,
    /// Characters of its text; the `estimate_size` of its content where it holds anything but text.
    pub chars: usize,
    /// Whether it holds nothing but text.
    pub is_text: bool,
    /// Whether no assistant message follows it: the model has not seen it yet.
    pub unread: bool,
}

/// All results of `history` in their order. Sizes are measured at most once for each message.
pub fn results(history: &History) -> impl DoubleEndedIterator<Item = ResultRef<'_>> {
    let read = last_reply(history).map_or(0, |reply| reply + 1);
    history
        .items
        .iter()
        .enumerate()
        .flat_map(move |(index, item)| {
            let sizes = item.message.result_sizes(measure_results);
            sizes.iter().filter_map(move |size| {
                let BlockKind::ToolResult {
                    tool_use_id,
                    content,
                    ..
                } = item.message.blocks().get(size.block)?.kind()
                else {
                    return None;
                };
                Some(ResultRef {
                    message: index,
                    id: item.id,
                    block: size.block,
                    tool_use_id,
                    content,
                    chars: size.chars,
                    is_text: size.is_text,
                    unread: index >= read,
                })
            })
        })
}

/// The results that the model has not read, in their order.
pub fn unread(history: &History) -> impl DoubleEndedIterator<Item = ResultRef<'_>> {
    results(history).filter(|result| result.unread)
}

/// Index of the last assistant message.
pub(super) fn last_reply(history: &History) -> Option<usize> {
    history
        .items
        .iter()
        .rposition(|item| item.message.role() == Role::Assistant)
}

impl<'a> ResultRef<'a> {
    /// Its text; `None` where it holds anything but text.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'a, str>> {
        if !self.is_text {
            return None;
        }
        Some(match self.content {
            ResultContent::Text(text) => Cow::Borrowed(text),
            ResultContent::Blocks([]) | ResultContent::Empty | ResultContent::Other(_) => {
                Cow::Borrowed("")
            }
            ResultContent::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(block_text).collect();
                Cow::Owned(texts.join("\n"))
            }
        })
    }

    /// What was persisted in its place, if the program wrote the file.
    #[must_use]
    pub fn persisted(&self, saved: &Saved) -> Option<Persisted<'a>> {
        match self.content {
            ResultContent::Text(text) => persisted::parse(text, self.chars)
                .filter(|persisted| saved.is_known(persisted.name)),
            ResultContent::Empty | ResultContent::Blocks(_) | ResultContent::Other(_) => None,
        }
    }

    /// Whether its file could not be written, so that it stays whole.
    pub(super) fn is_refused(&self, saved: &Saved) -> bool {
        saved.refused.contains(&(self.id, self.block))
    }
}

fn measure_results(message: &Message) -> Box<[ResultSize]> {
    message
        .blocks()
        .iter()
        .enumerate()
        .filter_map(|(block, found)| match found.kind() {
            BlockKind::ToolResult { content, .. } => Some((block, content)),
            _ => None,
        })
        .map(|(block, content)| {
            let text = text_chars(content);
            ResultSize {
                block,
                chars: text.unwrap_or_else(|| content_size(content)),
                is_text: text.is_some(),
            }
        })
        .collect()
}

/// The characters of a result's text; `None` where it holds anything but text.
fn text_chars(content: ResultContent<'_>) -> Option<usize> {
    match content {
        ResultContent::Empty => Some(0),
        ResultContent::Text(text) => Some(text.chars().count()),
        ResultContent::Blocks(blocks) => blocks
            .iter()
            .map(|block| block_text(block).map(|text| text.chars().count()))
            .sum::<Option<usize>>()
            .map(|chars| chars + blocks.len().saturating_sub(1)),
        ResultContent::Other(_) => None,
    }
}

fn block_text(block: &Value) -> Option<&str> {
    match block.get("type").and_then(Value::as_str) {
        Some("text") => block.get("text").and_then(Value::as_str),
        _ => None,
    }
}
