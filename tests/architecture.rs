//! The house's rules, read from the source: imports only go down the floors, some words have no place on some floors,
//! every file says what it is for. A failure names the file and the line to fix.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read the source fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll::context::Stage;

/// What each module may use beside itself. One that is not listed is a new floor: put it where it belongs.
const FLOORS: [(&str, &[&str]); 14] = [
    ("text", &[]),
    ("message", &[]),
    ("store", &[]),
    ("context", &["message", "text"]),
    ("event", &["message", "context"]),
    ("model", &["message", "context", "text"]),
    ("session", &["message", "context", "event", "store"]),
    ("tools", &["message", "event", "text"]),
    ("permission", &["tools", "text"]),
    ("replay", &["message", "context", "event", "text"]),
    (
        "agent",
        &[
            "message",
            "context",
            "event",
            "text",
            "model",
            "store",
            "session",
            "tools",
            "permission",
        ],
    ),
    ("headless", &["message", "context", "event", "text"]),
    ("tui", &["message", "context", "event", "text"]),
    ("demo", &["message", "context", "event", "text", "model"]),
];

/// The files that put all floors together.
const WIRING: [&str; 9] = [
    "lib", "main", "cli", "config", "commands", "launch", "play", "show", "doctor",
];

/// Words that have no place in a folder or file, with the reason.
const FORBIDDEN: [(&str, &[&str], &str); 4] = [
    (
        "src/context",
        &[
            "std::fs",
            "std::env",
            "std::time",
            "tokio",
            "async",
            "await",
            "mpsc",
            "reqwest",
            "ratatui",
        ],
        "the pipeline is pure: values in, values out",
    ),
    (
        "src/agent",
        &[
            "ratatui",
            "crossterm",
            "std::fs",
            "println",
            "eprintln",
            "print",
            "eprint",
        ],
        "the agent neither draws, prints nor opens files by itself",
    ),
    (
        "src/tui/view",
        &["&mut App"],
        "drawing changes nothing: the same state gives the same screen",
    ),
    (
        "src/message.rs",
        &["tokio", "std::fs", "ratatui"],
        "messages are words, not deeds",
    ),
];

/// A source file with its comments and the inside of its strings blanked out, line by line.
struct Source {
    path: String,
    text: String,
    code: Vec<String>,
}

impl Source {
    /// `context` for `src/context/size.rs`.
    fn module(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        inside.split(['/', '.']).next().unwrap_or_default()
    }

    /// Lines of code with their numbers, without the tests at the end.
    fn code_without_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_tests = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        self.lines()
            .take_while(move |(_, line)| !is_tests && line.trim() != "#[cfg(test)]")
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .iter()
            .enumerate()
            .map(|(at, line)| (at + 1, line.as_str()))
    }
}

fn sources(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join(folder), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let path = file.strip_prefix(root).unwrap().to_string_lossy();
            Source {
                path: path.replace('\\', "/"),
                code: code_only(&text).lines().map(str::to_owned).collect(),
                text,
            }
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// `text` without comments and without what stands inside strings; lines stay lines.
fn code_only(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(length) = raw_string(rest, &out) {
            length
        } else if c == '"' {
            string(rest)
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').unwrap_or(0) + 2
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.extend(rest[..skipped].matches('\n'));
        rest = &rest[skipped..];
    }
    out
}

/// The length of the string that `rest` begins with.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

/// The length of the raw string that `rest` begins with, if it does.
fn raw_string(rest: &str, before: &str) -> Option<usize> {
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let hashes = rest
        .strip_prefix('r')?
        .chars()
        .take_while(|c| *c == '#')
        .count();
    let inner = rest[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inner.find(&end).map_or(inner.len(), |at| at + end.len());
    Some(1 + hashes + 1 + length)
}

/// The modules behind each `crate::` of a file, with their lines; `crate::{a::b, c}` names `a` and `c`.
fn imports(source: &Source) -> Vec<(usize, String)> {
    let code = source.code.join("\n");
    let mut found = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => found.extend(heads(list).map(|name| (line, name))),
            None => found.push((line, word(rest).to_owned())),
        }
    }
    found
}

