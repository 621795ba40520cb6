//! What calls took in tokens, as servers count them: never guessed, `-` where nobody said.

use std::fmt::Write as _;

use crate::message::Usage;
use crate::text::thousands;

/// All tokens of a request, read from the cache or not; `None` where the server said nothing of it.
#[must_use]
pub(crate) fn input_tokens(usage: &Usage) -> Option<u64> {
    let parts = [
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    ];
    parts.into_iter().flatten().reduce(u64::saturating_add)
}

/// `15,103 in (12,000 cached) / 318 out`; `-` for what is not known.
#[must_use]
pub(crate) fn tokens(usage: &Usage) -> String {
    let figure = |tokens: Option<u64>| {
        tokens.map_or_else(
            || "-".to_owned(),
            |tokens| thousands(usize::try_from(tokens).unwrap_or(usize::MAX)),
        )
    };
    let cached = match usage.cache_read_input_tokens {
        Some(_) => format!(" ({} cached)", figure(usage.cache_read_input_tokens)),
        None => String::new(),
    };
    format!(
        "{} in{cached} / {} out",
        figure(input_tokens(usage)),
        figure(usage.output_tokens)
    )
}

/// `3.7 chars/token`.
#[must_use]
pub(crate) fn chars_per_token(chars: usize, tokens: u64) -> String {
    let tenths = (chars as u64 * 10 + tokens / 2) / tokens.max(1);
    format!("{}.{} chars/token", tenths / 10, tenths % 10)
}

/// The row of a reply's usage; `None` where the server said nothing. `sent` is all characters of the request.
#[must_use]
pub(crate) fn usage(usage: &Usage, sent: Option<usize>) -> Option<String> {
    let input = input_tokens(usage);
    if input.is_none() && usage.output_tokens.is_none() {
        return None;
    }
    let mut text = format!("{} tokens", tokens(usage));
    if let (Some(sent), Some(tokens @ 1..)) = (sent, input) {
        let _ = write!(text, " = {}", chars_per_token(sent, tokens));
    }
    Some(text)
}
