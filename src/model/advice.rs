//! What a person can do about an answer of the model's server: the last part of each error's text.
//!
//! Pure. The parts before it are made in [`super::explain`].

use std::time::Duration;

use super::endpoint::Key;
use super::errors::Verdict;
use super::explain::{Answer, SHORT, Speaker};
use crate::text;

/// Hosts that speak the Messages API below a path of their own.
const PATHS: [(&str, &str); 6] = [
    ("openrouter.ai", "/api"),
    ("api.deepseek.com", "/anthropic"),
    ("api.moonshot.ai", "/anthropic"),
    ("api.moonshot.cn", "/anthropic"),
    ("api.z.ai", "/api/anthropic"),
    ("api.minimax.io", "/anthropic"),
];
/// Ends of addresses that belong to other interfaces.
const OTHERS: [&str; 4] = [
    "/chat/completions",
    "/completions",
    "/responses",
    "/api/chat",
];

/// What to do about `answer`; empty where its own words say it.
pub(super) fn advice(speaker: &Speaker, answer: &Answer, verdict: Verdict) -> String {
    match verdict {
        Verdict::TooLong(_) => "the conversation must get shorter: /compact".to_owned(),
        Verdict::Unsaid => {
            "the server gives no reason; a conversation that is too long is a common one".to_owned()
        }
        Verdict::Throttled => to_wait(answer.headers.wait),
        Verdict::Spent => {
            "waiting does not help: see to the account's plan or limit, or use another model"
                .to_owned()
        }
        Verdict::Auth if answer.status == 401 => about_the_key(speaker),
        Verdict::Auth => {
            "the key was taken but may not do this: look at its rights, or use another model"
                .to_owned()
        }
        Verdict::Busy => "the server cannot answer now; send the request again later".to_owned(),
        Verdict::Refused if (300..400).contains(&answer.status) => redirected(speaker, answer),
        Verdict::Refused if answer.lacks_model(&speaker.model) => {
            let choose = format!(
                "the server does not know the model `{}`: choose one that it offers with --model",
                speaker.model
            );
            if answer.offered.is_empty() {
                choose
            } else {
                format!("{choose}: {}", answer.offered)
            }
        }
        Verdict::Refused if matches!(answer.status, 404 | 405) => {
            let base = &speaker.base;
            format!(
                "the request went to {base}/v1/messages: {}",
                about_the_base(base)
            )
        }
        Verdict::Refused if answer.status == 407 => about_the_proxy(speaker),
        Verdict::Refused => String::new(),
    }
}

/// What is often wrong with a base URL that nothing answers at.
fn about_the_base(base: &str) -> String {
    let (_, address) = base.split_once("://").unwrap_or(("", base));
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let path = format!("/{path}");
    let other = OTHERS.iter().find(|end| base.ends_with(**end));
    if let Some(other) = other {
        return format!(
            "{other} belongs to another interface; the base URL is the part before it, without /v1"
        );
    }
    let known = PATHS.iter().find(|(name, _)| *name == host);
    if let Some((host, path)) = known.filter(|(_, known)| !path.starts_with(known)) {
        return format!(
            "{host} speaks the Anthropic Messages API at the base URL https://{host}{path}"
        );
    }
    if path.split('/').any(|part| part == "v1") {
        return "the base URL is the part before /v1/messages, and has a /v1 too many".to_owned();
    }
    "is the base URL right, and does the server (in this version) speak the Anthropic Messages API?"
        .to_owned()
}

fn about_the_key(speaker: &Speaker) -> String {
    if let Some(name) = &speaker.own_key {
        return format!("`{name}` of ANTHROPIC_CUSTOM_HEADERS was sent, and no other key");
    }
    let of = speaker.key_from.as_ref();
    let key = of.map_or_else(|| "the key".to_owned(), |from| format!("the key of {from}"));
    match &speaker.key {
        None => "no key was sent: set ANTHROPIC_API_KEY (sent as x-api-key) or ANTHROPIC_AUTH_TOKEN (sent as Authorization: Bearer)".to_owned(),
        Some(Key::ApiKey(_)) => format!("{key} was sent as x-api-key; if it is right, the server may want Authorization: Bearer: set ANTHROPIC_AUTH_TOKEN instead of ANTHROPIC_API_KEY"),
        Some(Key::Token(_)) => format!("{key} was sent as Authorization: Bearer; if it is right, the server may want x-api-key: set ANTHROPIC_API_KEY instead of ANTHROPIC_AUTH_TOKEN"),
    }
}

fn about_the_proxy(speaker: &Speaker) -> String {
    let proxy = speaker.proxy.as_deref().unwrap_or("on the way");
    format!(
        "the proxy {proxy} wants to know who asks: write its address as http://NAME:WORD@HOST:PORT"
    )
}

fn redirected(speaker: &Speaker, answer: &Answer) -> String {
    let to = answer.location.as_deref().unwrap_or("another address");
    let to = super::without_userinfo(to.split('?').next().unwrap_or(to));
    format!(
        "it points to {}; redirects are not followed with a key: set that address as the base URL if you trust it",
        speaker.own_words(&to, 2 * SHORT)
    )
}

fn to_wait(wait: Option<Duration>) -> String {
    match wait {
        Some(wait) if wait < Duration::MAX => format!(
            "the server asks to wait {} s",
            text::thousands(usize::try_from(wait.as_secs()).unwrap_or(usize::MAX))
        ),
        Some(_) => "the server asks to wait for ever".to_owned(),
        None => "send the request again later".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_mistakes_in_a_base_url_are_known() {
        let one_too_many = "the base URL is the part before /v1/messages, and has a /v1 too many";
        let other = "/chat/completions belongs to another interface; the base URL is the part before it, without /v1";
        let unknown = "is the base URL right, and does the server (in this version) speak the Anthropic Messages API?";
        for (base, told) in [
            ("http://localhost:11434", unknown),
            ("http://host/v1", one_too_many),
            ("http://host/v1/proxy", one_too_many),
            ("http://host/v1beta", unknown),
            ("http://host/v1/chat/completions", other),
            (
                "https://openrouter.ai",
                "openrouter.ai speaks the Anthropic Messages API at the base URL https://openrouter.ai/api",
            ),
            (
                "https://api.z.ai/anthropic",
                "api.z.ai speaks the Anthropic Messages API at the base URL https://api.z.ai/api/anthropic",
            ),
            ("https://api.z.ai/api/anthropic", unknown),
        ] {
            assert_eq!(about_the_base(base), told, "{base}");
        }
    }
}