/// The first word of each entry of a list of imports, up to its closing brace.
fn heads(list: &str) -> impl Iterator<Item = String> {
    let mut depth = 0_u32;
    let mut entries = vec![String::new()];
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => entries.push(String::new()),
            _ if depth == 0 => entries.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    entries
        .into_iter()
        .map(|entry| word(entry.trim()).to_owned())
        .filter(|name| !name.is_empty())
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Whether `line` holds `wanted` as whole words.
fn holds(line: &str, wanted: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(wanted).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + wanted.len()..].starts_with(is_part)
    })
}

fn report(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn imports_only_go_down() {
    let mut problems = Vec::new();
    for source in sources("src") {
        let module = source.module();
        if WIRING.contains(&module) {
            continue;
        }
        let Some((_, allowed)) = FLOORS.iter().find(|(name, _)| *name == module) else {
            problems.push(format!("{}: `{module}` stands on no floor", source.path));
            continue;
        };
        for (line, used) in imports(&source) {
            if used != module && !allowed.contains(&used.as_str()) {
                problems.push(format!(
                    "{}:{line}: `{module}` must not use `{used}`",
                    source.path
                ));
            }
        }
    }
    report(&problems);
}

#[test]
fn every_floor_exists() {
    let modules: Vec<String> = sources("src")
        .iter()
        .map(|source| source.module().to_owned())
        .collect();
    let listed = FLOORS.iter().map(|(name, _)| *name).chain(WIRING);
    let missing: Vec<&str> = listed
        .filter(|name| !modules.iter().any(|module| module == name))
        .collect();
    assert_eq!(missing, [""; 0], "listed here, but not in src/");
}

#[test]
fn no_word_stands_where_it_has_no_place() {
    let mut problems = Vec::new();
    for source in sources("src") {
        for (place, words, reason) in FORBIDDEN {
            let is_there = source.path == place || source.path.starts_with(&format!("{place}/"));
            for (line, code) in source.code_without_tests().filter(|_| is_there) {
                for forbidden in words.iter().filter(|forbidden| holds(code, forbidden)) {
                    problems.push(format!("{}:{line}: `{forbidden}`: {reason}", source.path));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn every_file_says_what_it_is_for() {
    let problems: Vec<String> = ["src", "tests"]
        .into_iter()
        .flat_map(sources)
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| format!("{}:1: begins with no `//!`", source.path))
        .collect();
    report(&problems);
}

#[test]
fn no_file_is_longer_than_500_lines_of_code() {
    let problems: Vec<String> = sources("src")
        .iter()
        .map(|source| (&source.path, source.code_without_tests().count()))
        .filter(|(_, lines)| *lines > 500)
        .map(|(path, lines)| format!("{path}: {lines} lines without tests; it holds two things"))
        .collect();
    report(&problems);
}

#[test]
fn stages_bear_the_names_of_the_course() {
    let stages = Stage::PIPELINE.into_iter().chain([Stage::ReactiveCompact]);
    let names: Vec<&str> = stages.map(Stage::name).collect();
    assert_eq!(
        names,
        [
            "tool_result_budget",
            "snip_compact",
            "micro_compact",
            "fit_results",
            "compact_history",
            "reactive_compact",
        ]
    );
    for name in names {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/context/{name}.rs"));
        assert!(file.is_file(), "{name} has no file of its own");
    }
}

#[test]
fn the_reader_of_source_sees_code_only() {
    let text = "use a; // crate::b\nlet s = \"crate::c \\\" \n\"; let r = r#\"crate::\"d\"#; '\"'; crate::{e::{f, g}, h}\n";
    let source = Source {
        path: "src/x.rs".to_owned(),
        text: text.to_owned(),
        code: code_only(text).lines().map(str::to_owned).collect(),
    };
    assert_eq!(imports(&source), [(3, "e".to_owned()), (3, "h".to_owned())]);
    assert!(holds("let x: &mut App;", "&mut App"));
    assert!(!holds("asynchronous", "async"));
}
