//! `estimate_size`: the one measure of everything that the program counts, compares and shows.
//!
//! It is the length of the message list written as a Python literal. A message is measured once and remembers it.

use std::sync::Arc;

use serde_json::{Map, Value};
use unicode_general_category::{GeneralCategory, get_general_category};

use super::History;
use crate::message::{Content, Message, ResultContent, Role};

/// What the `data` of a base64 source counts, whatever its length.
pub(super) const BASE64_CHARS: usize = 6_000;
/// The bytes of a text that are added up at once: the surplus of each is at most 3, so that their sum fits a byte.
const CHUNK: usize = 64;

/// How many characters `messages` have as a Python literal: the measure of every threshold and figure.
pub fn estimate_size<'a>(messages: impl IntoIterator<Item = &'a Arc<Message>>) -> usize {
    let (count, sum) = messages
        .into_iter()
        .fold((0_usize, 0), |(count, sum), message| {
            (count + 1, sum + message_size(message))
        });
    2 + sum + separators(count)
}

impl History {
    /// [`estimate_size`] of the messages. Costs nothing for text that was measured before.
    #[must_use]
    pub fn size(&self) -> usize {
        estimate_size(self.messages())
    }
}

/// The size of one message of the list, measured at most once.
pub(super) fn message_size(message: &Message) -> usize {
    message.measured(measure)
}

fn measure(message: &Message) -> usize {
    let role = match message.role() {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content = match message.content() {
        Content::Text(text) => Some(string_size(text)),
        Content::Blocks(blocks) => Some(
            2 + separators(blocks.len())
                + blocks
                    .iter()
                    .map(|block| object_size(block.fields()))
                    .sum::<usize>(),
        ),
        Content::Absent => None,
    };
    let entries = 1 + usize::from(content.is_some()) + message.extra().len();
    2 + separators(entries)
        + entry_size("role", string_size(role))
        + content.map_or(0, |size| entry_size("content", size))
        + message
            .extra()
            .iter()
            .map(|(key, value)| entry_size(key, value_size(value)))
            .sum::<usize>()
}

/// How many characters `value` has as a Python literal.
#[must_use]
pub fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => string_size(text),
        Value::Array(values) => list_size(values),
        Value::Object(map) => object_size(map),
    }
}

/// How many characters the content of a result has as a Python literal; 0 where it is absent.
pub(super) fn content_size(content: ResultContent<'_>) -> usize {
    match content {
        ResultContent::Empty => 0,
        ResultContent::Text(text) => string_size(text),
        ResultContent::Blocks(blocks) => list_size(blocks),
        ResultContent::Other(value) => value_size(value),
    }
}

/// Whether `map` is a base64 source, whose `data` counts the same whatever its length.
pub(super) fn is_base64(map: &Map<String, Value>) -> bool {
    map.get("type").and_then(Value::as_str) == Some("base64")
}

fn list_size(values: &[Value]) -> usize {
    2 + separators(values.len()) + values.iter().map(value_size).sum::<usize>()
}

fn object_size(map: &Map<String, Value>) -> usize {
    let base64 = is_base64(map);
    let entries: usize = map
        .iter()
        .map(|(key, value)| {
            let size = match value {
                Value::String(_) if base64 && key == "data" => BASE64_CHARS + 2,
                value => value_size(value),
            };
            entry_size(key, size)
        })
        .sum();
    2 + separators(map.len()) + entries
}

fn entry_size(key: &str, value: usize) -> usize {
    string_size(key) + 2 + value
}

/// The `, ` between `entries` entries.
fn separators(entries: usize) -> usize {
    2 * entries.saturating_sub(1)
}

/// How many characters `text` has as a Python literal, its quotes included.
pub(super) fn string_size(text: &str) -> usize {
    let mut tally = Tally::default();
    let mut rest = text;
    while !rest.is_empty() {
        let ascii = if rest.is_ascii() {
            rest.len() // found in a fraction of the time that looking for the first other byte takes
        } else {
            rest.bytes()
                .position(|byte| !byte.is_ascii())
                .unwrap_or(rest.len())
        };
        tally.add_ascii(&rest.as_bytes()[..ascii]);
        rest = &rest[ascii..];
        let others = rest
            .bytes()
            .position(|byte| byte.is_ascii())
            .unwrap_or(rest.len());
        tally.chars += rest[..others].chars().map(wide_size).sum::<usize>();
        rest = &rest[others..];
    }
    // With both quotes in it the literal is in single quotes and those inside are escaped; else none is.
    let escaped = if tally.double > 0 { tally.single } else { 0 };
    2 + tally.chars + escaped
}

#[derive(Default)]
struct Tally {
    chars: usize,
    single: usize,
    double: usize,
}

impl Tally {
    /// Adds ASCII text in a loop that the compiler can run on many bytes at once.
    fn add_ascii(&mut self, bytes: &[u8]) {
        self.chars += bytes.len();
        for chunk in bytes.chunks(CHUNK) {
            let (mut surplus, mut single, mut double) = (0_u8, 0_u8, 0_u8);
            for &byte in chunk {
                surplus += surplus_of(byte);
                single += u8::from(byte == b'\'');
                double += u8::from(byte == b'"');
            }
            self.chars += usize::from(surplus);
            self.single += usize::from(single);
            self.double += usize::from(double);
        }
    }
}

/// What an ASCII character counts beyond 1; quotes are counted by themselves.
const fn surplus_of(byte: u8) -> u8 {
    let short = byte == b'\n' || byte == b'\r' || byte == b'\t' || byte == b'\\';
    let control = byte < 0x20 || byte == 0x7f;
    if short {
        1
    } else if control {
        3
    } else {
        0
    }
}

/// What a character beyond ASCII counts.
fn wide_size(c: char) -> usize {
    if is_printable(c) {
        return 1;
    }
    match u32::from(c) {
        ..=0xff => 4,
        0x100..=0xffff => 6,
        0x1_0000.. => 10,
    }
}

/// Whether Python prints `c` as it is. The frequent letters are known without a look at the tables.
fn is_printable(c: char) -> bool {
    if matches!(c, '\u{c0}'..='\u{24f}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
    {
        return true;
    }
    !matches!(
        get_general_category(c),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}
