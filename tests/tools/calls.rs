//! Calls and specifications.

use plimsoll::tools::{ToolCall, specs};
use serde_json::{Map, Value, json};

use crate::{Place, err};

const NAMES: [&str; 9] = [
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

/// A value that fits a schema's property.
fn sample(schema: &Value) -> Value {
    match schema["type"].as_str().unwrap() {
        "string" => schema["enum"].get(0).cloned().unwrap_or(json!("x")),
        "integer" => json!(schema["minimum"].as_u64().unwrap()),
        "boolean" => json!(true),
        "array" => json!([sample(&schema["items"])]),
        "object" => Value::Object(fields(schema, |_| true)),
        other => panic!("no sample of {other}"),
    }
}

fn fields(schema: &Value, wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, property)| (name.clone(), sample(property)))
        .collect()
}

#[test]
fn every_specification_agrees_with_its_type() {
    let specs = specs();
    let names: Vec<&str> = specs
        .iter()
        .map(|spec| spec["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, NAMES);
    for spec in specs.iter() {
        let name = spec["name"].as_str().unwrap();
        assert!(spec["description"].as_str().unwrap().len() > 80, "{name}");
        let schema = &spec["input_schema"];
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        let required: Vec<&str> = schema["required"]
            .as_array()
            .map(|names| names.iter().map(|name| name.as_str().unwrap()).collect())
            .unwrap_or_default();
        let least = fields(schema, |field| required.contains(&field));
        let most = fields(schema, |_| true);
        for input in [&least, &most] {
            let call = ToolCall::parse(name, &Value::Object(input.clone())).unwrap();
            assert_eq!(call.name(), name);
        }
        for field in &required {
            let mut input = most.clone();
            input.remove(*field);
            let problem = ToolCall::parse(name, &Value::Object(input)).unwrap_err();
            assert!(
                problem.contains(&format!("missing field `{field}`")),
                "{problem}"
            );
        }
        let mut input = most.clone();
        input.insert("surprise".to_owned(), json!(1));
        let problem = ToolCall::parse(name, &Value::Object(input)).unwrap_err();
        assert!(problem.contains("unknown field `surprise`"), "{problem}");
        for wrong in [json!(null), json!([]), json!("x"), json!(7)] {
            let problem = ToolCall::parse(name, &wrong).unwrap_err();
            assert!(
                problem.contains("must be a JSON object"),
                "{name}: {problem}"
            );
        }
    }
}

#[test]
fn a_wrong_call_is_told_what_is_right() {
    assert_eq!(
        ToolCall::parse("load_skill", &json!({"name": 7})).unwrap_err(),
        "load_skill: invalid type: integer `7`, expected a string. Nothing was run.\n\
         The input of load_skill is: {\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"The skill's name.\"}},\"required\":[\"name\"],\"additionalProperties\":false}"
    );
    assert_eq!(
        ToolCall::parse("search", &json!({})).unwrap_err(),
        "there is no tool `search`. The tools are: bash, read_file, write_file, edit_file, glob, todo_write, task, load_skill, compact."
    );
}

#[test]
fn a_call_is_one_line_for_people() {
    let line = |name: &str, input: Value| ToolCall::parse(name, &input).unwrap().summary();
    assert_eq!(
        line("bash", json!({"command": "cargo test"})),
        "bash cargo test"
    );
    assert_eq!(
        line("bash", json!({"command": "a\n\u{1b}[2Jb\tc\n"})),
        "bash a b   c"
    );
    assert_eq!(
        line("read_file", json!({"path": "src/lexer.rs"})),
        "read src/lexer.rs"
    );
    assert_eq!(
        line("read_file", json!({"path": "a", "offset": 11, "limit": 10})),
        "read a lines 11-20"
    );
    assert_eq!(
        line("glob", json!({"pattern": "*.rs", "path": "src"})),
        "glob *.rs in src"
    );
    assert_eq!(
        line(
            "todo_write",
            json!({"todos": [{"content": "x", "status": "pending"}]})
        ),
        "todo 1 item"
    );
    assert_eq!(line("compact", json!({})), "compact");
    let long = line("task", json!({"prompt": "é".repeat(500)}));
    assert_eq!(
        (long.chars().count(), long.chars().last()),
        (120, Some('…'))
    );
}

#[tokio::test]
async fn what_only_the_agent_can_do_says_so() {
    let place = Place::new();
    assert_eq!(
        place.run("compact", json!({})).await,
        err("compact is not available here")
    );
    assert_eq!(
        place.run("task", json!({"prompt": "x"})).await,
        err("task is not available here")
    );
}
