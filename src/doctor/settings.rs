//! The settings: whether they can be read, which key and which address they give. Never shows a key.

use std::path::PathBuf;

use reqwest::Url;

use super::Check;
use crate::cli::Common;
use crate::config::{self, Config, KeyForm, Sources};

/// What is to be said of the settings for work in `folder`, and the settings where they can be used.
pub(super) fn settings(folder: PathBuf, common: &Common) -> (Vec<Check>, Option<Config>) {
    let name = "settings";
    let loaded = Sources::of(folder, common).and_then(|sources| {
        let both = [KeyForm::ApiKey, KeyForm::Token]
            .into_iter()
            .all(|form| sources.environment.contains_key(form.variable()));
        Config::load(&sources).map(|config| (config, both))
    });
    let (config, both) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return (vec![Check::fail(name, error.to_string())], None),
    };
    let mut checks = Vec::new();
    match config::user_file() {
        Some(file) if file.exists() => {
            checks.push(Check::ok(name, format!("{} was read", file.display())));
        }
        Some(file) => checks.push(Check::ok(
            name,
            format!(
                "the defaults; `plimsoll config --init` writes {}",
                file.display()
            ),
        )),
        None => checks.push(Check::ok(
            name,
            "the defaults: this system has no folder for settings",
        )),
    }
    checks.extend(
        config
            .notices
            .iter()
            .map(|notice| Check::warn(name, notice.as_str())),
    );
    checks.push(key(&config, both));
    checks.push(address(&config));
    (checks, Some(config))
}

fn key(config: &Config, both: bool) -> Check {
    let name = "key";
    match &config.key {
        None => Check::warn(
            name,
            "none: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (any text for a server that needs none); without one \
             there is the scripted model only",
        ),
        Some(key) if both => Check::warn(
            name,
            format!(
                "{key}; ANTHROPIC_AUTH_TOKEN is set too and not used: unset the one that is not wanted"
            ),
        ),
        Some(key) => Check::ok(name, key.to_string()),
    }
}

fn address(config: &Config) -> Check {
    let name = "address";
    let said = format!("{} ({})", config.base_url, config.origin("base_url"));
    if let Some(why) = config.refused_address() {
        return Check::fail(name, format!("({}) {why}", config.origin("base_url")));
    }
    let url = Url::parse(&config.base_url);
    let is_plain = url.as_ref().is_ok_and(|url| url.scheme() == "http");
    let ends_in_v1 = url.is_ok_and(|url| url.path().trim_end_matches('/').ends_with("/v1"));
    if config.is_plain_to_elsewhere() {
        Check::warn(
            name,
            format!(
                "{said}: plain http to another machine, allowed by {}",
                config.origin("allow_http")
            ),
        )
    } else if ends_in_v1 {
        Check::ok(name, format!("{said}; the /v1 at its end is not needed"))
    } else if is_plain {
        Check::ok(name, format!("{said}: this machine"))
    } else {
        Check::ok(name, format!("{said}: https"))
    }
}
