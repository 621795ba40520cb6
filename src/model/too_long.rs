//! The forms in which servers say that a prompt is too long, and the figures in them.
//!
//! Pure tables. Whether a text is an error at all, and what follows from it, is decided in [`super::errors`].

/// What a rejection says about sizes, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// The prompt; all that was asked for where the prompt is not told apart.
    pub(crate) tokens: Option<u64>,
    /// What the model takes.
    pub(crate) window: Option<u64>,
    /// What was asked for as output, where input and output together were too long.
    pub(crate) output: Option<u64>,
}

impl Figures {
    /// How many tokens of output there is room for, where only input and output together are too long.
    pub(crate) fn room(&self) -> Option<u64> {
        self.output?;
        self.window?.checked_sub(self.tokens?).filter(|&n| n > 0)
    }
}

/// A text that holds all words of one of these, in lower case, says so.
const FORMS: &[&[&str]] = &[
    &["prompt_too_long"],
    &["too many tokens"],
    &["prompt is too long"],
    &["prompt too long"],
    &["exceed context limit"],
    &["request exceeds the maximum size"],
    &["request_too_large"],
    &["request entity too large"],
    &["payload too large"],
    &["extra usage is required for long context"],
    &["input is too long"],
    &["input token count", "exceeds the maximum"],
    &["maximum context length"],
    &["input length", "exceeds the maximum allowed input length"],
    &["input length", "exceeds", "context length"],
    &["context_length_exceeded"],
    &["exceeds the context window"],
    &["context window exceeds limit"],
    &["exceeded model token limit"],
    &["range of input length should be"],
    &["prompt contains", "too large for model"],
    &["maximum prompt length is"],
    &["reduce the length of the messages"],
    &["longer than the model's context length"],
    &["current length is", "while limit is"],
    &["prompt token count of", "exceeds the limit"],
    &["exceed_context_size_error"],
    &["exceeds the available context size"],
    &["tokens to keep from the initial prompt"],
    &["trying to keep the first", "tokens"],
    &["context length is only"],
    &["context length of only"],
    &["exceeded max context length"],
    &["no user query found in messages"],
    &["contextwindowexceedederror"],
    &["`inputs` tokens", "`max_new_tokens`", "must be"],
];

/// Where the model's window stands; `{}` is the number. The first that is found counts.
const WINDOW: &[&str] = &[
    "> {} maximum",
    "> {}",
    "tokens allowed ({})",
    "context length of only {}",
    "context length is only {}",
    "context length of {}",
    "context length is {}",
    "context length ({}",
    "allowed input length of {}",
    "token limit: {}",
    "should be [1, {}]",
    "for model with {} maximum",
    "prompt length is {}",
    "limit is {}",
    "exceeds the limit of {}",
    "context size ({}",
    "must be <= {}",
];

/// Where the prompt's tokens stand, told apart from the output's.
const INPUT: &[&str] = &[
    "{} tokens >",
    "context limit: {} +",
    "input token count ({}",
    "({} of text input",
    "({} in the messages",
    "at least {} input tokens",
    "given: {} `inputs`",
    "input length {}",
    "input length ({})",
    "resulted in {} tokens",
    "prompt contains {} tokens",
    "request contains {}",
    "the input ({} tokens",
    "current length is {}",
    "token count of {}",
    "request ({} tokens",
    "keep the first {} tokens",
];

/// Where the sum of input and output stands.
const TOTAL: &[&str] = &[
    "requested a total of {}",
    "requested about {}",
    "requested {} tokens",
    "(requested: {}",
];

/// Where the output that was asked for stands.
const OUTPUT: &[&str] = &[
    "+ {} >",
    "{} in the output",
    "{} in the completion",
    "requested {} output tokens",
    "and {} `max_new_tokens`",
];

/// What `text` (in lower case) says about sizes; nothing if it does not say that the prompt is too long.
pub(crate) fn recognise(text: &str) -> Option<Figures> {
    FORMS
        .iter()
        .any(|words| words.iter().all(|word| text.contains(word)))
        .then(|| {
            let first = |places: &[&str]| places.iter().find_map(|place| number_at(text, place));
            Figures {
                tokens: first(INPUT).or_else(|| first(TOTAL)),
                window: first(WINDOW),
                output: first(OUTPUT),
            }
        })
}

/// The number at `{}` of `place`, where `text` holds the words around it.
fn number_at(text: &str, place: &str) -> Option<u64> {
    let (before, after) = place.split_once("{}")?;
    if before.is_empty() {
        return text
            .match_indices(after)
            .find_map(|(at, _)| number_before(&text[..at]));
    }
    text.match_indices(before).find_map(|(at, _)| {
        let (number, rest) = number_after(&text[at + before.len()..])?;
        rest.starts_with(after).then_some(number)
    })
}

fn is_digit_or_comma(c: char) -> bool {
    c.is_ascii_digit() || c == ','
}

fn parse(digits: &str) -> Option<u64> {
    digits.replace(',', "").parse().ok()
}

fn number_after(text: &str) -> Option<(u64, &str)> {
    let rest = text.trim_start_matches(is_digit_or_comma);
    let digits = &text[..text.len() - rest.len()];
    let used = digits.trim_end_matches(',').len();
    Some((parse(&text[..used])?, &text[used..]))
}

fn number_before(text: &str) -> Option<u64> {
    let rest = text.trim_end_matches(is_digit_or_comma);
    parse(&text[rest.len()..])
}
