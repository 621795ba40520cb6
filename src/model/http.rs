//! Addresses, the HTTP client and its limits, the proxy in force, and the headers of requests and answers.
//!
//! Knows nothing of what is asked or answered.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use futures_util::stream::{self, Stream};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Response, Url};

use super::endpoint::{Endpoint, Key};

/// The variable that names a file with the certificates of authorities.
const CERTIFICATES: &str = "SSL_CERT_FILE";
/// A file with certificates is never larger, in bytes.
const LARGEST_FILE: u64 = 16 * 1024 * 1024;

pub(super) fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

pub(super) fn request_id(response: &Response) -> Option<String> {
    header(response, "request-id")
        .or_else(|| header(response, "x-request-id"))
        .map(str::to_owned)
}

/// The media type of an answer, in lower case, without its parameters.
pub(super) fn kind_of_body(response: &Response) -> String {
    let kind = header(response, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// The body of an answer as it comes. Dropping it closes the connection.
pub(super) fn chunks(
    response: Response,
) -> impl Stream<Item = reqwest::Result<impl AsRef<[u8]> + Send + use<>>> + Send {
    stream::unfold(response, |mut response| async move {
        let chunk = response.chunk().await.transpose()?;
        Some((chunk, response))
    })
}

/// The address of the messages, from a base with or without `/v1` and slashes.
pub(super) fn messages_url(base: &str) -> Result<Url, String> {
    let mut url = Url::parse(base.trim()).map_err(|error| {
        let hint = if base.is_ascii() {
            "it must look like https://host or http://localhost:8080"
        } else {
            "write its host in the xn-- form"
        };
        format!("the base URL cannot be used ({error}): {hint}")
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("the base URL must begin with http:// or https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "the base URL must not hold a name or a word to log in with: send them as a header, with ANTHROPIC_CUSTOM_HEADERS"
                .to_owned(),
        );
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/messages").unwrap_or(path);
    let path = path.strip_suffix("/v1").unwrap_or(path);
    let path = format!("{}/v1/messages", path.trim_end_matches('/'));
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// The address of the list of models, or of one of them.
pub(super) fn models_url(base: &str, model: Option<&str>) -> Option<Url> {
    let mut url = messages_url(base).ok()?;
    let mut path = url.path_segments_mut().ok()?;
    path.pop().push("models").extend(model);
    drop(path);
    url.set_query(None);
    Some(url)
}

/// `address` with a mask for the name and password in it, also where it is no valid address.
pub(crate) fn without_userinfo(address: &str) -> String {
    let from = address.find("://").map_or(0, |at| at + "://".len());
    let rest = &address[from..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{}[key]{}", &address[..from], &rest[at..]),
        None => address.to_owned(),
    }
}

/// The base as it is used, without what may be secret in it.
pub(super) fn shown_base(base: &str) -> String {
    let Ok(mut url) = messages_url(base) else {
        return "the server".to_owned();
    };
    url.set_query(None);
    let whole = url.as_str();
    whole
        .strip_suffix("/v1/messages")
        .unwrap_or(whole)
        .to_owned()
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// The proxy that requests to `base` go through, with the variable that names it; never with its password.
pub(super) fn proxy_in_force(base: &str) -> Option<String> {
    let url = messages_url(base).ok().filter(|url| !is_loopback(url))?;
    let found = Matcher::from_env().intercept(&url.as_str().parse().ok()?)?;
    let names = match url.scheme() {
        "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let name = names
        .into_iter()
        .find(|name| std::env::var(name).is_ok_and(|value| !value.is_empty()));
    let proxy = without_userinfo(found.uri().to_string().trim_end_matches('/'));
    Some(format!("{proxy} ({})", name.unwrap_or(names[0])))
}

/// The headers of every request.
pub(super) fn headers(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let setting = |name: &str, text: &str| {
        HeaderValue::from_str(text)
            .map_err(|_| format!("the setting {name} has characters that a header cannot hold"))
    };
    headers.insert(
        HeaderName::from_static("anthropic-version"),
        setting("anthropic_version", &endpoint.version)?,
    );
    if let Some(beta) = &endpoint.beta {
        let name = HeaderName::from_static("anthropic-beta");
        headers.insert(name, setting("anthropic_beta", beta)?);
    }
    if let Some(key) = endpoint.sent_key() {
        let (name, text) = match key {
            Key::ApiKey(secret) => (
                HeaderName::from_static("x-api-key"),
                secret.reveal().to_owned(),
            ),
            Key::Token(secret) => (AUTHORIZATION, format!("Bearer {}", secret.reveal())),
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| "the key has characters that a header cannot hold: copy it again")?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for header in &endpoint.headers {
        let (name, value) = header.for_request();
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Builds the client off the async threads: reading the system's certificates takes tens of milliseconds.
pub(super) async fn build_client(url: Url, connect_timeout: Duration) -> Result<Client, String> {
    let build = move || {
        // Fails only where a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(connect_timeout)
            // With one connection kept, a request that met a dead one meets a new one when it is made again.
            .pool_max_idle_per_host(1)
            .tcp_nodelay(true);
        if url.scheme() == "http" {
            // No certificates are needed, and without any on the system building would fail.
            builder = builder.tls_certs_only([]);
        } else if let Some(file) = std::env::var_os(CERTIFICATES).filter(|file| !file.is_empty()) {
            builder = builder.tls_certs_merge(certificates(&file)?);
        }
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        builder.build().map_err(|error| {
            format!(
                "no secure connection can be made ({}): install the system's certificates (package ca-certificates) or name a file in {CERTIFICATES}",
                error.without_url()
            )
        })
    };
    tokio::task::spawn_blocking(build)
        .await
        .map_err(|error| format!("the HTTP client could not be built: {error}"))?
}

/// The certificates in the file that the user named. The system's own reader takes them on some platforms only, and
/// says nothing of a file that it cannot read.
fn certificates(file: &OsString) -> Result<Vec<Certificate>, String> {
    let path = Path::new(file);
    let fails = |why: &str| format!("{CERTIFICATES}: {}: {why}", path.display());
    let found = std::fs::metadata(path).map_err(|error| fails(&error.to_string()))?;
    if !found.is_file() || found.len() > LARGEST_FILE {
        return Err(fails("it is no file of certificates"));
    }
    let pem = std::fs::read(path).map_err(|error| fails(&error.to_string()))?;
    let list = Certificate::from_pem_bundle(&pem).unwrap_or_default();
    if list.is_empty() {
        return Err(fails("it holds no certificate in PEM form"));
    }
    Ok(list)
}
