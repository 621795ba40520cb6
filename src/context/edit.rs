//! Putting shorter texts in the place of results: what stages 1 and 3, the fit guard and the recovery have in common.

use std::sync::Arc;

use super::persisted::{self, Persisted};
use super::results::ResultRef;
use super::saved::Shelf;
use super::{Guards, History, Rewrite, Save, Touched};
use crate::text;

/// A result that gets another text.
pub(super) struct Edit {
    touched: Touched,
    text: String,
}

impl Edit {
    /// `text` in the place of `result`; `None` if it is not shorter.
    pub(super) fn shorter(result: &ResultRef<'_>, text: String) -> Option<Self> {
        let chars_after = text.chars().count();
        if chars_after >= result.chars {
            return None;
        }
        Some(Self {
            touched: Touched {
                message: result.message,
                id: result.id,
                block: result.block,
                chars_before: result.chars,
                chars_after,
                unread: result.unread,
            },
            text,
        })
    }

    /// Characters that the result holds less.
    pub(super) fn saving(&self) -> usize {
        self.touched.chars_before - self.touched.chars_after
    }

    /// The new text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Persists `result` with a preview of `preview` characters. `None` where it holds anything but text, is persisted already,
/// could not be written before, or would not get shorter.
pub(super) fn persist(
    result: &ResultRef<'_>,
    shelf: &mut Shelf<'_>,
    preview: usize,
) -> Option<Edit> {
    if result.is_refused(shelf.saved()) || result.persisted(shelf.saved()).is_some() {
        return None;
    }
    let full = result.text()?;
    let place = shelf.find(result.tool_use_id, &full);
    let short = persisted::render(&Persisted {
        chars: result.chars,
        name: &place.name,
        preview: text::head(&full, preview),
    });
    let edit = Edit::shorter(result, short)?;
    shelf.put(place, &full, result);
    Some(edit)
}

/// `history` with `edits` made; messages that none of them touches stay the same pointers.
pub(super) fn carry_out(
    history: &History,
    mut edits: Vec<Edit>,
    saves: Vec<Save>,
    guards: Guards,
) -> Rewrite {
    edits.sort_by_key(|edit| (edit.touched.message, edit.touched.block));
    let mut after = history.clone();
    for group in edits.chunk_by(|a, b| a.touched.message == b.touched.message) {
        let index = group[0].touched.message;
        let before = &history.items[index].message;
        let mut blocks = before.blocks().to_vec();
        for edit in group {
            let block = &mut blocks[edit.touched.block];
            *block = block.with_result_text(edit.text.as_str());
        }
        after.items[index].message = Arc::new(before.with_blocks(blocks));
    }
    Rewrite {
        history: after,
        touched: edits.into_iter().map(|edit| edit.touched).collect(),
        saves,
        guards,
    }
}
