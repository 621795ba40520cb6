//! What a server's error body says, and what kind of failure it is.
//!
//! Pure. The sentences that a person reads are made in [`super::explain`]; the forms of "too long" are in [`super::too_long`].

use serde_json::Value;

use super::too_long::{self, Figures};

/// How deep an error may be wrapped in the text of another.
const DEPTH: u32 = 8;
/// How many characters of an error's text decide what it is: what follows may be an echo of the request.
const DECIDING: usize = 1_000;

/// An error in the server's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its type, or what stands for it.
    pub(crate) kind: String,
    /// Its text.
    pub(crate) message: String,
    /// The number of the request, for the server's support.
    pub(crate) request_id: Option<String>,
    /// An HTTP status that the body names.
    code: Option<u16>,
    /// Codes beside the type that are words.
    words: String,
    tokens: Option<u64>,
    window: Option<u64>,
}

/// What an error comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Too many requests or tokens in a span of time.
    Throttled,
    /// The account's money or allowance is used up.
    Spent,
    /// The prompt, or prompt and output together, is too long.
    TooLong(Figures),
    /// A refusal without a reason: the prompt may be too long.
    Unsaid,
    /// The key was missing or not taken.
    Auth,
    /// The server cannot answer now.
    Busy,
    /// The request was refused for another reason.
    Refused,
}

impl Said {
    /// Reads the body of an error answer, whatever form it has.
    pub(crate) fn from_body(body: &str) -> Self {
        let body = body.trim();
        if let Ok(value) = serde_json::from_str::<Value>(body) {
            return Self::from_value(&value);
        }
        // Some servers answer an error status with an event stream.
        let data: Vec<&str> = body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .collect();
        if let Ok(value) = serde_json::from_str::<Value>(&data.join("\n")) {
            return Self::from_value(&value);
        }
        if body.starts_with('<') {
            return Self {
                message: page_title(body).unwrap_or("an HTML page").to_owned(),
                ..Self::default()
            };
        }
        Self::from_value(&Value::String(body.to_owned()))
    }

    /// Reads an error that came as JSON, whatever form it has.
    pub(crate) fn from_value(value: &Value) -> Self {
        Self::read(value, DEPTH)
    }

    fn read(value: &Value, depth: u32) -> Self {
        if depth == 0 {
            return Self::default();
        }
        let fields = match value {
            Value::Object(fields) => fields,
            Value::String(text) => return Self::nested(text, depth),
            Value::Array(list) => {
                return list
                    .first()
                    .map(|first| Self::read(first, depth - 1))
                    .unwrap_or_default();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => return Self::default(),
        };
        let mut said = match fields.get("error") {
            Some(inner @ (Value::Object(_) | Value::String(_))) => Self::read(inner, depth - 1),
            _ => Self::bare(value, depth),
        };
        if said.message.is_empty() {
            said.message = Self::bare(value, depth).message;
        }
        if let Some(id) = fields.get("request_id").and_then(Value::as_str) {
            said.request_id = Some(id.to_owned());
        }
        said
    }

    /// Reads the object that has the text itself.
    fn bare(value: &Value, depth: u32) -> Self {
        let word = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let texts = [
            "/metadata/raw",
            "/message",
            "/detail",
            "/detail/0/msg",
            "/errors/0",
            "/msg",
        ];
        let mut said = texts
            .iter()
            .filter_map(|place| value.pointer(place))
            .map(|text| Self::read(text, depth - 1))
            .find(|said| !said.message.is_empty())
            .unwrap_or_default();
        let words = ["type", "status", "code"].map(word);
        if said.kind.is_empty() {
            let kind = words
                .iter()
                .find(|word| !word.is_empty() && **word != "error");
            said.kind.push_str(kind.copied().unwrap_or_default());
        }
        said.words = format!("{} {}", said.words, words.join(" "));
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let code = number("code").and_then(|code| u16::try_from(code).ok());
        said.code = said.code.or(code);
        said.tokens = said.tokens.or(number("n_prompt_tokens"));
        said.window = said.window.or(number("n_ctx"));
        said
    }

    /// Reads a text, which may have another error inside as JSON.
    fn nested(text: &str, depth: u32) -> Self {
        let inner = text.find('{').and_then(|at| {
            serde_json::Deserializer::from_str(&text[at..])
                .into_iter::<Value>()
                .next()?
                .ok()
        });
        let is_error = |value: &Value| {
            value.get("error").is_some() || value.get("message").is_some_and(Value::is_string)
        };
        if let Some(value) = inner.filter(is_error) {
            let said = Self::read(&value, depth - 1);
            if !said.message.is_empty() {
                return said;
            }
        }
        Self {
            message: text.trim().to_owned(),
            ..Self::default()
        }
    }

    /// The status that this error would have had as an answer; it came inside a stream.
    pub(crate) fn status(&self) -> u16 {
        match self.kind.as_str() {
            "invalid_request_error" => 400,
            "authentication_error" => 401,
            "billing_error" => 402,
            "permission_error" => 403,
            "not_found_error" => 404,
            "request_too_large" => 413,
            "rate_limit_error" => 429,
            "timeout_error" => 504,
            "overloaded_error" => 529,
            _ => self.code.filter(|code| *code >= 400).unwrap_or(500),
        }
    }

    /// What the error comes to under that status. Throttling first, then "too long", then the status.
    pub(crate) fn verdict(&self, status: u16) -> Verdict {
        let message = crate::text::head(&self.message, DECIDING).to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if has(THROTTLED) || (message.contains("too many tokens") && message.contains("wait")) {
            return if has(SPENT) {
                Verdict::Spent
            } else {
                Verdict::Throttled
            };
        }
        let text = format!("{} {message}", self.words.to_lowercase());
        if let Some(mut figures) = too_long::recognise(&text) {
            figures.tokens = self.tokens.or(figures.tokens);
            figures.window = self.window.or(figures.window);
            return Verdict::TooLong(figures);
        }
        match status {
            413 => Verdict::TooLong(Figures::default()),
            400 if message.is_empty() || message == "invalid request error" => Verdict::Unsaid,
            402 => Verdict::Spent,
            429 if has(SPENT) => Verdict::Spent,
            429 => Verdict::Throttled,
            401 | 403 => Verdict::Auth,
            408 | 409 | 500.. => Verdict::Busy,
            _ => Verdict::Refused,
        }
    }

    /// Whether the server refuses the marks that say what to cache.
    pub(crate) fn refuses_cache_marks(&self) -> bool {
        self.message.contains("cache_control")
    }
}

/// Words of an error about requests or tokens in a span of time.
const THROTTLED: &[&str] = &[
    "rate limit",
    "rate_limit",
    "rate-limit",
    "ratelimit",
    "too many requests",
    "throttl",
];

/// Words of an error about money or an allowance.
const SPENT: &[&str] = &[
    "spend limit",
    "spending limit",
    "spend_limit",
    "usage limit",
    "credit balance",
    "insufficient_quota",
    "insufficient quota",
    "exceeded your current quota",
    "billing",
];

fn page_title(html: &str) -> Option<&str> {
    let lower = html.to_ascii_lowercase();
    let from = lower.find("<title>")? + "<title>".len();
    let to = from + lower[from..].find("</title>")?;
    Some(html[from..to].trim()).filter(|title| !title.is_empty())
}
