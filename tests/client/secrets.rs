//! The key, and all that is as secret, in nothing that the program says or writes.

use serde_json::json;

use super::program::Home;
use super::support::reply::Reply;
use super::support::server::Server;

const KEY: &str = "sk-h1dden-0123456789";
const HEADERS: &str = "x-team: h1dden-team-0123";

/// What a server that shows everything answers: an echo in every place that a client reads.
fn echoes() -> Vec<Reply> {
    let echo = format!("you sent {KEY} and h1dden-team-0123");
    vec![
        Reply::status(
            401,
            &json!({"error": {"type": KEY, "message": echo}}).to_string(),
        )
        .header("request-id", KEY),
        Reply::status(500, &echo),
        Reply::status(
            404,
            &json!({"error": format!("no model {echo}")}).to_string(),
        ),
        Reply::status(302, "").header(
            "location",
            &format!("http://{KEY}@elsewhere.invalid/{KEY}?{KEY}"),
        ),
        Reply::sse(&format!("data: {{{echo}\n\n")),
        Reply::events(&[json!({"type": "error", "error": {"type": "api_error", "message": echo}})]),
        Reply::status(200, &json!({"error": {"message": echo}}).to_string()),
        Reply::text("x").cut_after(60),
    ]
}

#[test]
fn the_key_is_in_nothing_that_is_said_or_written() {
    let home = Home::new();
    let server = Server::start(Vec::new());
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_CUSTOM_HEADERS", HEADERS),
    ];
    let url = server.url();
    let clean = |said: &str| assert!(!said.contains("h1dden"), "{said}");
    for format in ["text", "json"] {
        for reply in echoes() {
            server.push(vec![reply]);
            let mut arguments = vec!["run", "hello", "--base-url", &url, "--set", "max_retries=0"];
            arguments.extend(["--format", format]);
            let said = home.run(&arguments, &variables);
            assert_eq!(said.code, 1, "{said:?}");
            clean(&format!("{said:?}"));
        }
    }
    // A retry says why it is one.
    server.push(vec![
        Reply::status(503, KEY).header("retry-after-ms", "1"),
        // What a command of the model sees of the environment.
        Reply::tool("bash", json!({"command": "env; echo $ANTHROPIC_API_KEY"})),
        Reply::text("done"),
    ]);
    let arguments = [
        "run",
        "look",
        "--base-url",
        &url,
        "--format",
        "json",
        "--permission",
        "all",
    ];
    let said = home.run(&arguments, &variables);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("retry"), "{said:?}");
    clean(&format!("{said:?}"));
    let said = home.run(&["config"], &variables);
    assert!(said.out.contains("x-team"), "{said:?}");
    clean(&format!("{said:?}"));
    // An address with a password is refused without it.
    for address in [
        "https://me:h1dden@host",
        "https://me:h1dden x@host",
        "ftp://me:h1dden@host",
    ] {
        let said = home.run(&["run", "x", "--base-url", address], &variables);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(!said.err.contains("h1d"), "{said:?}");
    }

    let written = home.written();
    assert!(
        written.iter().any(|(_, text)| text.contains("look")),
        "no session log"
    );
    for (path, text) in written {
        assert!(!text.contains("h1dden"), "{}: {text}", path.display());
    }
    for request in server.requests() {
        assert!(!request.raw.contains("h1dden"), "{}", request.raw);
    }
    assert_eq!(server.violations(), [""; 0]);
}
