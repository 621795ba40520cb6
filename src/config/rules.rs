//! What the user has allowed for good, by project: one line a rule in a file beside the settings. A rule is taken back by
//! deleting its line.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::permission::Rule;
use crate::store::{FsStore, Store};

/// The file's name.
const NAME: &str = "rules.jsonl";

/// One line.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The folder that it holds in.
    project: String,
    rule: Rule,
}

/// The rules for `project`, oldest first.
///
/// # Errors
/// If the file is there and cannot be read.
pub fn kept_rules(project: &str) -> anyhow::Result<Vec<Rule>> {
    folder().map_or(Ok(Vec::new()), |folder| read(&folder, project))
}

/// Keeps `rule` for `project`.
///
/// # Errors
/// If the file cannot be written.
pub fn keep_rule(project: &str, rule: &Rule) -> anyhow::Result<()> {
    let folder = folder().context("this system has no folder for settings; set HOME")?;
    keep(&folder, project, rule)
}

fn folder() -> Option<PathBuf> {
    super::user_file()?.parent().map(Path::to_owned)
}

fn read(folder: &Path, project: &str) -> anyhow::Result<Vec<Rule>> {
    let path = folder.join(NAME);
    let text = match FsStore::new(folder).read(NAME) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("{}: cannot be read", path.display()));
        }
    };
    let mut rules = Vec::new();
    for (at, text) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let line: Line = serde_json::from_str(text).with_context(|| {
            format!("{}:{}: is no rule; delete the line", path.display(), at + 1)
        })?;
        if line.project == project {
            rules.push(line.rule);
        }
    }
    Ok(rules)
}

fn keep(folder: &Path, project: &str, rule: &Rule) -> anyhow::Result<()> {
    let line = Line {
        project: project.to_owned(),
        rule: rule.clone(),
    };
    let line = format!("{}\n", serde_json::to_string(&line)?);
    FsStore::new(folder).append(NAME, &line)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::ToolCall;

    #[test]
    fn a_rule_is_kept_for_its_project() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("plimsoll");
        let call = ToolCall::parse("bash", &json!({"command": "cargo test"})).unwrap();
        let rule = Rule::for_call(&call).unwrap();
        assert_eq!(read(&folder, "/here").unwrap(), []);
        keep(&folder, "/here", &rule).unwrap();
        keep(&folder, "/there", &rule).unwrap();
        assert_eq!(read(&folder, "/here").unwrap(), [rule]);
    }

    #[test]
    fn a_line_that_is_no_rule_is_named() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(NAME), "\nallow all\n").unwrap();
        let error = read(home.path(), "/here").unwrap_err().to_string();
        assert!(
            error.ends_with("rules.jsonl:2: is no rule; delete the line"),
            "{error}"
        );
    }
}
