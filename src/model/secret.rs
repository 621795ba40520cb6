//! A key, and the promise that nobody prints it.
//!
//! The only way to its text is [`Secret::reveal`]; every other form of it is a mask.

use std::fmt;

/// What stands where a key was.
const MASK: &str = "[key]";
/// A shorter key is masked as a word only: local servers take any key, and `x` is part of many words.
const SHORT: usize = 8;

/// Text that is sent and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text`, without the white space around it that files and shells leave.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The text itself, for the header that carries it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with a mask wherever the secret stands in it.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for (at, found) in text.match_indices(&self.0) {
            let end = at + found.len();
            let in_a_word = text[..at].ends_with(char::is_alphanumeric)
                || text[end..].starts_with(char::is_alphanumeric);
            if found.len() >= SHORT || !in_a_word {
                masked.push_str(&text[from..at]);
                masked.push_str(MASK);
                from = end;
            }
        }
        masked.push_str(&text[from..]);
        masked
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_of_it_shows_it() {
        let secret = Secret::new(" sk-very-secret\n");
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            "[key] [key] Some([key])"
        );
        assert_eq!(
            secret.mask("bad key sk-very-secret, sk-very-secret!"),
            "bad key [key], [key]!"
        );
        assert_eq!(
            secret.mask("xsk-very-secretx"),
            "x[key]x",
            "a long one wherever it stands"
        );
        assert_eq!(
            Secret::new("k").mask("k: chunk, `k` ok"),
            "[key]: chunk, `[key]` ok"
        );
        assert_eq!(Secret::new("x").mask("key x."), "key [key].");
        assert_eq!(Secret::new(" ").mask("a b"), "a b");
        assert_eq!(secret.reveal(), "sk-very-secret");
    }
}
