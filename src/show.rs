//! The commands with a screen: the agent in a folder, and the demos; also one printed frame of either.

use anyhow::Context;
use std::io::{Write, stderr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Runtime;

use crate::agent::{self, Questions};
use crate::cli::{self, Color, Common, Display};
use crate::commands::print;
use crate::config::{self, Config, Consent, Origin, Sources};
use crate::event::Gate;
use crate::headless::EventLog;
use crate::launch::{self, GRACE};
use crate::model::Model;
use crate::model::scripted::{Pace, Script, ScriptedModel};
use crate::permission::Mode;
use crate::text::clean;
use crate::tui::{self, End, Glyphs, Learn, Left, Look, Motion, Offer, Setup};
use crate::{Failed, demo};

/// What the conversation begins with where the scripted model stands in for a real one.
const WITHOUT_A_KEY: [&str; 2] = [
    "No key is set, so this is the scripted model: it plays a part, it does not think. Try /demo, or type: read PATH, \
     run COMMAND, find PATTERN, write PATH TEXT, compact.",
    "For a real model set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN and start again.",
];

/// What the conversation begins with where `--offline` chose it.
const OFFLINE: &str = "This is the scripted model: it plays a part, it does not think. Try /demo, or type: read PATH, \
                       run COMMAND, find PATTERN, write PATH TEXT, compact.";

/// What the conversation begins with where settings files of the folder were left out.
const TRUST: &str = "If you know what they say, /trust takes them from now on; a changed file is asked about again.";

/// What is shown: put together before the first frame, started after it.
struct Show {
    config: Config,
    model: Arc<dyn Model>,
    folder: std::path::PathBuf,
    questions: Questions,
    first: Vec<String>,
    gates: Vec<Gate>,
    offers: Vec<Offer>,
}

/// The file of `--events`, shared with whatever screen is shown.
type Events = Option<Arc<Mutex<EventLog>>>;

/// The agent in the current folder.
pub(crate) fn own(screen: &cli::Screen, common: &Common) -> Result<u8, Failed> {
    let show = own_folder(pace(screen), common)?;
    until_left(show, screen, common)
}

/// A demo.
pub(crate) fn demo(options: &cli::Demo, common: &Common) -> Result<u8, Failed> {
    let name = options.name.as_deref().unwrap_or(demo::DEFAULT);
    let show = practice(name, pace(&options.screen), common)?;
    until_left(show, &options.screen, common)
}

fn own_folder(pace: Pace, common: &Common) -> Result<Show, Failed> {
    let folder = launch::workspace(common)?;
    let mut config = Config::load(&Sources::of(folder.clone(), common)?)?;
    let mut first = config.notices.clone();
    let mut offers = Vec::new();
    if config.untrusted.is_some() {
        first.push(TRUST.to_owned());
        offers.push(Offer::Trust);
    }
    let model = if common.offline {
        first.push(OFFLINE.to_owned());
        scripted(Script::default(), pace)
    } else if config.key.is_none() {
        first.extend(WITHOUT_A_KEY.map(ToOwned::to_owned));
        scripted(Script::default(), pace)
    } else if plain_http_waits(&mut config)? {
        first.push(plain_http(&config.base_url));
        offers.push(Offer::AllowHttp);
        scripted(Script::default(), pace)
    } else {
        first.push(format!("{}.", config::route(&config)));
        launch::real_model(&config)?
    };
    let project = folder.display().to_string();
    let questions = Questions::Ask(Arc::new(move |rule| config::keep_rule(&project, rule)));
    Ok(Show {
        config,
        model,
        folder,
        questions,
        first,
        gates: Vec::new(),
        offers,
    })
}

/// Whether the address is plain http to another machine and the user has not agreed to that yet.
fn plain_http_waits(config: &mut Config) -> anyhow::Result<bool> {
    if config.refused_address().is_none() {
        return Ok(false);
    }
    let address = Consent::PlainHttp(config.base_url.clone());
    config.allow_http = address.is_kept(config::state_folder().as_deref())?;
    Ok(!config.allow_http)
}

fn plain_http(address: &str) -> String {
    format!(
        "{address} is plain http to another machine: key and text could be read on the way, so nothing is sent there and \
         this is the scripted model. Use https, or type /allow-http to use the address as it is from now on."
    )
}

/// Remembers what the user agreed to while `config` was in force.
fn remember(offer: Offer, config: &Config) -> anyhow::Result<()> {
    let consent = match offer {
        Offer::Trust => config.untrusted.clone().map(Consent::Folder),
        Offer::AllowHttp => Some(Consent::PlainHttp(config.base_url.clone())),
    };
    let state = config::state_folder();
    consent.map_or(Ok(()), |consent| consent.keep(state.as_deref()))
}

fn practice(name: &str, pace: Pace, common: &Common) -> Result<Show, Failed> {
    let (mut config, demo) = launch::demo(name, common)?;
    if name == demo::DEFAULT && *config.origin("permission") == Origin::Default {
        // The tour asks once, before its one command, to show what a question looks like.
        config.permission = Mode::Edits;
    }
    Ok(Show {
        config,
        model: scripted(demo.script, pace),
        folder: demo.folder,
        // What is allowed in a practice folder is forgotten with it.
        questions: Questions::Ask(Arc::new(|_| anyhow::bail!("this is a practice folder"))),
        first: Vec::new(),
        gates: demo.gates,
        offers: Vec::new(),
    })
}

/// Shows `show`, then whatever demo the user switches to, until they leave; the exit code.
fn until_left(mut show: Show, screen: &cli::Screen, common: &Common) -> Result<u8, Failed> {
    let events: Events = match &screen.events {
        Some(path) => {
            let log = EventLog::append(path)
                .with_context(|| format!("--events: {}: cannot be written", path.display()))?;
            Some(Arc::new(Mutex::new(log)))
        }
        None => None,
    };
    let runtime = Runtime::new()?;
    let code = loop {
        let setup = setup(&mut show, &common.display, &events)?;
        let config = show.config.clone();
        if let Some(size) = screen.print {
            let keys = screen.keys.as_deref().unwrap_or_default();
            let size = format!("{}x{}", size.width, size.height);
            let script = tui::Script::parse(keys, Some(&size))?;
            let frame = runtime.block_on(tui::print(start(show), setup, script))?;
            print(&format!("{}\n", frame.text.trim_end_matches('\n')))?;
            break 0;
        }
        let Left { end, parting } = runtime.block_on(tui::run(start(show), setup))?;
        say(&parting);
        match end {
            End::Agree(offer) => {
                remember(offer, &config)?;
                show = own_folder(Pace::Learn, common)?;
            }
            End::SwitchTo(name) => show = practice(&name, Pace::Learn, common)?,
            End::Quit | End::Signal(_) => break end.code(),
        }
    };
    runtime.shutdown_timeout(GRACE);
    let failure = events.and_then(|log| lock(&log).failure());
    if let (Some(path), Some(error)) = (&screen.events, failure) {
        let path = path.display();
        say(&[format!("--events: {path}: not complete: {error}")]);
    }
    Ok(code)
}

/// Starts the agent: session log and folders are opened here, after the first frame and off the screen's thread.
async fn start(show: Show) -> anyhow::Result<crate::event::Handle> {
    let agent = tokio::task::spawn_blocking(move || {
        launch::agent(&show.config, show.model, &show.folder, show.questions)
    })
    .await
    .context("the agent could not be made")??;
    Ok(agent::spawn(agent))
}

fn setup(show: &mut Show, display: &Display, events: &Events) -> anyhow::Result<Setup> {
    let tee = events
        .clone()
        .map(|log| -> tui::Tee { Box::new(move |envelope| lock(&log).record(envelope)) });
    Ok(Setup {
        look: look(display),
        learn: Some(if show.model.is_scripted() {
            Learn::On
        } else {
            Learn::Off
        }),
        first: std::mem::take(&mut show.first),
        offers: std::mem::take(&mut show.offers),
        gates: std::mem::take(&mut show.gates),
        demos: demo::list()?
            .into_iter()
            .map(|demo| demo.name.to_owned())
            .collect(),
        tee,
    })
}

fn look(display: &Display) -> Look {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Look {
        glyphs: if display.ascii || !is_utf8(|name| std::env::var(name).ok()) {
            Glyphs::Ascii
        } else {
            Glyphs::Unicode
        },
        color: match display.color {
            Color::Auto if no_color => tui::Color::None,
            Color::Never => tui::Color::None,
            Color::Auto | Color::Always => tui::Color::Ansi,
        },
        motion: if display.reduced_motion {
            Motion::Reduced
        } else {
            Motion::Full
        },
    }
}

/// Whether the locale's characters are UTF-8, by the first of its variables that is set; so it is where none is.
pub(crate) fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable)
        .find(|value| !value.is_empty());
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// A printed frame waits for no viewer.
fn pace(screen: &cli::Screen) -> Pace {
    match screen.print {
        Some(_) => Pace::Instant,
        None => Pace::Learn,
    }
}

fn scripted(script: Script, pace: Pace) -> Arc<dyn Model> {
    Arc::new(ScriptedModel::new(script, pace))
}

fn lock(log: &Mutex<EventLog>) -> std::sync::MutexGuard<'_, EventLog> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines on standard error, now that the terminal is free.
fn say(lines: &[String]) {
    for line in lines {
        // Nobody may be listening.
        let _ = writeln!(stderr(), "plimsoll: {}", clean(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_of_other_characters_is_drawn_in_ascii() {
        let first = |values: [&str; 3]| {
            is_utf8(|name| {
                let at = ["LC_ALL", "LC_CTYPE", "LANG"]
                    .iter()
                    .position(|known| *known == name)?;
                Some(values[at].to_owned())
            })
        };
        assert!(first(["", "", "en_GB.UTF-8"]) && first(["", "C.utf8", "C"]));
        assert!(!first(["C", "C.utf8", "en_GB.UTF-8"]) && !first(["", "", "ja_JP.eucJP"]));
        assert!(first(["", "", ""]), "most terminals are UTF-8 today");
    }
}
