//! Why there is no connection, or no more: what is read from an error's causes, and what is told of it.
//!
//! Pure. Texts get the causes clean and masked.

use std::error::Error;
use std::io;

use super::explain::Speaker;

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing listens there.
    Refused,
    /// The server's certificate was not taken.
    Certificate,
    /// The host has no address.
    NoSuchHost,
    /// The proxy wants to know who asks.
    ProxyLogin,
    /// The proxy did not connect.
    Proxy,
    /// It took too long.
    Slow,
    /// It could not be made for another reason.
    Unconnected,
    /// It was there and broke.
    Broken,
}

impl Trouble {
    /// Reads an error, which must not hold the address; also gives what is at the bottom of it.
    pub(super) fn of(error: &reqwest::Error) -> (Self, String) {
        let causes = causes(error);
        let trouble = match Self::from_causes(error, &causes) {
            Some(trouble) => trouble,
            None if error.is_timeout() => Self::Slow,
            None if error.is_connect() || error.is_builder() => Self::Unconnected,
            None => Self::Broken,
        };
        (trouble, root(error))
    }

    fn from_causes(error: &(dyn Error + 'static), causes: &str) -> Option<Self> {
        let causes = causes.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| causes.contains(word));
        if is_refused(error) {
            Some(Self::Refused)
        } else if has(&["certificate"]) {
            Some(Self::Certificate)
        } else if has(&["dns error", "failed to lookup"]) {
            Some(Self::NoSuchHost)
        } else if has(&["proxy authorization required"]) {
            Some(Self::ProxyLogin)
        } else if has(&[
            "tunnel error: unsuccessful",
            "unexpected end of file",
            "proxy",
        ]) {
            Some(Self::Proxy)
        } else {
            None
        }
    }

    /// What happened and what to do, in words; `cause` is what the system says.
    pub(super) fn told(self, speaker: &Speaker, cause: &str) -> String {
        let base = &speaker.base;
        let proxy = speaker.proxy.as_deref();
        let without = "NO_PROXY names the hosts that are reached without it";
        match (self, proxy) {
            (Self::Refused, None) => format!("nothing listens at {base}: is the server running?"),
            (Self::Refused, Some(proxy)) => format!(
                "nothing listens at the proxy {proxy}, which {base} is asked through: is it running? {without}"
            ),
            (Self::Certificate, _) => format!(
                "the certificate of {base} was not taken: {cause}. If your network has its own authority, name its file in SSL_CERT_FILE"
            ),
            (Self::NoSuchHost, None) => {
                format!("the host of {base} was not found: look at the base URL and the network")
            }
            (Self::NoSuchHost, Some(proxy)) => format!(
                "the host of the proxy {proxy} was not found, which {base} is asked through: look at it and the network; {without}"
            ),
            (Self::ProxyLogin, _) => format!(
                "the proxy {} wants to know who asks before it connects to {base}: write its address as http://NAME:WORD@HOST:PORT",
                proxy.unwrap_or("on the way")
            ),
            (Self::Proxy, _) => format!(
                "the proxy {} did not connect to {base}: {cause}. {without}",
                proxy.unwrap_or("on the way")
            ),
            (Self::Slow, None) => format!(
                "{base} did not take the connection in time: look at the base URL and the network; the limit is the setting connect_timeout"
            ),
            (Self::Slow, Some(proxy)) => format!(
                "the proxy {proxy} did not connect to {base} in time: look at both and the network; the limit is the setting connect_timeout. {without}"
            ),
            (Self::Unconnected, None) => format!("cannot connect to {base}: {cause}"),
            (Self::Unconnected, Some(proxy)) => {
                format!("cannot connect to {base} through the proxy {proxy}: {cause}")
            }
            (Self::Broken, None) => format!("the connection to {base} broke: {cause}"),
            (Self::Broken, Some(proxy)) => {
                format!("the connection to {base} through the proxy {proxy} broke: {cause}")
            }
        }
    }
}

/// An error and what caused it, in one line.
fn causes(error: &dyn Error) -> String {
    let mut out = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !out.contains(&cause_text) {
            out.push_str(": ");
            out.push_str(&cause_text);
        }
        next = cause.source();
    }
    out
}

/// The last cause, which says it without the layers above it.
fn root(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !cause_text.is_empty() {
            text = cause_text;
        }
        next = cause.source();
    }
    text
}

fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::ConnectionRefused
        {
            return true;
        }
        next = cause.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::Endpoint;
    use super::*;

    fn read(error: &io::Error) -> Option<Trouble> {
        Trouble::from_causes(error, &causes(error))
    }

    #[test]
    fn the_causes_tell_what_happened() {
        let other = |text: &str| read(&io::Error::other(text.to_owned()));
        assert_eq!(
            read(&io::ErrorKind::ConnectionRefused.into()),
            Some(Trouble::Refused)
        );
        for (text, trouble) in [
            (
                "invalid peer certificate: UnknownIssuer",
                Some(Trouble::Certificate),
            ),
            (
                "dns error: failed to lookup address information: Name or service not known",
                Some(Trouble::NoSuchHost),
            ),
            (
                "tunnel error: proxy authorization required",
                Some(Trouble::ProxyLogin),
            ),
            ("tunnel error: unsuccessful", Some(Trouble::Proxy)),
            ("connection reset by peer", None),
        ] {
            assert_eq!(other(text), trouble, "{text}");
        }
    }

    #[test]
    fn every_trouble_is_told_with_what_to_do() {
        let mut speaker = Speaker::new(&Endpoint::new("https://host.invalid/v1", "m"));
        let told = |speaker: &Speaker| {
            [
                Trouble::Refused,
                Trouble::Certificate,
                Trouble::NoSuchHost,
                Trouble::ProxyLogin,
                Trouble::Proxy,
                Trouble::Slow,
                Trouble::Unconnected,
                Trouble::Broken,
            ]
            .map(|trouble| trouble.told(speaker, "CAUSES"))
        };
        speaker.proxy = None;
        assert_eq!(
            told(&speaker),
            [
                "nothing listens at https://host.invalid: is the server running?",
                "the certificate of https://host.invalid was not taken: CAUSES. If your network has its own authority, name its file in SSL_CERT_FILE",
                "the host of https://host.invalid was not found: look at the base URL and the network",
                "the proxy on the way wants to know who asks before it connects to https://host.invalid: write its address as http://NAME:WORD@HOST:PORT",
                "the proxy on the way did not connect to https://host.invalid: CAUSES. NO_PROXY names the hosts that are reached without it",
                "https://host.invalid did not take the connection in time: look at the base URL and the network; the limit is the setting connect_timeout",
                "cannot connect to https://host.invalid: CAUSES",
                "the connection to https://host.invalid broke: CAUSES",
            ]
        );
        speaker.proxy = Some("http://p:1 (HTTPS_PROXY)".to_owned());
        for (at, text) in told(&speaker).iter().enumerate() {
            // Whoever answers with a certificate is told by it, proxy or not.
            assert_eq!(text.contains("http://p:1 (HTTPS_PROXY)"), at != 1, "{text}");
        }
    }
}
