//! Each error is told: the server, its own words, and what to do.

use plimsoll::model::{AnthropicModel, Key, ModelError, Secret};
use serde_json::json;

use super::support::reply::Reply;
use super::support::server::Server;
use super::{KEY, ask, endpoint, fails, failure, hello};

/// Whether an error is of the kind that is meant.
type Is = fn(&ModelError) -> bool;

#[tokio::test]
async fn an_error_names_server_words_request_and_what_to_do() {
    let body = json!({"error": {"message": format!("bad\u{1b}[31m key {KEY}"), "type": "authentication_error", "code": 401}});
    let (error, text) =
        fails(Reply::status(401, &body.to_string()).header("request-id", "req_7")).await;
    assert!(matches!(error, ModelError::Auth(_)));
    assert_eq!(
        text,
        "SERVER answered 401: bad key [key] (authentication_error, request req_7); the key of ANTHROPIC_API_KEY was sent as x-api-key; if it is right, the server may want Authorization: Bearer: set ANTHROPIC_AUTH_TOKEN instead of ANTHROPIC_API_KEY"
    );
    let (error, text) = fails(Reply::error(404, "not_found_error", "model: test-model")).await;
    assert!(matches!(error, ModelError::Rejected(_)));
    assert_eq!(
        text,
        "SERVER answered 404: model: test-model (not_found_error); the server does not know the model `test-model`: choose one that it offers with --model"
    );
    let (_, text) = fails(Reply::status(404, "")).await;
    assert_eq!(
        text,
        "SERVER answered 404: without a word; the request went to SERVER/v1/messages: is the base URL right, and does the server (in this version) speak the Anthropic Messages API?"
    );
    let (error, text) = fails(Reply::status(500, &"é".repeat(600))).await;
    assert!(matches!(error, ModelError::Overloaded(_)));
    assert_eq!(
        text,
        format!(
            "SERVER answered 500: {}…; the server cannot answer now; send the request again later",
            "é".repeat(500)
        )
    );
    let (error, text) = fails(Reply::error(400, "invalid_request_error", "No.")).await;
    assert!(matches!(error, ModelError::Rejected(_)));
    assert_eq!(text, "SERVER answered 400: No. (invalid_request_error)");
    let (error, _) = fails(Reply::status(400, "")).await;
    assert!(matches!(error, ModelError::MaybeTooLong(_)));
    let (error, text) = fails(Reply::status(200, "<html>login</html>")).await;
    assert!(matches!(error, ModelError::Protocol(_)));
    assert_eq!(
        text,
        "SERVER answered with an HTML page instead of a reply: is the base URL right?"
    );
    let (error, _) = fails(Reply::status(200, "{\"hello\":1}")).await;
    assert!(matches!(error, ModelError::Protocol(_)));
    let (error, _) = fails(Reply::status(
        200,
        "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}",
    ))
    .await;
    assert!(matches!(error, ModelError::Overloaded(_)));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start(vec![Reply::text("stolen")]);
    let to = format!("{}/v1/messages?secret=1", other.url());
    let (error, text) = fails(Reply::status(307, "").header("location", &to)).await;
    assert!(matches!(error, ModelError::Rejected(_)));
    assert!(
        text.contains(&other.url()) && !text.contains("secret=1"),
        "{text}"
    );
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn captured_error_bodies_become_typed_errors() {
    let capture = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/");
        std::fs::read_to_string(format!("{folder}{name}")).unwrap()
    };
    let (error, _) = fails(Reply::status(
        400,
        &capture("llama-server/prompt_too_long_stream.json"),
    ))
    .await;
    let ModelError::PromptTooLong {
        message,
        tokens,
        window,
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!((tokens, window), (Some(40_031), Some(4_096)));
    assert!(message.contains("request (40031 tokens) exceeds the available context size"));
    let cases: [(u16, &str, Is); 9] = [
        (401, "llama-server/bad_api_key.json", |e| {
            matches!(e, ModelError::Auth(_))
        }),
        (400, "llama-server/bad_json.json", |e| {
            matches!(e, ModelError::Rejected(_))
        }),
        (404, "llama-server/unknown_path.json", |e| {
            matches!(e, ModelError::Rejected(_))
        }),
        (413, "llmock/http_413.json", |e| {
            matches!(e, ModelError::PromptTooLong { .. })
        }),
        (400, "llmock/prompt_too_long.json", |e| {
            matches!(e, ModelError::PromptTooLong { .. })
        }),
        (429, "fakellm/http_429_mock_error.json", |e| {
            matches!(e, ModelError::RateLimited(_))
        }),
        (529, "aimock/http_529.json", |e| {
            matches!(e, ModelError::Overloaded(_))
        }),
        (403, "llmock/http_403.json", |e| {
            matches!(e, ModelError::Auth(_))
        }),
        (503, "mock-ai-api/mock-503.json", |e| {
            matches!(e, ModelError::Overloaded(_))
        }),
    ];
    for (status, name, is) in cases {
        let (error, _) = fails(Reply::status(status, &capture(name))).await;
        assert!(is(&error), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn nothing_that_listens_and_no_address_are_told() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let told =
        async |base: &str| failure(&ask(&AnthropicModel::new(endpoint(base)), hello()).await);
    assert_eq!(
        told(&gone).await,
        ModelError::Network(format!("nothing listens at {gone}: is the server running?"))
    );
    assert_eq!(
        told("ftp://host").await,
        ModelError::Rejected("the base URL must begin with http:// or https://".to_owned())
    );
    assert!(matches!(told("no address").await, ModelError::Rejected(_)));
    let mut endpoint = endpoint(&gone);
    endpoint.key = Some(Key::ApiKey(Secret::new("line\nbreak")));
    assert_eq!(
        failure(&ask(&AnthropicModel::new(endpoint), hello()).await),
        ModelError::Rejected(
            "the key has characters that a header cannot hold: copy it again".to_owned()
        )
    );
}

#[tokio::test]
async fn a_secure_connection_that_fails_is_told() {
    let server = Server::start(Vec::new());
    let model = AnthropicModel::new(endpoint(&server.url().replace("http:", "https:")));
    // A system without certificates cannot even build the client; both are told, neither panics.
    match failure(&ask(&model, hello()).await) {
        ModelError::Network(text) => assert!(text.contains("https://127.0.0.1"), "{text}"),
        ModelError::Rejected(text) => assert!(text.contains("SSL_CERT_FILE"), "{text}"),
        other => panic!("{other:?}"),
    }
}
