//! The settings in force as text: `plimsoll config`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::apply::names;
use super::{CUSTOM_HEADERS, Config, Origin};
use crate::model::Header;

/// Every setting in force with where it came from: lines that are valid in a settings file.
#[must_use]
pub fn show(config: &Config) -> String {
    let numbers = serde_json::to_value(&config.limits).unwrap_or_default();
    let lines: Vec<(String, String)> = names()
        .into_iter()
        .map(|name| {
            let value = general(config, &name).unwrap_or_else(|| numbers[&name].clone());
            let from = match (config.origin(&name), numbers.get(&name)) {
                (Origin::Default, Some(_)) => {
                    format!("profile {}", word(&json!(config.profile)))
                }
                (origin, _) => origin.to_string(),
            };
            (format!("{name} = {value}"), from)
        })
        .collect();
    let width = lines
        .iter()
        .map(|(setting, _)| setting.chars().count())
        .max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for (setting, from) in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{setting:width$}  # {from}");
    }
    if !config.headers.is_empty() {
        let names: Vec<&str> = config.headers.iter().map(Header::name).collect();
        let _ = writeln!(
            text,
            "# headers: {} from {CUSTOM_HEADERS}",
            names.join(", ")
        );
    }
    let key = match &config.key {
        Some(key) => format!("key: {key}"),
        None => "key: none (set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN)".to_owned(),
    };
    let _ = writeln!(text, "# {key}");
    text
}

/// Where requests go and what with, and where each of it came from: one line for the start.
#[must_use]
pub fn route(config: &Config) -> String {
    let key = match &config.key {
        Some(key) => format!("key {key}"),
        None => "no key".to_owned(),
    };
    format!(
        "server {} ({}), model {} ({}), {key}",
        config.base_url,
        config.origin("base_url"),
        config.model,
        config.origin("model"),
    )
}

/// The value of a setting that is no number of the pipeline, as JSON (and so as TOML).
fn general(config: &Config, name: &str) -> Option<Value> {
    let seconds = |time: std::time::Duration| {
        if time.subsec_nanos() == 0 {
            json!(time.as_secs())
        } else {
            json!(time.as_secs_f64())
        }
    };
    Some(match name {
        "model" => json!(config.model),
        "base_url" => json!(config.base_url),
        "summary_model" => json!(config.summary_model.as_deref().unwrap_or_default()),
        "anthropic_version" => json!(config.anthropic_version),
        "anthropic_beta" => json!(config.anthropic_beta.as_deref().unwrap_or_default()),
        "max_tokens" => json!(config.max_tokens),
        "max_retries" => json!(config.max_retries),
        "connect_timeout" => seconds(config.connect_timeout),
        "stall_timeout" => seconds(config.stall_timeout),
        "bash_timeout" => seconds(config.bash_timeout),
        "allow_http" => json!(config.allow_http),
        "permission" => json!(config.permission),
        "profile" => json!(config.profile),
        _ => return None,
    })
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
