//! The scripts and the practice folder: what they promise to each other.

use std::collections::BTreeMap;

use super::*;

fn files() -> BTreeMap<String, String> {
    practice::files().unwrap().into_iter().collect()
}

#[test]
fn the_practice_folder_is_the_same_every_time() {
    let all = files();
    assert_eq!(all, files());
    let sizes: Vec<(&str, usize)> = all
        .iter()
        .filter(|(path, _)| !path.starts_with("logs/"))
        .map(|(path, text)| (path.as_str(), text.chars().count()))
        .collect();
    assert_eq!(
        sizes,
        [
            ("README.md", 426),
            ("data/voyages.json", 217_452),
            ("lessons/l01_the_loop/README.md", 2_602),
            ("lessons/l02_the_tools/README.md", 2_341),
            ("lessons/l03_the_permission/README.md", 2_127),
            ("lessons/l04_the_plan/README.md", 2_126),
            ("lessons/l05_the_context/README.md", 2_318),
            ("skills/harbour-log/SKILL.md", 476),
            ("src/stowage_v1.py", 30_720),
            ("src/stowage_v2.py", 32_673),
        ]
    );
    for day in 1..=practice::DAYS {
        let log = &all[&format!("logs/day_{day:02}.txt")];
        assert!(log.chars().count() <= 120, "{log}");
    }
}

#[test]
fn the_large_file_has_the_structure_that_the_scripts_explain() {
    let all: serde_json::Value = serde_json::from_str(&files()["data/voyages.json"]).unwrap();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&all), ["harbour", "year", "units", "voyages"]);
    let voyages = all["voyages"].as_array().unwrap();
    assert_eq!(voyages.len(), 345);
    for voyage in voyages {
        assert_eq!(
            keys(voyage),
            [
                "id",
                "ship",
                "route",
                "departed",
                "days",
                "cargo",
                "draught",
                "over_mark",
                "remark"
            ]
        );
        let deepest = voyage["draught"]["forward"].as_f64().unwrap();
        let mark = voyage["ship"]["summer_mark"].as_f64().unwrap();
        assert_eq!(voyage["over_mark"], deepest > mark, "{voyage}");
    }
    let to_cold_haven = voyages.iter().filter(|voyage| {
        let departed = voyage["departed"].as_str().unwrap();
        voyage["route"]["to"] == "Cold Haven" && departed.starts_with("2025-03")
    });
    assert_eq!(to_cold_haven.count(), 4, "lesson 01 says so");
}

#[test]
fn what_the_scripts_say_about_the_logs_is_true() {
    for name in ["snip", "tour"] {
        let (_, json) = SCRIPTS.iter().find(|(known, _)| *known == name).unwrap();
        let days = if name == "snip" { 26 } else { 25 };
        for day in 1..=days {
            let said = format!("Day {day}: {} ships", practice::ships(day));
            assert!(json.contains(&said), "{name}: {said}");
        }
        let most = (1..=days).max_by_key(|day| practice::ships(*day)).unwrap();
        let said = format!(
            "the fullest day was June {most} with {}",
            practice::ships(most)
        );
        assert!(json.contains(&said), "{name}: {said}");
    }
}

#[test]
fn every_script_reads_files_that_are_there_with_tools_that_are_there() {
    const TOOLS: [&str; 9] = [
        "bash",
        "read_file",
        "write_file",
        "edit_file",
        "glob",
        "todo_write",
        "task",
        "load_skill",
        "compact",
    ];
    let files = files();
    for (name, json) in SCRIPTS {
        let script = parse(name, json).unwrap();
        assert!(
            !script.title.is_empty() && !script.acts.is_empty(),
            "{name}"
        );
        for act in &script.acts {
            assert!(!act.say.is_empty() && !act.prompt.is_empty(), "{name}");
            for (tool, input) in act.calls() {
                assert!(TOOLS.contains(&tool), "{name}: {tool}");
                let path = input["path"].as_str().unwrap_or_default();
                assert!(
                    tool != "read_file" || path.starts_with('{') || files.contains_key(path),
                    "{name}: {path}"
                );
            }
        }
        let mut prompts: Vec<&str> = script.acts.iter().map(|act| act.prompt.as_str()).collect();
        prompts.sort_unstable();
        prompts.dedup();
        assert_eq!(
            prompts.len(),
            script.acts.len(),
            "{name}: a prompt occurs twice"
        );
    }
}

#[test]
fn a_demo_is_prepared_in_a_folder_of_its_own() {
    let demo = prepare("lost-path").unwrap();
    for (path, text) in files() {
        assert_eq!(
            std::fs::read_to_string(demo.folder.join(&path)).unwrap(),
            text,
            "{path}"
        );
    }
    let lesson = Limits::of(Profile::Lesson);
    let off = Limits {
        guards: false,
        keep_unread: crate::context::KeepUnread::Off,
        ..lesson.clone()
    };
    let limits: Vec<Option<Limits>> = demo.gates.into_iter().map(|gate| gate.limits).collect();
    assert_eq!(limits, [Some(off), Some(lesson)]);
    std::fs::remove_dir_all(demo.folder).unwrap();
}

#[test]
fn an_unknown_demo_names_those_that_there_are() {
    assert_eq!(
        prepare("sink").unwrap_err().to_string(),
        "there is no demo called `sink`; choose one of tour, micro, snip, budget, history, reactive, compact-tool, unread, lost-path"
    );
    let names: Vec<&str> = list()
        .unwrap()
        .into_iter()
        .map(|listed| listed.name)
        .collect();
    assert_eq!(names, SCRIPTS.map(|(name, _)| name));
}
