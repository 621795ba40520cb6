//! The server: whether it is reached, which models it offers, whether the one that is set answers, and how much it takes.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use serde_json::Value;

use super::Check;
use crate::config::{Config, is_this_machine};
use crate::launch;
use crate::message::Message;
use crate::model::{AnthropicModel, Delta, Key, Model as _, Purpose, Request};
use crate::text::thousands;

/// How long each of the two requests may take: enough for a local model that is loaded first.
const PATIENCE: Duration = Duration::from_mins(1);
/// How much of a list of models is read, in bytes.
const LIST: usize = 4 * 1024 * 1024;
/// How many names are shown of those that a server offers.
const SHOWN: usize = 5;
/// What is looked at, in order.
const NAMES: [&str; 4] = ["server", "model", "answer", "window"];

/// A model that the server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Offered {
    name: String,
    /// Tokens that it takes, where the server says so.
    window: Option<u64>,
}

/// What `GET /v1/models` gave.
#[derive(Debug)]
enum Models {
    /// The list.
    Listed(Vec<Offered>),
    /// An answer that is no list.
    Status(StatusCode),
    /// No answer.
    Silent(String),
}

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
    let [reached, offered, answers, takes] = NAMES;
    let models = models(config).await;
    let list = match &models {
        Models::Listed(list) => list.as_slice(),
        Models::Status(_) => &[],
        Models::Silent(why) => {
            let skip =
                [offered, answers].map(|name| Check::skip(name, "the server was not reached"));
            let first = Check::fail(reached, why);
            return std::iter::once(first)
                .chain(skip)
                .chain([window(takes, None, config)])
                .collect();
        }
    };
    let own = list.iter().find(|model| model.name == config.model);
    let mut checks = vec![status(reached, &models)];
    checks.push(match own {
        Some(_) => Check::ok(offered, format!("{} is offered", config.model)),
        None if list.is_empty() => {
            Check::skip(offered, "the server does not say which models it offers")
        }
        None => Check::warn(
            offered,
            format!(
                "{} is not among those offered: {}; choose one with --model",
                config.model,
                names(list)
            ),
        ),
    });
    checks.push(answer(answers, config).await);
    checks.push(window(takes, own.and_then(|model| model.window), config));
    checks
}

