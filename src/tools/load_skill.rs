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
    /// What it is for, one line; for a broken one what is wrong.
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
    /// It cannot be loaded: for a notice, not for the system prompt.
    Broken,
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
    let mut infos: Vec<SkillInfo> = read_all(workspace, dirs)
        .into_iter()
        .map(|skill| skill.info)
        .collect();
    infos.sort_by(|a, b| a.name.cmp(&b.name));
    infos
}

pub(super) fn run(
    call: &LoadSkill,
    workspace: &Workspace,
    dirs: &[PathBuf],
) -> Result<String, String> {
    let skills = read_all(workspace, dirs);
    let usable = |skill: &&Skill| skill.info.source != SkillSource::Broken;
    match skills.iter().find(|skill| skill.info.name == call.name) {
        Some(skill) if skill.info.source == SkillSource::Broken => {
            Err(format!("skill {}: {}", call.name, skill.info.description))
        }
        Some(skill) => Ok(format!(
            "<skill name=\"{}\" folder=\"{}\">\n{}\n</skill>",
            skill.info.name,
            skill.folder,
            head(skill.body.trim(), MAX_CHARS - 1000)
        )),
        None => {
            let names: Vec<&str> = skills
                .iter()
                .filter(usable)
                .map(|skill| skill.info.name.as_str())
                .collect();
            Err(if names.is_empty() {
                format!(
                    "there is no skill `{}`: there are no skills here",
                    call.name
                )
            } else {
                format!(
                    "there is no skill `{}`; there are: {}",
                    call.name,
                    names.join(", ")
                )
            })
        }
    }
}

fn read_all(workspace: &Workspace, dirs: &[PathBuf]) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    let own = workspace.root().join(FOLDER);
    let folders = std::iter::once((own.as_path(), SkillSource::Workspace))
        .chain(dirs.iter().map(|dir| (dir.as_path(), SkillSource::User)));
    for (folder, source) in folders {
        for name in names(folder) {
            let skill = read(workspace, &folder.join(&name), &name, source);
            if let Some(skill) = skill
                && skills
                    .iter()
                    .all(|other| other.info.name != skill.info.name)
            {
                skills.push(skill);
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

/// The skill in `folder`; nothing if there is no skill file in it.
fn read(workspace: &Workspace, folder: &Path, name: &str, source: SkillSource) -> Option<Skill> {
    let path = folder.join(FILE);
    let broken = |problem: String| Skill {
        info: SkillInfo {
            name: name.to_owned(),
            description: clean_line(&problem),
            source: SkillSource::Broken,
        },
        folder: String::new(),
        body: String::new(),
    };
    let text = match read_text(workspace, &path, source) {
        Ok(Some(text)) => text,
        Ok(None) => return None,
        Err(problem) => return Some(broken(problem)),
    };
    let Some((front, body)) = split(&text) else {
        return Some(broken(format!(
            "{FILE} does not begin with front matter between two `---` lines"
        )));
    };
    let front = front_matter(front);
    let Some(description) = front.description.filter(|text| !text.trim().is_empty()) else {
        return Some(broken(format!(
            "the front matter of {FILE} has no description"
        )));
    };
    let shown_folder = folder.strip_prefix(workspace.root()).unwrap_or(folder);
    Some(Skill {
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
    })
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
