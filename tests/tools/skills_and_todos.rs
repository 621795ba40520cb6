//! `todo_write` and `load_skill`.

use std::fs;

use plimsoll::tools::{BrokenSkill, SkillInfo, SkillSource, ToolCall, ToolSettings};
use serde_json::json;

use crate::Place;

#[tokio::test]
async fn todo_write_says_the_list_back() {
    let place = Place::new();
    let todo = |content: &str, status: &str| json!({"content": content, "status": status});
    assert_eq!(
        place
            .done("todo_write", json!({"todos": [todo("a", "completed"), todo("b", "in_progress"), todo("c", "pending")]}))
            .await,
        "[x] a\n[>] b\n[ ] c\n(1 of 3 completed)"
    );
    assert_eq!(
        place.done("todo_write", json!({"todos": []})).await,
        "the todo list is empty"
    );
    assert_eq!(
        place
            .failed(
                "todo_write",
                json!({"todos": [todo("a", "in_progress"), todo("b", "in_progress")]})
            )
            .await,
        "2 items are in_progress, at most one may be: the list is unchanged"
    );
    assert_eq!(
        place
            .failed(
                "todo_write",
                json!({"todos": [todo("a", "pending"), todo(" ", "pending")]})
            )
            .await,
        "item 2 is empty: the list is unchanged"
    );
    let problem =
        ToolCall::parse("todo_write", &json!({"todos": [todo("a", "done")]})).unwrap_err();
    assert!(
        problem.contains(
            "unknown variant `done`, expected one of `pending`, `in_progress`, `completed`"
        )
    );
}

fn skill(name: &str, description: &str, source: SkillSource) -> SkillInfo {
    SkillInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        source,
    }
}

fn broken(name: &str, problem: &str) -> BrokenSkill {
    BrokenSkill {
        name: name.to_owned(),
        problem: problem.to_owned(),
    }
}

#[tokio::test]
async fn skills_are_listed_and_loaded() {
    let user = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::create_dir_all(user.path().join(name)).unwrap();
        fs::write(user.path().join(name).join("SKILL.md"), text).unwrap();
    };
    write(
        "review",
        "---\nname: review\ndescription: user's own\n---\nUser body\n",
    );
    write(
        "pdf",
        "---\r\nname: pdf\r\ndescription: Use when: PDFs\r\n---\r\nPDF body\r\n",
    );
    let place = Place::with(ToolSettings {
        skill_dirs: vec![user.path().to_owned()],
        ..ToolSettings::default()
    });
    place.write(
        "skills/review/SKILL.md",
        "---\nname: review\ndescription: >\n  Looks at\n  changes\n---\n\n# Review\n\nBody\n",
    );
    place.write("skills/no-front/SKILL.md", "# Just text\n");
    place.write("skills/no-words/SKILL.md", "---\nname: no-words\n---\nx\n");
    place.write("skills/empty/notes.md", "x");
    place.write("skills/loose.md", "x");
    assert_eq!(
        place.tools.skills(),
        [
            skill("pdf", "Use when: PDFs", SkillSource::User),
            skill("review", "Looks at changes", SkillSource::Workspace),
        ]
    );
    assert_eq!(
        place.tools.broken_skills(),
        [
            broken(
                "no-front",
                "SKILL.md does not begin with front matter between two `---` lines"
            ),
            broken(
                "no-words",
                "the front matter of SKILL.md has no description"
            ),
        ]
    );
    assert_eq!(
        place.done("load_skill", json!({"name": "review"})).await,
        "<skill name=\"review\" folder=\"skills/review\">\n# Review\n\nBody\n</skill>"
    );
    let pdf = place.done("load_skill", json!({"name": "pdf"})).await;
    let folder = fs::canonicalize(user.path()).unwrap().join("pdf");
    assert_eq!(
        pdf,
        format!(
            "<skill name=\"pdf\" folder=\"{}\">\nPDF body\n</skill>",
            folder.display()
        )
    );
    assert_eq!(
        place.failed("load_skill", json!({"name": "nope"})).await,
        "there is no skill `nope`; there are: review, pdf"
    );
    assert_eq!(
        place
            .failed("load_skill", json!({"name": "no-words"}))
            .await,
        "skill no-words: the front matter of SKILL.md has no description"
    );
    assert_eq!(
        Place::new()
            .failed("load_skill", json!({"name": "../x"}))
            .await,
        "there is no skill `../x`: there are no skills here"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_skill_that_leads_out_of_the_workspace_is_broken() {
    let place = Place::new();
    let outside = place.folder.path().join("secret");
    fs::write(&outside, "---\ndescription: x\n---\nsecret\n").unwrap();
    fs::create_dir_all(place.path("skills/trap")).unwrap();
    std::os::unix::fs::symlink(&outside, place.path("skills/trap/SKILL.md")).unwrap();
    assert_eq!(place.tools.skills(), []);
    assert_eq!(
        place.tools.broken_skills(),
        [broken("trap", "it leads out of the workspace")]
    );
}
