//! The commands that start an agent: which model, which folder, which settings, and who is shown what it does.

use std::io::{ErrorKind, Read, stderr, stdin, stdout};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::runtime::Runtime;

use crate::agent::{self, AgentConfig, Questions};
use crate::cli::{self, Common, Format};
use crate::config::{self, Config, Origin, Sources};
use crate::event::Gate;
use crate::headless::{self, JsonLines, Text};
use crate::model::Model;
use crate::model::scripted::{Pace, Script, ScriptedModel};
use crate::permission::Mode;
use crate::{Failed, demo, launch};

/// How long work that cannot be stopped may hold up the end.
const GRACE: Duration = Duration::from_millis(200);

/// One request without a screen.
pub(crate) fn run(options: &cli::Run, common: &Common) -> Result<u8, Failed> {
    let prompt = prompt(&options.prompt)?;
    let folder = launch::workspace(common)?;
    let config = Config::load(&Sources {
        user_file: config::user_file(),
        workspace: folder.clone(),
        environment: config::environment()?,
        options: common,
    })?;
    launch::say_notices(&config);
    let model = if common.offline {
        scripted(Script::default())
    } else {
        real(&config)?
    };
    let agent = launch::agent(&config, model, &folder, Questions::Refuse)?;
    let gate = Gate {
        say: String::new(),
        limits: None,
        prompt,
    };
    play(agent, vec![gate], options.format)
}

/// A demo without a screen. The user's own settings have no part in it, so that it is the same everywhere.
pub(crate) fn demo(options: &cli::Demo, common: &Common) -> Result<u8, Failed> {
    for (given, option) in [
        (common.profile.is_some(), "--profile"),
        (common.workspace.is_some(), "--workspace"),
        (common.model.is_some(), "--model"),
        (common.base_url.is_some(), "--base-url"),
    ] {
        if given {
            return Err(anyhow::anyhow!(
                "a demo brings its own model, folder and profile: leave out {option}; single numbers can be changed \
                 with --set"
            )
            .into());
        }
    }
    let mut demo = demo::prepare(options.name.as_deref().unwrap_or(demo::DEFAULT))?;
    let mut config = Config::load(&Sources {
        user_file: None,
        workspace: demo.folder.clone(),
        environment: std::collections::BTreeMap::new(),
        options: common,
    })?;
    if matches!(config.origin("permission"), Origin::Default) {
        config.permission = Mode::All;
    }
    // What was typed is stronger than what the demo sets, at its start and later.
    for limits in std::iter::once(&mut demo.limits).chain(
        demo.gates
            .iter_mut()
            .filter_map(|gate| gate.limits.as_mut()),
    ) {
        config.again(common, limits)?;
    }
    config.profile = demo.profile;
    config.limits = demo.limits;
    let agent = launch::agent(
        &config,
        scripted(demo.script),
        &demo.folder,
        Questions::Refuse,
    )?;
    play(agent, demo.gates, options.format)
}

/// What was typed as the request, or what stands on standard input for `-`.
fn prompt(typed: &str) -> anyhow::Result<String> {
    let text = if typed == "-" {
        let mut text = String::new();
        stdin()
            .read_to_string(&mut text)
            .context("the request cannot be read from standard input")?;
        text
    } else {
        typed.to_owned()
    };
    let text = text.trim();
    anyhow::ensure!(!text.is_empty(), "the request is empty");
    Ok(text.to_owned())
}

fn scripted(script: Script) -> Arc<dyn Model> {
    Arc::new(ScriptedModel::new(script, Pace::Instant))
}

/// The model of the settings, where there is a key and the address may be used.
fn real(config: &Config) -> anyhow::Result<Arc<dyn Model>> {
    let key = config.key.as_ref().context(
        "there is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or use the scripted model with --offline",
    )?;
    if let Some(why) = config.refused_address() {
        anyhow::bail!(why);
    }
    Ok(launch::model(config, &key.sent()))
}

/// Plays `gates` and writes what happens to standard output; the exit code.
fn play(agent: AgentConfig, gates: Vec<Gate>, format: Format) -> Result<u8, Failed> {
    let runtime = Runtime::new()?;
    let played = runtime.block_on(async {
        let stop = headless::stop_signal()?;
        let handle = agent::spawn(agent);
        let (mut out, mut err) = (stdout(), stderr());
        match format {
            Format::Text => {
                let mut sink = Text::new(&mut out, &mut err);
                headless::drive(handle, gates, &mut sink, stop).await
            }
            Format::Json => {
                let mut sink = JsonLines {
                    out: &mut out,
                    err: &mut err,
                };
                headless::drive(handle, gates, &mut sink, stop).await
            }
        }
    });
    runtime.shutdown_timeout(GRACE);
    played.map_err(|error| Failed {
        code: u8::from(error.kind() != ErrorKind::BrokenPipe),
        error: error.into(),
    })
}
