//! What a server says it offers: names for a person who asked for another, and the window.

use plimsoll::model::{AnthropicModel, Model, ModelError, Retrying};
use serde_json::{Value, json};

use super::support::reply::Reply;
use super::support::server::Server;
use super::{ask, client, endpoint, failure, hello};

fn lines(server: &Server) -> Vec<String> {
    server.requests().into_iter().map(|r| r.line).collect()
}

fn models() -> Vec<Value> {
    vec![
        json!({"id": "test-model-2", "type": "model", "max_input_tokens": 8_000}),
        json!({"id": "other/one", "type": "model", "meta": {"n_ctx": 4_096}}),
    ]
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told_with_those_that_are() {
    let told = async |reply: Reply, offered: Vec<Value>| {
        let server = Server::start(vec![reply]);
        server.offer(offered);
        let error = failure(&ask(&client(&server), hello()).await);
        assert!(matches!(error, ModelError::Rejected(_)), "{error:?}");
        assert_eq!(lines(&server), ["POST /v1/messages", "GET /v1/models"]);
        error.to_string().replace(&server.url(), "SERVER")
    };
    let choose =
        "the server does not know the model `test-model`: choose one that it offers with --model";
    assert_eq!(
        told(
            Reply::error(404, "not_found_error", "model: test-model"),
            models()
        )
        .await,
        format!(
            "SERVER answered 404: model: test-model (not_found_error); {choose}: test-model-2, other/one"
        )
    );
    // Other servers, other words; and one that has no list.
    assert_eq!(
        told(
            Reply::status(
                400,
                "{\"error\": {\"message\": \"test-model is not a valid model ID\"}}"
            ),
            models()
        )
        .await,
        format!(
            "SERVER answered 400: test-model is not a valid model ID; {choose}: test-model-2, other/one"
        )
    );
    assert_eq!(
        told(
            Reply::status(404, "{\"error\": \"model 'test-model' not found\"}"),
            Vec::new()
        )
        .await,
        format!("SERVER answered 404: model 'test-model' not found; {choose}")
    );
}

#[tokio::test]
async fn the_window_is_asked_once_and_only_when_somebody_wants_it() {
    let server = Server::start(vec![Reply::text("a")]);
    server.offer(models());
    let mut of_one = endpoint(&server.url());
    of_one.model = "other/one".to_owned();
    let model = Retrying::new(AnthropicModel::new(of_one), 4);
    ask(&model, hello()).await;
    assert_eq!(lines(&server), ["POST /v1/messages"]);
    assert_eq!(model.window().await, Some(4_096));
    assert_eq!(model.window().await, Some(4_096));
    assert_eq!(lines(&server), ["POST /v1/messages", "GET /v1/models"]);
}

#[tokio::test]
async fn a_model_that_the_list_leaves_out_is_asked_for_by_its_name() {
    let server = Server::start(Vec::new());
    server.offer(models());
    let mut unknown = endpoint(&format!("{}/v1/", server.url()));
    unknown.model = "not there".to_owned();
    assert_eq!(AnthropicModel::new(unknown).window().await, None);
    assert_eq!(
        lines(&server),
        ["GET /v1/models", "GET /v1/models/not%20there"]
    );
}

#[tokio::test]
async fn a_server_that_cannot_say_has_no_window_and_no_failure() {
    let server = Server::start(Vec::new());
    assert_eq!(client(&server).window().await, None);
    assert_eq!(server.violations(), [""; 0]);
    let gone = AnthropicModel::new(endpoint("http://127.0.0.1:1"));
    assert_eq!(gone.window().await, None);
    assert_eq!(
        AnthropicModel::new(endpoint("no address")).window().await,
        None
    );
}
