//! What companies have between a client and a server: proxies, authorities of their own, headers for a gateway.
//!
//! These are read from the environment, so the built program is what is tried.

use std::net::TcpListener;

use super::KEY;
use super::program::{Home, Said};
use super::support::proxy::Proxy;
use super::support::reply::Reply;
use super::support::server::Server;
use super::support::tls::Authority;

/// A host that no network has.
const HOST: &str = "model.invalid";

/// Asks once at `base_url`.
fn run(home: &Home, base_url: &str, variables: &[(&str, &str)]) -> Said {
    let arguments = [
        "run",
        "hello",
        "--base-url",
        base_url,
        "--set",
        "max_retries=0",
        "--set",
        "allow_http=true",
    ];
    let mut all = vec![("ANTHROPIC_API_KEY", KEY)];
    all.extend(variables);
    let said = home.run(&arguments, &all);
    assert!(!format!("{said:?}").contains(KEY), "{said:?}");
    said
}

fn answers(said: &Said, text: &str) {
    assert_eq!((said.out.trim_end(), said.code), (text, 0), "{said:?}");
}

fn fails(said: &Said, words: &[&str]) {
    assert_eq!((said.out.as_str(), said.code), ("", 1), "{said:?}");
    for words in words {
        assert!(said.err.contains(words), "no `{words}` in {said:?}");
    }
}

#[test]
fn plain_requests_go_through_the_proxy_that_is_named() {
    let proxy = Server::start(vec![Reply::text("through")]);
    let variables = [("HTTP_PROXY", proxy.url())];
    let variables = variables
        .each_ref()
        .map(|(name, url)| (*name, url.as_str()));
    let base = format!("http://{HOST}");
    answers(&run(&Home::new(), &base, &variables), "through");
    let lines: Vec<_> = proxy.requests().into_iter().map(|r| r.line).collect();
    assert_eq!(lines, [format!("POST http://{HOST}/v1/messages")]);
}

#[test]
fn secure_requests_go_through_a_tunnel_and_the_proxys_password_stays_unsaid() {
    let authority = Authority::of(&[HOST]);
    let server = Server::start_tls(vec![Reply::text("tunnelled")], &authority);
    let proxy = Proxy::start("200 OK", server.address());
    let home = Home::new();
    let file = home.file("authority.pem", authority.pem());
    let file = file.to_str().unwrap();
    let base = format!("https://{HOST}");
    let login = proxy.url("me:hidden@");
    let said = run(
        &home,
        &base,
        &[("HTTPS_PROXY", &login), ("SSL_CERT_FILE", file)],
    );
    answers(&said, "tunnelled");
    let heads = proxy.heads();
    assert_eq!(heads.len(), 1);
    assert!(heads[0].starts_with(&format!("CONNECT {HOST}:443 HTTP/1.1\r\n")));
    // `me:hidden` in base 64; and the key is for the server alone.
    assert!(heads[0].contains("Basic bWU6aGlkZGVu"), "{}", heads[0]);
    assert!(!heads[0].contains(KEY), "{}", heads[0]);
    assert_eq!(server.requests()[0].header("x-api-key"), Some(KEY));
}

#[test]
fn a_proxy_that_does_not_connect_is_named() {
    let base = format!("https://{HOST}");
    let home = Home::new();
    let authority = Authority::of(&[HOST]);
    let file = home.file("authority.pem", authority.pem());
    let trust = ("SSL_CERT_FILE", file.to_str().unwrap());
    let nowhere = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let through = |status: &'static str, variable: &str| {
        let proxy = Proxy::start(status, nowhere);
        let said = run(&home, &base, &[(variable, &proxy.url("me:hidden@")), trust]);
        assert!(!said.err.contains("hidden"), "{said:?}");
        (said, format!("the proxy {} ({variable})", proxy.url("")))
    };
    let (said, name) = through("502 Bad Gateway", "HTTPS_PROXY");
    fails(
        &said,
        &[
            &name,
            "did not connect to https://model.invalid",
            "NO_PROXY",
        ],
    );
    let (said, name) = through("407 Proxy Authentication Required", "ALL_PROXY");
    fails(&said, &[&name, "wants to know who asks"]);
    let gone = format!("http://{nowhere}");
    let said = run(&home, &base, &[("https_proxy", &gone), trust]);
    let name = format!("nothing listens at the proxy {gone} (https_proxy)");
    fails(&said, &[&name, "is it running?"]);
}

