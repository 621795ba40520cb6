//! What the README shows is what the program prints. `INSTA_UPDATE=always` writes it anew.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

const MARK: &str = "<!-- frame: ";
const FENCE: &str = "```";

/// The folder for practice has a name that nobody can know beforehand; in the README it ends in six `x`.
fn named(frame: &str, demo: &str) -> String {
    let prefix = format!("plimsoll-{demo}-");
    let at = frame.find(&prefix).expect("the folder's name") + prefix.len();
    format!("{}xxxxxx{}", &frame[..at], &frame[at + 6..])
}

/// `frame` with a sign for each figure that depends on how long the name of the folder is: the system prompt names it.
fn masked(frame: &str) -> String {
    let mut out = String::new();
    let mut rest = frame;
    while let Some(at) = ["(+", "system "]
        .iter()
        .filter_map(|word| Some(rest.find(word)? + word.len()))
        .min()
    {
        out.push_str(&rest[..at]);
        let digits = rest[at..]
            .find(|c: char| !c.is_ascii_digit() && c != ',')
            .unwrap_or(0);
        out.extend(rest[at..at + digits].chars().map(|_| '#'));
        rest = &rest[at + digits..];
    }
    out + rest
}

fn printed(demo: &str, keys: &str, size: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args([
            "demo", demo, "--keys", keys, "--print", size, "--color", "always",
        ])
        .env_clear()
        .envs([
            ("HOME", home.path()),
            ("TMPDIR", home.path()),
            ("LANG", "C.UTF-8".as_ref()),
        ])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    named(String::from_utf8(output.stdout).unwrap().trim_end(), demo)
}

#[test]
fn the_picture_is_a_frame_of_the_program() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let mark = readme.find(MARK).expect("a frame") + MARK.len();
    let (what, rest) = readme[mark..].split_once(" -->").unwrap();
    let words: Vec<&str> = what.split(", ").collect();
    let [demo, keys, size] = words[..] else {
        panic!("{what}: a demo, its keys and a size")
    };
    let keys = keys.strip_prefix("keys ").unwrap();
    let frame = printed(demo.strip_prefix("demo ").unwrap(), keys, size);

    let begin = readme.len() - rest.len() + rest.find(FENCE).unwrap();
    let begin = begin + readme[begin..].find('\n').unwrap() + 1;
    let end = begin + readme[begin..].find(FENCE).unwrap();
    let shown = readme[begin..end].trim_end();
    let (shown, expected) = (masked(shown), masked(&frame));
    if shown != expected && std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        let fresh = format!("{}{frame}\n{}", &readme[..begin], &readme[end..]);
        std::fs::write(&path, fresh).unwrap();
        return;
    }
    assert_eq!(
        shown, expected,
        "accept the new frame with INSTA_UPDATE=always"
    );
}
