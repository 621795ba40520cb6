//! The demos: a fresh practice folder, a script for the scripted model, and the gates between its acts.
//!
//! Knows no agent and no screen: whoever plays a demo sends the gates' limits and prompts to an agent of theirs.

mod practice;

use std::path::PathBuf;

use anyhow::Context as _;

use crate::context::{Limits, Profile};
use crate::event::Gate;
use crate::model::scripted::{Act, Script};

/// The demo that is played where none is named.
pub const DEFAULT: &str = "tour";

/// Name and script of each demo, in the order in which they are listed.
const SCRIPTS: [(&str, &str); 9] = [
    ("tour", include_str!("../../assets/demo/tour.json")),
    ("micro", include_str!("../../assets/demo/micro.json")),
    ("snip", include_str!("../../assets/demo/snip.json")),
    ("budget", include_str!("../../assets/demo/budget.json")),
    ("history", include_str!("../../assets/demo/history.json")),
    ("reactive", include_str!("../../assets/demo/reactive.json")),
    (
        "compact-tool",
        include_str!("../../assets/demo/compact-tool.json"),
    ),
    ("unread", include_str!("../../assets/demo/unread.json")),
    (
        "lost-path",
        include_str!("../../assets/demo/lost-path.json"),
    ),
];

/// A demo by name and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name on the command line.
    pub name: &'static str,
    /// What it shows, one line.
    pub about: String,
}

/// A demo that is ready to be played.
#[derive(Clone, Debug)]
pub struct Demo {
    /// Its name.
    pub name: &'static str,
    /// What it shows, one line.
    pub title: String,
    /// The practice folder, made for this demo alone and kept afterwards: the workspace.
    pub folder: PathBuf,
    /// What the scripted model plays.
    pub script: Script,
    /// The narrator's sentences and the requests, in their order; the demo ends with the last one's turn.
    pub gates: Vec<Gate>,
    /// The pipeline's numbers until a gate changes them.
    pub limits: Limits,
    /// The profile that they are of.
    pub profile: Profile,
}

/// All demos.
///
/// # Errors
/// If a built-in script has not the form of one; a test rules that out.
pub fn list() -> anyhow::Result<Vec<Listed>> {
    SCRIPTS
        .iter()
        .map(|(name, json)| {
            let script = parse(name, json)?;
            Ok(Listed {
                name,
                about: script.title,
            })
        })
        .collect()
}

/// Makes the practice folder of the demo called `name`, and the demo with it.
///
/// # Errors
/// If there is no such demo, or the folder cannot be written; the text says which.
pub fn prepare(name: &str) -> anyhow::Result<Demo> {
    let Some((name, json)) = SCRIPTS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = SCRIPTS.iter().map(|(name, _)| *name).collect();
        anyhow::bail!(
            "there is no demo called `{name}`; choose one of {}",
            names.join(", ")
        );
    };
    let script = parse(name, json)?;
    let profile = Profile::Lesson;
    let limits = Limits::of(profile);
    Ok(Demo {
        name,
        title: script.title.clone(),
        folder: practice::make(name)?,
        gates: gates(&script.acts, &limits)?,
        script,
        limits,
        profile,
    })
}

fn parse(name: &str, json: &str) -> anyhow::Result<Script> {
    Script::from_json(json).with_context(|| format!("the script of the demo `{name}` is broken"))
}

/// A gate for each act; what an act sets holds for the acts after it too.
fn gates(acts: &[Act], start: &Limits) -> anyhow::Result<Vec<Gate>> {
    let mut limits = start.clone();
    acts.iter()
        .map(|act| {
            for (name, value) in &act.set {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                limits.set(name, &value)?;
            }
            Ok(Gate {
                say: act.say.clone(),
                limits: (!act.set.is_empty()).then(|| limits.clone()),
                prompt: act.prompt.clone(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
