//! Quotes in typed text: where a quoted passage ends, and parting a text only where nothing is quoted.
//!
//! Knows no order.

/// The characters that quote; one closes what the same one opened.
const QUOTES: [char; 3] = ['"', '`', '\''];

/// The end of the quoted passage that `text` begins with, if it begins with one and that is closed.
fn quoted_end(text: &str) -> Option<usize> {
    let quote = opens_with(text)?;
    // Where a word goes on there is no end: the apostrophe in `it's` closes nothing.
    text.match_indices(quote)
        .skip(1)
        .map(|(at, _)| at + 1)
        .find(|end| !text[*end..].starts_with(char::is_alphanumeric))
}

fn opens_with(text: &str) -> Option<char> {
    text.chars().next().filter(|c| QUOTES.contains(c))
}

/// Whether a quote that stands behind `before` can open a passage.
fn may_open(before: &str) -> bool {
    let last = before.chars().next_back();
    last.is_none_or(|c| c.is_whitespace() || matches!(c, '=' | '(' | ','))
}

/// `text` parted at each of `joints` that `parts` lets part what stands before it and behind it.
pub(super) fn split<'t>(
    text: &'t str,
    joints: &[&str],
    parts: impl Fn(&str, &str) -> bool,
) -> Vec<&'t str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut at = 0;
    // What is not closed behind one place is not closed behind a later one; a long text must not be searched again.
    let mut unclosed = Vec::new();
    while at < text.len() {
        let quote = opens_with(&text[at..]).filter(|quote| !unclosed.contains(quote));
        if let Some(quote) = quote.filter(|_| may_open(&text[..at])) {
            if let Some(length) = quoted_end(&text[at..]) {
                at += length;
                continue;
            }
            unclosed.push(quote);
        }
        let joint = joints
            .iter()
            .find(|joint| text[at..].starts_with(*joint))
            .filter(|joint| parts(&text[start..at], &text[at + joint.len()..]));
        if let Some(joint) = joint {
            out.push(&text[start..at]);
            at += joint.len();
            start = at;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    out.push(&text[start..]);
    out
}

/// `text` before and behind the first `joint` that is not quoted.
pub(super) fn split_once<'t>(text: &'t str, joint: &str) -> Option<(&'t str, &'t str)> {
    let before = *split(text, &[joint], |_, _| true).first()?;
    let behind = text.get(before.len() + joint.len()..)?;
    Some((before, behind))
}

/// `text` before and behind the last `joint` that is not quoted.
pub(super) fn rsplit_once<'t>(text: &'t str, joint: &str) -> Option<(&'t str, &'t str)> {
    let behind = *split(text, &[joint], |_, _| true).last()?;
    let end = (text.len() - behind.len()).checked_sub(joint.len())?;
    Some((&text[..end], behind))
}

/// `text` without the quotes around the whole of it.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    match quoted_end(text) {
        Some(end) if end == text.len() => &text[1..end - 1],
        Some(_) | None => text,
    }
}

/// `text` as one argument, without its quotes; `None` where a quote opens it and another than its end closes it.
pub(super) fn whole(text: &str) -> Option<&str> {
    let text = text.trim();
    match opens_with(text) {
        Some(_) => (quoted_end(text)? == text.len()).then(|| unquoted(text)),
        None => Some(text),
    }
}

/// The first argument in `text`, without its quotes, and what follows; `None` where a quote is not closed.
pub(super) fn argument(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if opens_with(text).is_none() {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return Some((text[..end].trim_end_matches(':'), &text[end..]));
    }
    let end = quoted_end(text)?;
    Some((&text[1..end - 1], text[end..].trim_start_matches(':')))
}

/// The words of a list, quoted ones whole; commas, `and` and articles are no words. `None` where a quote is not closed.
pub(super) fn words(text: &str) -> Option<Vec<&str>> {
    let is_between = |c: char| c.is_whitespace() || c == ',';
    let mut out = Vec::new();
    let mut rest = text.trim_start_matches(is_between);
    while !rest.is_empty() {
        let end = if opens_with(rest).is_some() {
            let end = quoted_end(rest)?;
            out.push(&rest[1..end - 1]);
            end
        } else {
            let end = rest.find(is_between).unwrap_or(rest.len());
            let word = &rest[..end];
            if !matches!(word, "and" | "the" | "file" | "files") {
                out.push(word);
            }
            end
        };
        rest = rest[end..].trim_start_matches(is_between);
    }
    out.retain(|word| !word.is_empty());
    Some(out)
}
