//! `edit_file`: one passage changes, or nothing does.

use plimsoll::tools::ToolOutput;
use serde_json::{Value, json};

use crate::{Place, err, ok};

async fn edit(before: &[u8], old: &str, new: &str) -> (ToolOutput, Vec<u8>) {
    edit_with(
        before,
        json!({"path": "f", "old_text": old, "new_text": new}),
    )
    .await
}

async fn edit_with(before: &[u8], input: Value) -> (ToolOutput, Vec<u8>) {
    let place = Place::new();
    place.write("f", before);
    let output = place.run("edit_file", input).await;
    let after = place.bytes("f");
    (output, after)
}

#[tokio::test]
async fn edit_file_touches_only_the_passage() {
    let table: [(&str, &str, &str, &str); 12] = [
        ("a\nword\nb\n", "word", "other", "a\nother\nb\n"),
        ("a\r\nword\r\nb\r\n", "word", "other", "a\r\nother\r\nb\r\n"),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\nc\rd", "c", "x\ny", "a\r\nb\nx\ny\rd"),
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        ("\u{feff}a\r\nb", "a\n", "", "\u{feff}b"),
        ("no end", "end", "END", "no END"),
        ("trail  \n", "trail", "x", "x  \n"),
        ("\n", "\n", "\n\n", "\n\n"),
        ("x\r\ny", "\ny", "\nz", "x\r\nz"),
        ("a\rb\rc", "b", "x", "a\rx\rc"),
        ("日本語\n", "本", "ほん", "日ほん語\n"),
    ];
    for (before, old, new, after) in table {
        let (output, bytes) = edit(before.as_bytes(), old, new).await;
        assert!(!output.is_error, "{before:?}: {}", output.text);
        assert_eq!(String::from_utf8(bytes).unwrap(), after, "{before:?}");
    }
}

#[tokio::test]
async fn edit_file_changes_nothing_unless_it_is_clear_what() {
    let many = "occurs 3 times in f (lines 1, 2, 4), it must occur once: add lines around it, or set replace_all. Nothing was changed";
    let table: [(&[u8], &str, &str, String); 8] = [
        (b"x\nx\n\nx\n", "x", "y", format!("old_text {many}")),
        (b"aaaa", "aa", "b", "old_text occurs 3 times in f (lines 1, 1, 1), it must occur once: add lines around it, or set replace_all. Nothing was changed".to_owned()),
        (b"a", "b", "c", "old_text does not occur in f. Nothing was changed; read the file and copy the passage exactly as it stands there".to_owned()),
        (b"a\n\tb();\n", "  b();\n  c();", "c", "old_text does not occur in f. Nothing was changed; its first line stands, apart from spaces around it, at line 2: read the file from there and copy the passage exactly".to_owned()),
        (b"a", "", "c", "old_text is empty: give the passage to replace, or use write_file".to_owned()),
        (b"a", "a", "a", "old_text and new_text are the same: there is nothing to change".to_owned()),
        (b"a\nb\x99c\n", "a", "x", "f is not UTF-8 (line 2): it is left as it is. Change it with bash, or convert it first with `iconv`".to_owned()),
        (b"a\0b", "a", "x", "f is binary (3 bytes): it is no text to read or edit; look at it with bash, for example `file` or `xxd | head`".to_owned()),
    ];
    for (before, old, new, expected) in table {
        let (output, after) = edit(before, old, new).await;
        assert_eq!(output, err(&expected));
        assert_eq!(after, before);
    }
}

#[tokio::test]
async fn edit_file_replaces_all_when_told_to() {
    let all = |old: &str, new: &str| json!({"path": "f", "old_text": old, "new_text": new, "replace_all": true});
    let (output, after) = edit_with(b"x\nax\nx", all("x", "xx")).await;
    assert_eq!(output, ok("edited f: 3 replacements at lines 1, 2, 3"));
    assert_eq!(after, b"xx\naxx\nxx");
    let (output, after) = edit_with(b"aaaaa", all("aa", "b")).await;
    assert_eq!(output, ok("edited f: 2 replacements at lines 1, 1"));
    assert_eq!(after, b"bba");
    let (output, _) = edit_with(b"x", all("x", "y")).await;
    assert_eq!(output, ok("edited f: 1 replacement at line 1"));
}