#[test]
fn hosts_that_are_named_and_this_machine_need_no_proxy() {
    let nowhere = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let proxy = Proxy::start("200 OK", nowhere);
    let server = Server::start(vec![Reply::text("direct")]);
    let variables = [("HTTP_PROXY", proxy.url("")), ("ALL_PROXY", proxy.url(""))];
    let variables = variables
        .each_ref()
        .map(|(name, url)| (*name, url.as_str()));
    answers(&run(&Home::new(), &server.url(), &variables), "direct");
    let mut variables = variables.to_vec();
    variables.push(("NO_PROXY", "other, .invalid"));
    // Nobody has that host; the proxy would have taken the request all the same.
    let said = run(&Home::new(), &format!("http://{HOST}"), &variables);
    fails(&said, &[HOST]);
    assert!(!said.err.contains("the proxy"), "{said:?}");
    assert!(proxy.heads().is_empty());
}

#[test]
fn an_authority_of_ones_own_is_taken_from_a_file() {
    let authority = Authority::of(&["127.0.0.1"]);
    let server = Server::start_tls(vec![Reply::text("trusted")], &authority);
    let home = Home::new();
    let other = Authority::of(&["127.0.0.1"]);
    let file = |name: &str, text: &str| home.file(name, text).to_str().unwrap().to_owned();
    let with = |file: &str| run(&home, &server.url(), &[("SSL_CERT_FILE", file)]);
    fails(
        &with(&file("other.pem", other.pem())),
        &["the certificate of https://127.0.0.1", "SSL_CERT_FILE"],
    );
    let empty = file("empty.pem", "not a certificate");
    fails(
        &with(&empty),
        &[
            "SSL_CERT_FILE: ",
            &empty,
            "it holds no certificate in PEM form",
        ],
    );
    fails(
        &with("/does/not/exist"),
        &["SSL_CERT_FILE: /does/not/exist: "],
    );
    assert!(server.requests().is_empty());
    answers(&with(&file("own.pem", authority.pem())), "trusted");
}

#[test]
fn headers_of_ones_own_are_sent_and_never_shown() {
    let server = Server::start(vec![
        Reply::text("a"),
        Reply::status(
            401,
            "{\"error\": \"bad token tok-hidden, team team-hidden\"}",
        ),
    ]);
    let headers = (
        "ANTHROPIC_CUSTOM_HEADERS",
        "X-Team: team-hidden\nAuthorization: Bearer tok-hidden",
    );
    let home = Home::new();
    answers(&run(&home, &server.url(), &[headers]), "a");
    let said = run(&home, &server.url(), &[headers]);
    fails(
        &said,
        &[
            "bad token [key], team [key]; `authorization` of ANTHROPIC_CUSTOM_HEADERS was sent, and no other key",
        ],
    );
    for request in server.requests() {
        assert_eq!(request.header("x-team"), Some("team-hidden"));
        assert_eq!(request.header("authorization"), Some("Bearer tok-hidden"));
        assert_eq!(request.header("x-api-key"), None);
    }
    let said = run(
        &home,
        &server.url(),
        &[("ANTHROPIC_CUSTOM_HEADERS", "no colon")],
    );
    assert_eq!(said.code, 2);
    assert!(
        said.err
            .contains("ANTHROPIC_CUSTOM_HEADERS: line 1: a header looks like `Name: value`"),
        "{said:?}"
    );
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn a_beta_is_asked_for_only_by_a_setting() {
    let server = Server::start(vec![Reply::text("a"), Reply::text("b")]);
    let home = Home::new();
    answers(&run(&home, &server.url(), &[]), "a");
    let url = server.url();
    let arguments = [
        "run",
        "x",
        "--base-url",
        &url,
        "--set",
        "anthropic_beta=one-2026,two",
    ];
    let said = home.run(&arguments, &[("ANTHROPIC_AUTH_TOKEN", KEY)]);
    answers(&said, "b");
    let betas: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.header("anthropic-beta").map(str::to_owned))
        .collect();
    assert_eq!(betas, [None, Some("one-2026,two".to_owned())]);
}
