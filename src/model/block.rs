//! One block on its way in, and what makes the parts of a call valid.
//!
//! Pure. Which event does what to a block stands in [`super::decode`].

use std::collections::HashSet;

use serde_json::{Map, Value};

/// A block that is not complete yet.
#[derive(Debug, Default)]
pub(crate) struct Open {
    pub(crate) fields: Map<String, Value>,
    /// The text so far: of a text, of reasoning, or the content of a compaction.
    pub(crate) text: String,
    /// The signature of reasoning.
    pub(crate) signature: String,
    /// The pieces of a call's input.
    pub(crate) json: String,
}

impl Open {
    /// A block that begins with these fields.
    pub(crate) fn new(fields: Map<String, Value>) -> Self {
        let begun = |key: &str| string_at(&fields, key).to_owned();
        Self {
            text: text_key(kind_of(&fields)).map(begun).unwrap_or_default(),
            signature: begun("signature"),
            json: String::new(),
            fields,
        }
    }

    /// The block's fields, with what came in pieces put where it belongs.
    pub(crate) fn into_fields(mut self) -> Map<String, Value> {
        let mut put = |key: &str, text: String| {
            if !text.is_empty() || self.fields.get(key).is_some_and(Value::is_string) {
                self.fields.insert(key.to_owned(), Value::String(text));
            }
        };
        put("signature", self.signature);
        if let Some(key) = text_key(kind_of(&self.fields)) {
            self.fields.insert(key.to_owned(), Value::String(self.text));
        }
        self.fields
    }
}

/// The field that a block of that type collects text in.
fn text_key(kind: &str) -> Option<&'static str> {
    match kind {
        "text" => Some("text"),
        "thinking" => Some("thinking"),
        "compaction" => Some("content"),
        _ => None,
    }
}

/// `id` if the API takes it and the conversation has no such call yet, else one made from it; it counts as taken then.
pub(crate) fn free_id(id: &str, taken: &mut HashSet<String>) -> String {
    let mut base: String = id.chars().map(word_or_underscore).collect();
    if base.is_empty() {
        base.push_str("call");
    }
    let mut free = base.clone();
    let mut n = 2_u32;
    while !taken.insert(free.clone()) {
        free = format!("{base}_{n}");
        n += 1;
    }
    free
}

/// `name` as the API takes it back; a name that had to be changed is one that no tool has.
pub(crate) fn valid_name(name: &str) -> String {
    let name: String = name.chars().take(64).map(word_or_underscore).collect();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}

fn word_or_underscore(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '-' {
        c
    } else {
        '_'
    }
}

/// A call's input, or nothing where it is no JSON object; and the text that it was read from.
pub(crate) fn input_of(
    at_start: Option<&Value>,
    json: &str,
) -> (Option<Map<String, Value>>, String) {
    let raw = match at_start {
        Some(Value::String(text)) if json.trim().is_empty() => text,
        _ => json,
    };
    if !raw.trim().is_empty() {
        return (serde_json::from_str(raw).ok(), raw.to_owned());
    }
    let input = match at_start {
        Some(Value::Object(input)) => input.clone(),
        _ => Map::new(),
    };
    (Some(input), raw.to_owned())
}

/// The block's type.
pub(crate) fn kind_of(fields: &Map<String, Value>) -> &str {
    string_at(fields, "type")
}

/// The string in the field `key`; empty where there is none.
pub(crate) fn string_at<'a>(fields: &'a Map<String, Value>, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}
