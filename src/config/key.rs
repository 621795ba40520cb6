//! The key: which one is used, in which form it is sent, and that nobody sees it.

use std::collections::BTreeMap;
use std::fmt;

use super::{Given, Origin, Raw};
use crate::model::{self, Secret};

/// A key for the server. No form of it that can be printed shows its text.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// How it is sent.
    pub form: KeyForm,
    /// Where it came from: the environment, or the workspace's `.env`.
    pub origin: Origin,
    secret: Secret,
}

/// How a key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// As `x-api-key`.
    ApiKey,
    /// As `Authorization: Bearer`.
    Token,
}

impl KeyForm {
    /// The variable that holds a key of this form.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::ApiKey => "ANTHROPIC_API_KEY",
            Self::Token => "ANTHROPIC_AUTH_TOKEN",
        }
    }

    /// The header that carries it.
    #[must_use]
    pub fn header(self) -> &'static str {
        match self {
            Self::ApiKey => "x-api-key",
            Self::Token => "Authorization: Bearer",
        }
    }
}

impl Key {
    /// Where it was found, in words.
    #[must_use]
    pub fn source(&self) -> String {
        let variable = self.form.variable();
        match &self.origin {
            Origin::Environment(_) => variable.to_owned(),
            origin @ (Origin::Default
            | Origin::User(_)
            | Origin::Project(_)
            | Origin::Dotenv(_)
            | Origin::Option(_)) => format!("{variable} in {origin}"),
        }
    }

    /// Whether it is from the workspace's `.env` and not from the environment.
    #[must_use]
    pub fn is_from_dotenv(&self) -> bool {
        matches!(self.origin, Origin::Dotenv(_))
    }

    /// The key as the client sends it.
    #[must_use]
    pub fn sent(&self) -> model::Key {
        match self.form {
            KeyForm::ApiKey => model::Key::ApiKey(self.secret.clone()),
            KeyForm::Token => model::Key::Token(self.secret.clone()),
        }
    }
}

impl fmt::Display for Key {
    /// Its variable, where that stands and how it is sent: `ANTHROPIC_API_KEY from the environment, sent as x-api-key`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (variable, header) = (self.form.variable(), self.form.header());
        match &self.origin {
            Origin::Environment(_) => {
                write!(f, "{variable} from the environment, sent as {header}")
            }
            origin @ (Origin::Default
            | Origin::User(_)
            | Origin::Project(_)
            | Origin::Dotenv(_)
            | Origin::Option(_)) => write!(f, "{variable} from {origin}, sent as {header}"),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.form.variable())
    }
}

/// The key of the environment, else that of the `.env`; the API key before the token.
pub(super) fn choose(
    environment: &BTreeMap<&'static str, String>,
    dotenv: &[Given],
) -> Option<Key> {
    let forms = [KeyForm::ApiKey, KeyForm::Token];
    let own = forms.into_iter().find_map(|form| {
        environment.get(form.variable()).map(|text| Key {
            form,
            origin: Origin::Environment(form.variable()),
            secret: Secret::new(text),
        })
    });
    own.or_else(|| {
        forms.into_iter().find_map(|form| {
            let given = dotenv.iter().find(|given| given.name == form.variable())?;
            let (Raw::Text(text) | Raw::Typed(serde_json::Value::String(text))) = &given.value
            else {
                return None;
            };
            Some(Key {
                form,
                origin: given.origin.clone(),
                secret: Secret::new(text),
            })
        })
    })
}

/// The settings of a `.env` beside its keys, by the names of settings.
pub(super) fn without_keys(dotenv: Vec<Given>) -> Vec<Given> {
    let model = if dotenv.iter().any(|given| given.name == "MODEL_ID") {
        "MODEL_ID"
    } else {
        "ANTHROPIC_MODEL"
    };
    dotenv
        .into_iter()
        .filter_map(|given| {
            let name = match given.name.as_str() {
                "ANTHROPIC_BASE_URL" => "base_url",
                name if name == model => "model",
                _ => return None,
            };
            Some(Given {
                name: name.to_owned(),
                ..given
            })
        })
        .collect()
}
