//! `write_file`, and where the paths of both writing tools lead.

use std::fs;

use serde_json::json;

use crate::Place;

#[tokio::test]
async fn write_file_makes_and_replaces() {
    let place = Place::new();
    assert_eq!(
        place
            .done(
                "write_file",
                json!({"path": "a/b/c.txt", "content": "é\ntwo\n"})
            )
            .await,
        "wrote new file a/b/c.txt: 2 lines, 6 characters"
    );
    assert_eq!(place.bytes("a/b/c.txt"), "é\ntwo\n".as_bytes());
    assert_eq!(
        place
            .done("write_file", json!({"path": "a/b/c.txt", "content": "x"}))
            .await,
        "replaced a/b/c.txt: 1 line, 1 character"
    );
    assert_eq!(place.bytes("a/b/c.txt"), b"x");
    let left: Vec<_> = fs::read_dir(place.path("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1);
    place
        .failed("write_file", json!({"path": "a/b", "content": "x"}))
        .await;
    place
        .failed("write_file", json!({"path": "a/b/c.txt/d", "content": "x"}))
        .await;
    place
        .failed("write_file", json!({"path": ".", "content": "x"}))
        .await;
    assert_eq!(place.bytes("a/b/c.txt"), b"x");
}

#[tokio::test]
async fn write_file_keeps_the_style_of_what_was_there() {
    let place = Place::new();
    place.write("a.txt", "\u{feff}one\r\ntwo\r\n");
    assert_eq!(
        place
            .done("write_file", json!({"path": "a.txt", "content": "three\n"}))
            .await,
        "replaced a.txt: 1 line, 6 characters, with its CR LF line endings kept, with its byte order mark kept"
    );
    assert_eq!(place.bytes("a.txt"), "\u{feff}three\r\n".as_bytes());
}

#[cfg(unix)]
#[tokio::test]
async fn changes_keep_mode_bits_and_links() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new();
    place.write("real.sh", "echo one\n");
    fs::set_permissions(place.path("real.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("real.sh", place.path("link.sh")).unwrap();
    place
        .done(
            "write_file",
            json!({"path": "link.sh", "content": "echo two\n"}),
        )
        .await;
    let edit = json!({"path": "link.sh", "old_text": "two", "new_text": "three"});
    assert_eq!(
        place.done("edit_file", edit).await,
        "edited real.sh: 1 replacement at line 1"
    );
    assert_eq!(place.bytes("real.sh"), b"echo three\n");
    assert!(
        fs::symlink_metadata(place.path("link.sh"))
            .unwrap()
            .is_symlink()
    );
    let mode = fs::metadata(place.path("real.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[cfg(unix)]
#[tokio::test]
async fn a_path_that_was_allowed_leads_where_it_says() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, place.path("out")).unwrap();
    symlink(outside.join("gone"), place.path("dangling")).unwrap();
    symlink("loop", place.path("loop")).unwrap();
    let write = |path: &str| json!({"path": path, "content": "x"});
    place.done("write_file", write("out/new/a.txt")).await;
    place.done("write_file", write("dangling")).await;
    place.done("write_file", write("../outside/b.txt")).await;
    assert_eq!(fs::read(outside.join("new/a.txt")).unwrap(), b"x");
    assert_eq!(fs::read(outside.join("gone")).unwrap(), b"x");
    assert_eq!(fs::read(outside.join("b.txt")).unwrap(), b"x");
    assert_eq!(
        place.failed("write_file", write("loop")).await,
        "loop: too many links that lead to each other"
    );
}
