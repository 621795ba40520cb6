//! The pipeline and `replay` from outside: every vector of the contract, and what always holds on random histories.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod faults;
mod histories;
mod plans;
mod properties;
mod replay;

use std::fs;
use std::path::PathBuf;

use plimsoll::context::{Profile, value_size};
use plimsoll::replay::Recording;
use serde_json::Value;

fn vectors() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("sizes.json"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_vector_is_met_in_every_field() {
    let mut wrong = Vec::new();
    let paths = vectors();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let vector: Value = serde_json::from_str(&text).unwrap();
        let recording = Recording::parse(&text).unwrap();
        assert_eq!(
            recording.history().size(),
            vector["size"],
            "{}",
            path.display()
        );
        let report = recording.run(Profile::Lesson, &[]).unwrap();
        let report = serde_json::to_value(&report).unwrap();
        differences(
            &vector["expect"],
            &report,
            &path.display().to_string(),
            &mut wrong,
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(paths.len(), 127);
}

/// Where `found` lacks something of `expected`; it may have more fields.
fn differences(expected: &Value, found: &Value, at: &str, wrong: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) if !at.contains("messages[") => {
            let exact = at.ends_with("markers") || at.ends_with("files");
            if exact && expected.len() != found.len() {
                wrong.push(format!(
                    "{at}: {:?} and {:?}",
                    expected.keys(),
                    found.keys()
                ));
            }
            for (key, value) in expected {
                let other = found.get(key).unwrap_or(&Value::Null);
                differences(value, other, &format!("{at}.{key}"), wrong);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            if expected.len() != found.len() {
                wrong.push(format!(
                    "{at}: {} and {} entries",
                    expected.len(),
                    found.len()
                ));
            }
            for (index, (value, other)) in expected.iter().zip(found).enumerate() {
                differences(value, other, &format!("{at}[{index}]"), wrong);
            }
        }
        _ if expected == found => {}
        _ => wrong.push(format!("{at}: {} and {}", cut(expected), cut(found))),
    }
}

fn cut(value: &Value) -> String {
    value.to_string().chars().take(300).collect()
}

#[test]
fn every_value_has_its_size() {
    let text = include_str!("../vectors/sizes.json");
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    for case in &cases {
        assert_eq!(
            value_size(&case["value"]),
            case["size"],
            "{}",
            case["value"]
        );
    }
}
