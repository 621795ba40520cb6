//! The form of `assets/demo/*.json`: acts, each with the request that starts it and the model's turns.
//!
//! Holds words only; whether a turn fits what can be seen is asked of [`Sight`].

use serde::Deserialize;
use serde_json::Value;

use super::sight::Sight;

/// A scripted conversation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What it is about, one line.
    #[serde(default)]
    pub title: String,
    /// Its acts in their order.
    #[serde(default)]
    pub acts: Vec<Act>,
}

/// One request and what the model does about it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// The narrator's sentence before it.
    pub say: String,
    /// Pipeline settings by name that hold from here on; empty where nothing changes.
    #[serde(default)]
    pub set: serde_json::Map<String, Value>,
    /// The request, as if the user had typed it.
    pub prompt: String,
    /// The model's turns.
    turns: Vec<Turn>,
}

/// One reply of the model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    /// What it says.
    #[serde(default)]
    pub(super) text: String,
    /// The tools that it calls.
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    /// Instead of a reply: the server's words for a prompt that is too long.
    pub(super) fail: Option<String>,
    /// What must still be in sight for this turn.
    needs: Option<Needs>,
    /// What is played where it is not.
    otherwise: Option<Box<Turn>>,
}

/// What a turn may need to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Needs {
    /// The path of a result that went to disk.
    Path,
    /// The newest results, none of them replaced.
    Results,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// Its name.
    pub(super) tool: String,
    /// Its input.
    pub(super) input: Value,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// If `json` has not the form of one; the error names line and column.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Whether `text` is the prompt of one of the acts.
    pub(super) fn knows(&self, text: &str) -> bool {
        (0..self.acts.len()).any(|act| self.is_prompt(act, text))
    }

    /// Whether `text` is the prompt of `act`.
    pub(super) fn is_prompt(&self, act: usize, text: &str) -> bool {
        self.acts
            .get(act)
            .is_some_and(|act| act.prompt.trim() == text.trim())
    }

    /// The first act from `from` on, then from the start, whose prompt is `text`.
    pub(super) fn act_for(&self, text: &str, from: usize) -> Option<usize> {
        let count = self.acts.len();
        (0..count)
            .map(|step| (from + step) % count)
            .find(|&act| self.is_prompt(act, text))
    }

    pub(super) fn turn(&self, act: usize, turn: usize) -> Option<&Turn> {
        self.acts.get(act)?.turns.get(turn)
    }
}

impl Act {
    /// The tool calls of its turns, by name and input, in their order.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.turns
            .iter()
            .flat_map(|turn| std::iter::once(turn).chain(turn.otherwise.as_deref()))
            .flat_map(|turn| &turn.calls)
            .map(|call| (call.tool.as_str(), &call.input))
    }
}

impl Turn {
    /// This turn, or its alternative where what it needs is out of sight.
    pub(super) fn for_sight(&self, sight: &Sight) -> &Self {
        let met = match self.needs {
            None => true,
            Some(Needs::Path) => sight.saved_path(0).is_some(),
            Some(Needs::Results) => sight.lost_results() == 0,
        };
        match &self.otherwise {
            Some(otherwise) if !met => otherwise.for_sight(sight),
            Some(_) | None => self,
        }
    }
}

/// `text` with `{path}` (the newest saved result in sight), `{path2}` (the one before it) and `{lost}` (how many of the
/// newest results were replaced) filled in from what can be seen.
pub(super) fn fill(text: &str, sight: &Sight) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let path = |nth| sight.saved_path(nth).unwrap_or_default();
    text.replace("{path}", &path(0))
        .replace("{path2}", &path(1))
        .replace("{lost}", &sight.lost_results().to_string())
}

/// [`fill`] in every string of `value`.
pub(super) fn fill_value(value: &Value, sight: &Sight) -> Value {
    match value {
        Value::String(text) => fill(text, sight).into(),
        Value::Array(list) => list.iter().map(|entry| fill_value(entry, sight)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, entry)| (key.clone(), fill_value(entry, sight)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
