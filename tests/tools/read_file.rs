//! `read_file`: whole files, parts, and what is no text.

use std::fs;
use std::time::{Duration, Instant};

use plimsoll::tools::MAX_CHARS;
use serde_json::json;

use crate::Place;

#[tokio::test]
async fn read_file_gives_text_as_it_is() {
    let place = Place::new();
    for text in [
        "one\ntwo\n",
        "no end",
        "\n",
        "a\r\nb\rc\n",
        "tab\t\u{1b}[0m é 漢 👩‍👩‍👧\n",
    ] {
        place.write("a.txt", text);
        assert_eq!(
            place.done("read_file", json!({"path": "a.txt"})).await,
            text
        );
    }
    place.write("a.txt", "\u{feff}bom\r\n");
    assert_eq!(
        place.done("read_file", json!({"path": "a.txt"})).await,
        "bom\r\n"
    );
    place.write("a.txt", "");
    assert_eq!(
        place.done("read_file", json!({"path": "./a.txt"})).await,
        "(a.txt is empty)"
    );
    place.write("a.txt", b"caf\xe9\n");
    assert_eq!(
        place.done("read_file", json!({"path": "a.txt"})).await,
        "caf\u{fffd}\n"
    );
}

#[tokio::test]
async fn read_file_gives_parts_in_lines() {
    let place = Place::new();
    let lines: Vec<String> = (1..=1200).map(|n| format!("line {n}\n")).collect();
    place.write("a.txt", lines.concat());
    let part =
        |offset: usize, limit: usize| json!({"path": "a.txt", "offset": offset, "limit": limit});
    assert_eq!(
        place.done("read_file", part(2, 2)).await,
        "line 2\nline 3\n[lines 2-3 of 1,200; go on with offset 4]"
    );
    assert_eq!(
        place.done("read_file", part(1199, 5)).await,
        "line 1199\nline 1200\n"
    );
    assert_eq!(
        place
            .done("read_file", json!({"path": "a.txt", "offset": 1200}))
            .await,
        "line 1200\n"
    );
    assert_eq!(
        place.failed("read_file", part(1201, 1)).await,
        "a.txt has only 1,200 lines: there is no line 1,201"
    );
}

#[tokio::test]
async fn read_file_says_how_to_go_on_where_it_must_cut() {
    let place = Place::new();
    place.write("exact.txt", "x".repeat(MAX_CHARS));
    assert_eq!(
        place.done("read_file", json!({"path": "exact.txt"})).await,
        "x".repeat(MAX_CHARS)
    );
    place.write("long.txt", format!("{}\n", "é".repeat(99)).repeat(5000));
    let text = place.done("read_file", json!({"path": "long.txt"})).await;
    assert!(
        text.ends_with("é\n[lines 1-3,996 of 5,000; go on with offset 3997]"),
        "{}",
        &text[text.len() - 80..]
    );
    assert!(text.chars().count() <= MAX_CHARS);
    place.write("wide.txt", "漢".repeat(MAX_CHARS + 1));
    let text = place.done("read_file", json!({"path": "wide.txt"})).await;
    assert!(text.chars().count() <= MAX_CHARS);
    assert_eq!(
        text.trim_start_matches('漢'),
        "\n[line 1 of 1 goes on: it is longer than a result may be; look at the rest with bash, for example `sed -n 1p wide.txt | cut -c 399601-`]"
    );
}

#[tokio::test]
async fn read_file_refuses_quickly_what_is_no_text() {
    let place = Place::new();
    place.write("src/lexer.rs", "x");
    place.write("src/Parser.rs", "x");
    place.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    fs::File::create(place.path("sparse"))
        .unwrap()
        .set_len(3 << 30)
        .unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(place.path("fifo"))
            .status()
            .unwrap()
            .success()
    );
    let pipe = "is no regular file but a pipe, a socket or a device: it cannot be read or written with this tool";
    let table = [
        ("src", "src is a folder: list it with glob, or `ls` in bash".to_owned()),
        ("src/lexr.rs", "src/lexr.rs does not exist; is it src/lexer.rs?".to_owned()),
        ("src/parser.rs", "src/parser.rs does not exist; is it src/Parser.rs?".to_owned()),
        ("gone/far/a.rs", "gone/far/a.rs does not exist".to_owned()),
        ("src/lexer.rs/x", "src/lexer.rs/x does not exist".to_owned()),
        ("image.png", "image.png is binary (16 bytes): it is no text to read or edit; look at it with bash, for example `file` or `xxd | head`".to_owned()),
        ("sparse", "sparse is too large (3072 MB): look at parts of it with bash, for example `head -c 2000` or `grep -n`".to_owned()),
        ("fifo", format!("fifo {pipe}")),
        ("/dev/zero", format!("/dev/zero {pipe}")),
        ("", "the path is empty".to_owned()),
        ("a\0b", "the path has a NUL character in it".to_owned()),
    ];
    let start = Instant::now();
    for (path, expected) in table {
        assert_eq!(
            place.failed("read_file", json!({"path": path})).await,
            expected
        );
    }
    assert!(start.elapsed() < Duration::from_secs(10));
}
