//! Streams that break, fall silent or are not wanted any more.

use std::time::Duration;

use futures_util::StreamExt;
use plimsoll::message::ContentBlock;
use plimsoll::model::{AnthropicModel, Delta, Header, Model, ModelError, Retrying};
use serde_json::json;

use super::support::reply::Reply;
use super::support::server::Server;
use super::{KEY, ask, blocks, client, endpoint, fails, failure, hello};

#[tokio::test]
async fn a_busy_server_is_asked_again_and_a_half_reply_is_not() {
    let server = Server::start(vec![
        Reply::error(529, "overloaded_error", "Overloaded").header("retry-after-ms", "1"),
        Reply::text("whole"),
    ]);
    let model = Retrying::new(client(&server), 4);
    let deltas = ask(&model, hello()).await;
    let retries: Vec<_> = deltas
        .iter()
        .filter_map(|delta| match delta {
            Delta::Retrying {
                attempt,
                wait,
                reason,
            } => Some((*attempt, *wait, reason.replace(&server.url(), "SERVER"))),
            _ => None,
        })
        .collect();
    let reason = "SERVER answered 529: Overloaded (overloaded_error)".to_owned();
    assert_eq!(retries, [(1, Duration::from_millis(1), reason)]);
    assert_eq!(blocks(&deltas), [ContentBlock::text("whole")]);

    let call = json!({"type": "tool_use", "id": "t", "name": "bash", "input": {}});
    let text = json!({"type": "text", "text": "never complete"});
    let whole = Reply::message(&[call, text], "end_turn");
    let server = Server::start(vec![whole.cut_after_events(6)]);
    let deltas = ask(&Retrying::new(client(&server), 4), hello()).await;
    assert_eq!(
        blocks(&deltas),
        [ContentBlock::tool_use("t", "bash", json!({}))]
    );
    assert!(
        matches!(failure(&deltas), ModelError::Network(_)),
        "{deltas:?}"
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_connection_that_died_between_two_requests_is_made_again_unseen() {
    let server = Server::start(vec![Reply::text("a"), Reply::hang_up(), Reply::text("b")]);
    let model = Retrying::new(client(&server), 0);
    let first = ask(&model, hello()).await;
    let second = ask(&model, hello()).await;
    assert_eq!(blocks(&first), [ContentBlock::text("a")]);
    assert_eq!(
        second,
        ask_fresh(vec![Reply::text("b")]).await,
        "as if nothing had happened"
    );
    assert_eq!((server.requests().len(), server.connections()), (3, 2));

    // A server that hangs up on the new connection too has a fault that is told and counted.
    let server = Server::start(vec![
        Reply::text("a"),
        Reply::hang_up(),
        Reply::hang_up(),
        Reply::hang_up(),
    ]);
    let model = Retrying::new(client(&server), 0);
    ask(&model, hello()).await;
    let error = failure(&ask(&model, hello()).await);
    assert!(matches!(error, ModelError::Network(_)), "{error:?}");
    assert_eq!((server.requests().len(), server.left()), (3, 1));

    // The first connection of all was not kept from anything.
    let server = Server::start(vec![Reply::hang_up(), Reply::text("never")]);
    let error = failure(&ask(&Retrying::new(client(&server), 0), hello()).await);
    assert!(matches!(error, ModelError::Network(_)), "{error:?}");
    assert_eq!(server.left(), 1);
}

async fn ask_fresh(script: Vec<Reply>) -> Vec<Delta> {
    let server = Server::start(script);
    ask(&client(&server), hello()).await
}

#[tokio::test]
async fn a_stream_that_ends_early_fails_with_a_text_of_its_own() {
    let (error, text) = fails(Reply::sse("event: ping\ndata: {\"type\": \"ping\"}\n\n")).await;
    assert!(matches!(error, ModelError::Protocol(_)));
    assert_eq!(
        text,
        "SERVER ended the stream before the reply was complete"
    );
    let (error, text) = fails(Reply::text("x").cut_after(100)).await;
    assert!(matches!(error, ModelError::Network(_)));
    assert!(
        text.starts_with("the connection to SERVER broke: "),
        "{text}"
    );
    let (error, text) = fails(Reply::events(&[
        json!({"type": "error", "error": {"type": "api_error", "message": format!("key {KEY} died")}}),
    ]))
    .await;
    assert!(matches!(error, ModelError::Overloaded(_)));
    assert!(
        text.starts_with("SERVER broke its reply off with an error: key [key] died (api_error)"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_falls_silent_is_given_up_and_hung_up_on() {
    for silent in [
        Reply::text("x").stall_after_events(2),
        Reply::text("x").stall_after(0),
    ] {
        let server = Server::start(vec![silent]);
        let mut endpoint = endpoint(&server.url());
        endpoint.stall_timeout = Duration::from_millis(50);
        let error = failure(&ask(&AnthropicModel::new(endpoint), hello()).await);
        let expected = format!(
            "{} sent nothing for 0.05 s; the limit is the setting stall_timeout",
            server.url()
        );
        assert_eq!(error, ModelError::Network(expected));
        assert!(server.wait_hung_up(1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_dropped_stream_closes_the_connection() {
    let server = Server::start(vec![
        Reply::text("some text that streams").stall_after_events(3),
    ]);
    let mut stream = Retrying::new(client(&server), 4).stream(hello());
    assert!(matches!(stream.next().await, Some(Delta::Text(_))));
    drop(stream);
    assert!(server.wait_hung_up(1));
}

#[tokio::test]
async fn the_key_is_in_no_form_of_the_client() {
    let mut endpoint = endpoint("http://user:hidden-word@127.0.0.1:1/x");
    endpoint.headers = Header::parse_lines("x-team: hidden-header").unwrap();
    let shown = format!(
        "{endpoint:?} {:?}",
        Retrying::new(AnthropicModel::new(endpoint.clone()), 1)
    );
    assert!(shown.contains("http://[key]@127.0.0.1:1/x"), "{shown}");
    assert!(!shown.contains(KEY) && !shown.contains("hidden"), "{shown}");
    assert_eq!(
        failure(&ask(&AnthropicModel::new(endpoint), hello()).await),
        ModelError::Rejected("the base URL must not hold a name or a word to log in with: send them as a header, with ANTHROPIC_CUSTOM_HEADERS".to_owned())
    );
}
