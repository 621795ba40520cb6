//! What the value of a setting may be; each error says what would be right.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Raw;
use crate::model::without_userinfo;

/// The longest time that can be set: a day.
const LONGEST: f64 = 86_400.0;

pub(super) fn text(raw: &Raw) -> Result<String, String> {
    match text_or_none(raw)? {
        Some(text) => Ok(text),
        None => Err("must not be empty".to_owned()),
    }
}

pub(super) fn text_or_none(raw: &Raw) -> Result<Option<String>, String> {
    let text = match raw {
        Raw::Text(text) | Raw::Typed(Value::String(text)) => text.trim(),
        Raw::Typed(other) => return Err(format!("must be text in quotes, found {other}")),
    };
    if text.contains(char::is_control) {
        return Err("must be one line without control characters".to_owned());
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// A value of an enum by its serde name.
pub(super) fn one_of<T: DeserializeOwned>(raw: &Raw) -> Result<T, String> {
    serde_json::from_value(Value::String(text(raw)?))
        .map_err(|error| in_plain_words(&error.to_string()))
}

pub(super) fn whole(raw: &Raw, least: u32) -> Result<u32, String> {
    let value = typed(raw);
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.filter(|number| *number >= least).ok_or_else(|| {
        format!(
            "must be a whole number from {least} to {}, found {value}",
            u32::MAX
        )
    })
}

pub(super) fn seconds(raw: &Raw) -> Result<Duration, String> {
    let value = typed(raw);
    let seconds = value
        .as_f64()
        .filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("must be seconds, above 0 and at most {LONGEST}, found {value}"))
}

pub(super) fn yes_or_no(raw: &Raw) -> Result<bool, String> {
    let value = typed(raw);
    value
        .as_bool()
        .ok_or_else(|| format!("must be true or false, found {value}"))
}

/// An address of a server: http or https, with a host, and no name or password in it.
pub(super) fn address(raw: &Raw) -> Result<String, String> {
    let text = text(raw)?;
    let shown = without_userinfo(&text);
    let url = Url::parse(&text).map_err(|error| format!("`{shown}` is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!(
            "`{shown}` must begin with https:// or http:// and name a host"
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a name or password; keys come from the environment".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("`{text}` must end before `?` and `#`"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Whether `address` is plain http to a machine other than this one.
pub(super) fn is_plain_to_elsewhere(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else {
        return false;
    };
    url.scheme() == "http" && !is_this_machine(&url)
}

/// Whether `url` names the machine that the program runs on.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let number = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>();
    number.map_or_else(
        |_| host == "localhost" || host.ends_with(".localhost"),
        |ip| ip.is_loopback(),
    )
}

fn typed(raw: &Raw) -> Value {
    match raw {
        Raw::Typed(value) => value.clone(),
        Raw::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
    }
}

/// The parser's own words for numbers, in words for people.
pub(super) fn in_plain_words(reason: &str) -> String {
    reason
        .replace("expected usize", "expected a whole number of 0 or more")
        .replace("expected f64", "expected a number")
        .replace("floating point", "the number")
        .replace("unknown variant", "there is no")
}