fn status(name: &'static str, models: &Models) -> Check {
    match models {
        Models::Listed(_) => Check::ok(name, "reached"),
        Models::Status(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => Check::warn(
            name,
            "reached, and it does not take the key for the list of models",
        ),
        Models::Status(status) if status.is_redirection() => Check::warn(
            name,
            format!(
                "reached, and it points elsewhere (status {}): is the address right?",
                status.as_u16()
            ),
        ),
        Models::Status(status) => Check::ok(
            name,
            format!(
                "reached, and it has no list of models (status {})",
                status.as_u16()
            ),
        ),
        Models::Silent(why) => Check::fail(name, why),
    }
}

fn names(list: &[Offered]) -> String {
    let shown: Vec<&str> = list
        .iter()
        .take(SHOWN)
        .map(|model| model.name.as_str())
        .collect();
    match list.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
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

/// The list of models; redirects are not followed with a key.
async fn models(config: &Config) -> Models {
    let asked = tokio::time::timeout(PATIENCE, get_models(config)).await;
    match asked {
        Ok(Ok(models)) => models,
        Ok(Err(why)) => Models::Silent(why),
        Err(_) => Models::Silent(format!(
            "{} said nothing for {} s",
            config.base_url,
            PATIENCE.as_secs()
        )),
    }
}

async fn get_models(config: &Config) -> Result<Models, String> {
    let url = models_url(&config.base_url)?;
    let client = client(&url, config.connect_timeout).await?;
    let mut request = client
        .get(url)
        .header("anthropic-version", &config.anthropic_version);
    if let Some(key) = &config.key {
        let (name, text) = match key.sent() {
            Key::ApiKey(secret) => ("x-api-key", secret.reveal().to_owned()),
            Key::Token(secret) => (
                AUTHORIZATION.as_str(),
                format!("Bearer {}", secret.reveal()),
            ),
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            "the key has characters that a header cannot hold: copy it again".to_owned()
        })?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    let mut response = request
        .send()
        .await
        .map_err(|error| unreached(&error.without_url(), config))?;
    let status = response.status();
    if !status.is_success() {
        return Ok(Models::Status(status));
    }
    let mut body = Vec::new();
    while body.len() < LIST {
        match response.chunk().await {
            Ok(Some(bytes)) => body.extend_from_slice(&bytes),
            Ok(None) | Err(_) => break,
        }
    }
    Ok(listed(&body).map_or(Models::Status(status), Models::Listed))
}

/// Why there is no answer, with the innermost cause: the outer ones only say that something failed.
fn unreached(error: &reqwest::Error, config: &Config) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    format!(
        "{} is not reached ({cause}): is the server running, the address right, and the network there?",
        config.base_url
    )
}

fn models_url(base: &str) -> Result<Url, String> {
    let mut url = Url::parse(base).map_err(|error| format!("{base}: {error}"))?;
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/messages").unwrap_or(path);
    let path = path.strip_suffix("/v1").unwrap_or(path);
    let path = format!("{path}/v1/models");
    url.set_path(&path);
    Ok(url)
}

/// Built off the async threads, as it reads the system's certificates.
async fn client(url: &Url, connect_timeout: Duration) -> Result<Client, String> {
    let is_plain = url.scheme() == "http";
    let here = is_this_machine(url);
    let build = move || {
        // Fails only where a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(connect_timeout);
        if is_plain {
            // No certificates are needed, and without any on the system building would fail.
            builder = builder.tls_certs_only([]);
        }
        if here {
            builder = builder.no_proxy();
        }
        builder
            .build()
            .map_err(|error| format!("no secure connection can be made: {error}"))
    };
    tokio::task::spawn_blocking(build)
        .await
        .map_err(|error| error.to_string())?
}

/// The models in an answer of the form `{"data": [{"id": …}]}`.
fn listed(body: &[u8]) -> Option<Vec<Offered>> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let list = answer["data"].as_array()?;
    let offered = |model: &Value| {
        let name = model["id"].as_str()?.to_owned();
        let window = model["max_input_tokens"].as_u64();
        Some(Offered {
            name,
            window: window.or_else(|| model["meta"]["n_ctx"].as_u64()),
        })
    };
    Some(list.iter().filter_map(offered).collect())
}

/// The shortest request there is, for one token.
async fn answer(name: &'static str, config: &Config) -> Check {
    let Some(endpoint) = launch::endpoint(config) else {
        return Check::skip(name, "needs a key");
    };
    let model = AnthropicModel::new(crate::model::Endpoint {
        max_tokens: 1,
        ..endpoint
    });
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

    #[test]
    fn the_list_stands_beside_the_messages() {
        for base in [
            "https://h/p",
            "https://h/p/",
            "https://h/p/v1",
            "https://h/p/v1/messages",
        ] {
            assert_eq!(models_url(base).unwrap().as_str(), "https://h/p/v1/models");
        }
    }

    #[test]
    fn a_window_is_read_where_a_server_tells_it() {
        let body = br#"{"data": [{"id": "a", "max_input_tokens": 200000}, {"id": "b", "meta": {"n_ctx": 4096}}, {"id": "c"}, {}]}"#;
        let of = |name: &str, window| Offered {
            name: name.to_owned(),
            window,
        };
        assert_eq!(
            listed(body),
            Some(vec![
                of("a", Some(200_000)),
                of("b", Some(4_096)),
                of("c", None)
            ])
        );
        assert_eq!(listed(b"<html>"), None);
        assert_eq!(listed(b"{}"), None);
    }

    /// A server that gives one list of models and rejects all else.
    async fn lists(names: &str) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let names: Vec<Value> = names
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

    #[test]
    fn few_names_are_shown_of_many() {
        let list: Vec<Offered> = (0..7)
            .map(|n| Offered {
                name: n.to_string(),
                window: None,
            })
            .collect();
        assert_eq!(names(&list), "0, 1, 2, 3, 4 and 2 more");
        assert_eq!(names(&list[..2]), "0, 1");
    }
}
