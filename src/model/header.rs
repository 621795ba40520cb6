//! Headers of the user's own, as `ANTHROPIC_CUSTOM_HEADERS` holds them: gateways ask for them.
//!
//! Their values are secrets. Pure.

use std::fmt;

use reqwest::header::{HeaderName, HeaderValue};

use super::Secret;

/// Headers that the connection itself needs as they are.
const OURS: [&str; 7] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "transfer-encoding",
];
/// A part of a value that is shorter than this is no secret: masking it would blot out common words.
const LEAST_SECRET: usize = 6;

/// A header that is sent with every request.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    name: HeaderName,
    value: HeaderValue,
    secret: Secret,
}

impl Header {
    /// Reads lines of the form `Name: value`; blank lines are nothing.
    ///
    /// # Errors
    /// With the number of the line and what is wrong with it, never its value.
    pub fn parse_lines(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate();
        lines
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(at, line)| Self::parse(line).map_err(|why| format!("line {}: {why}", at + 1)))
            .collect()
    }

    fn parse(line: &str) -> Result<Self, String> {
        let (name, value) = line
            .split_once(':')
            .ok_or("a header looks like `Name: value`, one a line")?;
        let name: HeaderName = name
            .trim()
            .parse()
            .map_err(|_| "what stands before the colon is no name of a header")?;
        if OURS.contains(&name.as_str()) {
            return Err(format!("`{name}` cannot be set"));
        }
        let secret = Secret::new(value);
        let mut value = HeaderValue::from_str(secret.reveal())
            .map_err(|_| format!("the value of `{name}` has characters that no header can hold"))?;
        value.set_sensitive(true);
        Ok(Self {
            name,
            value,
            secret,
        })
    }

    /// The name, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Whether it says who is asking, so that no other key may be sent beside it.
    pub(super) fn carries_a_key(&self) -> bool {
        matches!(self.name(), "authorization" | "x-api-key")
    }

    pub(super) fn for_request(&self) -> (HeaderName, HeaderValue) {
        (self.name.clone(), self.value.clone())
    }

    /// The value and its words: a server that echoes a token leaves the word before it out.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let whole = self.secret.reveal();
        std::iter::once(whole)
            .chain(whole.split_whitespace())
            .filter(|part| part.len() >= LEAST_SECRET)
            .map(Secret::new)
            .collect()
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_headers_whose_values_nobody_sees() {
        let text = "X-Team: tok-hidden-1\r\n\n authorization :  Bearer tok-hidden-2 \nx-empty:";
        let headers = Header::parse_lines(text).unwrap();
        assert_eq!(
            format!("{headers:?}"),
            "[x-team: [key], authorization: [key], x-empty: [key]]"
        );
        let sent: Vec<_> = headers
            .iter()
            .map(|header| header.for_request().1.to_str().unwrap().to_owned())
            .collect();
        assert_eq!(sent, ["tok-hidden-1", "Bearer tok-hidden-2", ""]);
        assert!(!headers[0].carries_a_key() && headers[1].carries_a_key());
        let secrets: Vec<_> = headers.iter().flat_map(Header::secrets).collect();
        let secrets: Vec<_> = secrets.iter().map(Secret::reveal).collect();
        assert_eq!(
            secrets,
            [
                "tok-hidden-1",
                "tok-hidden-1",
                "Bearer tok-hidden-2",
                "Bearer",
                "tok-hidden-2"
            ]
        );
    }

    #[test]
    fn a_line_that_is_none_is_named_without_its_value() {
        for (text, why) in [
            (
                "a: 1\nsk-hidden",
                "line 2: a header looks like `Name: value`, one a line",
            ),
            (
                "two words: sk-hidden",
                "line 1: what stands before the colon is no name of a header",
            ),
            ("Host: sk-hidden", "line 1: `host` cannot be set"),
            (
                "x: sk-hidden\u{1}",
                "line 1: the value of `x` has characters that no header can hold",
            ),
        ] {
            assert_eq!(Header::parse_lines(text), Err(why.to_owned()));
        }
    }
}
