//! `load_skill`: instructions for a kind of work, `skills/NAME/SKILL.md` with front matter, read when they are asked for.
//!
//! Front matter is read leniently, as skills in the wild need it; a skill that cannot be understood is named and skipped.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::file;
use super::path::shown;
use super::{LoadSkill, MAX_CHARS, Workspace};
use crate::text::{clean_line, head};

/// The folder of skills in a workspace.
const FOLDER: &str = "skills";
/// The file that a skill is.
const FILE: &str = "SKILL.md";
/// How many characters of a description go into the system prompt.
const DESCRIPTION: usize = 1024;

/// A skill as the system prompt names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillInfo {
    /// Its name.
    pub name: String,
    /// What it is for, one line.
    pub description: String,
    /// Where it comes from.
    pub source: SkillSource,
}

/// Where a skill comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillSource {
    /// The workspace's `skills/`.
    Workspace,
    /// A folder of the user.
    User,
}

/// A skill that cannot be loaded: for a notice, not for the system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenSkill {
    /// The name of its folder.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What the folders hold.
#[derive(Default)]
struct Skills {
    whole: Vec<Skill>,
    broken: Vec<BrokenSkill>,
}

/// A skill, read.
struct Skill {
    info: SkillInfo,
    folder: String,
    body: String,
}

/// What stands between the `---` lines.
#[derive(Default, Deserialize)]
struct FrontMatter {
    name: Option<String>,
    description: Option<String>,
}

/// All skills by name; of equal names the workspace's comes first and the others are left out.
pub(super) fn list(workspace: &Workspace, dirs: &[PathBuf]) -> Vec<SkillInfo> {
    let skills = read_all(workspace, dirs).whole.into_iter();
    let mut infos: Vec<SkillInfo> = skills.map(|skill| skill.info).collect();
    infos.sort_by(|a, b| a.name.cmp(&b.name));
    infos
}

/// Those that had to be left out.
pub(super) fn broken(workspace: &Workspace, dirs: &[PathBuf]) -> Vec<BrokenSkill> {
    read_all(workspace, dirs).broken
}

pub(super) fn run(
    call: &LoadSkill,
    workspace: &Workspace,
    dirs: &[PathBuf],
) -> Result<String, String> {
    let skills = read_all(workspace, dirs);
    let wanted = |skill: &&Skill| skill.info.name == call.name;
    if let Some(skill) = skills.whole.iter().find(wanted) {
        return Ok(format!(
            "<skill name=\"{}\" folder=\"{}\">\n{}\n</skill>",
            skill.info.name,
            skill.folder,
            head(skill.body.trim(), MAX_CHARS - 1000)
        ));
    }
    if let Some(broken) = skills.broken.iter().find(|broken| broken.name == call.name) {
        return Err(format!("skill {}: {}", broken.name, broken.problem));
    }
    let names: Vec<&str> = skills
        .whole
        .iter()
        .map(|skill| skill.info.name.as_str())
        .collect();
    let there_is_none = format!("there is no skill `{}`", call.name);
    Err(if names.is_empty() {
        format!("{there_is_none}: there are no skills here")
    } else {
        format!("{there_is_none}; there are: {}", names.join(", "))
    })
}

fn read_all(workspace: &Workspace, dirs: &[PathBuf]) -> Skills {
    let mut skills = Skills::default();
    let own = workspace.root().join(FOLDER);
    let folders = std::iter::once((own.as_path(), SkillSource::Workspace))
        .chain(dirs.iter().map(|dir| (dir.as_path(), SkillSource::User)));
    for (folder, source) in folders {
        for name in names(folder) {
            match read(workspace, &folder.join(&name), &name, source) {
                Ok(Some(skill)) => {
                    if skills
                        .whole
                        .iter()
                        .all(|other| other.info.name != skill.info.name)
                    {
                        skills.whole.push(skill);
                    }
                }
                Ok(None) => {}
                Err(problem) => skills.broken.push(BrokenSkill {
                    name,
                    problem: clean_line(&problem),
                }),
            }
        }
    }
    skills
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

/// The skill in `folder`; nothing if there is no skill file in it, an error if it cannot be understood.
fn read(
    workspace: &Workspace,
    folder: &Path,
    name: &str,
    source: SkillSource,
) -> Result<Option<Skill>, String> {
    let Some(text) = read_text(workspace, &folder.join(FILE), source)? else {
        return Ok(None);
    };
    let (front, body) = split(&text).ok_or_else(|| {
        format!("{FILE} does not begin with front matter between two `---` lines")
    })?;
    let front = front_matter(front);
    let description = front
        .description
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| format!("the front matter of {FILE} has no description"))?;
    let shown_folder = folder.strip_prefix(workspace.root()).unwrap_or(folder);
    Ok(Some(Skill {
        info: SkillInfo {
            name: front
                .name
                .map(|name| clean_line(name.trim()))
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| name.to_owned()),
            description: head(&clean_line(description.trim()), DESCRIPTION).to_owned(),
            source,
        },
        folder: shown(shown_folder),
        body: body.to_owned(),
    }))
}

/// The text of a skill file. One of the workspace must lie in it: a link out of it is broken.
fn read_text(
    workspace: &Workspace,
    path: &Path,
    source: SkillSource,
) -> Result<Option<String>, String> {
    let path = path.to_string_lossy();
    if source == SkillSource::Workspace
        && matches!(workspace.place(&path)?, super::Place::Outside(_))
    {
        return Err("it leads out of the workspace".to_owned());
    }
    let target = workspace.target(&path)?;
    let Some(content) = file::read(&target)? else {
        return Ok(None);
    };
    let text = file::text(&content, &target)?;
    Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
}

/// Front matter and body.
fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// The two fields that count, by YAML's rules or, where those fail, line by line.
fn front_matter(text: &str) -> FrontMatter {
    if let Ok(front) = serde_saphyr::from_str::<FrontMatter>(text) {
        return front;
    }
    let field = |key: &str| {
        text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.strip_prefix(':')?.trim();
            Some(value.trim_matches(['"', '\'']).to_owned())
        })
    };
    FrontMatter {
        name: field("name"),
        description: field("description"),
    }
}
