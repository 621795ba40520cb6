//! The server: whether it is reached, which models it offers, whether the one that is set answers, and how much it takes.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;

use super::Check;
use crate::config::Config;
use crate::launch;
use crate::message::Message;
use crate::model::{
    AnthropicModel, Delta, Endpoint, Listing, Model as _, Offer, Purpose, Request, names, window_of,
};
use crate::text::thousands;

/// How long each of the two requests may take: enough for a local model that is loaded first.
const PATIENCE: Duration = Duration::from_mins(1);
/// What is looked at, in order.
const NAMES: [&str; 4] = ["server", "model", "answer", "window"];

/// The lines where the server is not asked.
pub(super) fn skipped(config: &Config, why: &str) -> Vec<Check> {
    let [asked @ .., last] = NAMES;
    let asked = asked.map(|name| Check::skip(name, why));
    asked
        .into_iter()
        .chain([window(last, None, config)])
        .collect()
}

/// Asks the server for its models, and the model for one token.
pub(super) async fn server(config: &Config) -> Vec<Check> {
    let Some(endpoint) = launch::endpoint(config) else {
        return skipped(config, "needs a key");
    };
    let [reached, offered, answers, takes] = NAMES;
    // One token is enough to see that the model answers.
    let model = AnthropicModel::new(Endpoint {
        max_tokens: 1,
        ..endpoint
    });
    let listing = match listing(&model, config).await {
        Ok(listing) => listing,
        Err(why) => {
            let skip =
                [offered, answers].map(|name| Check::skip(name, "the server was not reached"));
            let first = std::iter::once(Check::fail(reached, why));
            let last = window(takes, None, config);
            return first.chain(skip).chain([last]).collect();
        }
    };
    let list = match &listing {
        Listing::Models(list) => list.as_slice(),
        Listing::Refused(_) => &[],
    };
    vec![
        status(reached, &listing),
        is_offered(offered, list, config),
        answer(answers, &model, config).await,
        window(takes, window_of(list, &config.model), config),
    ]
}

/// The server's models, or why it was not reached.
async fn listing(model: &AnthropicModel, config: &Config) -> Result<Listing, String> {
    match tokio::time::timeout(PATIENCE, model.models()).await {
        Ok(listing) => listing.map_err(|error| error.to_string()),
        Err(_) => Err(format!(
            "{} said nothing for {} s: is it the right address?",
            config.base_url,
            PATIENCE.as_secs()
        )),
    }
}

fn status(name: &'static str, listing: &Listing) -> Check {
    match listing {
        Listing::Models(_) => Check::ok(name, "reached"),
        Listing::Refused(401 | 403) => Check::warn(
            name,
            "reached, and it does not take the key for the list of models",
        ),
        Listing::Refused(status @ 300..=399) => Check::warn(
            name,
            format!("reached, and it points elsewhere (status {status}): is the address right?"),
        ),
        Listing::Refused(status) => Check::ok(
            name,
            format!("reached, and it has no list of models (status {status})"),
        ),
    }
}

fn is_offered(name: &'static str, list: &[Offer], config: &Config) -> Check {
    let model = &config.model;
    if list.is_empty() {
        Check::skip(name, "the server does not say which models it offers")
    } else if list.iter().any(|offer| offer.id == *model) {
        Check::ok(name, format!("{model} is offered"))
    } else {
        let offered = names(list, model);
        Check::warn(
            name,
            format!("{model} is not among those offered: {offered}; choose one with --model"),
        )
    }
}

fn window(name: &'static str, tokens: Option<u64>, config: &Config) -> Check {
    let limit = thousands(config.limits.context_limit);
    match tokens {
        Some(tokens) => {
            let tokens = thousands(usize::try_from(tokens).unwrap_or(usize::MAX));
            Check::ok(
                name,
                format!(
                    "{tokens} tokens; history is summarised above {limit} characters (context_limit)"
                ),
            )
        }
        None => Check::ok(
            name,
            format!("not known; history is summarised above {limit} characters (context_limit)"),
        ),
    }
}

/// Whether the model answers the shortest request there is.
async fn answer(name: &'static str, model: &AnthropicModel, config: &Config) -> Check {
    let request = Request {
        system: "".into(),
        tools: [].into(),
        messages: vec![Message::user("Say ok.").into()],
        purpose: Purpose::Summary,
    };
    let began = Instant::now();
    let last = tokio::time::timeout(PATIENCE, async {
        model
            .stream(request)
            .filter(|delta| std::future::ready(ends(delta)))
            .next()
            .await
    });
    match last.await {
        Ok(Some(Delta::Failed(error))) => Check::fail(name, error.to_string()),
        Ok(_) => Check::ok(
            name,
            format!(
                "{} answered after {:.1} s",
                config.model,
                began.elapsed().as_secs_f64()
            ),
        ),
        Err(_) => Check::fail(
            name,
            format!(
                "{} did not answer within {} s: is the model still being loaded?",
                config.model,
                PATIENCE.as_secs()
            ),
        ),
    }
}

fn ends(delta: &Delta) -> bool {
    match delta {
        Delta::Finished { .. } | Delta::Failed(_) => true,
        Delta::Text(_)
        | Delta::Thinking(_)
        | Delta::Block(_)
        | Delta::BrokenCall { .. }
        | Delta::Retrying { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mark;
    use super::*;

    /// A server that gives one list of models and rejects all else.
    async fn lists(names: &str) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let names: Vec<serde_json::Value> = names
            .split(' ')
            .map(|name| serde_json::json!({"id": name, "max_input_tokens": 8_000}))
            .collect();
        let list = serde_json::json!({ "data": names }).to_string();
        tokio::spawn(async move {
            for (status, body) in [(200, list.as_str()), (404, "no such model")] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = [0; 8_192];
                let _ = stream.read(&mut head).await.unwrap();
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status} S\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        url
    }

    #[tokio::test]
    async fn a_model_is_looked_for_among_those_offered() {
        for (model, mark, said, tokens) in [
            ("b", Mark::Ok, "b is offered", "8,000 tokens; "),
            (
                "x",
                Mark::Warn,
                "x is not among those offered: a, b; choose one with --model",
                "not known; ",
            ),
        ] {
            let key = std::collections::BTreeMap::from([("ANTHROPIC_API_KEY", "k".to_owned())]);
            let url = lists("a b").await;
            let line = ["plimsoll", "--base-url", &url, "--model", model];
            let options = <crate::cli::Cli as clap::Parser>::try_parse_from(line)
                .unwrap()
                .common;
            let config = Config::load(&crate::config::Sources {
                user_file: None,
                state: None,
                workspace: "/nowhere".into(),
                environment: key,
                options: &options,
            });
            let checks = server(&config.unwrap()).await;
            assert_eq!(checks[0], Check::ok("server", "reached"));
            assert_eq!((checks[1].mark, checks[1].said.as_str()), (mark, said));
            assert_eq!(checks[2].mark, Mark::Fail);
            assert!(checks[3].said.starts_with(tokens), "{}", checks[3].said);
        }
    }
}
