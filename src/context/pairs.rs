//! Where a history may be cut: a call and its result always stay on the same side.

use std::collections::HashMap;

use super::History;
use crate::message::BlockKind;

/// Which message answers which.
pub(super) struct Pairs {
    /// Index of the message with the call, index of the message with its result.
    spans: Vec<(usize, usize)>,
}

impl Pairs {
    /// The pairs of `history`. Where an id occurs twice a result belongs to the nearest call before it.
    pub(super) fn of(history: &History) -> Self {
        let mut calls = HashMap::new();
        let mut spans = Vec::new();
        for (index, message) in history.messages().enumerate() {
            for block in message.blocks() {
                match block.kind() {
                    BlockKind::ToolUse { id, .. } => {
                        calls.insert(id, index);
                    }
                    BlockKind::ToolResult { tool_use_id, .. } => {
                        spans.extend(calls.get(tool_use_id).map(|&call| (call, index)));
                    }
                    BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Other(_) => {}
                }
            }
        }
        Self { spans }
    }

    /// The nearest cut at or before `cut` that parts no pair (`cut` is the index of the first message behind it).
    pub(super) fn back(&self, mut cut: usize) -> usize {
        while let Some(call) = self.parted(cut).map(|(call, _)| call).min() {
            cut = call;
        }
        cut
    }

    /// The nearest cut at or behind `cut` that parts no pair.
    pub(super) fn forward(&self, mut cut: usize) -> usize {
        while let Some(result) = self.parted(cut).map(|(_, result)| result).max() {
            cut = result + 1;
        }
        cut
    }

    fn parted(&self, cut: usize) -> impl Iterator<Item = (usize, usize)> {
        self.spans
            .iter()
            .copied()
            .filter(move |&(call, result)| call < cut && cut <= result)
    }
}
