//! The commands that need no agent: what they read, what they print, and which exit code that gives.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::Failed;
use crate::cli::{Cli, Common, Format, Replay, ShowConfig};
use crate::config::{self, Config, Sources};
use crate::headless::escape_json;
use crate::replay::Recording;
use crate::session::{self, FoldError};
use crate::text::clean;
use crate::{demo, launch};

/// A saved history through the pipeline. The user's own settings have no part in it: the same file gives the same
/// report everywhere.
pub(crate) fn replay(options: &Replay, common: &Common) -> Result<u8, Failed> {
    let name = options.file.display();
    let bytes = std::fs::read(&options.file).with_context(|| format!("{name}: cannot be read"))?;
    let profile = match &common.profile {
        Some(name) => Some(config::profile_of_option(name)?),
        None => None,
    };
    let sets: Vec<(String, String)> = common
        .set
        .iter()
        .map(|set| (set.name.clone(), set.value.clone()))
        .collect();
    let mut recording = recording(&bytes).with_context(|| name.to_string())?;
    if profile.is_some() {
        recording.forget_limits();
    }
    let report = recording
        .run(profile.unwrap_or_default(), &sets)
        .with_context(|| name.to_string())?;
    match options.format {
        Format::Text => print(&clean(&report.to_text()))?,
        Format::Json => print(&format!(
            "{}\n",
            escape_json(serde_json::to_string(&report)?)
        ))?,
    }
    Ok(0)
}

/// What a file holds: the context that a session log ends with, or any form that a recording has by itself.
fn recording(bytes: &[u8]) -> anyhow::Result<Recording> {
    match std::str::from_utf8(bytes).map(session::fold) {
        Ok(Ok(folded)) => Ok(Recording::of_session(
            &folded.history,
            &folded.limits,
            &folded.known,
        )),
        Ok(Err(FoldError::NoHeader)) | Err(_) => {
            Recording::parse_bytes(bytes).map_err(|error| match error.session().and_then(log_of) {
                Some(log) => anyhow::anyhow!("{error}: {}", log.display()),
                None => error.into(),
            })
        }
        Ok(Err(error @ (FoldError::Version(_) | FoldError::Line { .. }))) => Err(error.into()),
    }
}

/// The log of a session, if it lies where this program keeps them.
fn log_of(session: &str) -> Option<PathBuf> {
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let path = config::sessions_folder()?.join(session::log_name(session));
    (session.chars().all(is_id) && path.is_file()).then_some(path)
}

/// The settings in force, or the file for them.
pub(crate) fn config(options: &ShowConfig, common: &Common) -> Result<u8, Failed> {
    if options.path || options.init {
        let path =
            config::user_file().context("this system has no folder for settings; set HOME")?;
        if options.init {
            config::init(&path)?;
        }
        print(&format!("{}\n", clean(&path.display().to_string())))?;
        return Ok(0);
    }
    let config = Config::load(&Sources::of(launch::workspace(common)?, common)?)?;
    launch::say_notices(&config);
    print(&clean(&config::show(&config)))?;
    Ok(0)
}

/// Completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<u8, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "plimsoll", &mut script);
    stdout().write_all(&script)?;
    Ok(0)
}

/// The demos, a line each.
pub(crate) fn list_demos() -> Result<u8, Failed> {
    let demos = demo::list()?;
    let width = demos.iter().map(|demo| demo.name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for demo in demos {
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{:width$}  {}", demo.name, demo.about);
    }
    print(&lines)?;
    Ok(0)
}

pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
