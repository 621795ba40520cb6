//! Addresses, the HTTP client and its limits, and the headers that every answer may have.
//!
//! Knows nothing of what is asked or answered.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

pub(super) fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

pub(super) fn request_id(response: &Response) -> Option<String> {
    header(response, "request-id")
        .or_else(|| header(response, "x-request-id"))
        .map(str::to_owned)
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
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/messages").unwrap_or(path);
    let path = path.strip_suffix("/v1").unwrap_or(path);
    let path = format!("{}/v1/messages", path.trim_end_matches('/'));
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// The base as it is used, without what may be secret in it.
pub(super) fn shown_base(base: &str) -> String {
    let Ok(mut url) = messages_url(base) else {
        return "the server".to_owned();
    };
    // Both fail only for addresses without a host, which these are not.
    let _ = url.set_username("");
    let _ = url.set_password(None);
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

/// Builds the client off the async threads: reading the system's certificates takes tens of milliseconds.
pub(super) async fn build_client(url: Url, connect_timeout: Duration) -> Result<Client, String> {
    let build = move || {
        // Fails only where a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(connect_timeout)
            .tcp_nodelay(true);
        if url.scheme() == "http" {
            // No certificates are needed, and without any on the system building would fail.
            builder = builder.tls_certs_only([]);
        }
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        builder.build().map_err(|error| {
            format!(
                "no secure connection can be made ({}): install the system's certificates (package ca-certificates) or name a file in SSL_CERT_FILE",
                error.without_url()
            )
        })
    };
    tokio::task::spawn_blocking(build)
        .await
        .map_err(|error| format!("the HTTP client could not be built: {error}"))?
}
