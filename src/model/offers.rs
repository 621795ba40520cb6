//! What a server says it offers: the answer to `/v1/models`, in the forms of several servers.
//!
//! Pure.

use serde_json::Value;

use super::explain::line;

/// How many names are told.
const NAMES: usize = 8;
/// The longest name that is told, in characters.
const LONGEST: usize = 80;

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Its name.
    pub(crate) id: String,
    /// How many tokens it takes.
    pub(crate) window: Option<u64>,
}

/// The models of an answer: a list, or the one that was asked for.
pub(crate) fn read(answer: &Value) -> Vec<Offer> {
    let list = ["data", "models"]
        .iter()
        .find_map(|key| answer.get(key)?.as_array());
    match list {
        Some(list) => list.iter().filter_map(offer).collect(),
        None => offer(answer).into_iter().collect(),
    }
}

fn offer(value: &Value) -> Option<Offer> {
    let name = ["id", "name", "model"]
        .iter()
        .find_map(|key| value.get(key)?.as_str())?;
    let window = [
        "/max_input_tokens",
        "/meta/n_ctx",
        "/max_model_len",
        "/context_length",
    ];
    Some(Offer {
        id: name.to_owned(),
        window: window
            .iter()
            .find_map(|place| value.pointer(place)?.as_u64())
            .filter(|&tokens| tokens > 0),
    })
}

/// The window of `model`. A server that runs one model answers with it to every name.
pub(crate) fn window_of(offers: &[Offer], model: &str) -> Option<u64> {
    let named = offers.iter().find(|offer| offer.id == model);
    match (named, offers) {
        (Some(named), _) => named.window,
        (None, [only]) => only.window,
        (None, _) => None,
    }
}

/// The names for a person who asked for `model`: the nearest first, not too many; empty if there are none.
pub(crate) fn names(offers: &[Offer], model: &str) -> String {
    let mut sorted: Vec<&str> = offers.iter().map(|offer| offer.id.as_str()).collect();
    sorted.sort_by_cached_key(|name| {
        let name = crate::text::head(name, LONGEST);
        (strsim::damerau_levenshtein(name, model), name.to_owned())
    });
    sorted.dedup();
    let told: Vec<String> = sorted
        .iter()
        .take(NAMES)
        .map(|name| line(name, LONGEST))
        .collect();
    match sorted.len().saturating_sub(told.len()) {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn window(answer: &Value, model: &str) -> Option<u64> {
        window_of(&read(answer), model)
    }

    #[test]
    fn windows_are_read_in_every_known_form() {
        let capture = include_str!("../../tests/wire/llama-server/models_list.json");
        let llama: Value = serde_json::from_str(capture).unwrap();
        assert_eq!(window(&llama, "smollm2-135m"), Some(4_096));
        assert_eq!(window(&llama, "whatever"), Some(4_096));
        let many = json!({"data": [
            {"id": "a", "type": "model", "max_input_tokens": 200_000, "max_tokens": 64_000},
            {"id": "b", "max_model_len": 8_192},
            {"id": "c/d", "context_length": 131_072},
            {"id": "e", "max_input_tokens": 0},
            {"object": "no name"},
        ], "has_more": false});
        let windows = ["a", "b", "c/d", "e", "f"].map(|model| window(&many, model));
        assert_eq!(
            windows,
            [Some(200_000), Some(8_192), Some(131_072), None, None]
        );
        let one = json!({"id": "a", "type": "model", "max_input_tokens": 1_000_000});
        assert_eq!(window(&one, "a"), Some(1_000_000));
        for nothing in [
            json!(null),
            json!([]),
            json!({"data": 1}),
            json!({"data": []}),
            json!("x"),
        ] {
            assert_eq!(read(&nothing), [], "{nothing}");
        }
    }

    #[test]
    fn names_are_few_near_and_clean() {
        let offer = |id: &str| Offer {
            id: id.to_owned(),
            window: None,
        };
        assert_eq!(names(&[], "m"), "");
        let two = [offer("zebra"), offer("claude-new"), offer("zebra")];
        assert_eq!(names(&two, "claude-old"), "claude-new, zebra");
        assert_eq!(names(&[offer("a\u{1b}[31mb\nc")], "m"), "ab c");
        let long = offer(&"x".repeat(200));
        assert_eq!(names(&[long], "m"), format!("{}…", "x".repeat(80)));
        let many: Vec<Offer> = (0..1_000).map(|n| offer(&format!("m{n:04}"))).collect();
        assert_eq!(
            names(&many, "m0000"),
            "m0000, m0001, m0002, m0003, m0004, m0005, m0006, m0007 and 992 more"
        );
    }
}
