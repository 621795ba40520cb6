//! Typed text in, calls out; what is no order is named.

use super::*;
use crate::text::head;

fn calls(text: &str) -> Vec<(&'static str, String)> {
    let parsed = parse(text);
    assert_eq!(parsed.misread, Vec::<String>::new(), "{text}");
    parsed
        .orders
        .into_iter()
        .map(|order| (order.tool, order.input.to_string()))
        .collect()
}

#[test]
fn every_order_becomes_its_call() {
    let cases: [(&str, &[(&str, &str)]); 14] = [
        ("read a.md", &[("read_file", r#"{"path":"a.md"}"#)]),
        (
            "Read the files a.md, \"b c.md\" and d.md",
            &[
                ("read_file", r#"{"path":"a.md"}"#),
                ("read_file", r#"{"path":"b c.md"}"#),
                ("read_file", r#"{"path":"d.md"}"#),
            ],
        ),
        (
            "read a.md lines 10-20",
            &[("read_file", r#"{"path":"a.md","offset":10,"limit":11}"#)],
        ),
        (
            "run \"ls -l; wc -l *\"",
            &[("bash", r#"{"command":"ls -l; wc -l *"}"#)],
        ),
        (
            "run `echo salt and read`",
            &[("bash", r#"{"command":"echo salt and read"}"#)],
        ),
        (
            "please find **/*.md in lessons then run ls",
            &[
                ("glob", r#"{"pattern":"**/*.md","path":"lessons"}"#),
                ("bash", r#"{"command":"ls"}"#),
            ],
        ),
        (
            "write n.md \"salt and read it\"",
            &[(
                "write_file",
                r#"{"path":"n.md","content":"salt and read it"}"#,
            )],
        ),
        (
            "write n.md \"first line\nsecond line\"",
            &[(
                "write_file",
                r#"{"path":"n.md","content":"first line\nsecond line"}"#,
            )],
        ),
        (
            "edit n.md one => two",
            &[(
                "edit_file",
                r#"{"path":"n.md","old_text":"one","new_text":"two"}"#,
            )],
        ),
        (
            "todo [x] read, [>] compare, write",
            &[(
                "todo_write",
                r#"{"todos":[{"content":"read","status":"completed"},{"content":"compare","status":"in_progress"},{"content":"write","status":"pending"}]}"#,
            )],
        ),
        (
            "task \"read a.md; find *.rs\"",
            &[("task", r#"{"prompt":"read a.md; find *.rs"}"#)],
        ),
        (
            "Look at the exercises: find *.py; skill harbour-notes",
            &[
                ("glob", r#"{"pattern":"*.py"}"#),
                ("load_skill", r#"{"name":"harbour-notes"}"#),
            ],
        ),
        ("Compact.", &[("compact", "{}")]),
        (
            "- read a.md\n- compact",
            &[("read_file", r#"{"path":"a.md"}"#), ("compact", "{}")],
        ),
    ];
    for (text, expected) in cases {
        let expected: Vec<(&str, String)> = expected
            .iter()
            .map(|(tool, input)| (*tool, (*input).to_owned()))
            .collect();
        assert_eq!(calls(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_order_is_named_beside_what_is_one() {
    let parsed = parse("dance a jig; read a.md and write n.md");
    assert_eq!(parsed.orders.len(), 1);
    assert_eq!(
        parsed.preface(),
        "I did not understand “dance a jig”.\n\n\
         I did not understand “write n.md”: I need a path and a text, as in `write notes.md Hello` or \
         `write \"my notes.md\" Hello`.\n\n\
         The rest I carry out. Text that holds `;` or a line break needs quotes around it."
    );
}

#[test]
fn without_any_order_the_model_says_what_it_understands() {
    for text in [
        "hello",
        "don't read",
        "compact the boxes",
        "",
        "読んで",
        "read",
    ] {
        let parsed = parse(text);
        assert_eq!(parsed.orders, [], "{text}");
        assert!(parsed.preface().ends_with(HELP.trim_end()), "{text}");
    }
    assert_eq!(parse("help").preface(), HELP.trim_end());
}

#[test]
fn quotes_hold_a_path_together_in_every_order() {
    let cases = [
        (
            r#"read "a b.txt" lines 2-3"#,
            r#"read_file {"path":"a b.txt","offset":2,"limit":2}"#,
        ),
        (
            r#"read "the lines 1.txt""#,
            r#"read_file {"path":"the lines 1.txt"}"#,
        ),
        (
            r#"find "a b/*.md" in "my in box""#,
            r#"glob {"pattern":"a b/*.md","path":"my in box"}"#,
        ),
        (
            r#"find "salt in water.md""#,
            r#"glob {"pattern":"salt in water.md"}"#,
        ),
        (
            r#"write "a b.txt" hello world"#,
            r#"write_file {"path":"a b.txt","content":"hello world"}"#,
        ),
        (
            "write 'a b.txt': 'it's; here'",
            r#"write_file {"path":"a b.txt","content":"it's; here"}"#,
        ),
        (
            r#"edit "a b.txt" x => y"#,
            r#"edit_file {"path":"a b.txt","old_text":"x","new_text":"y"}"#,
        ),
        (
            r#"edit `a => b` "x => y" => z"#,
            r#"edit_file {"path":"a => b","old_text":"x => y","new_text":"z"}"#,
        ),
        (
            r#"edit n.md say "hi => say "ho"#,
            r#"edit_file {"path":"n.md","old_text":"say \"hi","new_text":"say \"ho"}"#,
        ),
        (
            r#"todo "read, compare", write"#,
            r#"todo_write {"todos":[{"content":"read, compare","status":"pending"},{"content":"write","status":"pending"}]}"#,
        ),
        (
            r#"skill "harbour notes""#,
            r#"load_skill {"name":"harbour notes"}"#,
        ),
    ];
    for (text, expected) in cases {
        let found: Vec<String> = calls(text)
            .into_iter()
            .map(|(tool, input)| format!("{tool} {input}"))
            .collect();
        assert_eq!(found, [expected], "{text}");
    }
}

#[test]
fn a_quote_that_is_not_closed_is_no_part_of_a_path() {
    for text in [
        "read \"a b.txt",
        "read a.md \"b",
        "find \"*.md",
        "find *.md in \"my notes",
        "write \"a b.txt hello",
        "edit \"a b.txt x => y",
        "skill \"a\" b",
    ] {
        let parsed = parse(text);
        assert_eq!(parsed.orders, [], "{text}");
        let said = format!("I did not understand “{text}”: I need a");
        assert!(parsed.preface().starts_with(&said), "{}", parsed.preface());
    }
}

#[test]
fn a_part_behind_a_semicolon_or_a_line_break_stands_alone() {
    for (text, tool, misread) in [
        ("skill nope; bogus order", "load_skill", "bogus order"),
        ("read a.md\nbogus order", "read_file", "bogus order"),
        ("run ls -l; wc -l *", "bash", "wc -l *"),
        ("todo a, b;c", "todo_write", "c"),
        ("compact; dance", "compact", "dance"),
        (
            "dance and sing; write n.md salt and pepper",
            "write_file",
            "dance and sing",
        ),
    ] {
        let parsed = parse(text);
        let tools: Vec<&str> = parsed.orders.iter().map(|order| order.tool).collect();
        assert_eq!(tools, [tool], "{text}");
        let said = [format!("I did not understand “{misread}”.")];
        assert_eq!(parsed.misread, said, "{text}");
    }
    let both = parse("read a.md and compact; bogus");
    let tools: Vec<&str> = both.orders.iter().map(|order| order.tool).collect();
    assert_eq!(tools, ["read_file", "compact"]);
}

#[test]
fn what_is_not_understood_is_quoted_in_a_few_words() {
    let paste = "é \"quoted and\nbroken; ".repeat(4_000);
    assert_eq!(
        parse(&paste).preface(),
        format!(
            "I did not understand “{}…”.\n\n{}",
            head(&paste.replace('\n', " "), 59),
            HELP.trim_end()
        )
    );
    let among = parse(&format!("read a.md; {}", "what? ".repeat(20))).preface();
    let cut = "what? ".repeat(10);
    assert_eq!(
        among,
        format!("I did not understand “{}…”.\n\n{REST}", cut.trim_end())
    );
    let many = parse(&format!("read a.md{}", "; no".repeat(1_203))).preface();
    assert_eq!(
        many,
        format!(
            "{}There are 1,200 parts more that I did not understand.\n\n{REST}",
            "I did not understand “no”.\n\n".repeat(3)
        )
    );
}
