//! Puts an agent together from the settings: model, tools, permission, stores and session log.

use std::collections::BTreeMap;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use crate::agent::{AgentConfig, Questions};
use crate::cli::Common;
use crate::config::{self, Config, Origin, Sources};
use crate::context::Limits;
use crate::demo::{self, Demo};
use crate::model::{AnthropicModel, Endpoint, Model, Retrying, WithSummaries};
use crate::permission::{Mode, Policy};
use crate::session::{Header, Session};
use crate::store::{FsStore, MemStore, Store};
use crate::text::{clean, thousands};
use crate::tools::{ToolSettings, Tools, Workspace};

/// How long work that cannot be stopped may hold up the end.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// The folder to work in, its links resolved.
pub(crate) fn workspace(common: &Common) -> anyhow::Result<PathBuf> {
    let folder = match &common.workspace {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().context("the current folder is gone")?,
    };
    let real = folder
        .canonicalize()
        .with_context(|| format!("{}: cannot work there", folder.display()))?;
    anyhow::ensure!(
        real.is_dir(),
        "{}: cannot work there: it is no folder",
        folder.display()
    );
    Ok(real)
}

/// What was left out of the settings, on standard error.
pub(crate) fn say_notices(config: &Config) {
    for notice in &config.notices {
        // Nobody may be listening.
        let _ = writeln!(stderr(), "plimsoll: {}", clean(notice));
    }
}

/// Where requests go and where that came from, on standard error.
pub(crate) fn say_route(config: &Config) {
    let _ = writeln!(stderr(), "plimsoll: {}", clean(&config::route(config)));
}

/// The model of the settings, where there is a key and the address may be used.
pub(crate) fn real_model(config: &Config) -> anyhow::Result<Arc<dyn Model>> {
    let endpoint = endpoint(config).context(
        "there is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (any text for a server that needs none), or use the scripted model with --offline",
    )?;
    if let Some(why) = config.refused_address() {
        anyhow::bail!(why);
    }
    Ok(model(config, &endpoint))
}

/// A demo with the settings for it. The user's own settings have no part in it, so that it is the same everywhere.
pub(crate) fn demo(name: &str, common: &Common) -> anyhow::Result<(Config, Demo)> {
    for (given, option) in [
        (common.profile.is_some(), "--profile"),
        (common.workspace.is_some(), "--workspace"),
        (common.model.is_some(), "--model"),
        (common.base_url.is_some(), "--base-url"),
    ] {
        anyhow::ensure!(
            !given,
            "a demo brings its own model, folder and profile: leave out {option}; single numbers can be changed with \
             --set"
        );
    }
    let mut demo = demo::prepare(name)?;
    let mut config = Config::load(&Sources {
        user_file: None,
        state: None,
        workspace: demo.folder.clone(),
        environment: BTreeMap::new(),
        options: common,
    })?;
    if *config.origin("permission") == Origin::Default {
        config.permission = Mode::All;
    }
    // What was typed is stronger than what the demo sets, at its start and later.
    let later = demo
        .gates
        .iter_mut()
        .filter_map(|gate| gate.limits.as_mut());
    let mut changed = Vec::new();
    for limits in std::iter::once(&mut demo.limits).chain(later) {
        let own = limits.clone();
        config.again(common, limits)?;
        changed.extend(changes(&own, limits));
    }
    if let Some(first) = demo.gates.first_mut() {
        first.say.push_str(&said_of(&changed));
    }
    config.profile = demo.profile;
    config.limits.clone_from(&demo.limits);
    Ok((config, demo))
}

/// The numbers that are others in `after`, each with its name, as a person reads it.
fn changes(before: &Limits, after: &Limits) -> Vec<String> {
    let all = |limits: &Limits| serde_json::to_value(limits).unwrap_or_default();
    let (before, after) = (all(before), all(after));
    let other = |name: &String| before[name] != after[name];
    let names = Limits::names().into_iter().filter(other);
    names
        .map(|name| match &after[&name] {
            Value::Number(number) => {
                let whole = number.as_u64().and_then(|n| usize::try_from(n).ok());
                let number = whole.map_or_else(|| number.to_string(), thousands);
                format!("{name} {number}")
            }
            Value::String(word) => format!("{name} {word}"),
            other => format!("{name} {other}"),
        })
        .collect()
}

/// What a demo's first gate says of numbers that are not the demo's own; its sentences speak of those.
fn said_of(changed: &[String]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for change in changed {
        if !once.contains(&change.as_str()) {
            once.push(change);
        }
    }
    if once.is_empty() {
        return String::new();
    }
    format!(" Numbers changed: {}.", once.join(", "))
}

/// The server of the settings with their model; nothing without a key.
pub(crate) fn endpoint(config: &Config) -> Option<Endpoint> {
    let key = config.key.as_ref()?;
    Some(Endpoint {
        key: Some(key.sent()),
        key_from: Some(key.source()),
        headers: config.headers.clone(),
        beta: config.anthropic_beta.clone(),
        max_tokens: config.max_tokens,
        connect_timeout: config.connect_timeout,
        stall_timeout: config.stall_timeout,
        version: config.anthropic_version.clone(),
        ..Endpoint::new(&config.base_url, &config.model)
    })
}

/// The model of the settings, with another for summaries where they name one.
fn model(config: &Config, endpoint: &Endpoint) -> Arc<dyn Model> {
    let named = |name: &str| {
        let endpoint = Endpoint {
            model: name.to_owned(),
            ..endpoint.clone()
        };
        Arc::new(Retrying::new(
            AnthropicModel::new(endpoint),
            config.max_retries,
        ))
    };
    match &config.summary_model {
        Some(summary) => Arc::new(WithSummaries {
            model: named(&config.model),
            summaries: named(summary),
        }),
        None => named(&config.model),
    }
}

/// An agent that works in `folder`, not yet started.
pub(crate) fn agent(
    config: &Config,
    model: Arc<dyn Model>,
    folder: &Path,
    questions: Questions,
) -> anyhow::Result<AgentConfig> {
    let rules = config::kept_rules(&folder.display().to_string())?;
    let header = Header::new(
        folder.display().to_string(),
        model.name().to_owned(),
        config.profile,
        config.limits.clone(),
    );
    Ok(AgentConfig {
        model,
        tools: Arc::new(tools(config, folder)?),
        policy: Policy::new(config.permission, rules),
        questions,
        store: Arc::new(FsStore::in_workspace(folder)),
        session: session(header)?,
        profile: config.profile,
        limits: config.limits.clone(),
    })
}

/// The tools in `folder`.
fn tools(config: &Config, folder: &Path) -> anyhow::Result<Tools> {
    let settings = ToolSettings {
        bash_timeout: config.bash_timeout,
        ..ToolSettings::default()
    };
    Ok(Tools::new(Workspace::open(folder)?, settings))
}

/// A log for a session that begins now. Where the system has no place for it the session is kept in memory only.
fn session(header: Header) -> anyhow::Result<Session> {
    let Some(folder) = config::sessions_folder() else {
        return Ok(Session::create(Arc::new(MemStore::new()), header)?);
    };
    let store: Arc<dyn Store> = Arc::new(FsStore::new(&folder));
    Session::create(store, header)
        .with_context(|| format!("{}: the session cannot be logged there", folder.display()))
}
