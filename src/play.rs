//! The commands that start an agent without a screen: one request, or a demo.

use std::io::{ErrorKind, Read, stderr, stdin, stdout};
use std::sync::Arc;

use anyhow::Context as _;
use tokio::runtime::Runtime;

use crate::agent::{self, AgentConfig, Questions};
use crate::cli::{self, Common, Format};
use crate::config::{Config, Sources};
use crate::event::Gate;
use crate::headless::{self, JsonLines, Text};
use crate::launch::{self, GRACE};
use crate::model::Model;
use crate::model::scripted::{Pace, Script, ScriptedModel};
use crate::{Failed, demo};

/// One request.
pub(crate) fn run(options: &cli::Run, common: &Common) -> Result<u8, Failed> {
    let prompt = prompt(&options.prompt)?;
    let folder = launch::workspace(common)?;
    let config = Config::load(&Sources::of(folder.clone(), common)?)?;
    launch::say_notices(&config);
    let model = if common.offline {
        scripted(Script::default())
    } else {
        let model = launch::real_model(&config)?;
        if options.format == Format::Text {
            launch::say_route(&config);
        }
        model
    };
    let agent = launch::agent(&config, model, &folder, Questions::Refuse)?;
    let gate = Gate {
        say: String::new(),
        limits: None,
        prompt,
    };
    play(agent, vec![gate], options.format)
}

/// A demo.
pub(crate) fn demo(options: &cli::Demo, common: &Common) -> Result<u8, Failed> {
    let name = options.name.as_deref().unwrap_or(demo::DEFAULT);
    let (config, demo) = launch::demo(name, common)?;
    let model = scripted(demo.script);
    let agent = launch::agent(&config, model, &demo.folder, Questions::Refuse)?;
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
