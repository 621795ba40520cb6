//! `glob`: what it finds, its bounds, and that it can be stopped.

use std::time::{Duration, Instant};

use plimsoll::tools::ToolCall;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{Place, err};

fn tree(place: &Place) {
    for name in [
        "src/main.rs",
        "src/lib.rs",
        "src/deep/a.rs",
        "README.md",
        ".hidden/b.rs",
        ".config/x.toml",
        ".git/config",
        "target/debug/c.rs",
        "node_modules/m/index.js",
        "docs/ä b.md",
        ".github/ci.yml",
    ] {
        place.write(name, "x");
    }
    place.write("saved/.gitignore", "*\n");
    place.write("saved/r.txt", "");
    place.write(".gitignore", "target/\nnode_modules/\n");
}

#[tokio::test]
async fn glob_finds_files_by_pattern() {
    let place = Place::new();
    tree(&place);
    let root = place.tools.workspace().root().display().to_string();
    let table = [
        (
            json!({"pattern": "**/*.rs"}),
            "src/deep/a.rs\nsrc/lib.rs\nsrc/main.rs",
        ),
        (json!({"pattern": "*.rs"}), "no file matches `*.rs` in ."),
        (json!({"pattern": "src/*.rs"}), "src/lib.rs\nsrc/main.rs"),
        (
            json!({"pattern": "*.rs", "path": "src"}),
            "src/lib.rs\nsrc/main.rs",
        ),
        (json!({"pattern": "src/{lib,nope}.rs"}), "src/lib.rs"),
        (json!({"pattern": "README.md"}), "README.md"),
        (json!({"pattern": "docs/*"}), "docs/ä b.md"),
        (json!({"pattern": ".config/*.toml"}), ".config/x.toml"),
        (json!({"pattern": "**/.*/*.toml"}), ".config/x.toml"),
        (json!({"pattern": ".github/**"}), ".github/ci.yml"),
        (json!({"pattern": ".git/*"}), ".git/config"),
        (json!({"pattern": "target/**/*.rs"}), "target/debug/c.rs"),
        (
            json!({"pattern": "saved/*"}),
            "saved/r.txt\n[.gitignore leaves these out]",
        ),
        (
            json!({"pattern": "s*"}),
            "no file matches `s*` in .; 2 folders do: saved/, src/",
        ),
        (
            json!({"pattern": format!("{root}/src/*.rs")}),
            "src/lib.rs\nsrc/main.rs",
        ),
    ];
    for (input, expected) in table {
        assert_eq!(place.done("glob", input.clone()).await, expected, "{input}");
    }
    assert_eq!(
        place.failed("glob", json!({"pattern": "src/[a"})).await,
        "`src/[a` is no pattern: unclosed character class; missing ']'"
    );
    assert_eq!(
        place
            .failed("glob", json!({"pattern": "*", "path": "gone"}))
            .await,
        "gone is no folder that exists"
    );
}

#[tokio::test]
async fn glob_is_bounded_and_follows_no_links() {
    let place = Place::new();
    for n in 0..1003 {
        place.write(&format!("many/{n:04}.txt"), "");
    }
    let text = place.done("glob", json!({"pattern": "many/*.txt"})).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[999]),
        (1001, "many/0000.txt", "many/0999.txt")
    );
    assert_eq!(
        lines[1000],
        "[the first 1,000 of 1,003 files; use a narrower pattern for the others]"
    );
    #[cfg(unix)]
    {
        place.write("a/b/c.txt", "");
        std::os::unix::fs::symlink("..", place.path("a/b/loop")).unwrap();
        assert_eq!(
            place.done("glob", json!({"pattern": "a/**/*.txt"})).await,
            "a/b/c.txt"
        );
        place.write("odd/line\nbreak\u{1b}[2J.txt", "");
        assert_eq!(
            place.done("glob", json!({"pattern": "odd/*"})).await,
            "odd/line\\nbreak\\u{1b}[2J.txt"
        );
    }
}

#[tokio::test]
async fn glob_over_everything_can_be_interrupted() {
    let place = Place::new();
    let call = ToolCall::parse("glob", &json!({"pattern": "**", "path": "/"})).unwrap();
    let cancel = CancellationToken::new();
    let stop = async {
        tokio::task::yield_now().await;
        cancel.cancel();
        Instant::now()
    };
    let (output, since) = tokio::join!(place.tools.run(&call, &cancel), stop);
    assert_eq!(output, err("interrupted"));
    assert!(since.elapsed() < Duration::from_secs(10));
}
