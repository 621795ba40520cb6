//! Puts settings that were found over the defaults, each checked against what it may be.

use super::{Config, ConfigError, Given, Origin, Raw, values};
use crate::context::{Limits, UnknownSetting};

/// The settings beside the pipeline's numbers, in the order of `assets/config.toml`.
pub(super) const GENERAL: [&str; 13] = [
    "model",
    "base_url",
    "summary_model",
    "anthropic_version",
    "anthropic_beta",
    "max_tokens",
    "max_retries",
    "connect_timeout",
    "stall_timeout",
    "allow_http",
    "permission",
    "bash_timeout",
    "profile",
];

/// The names of all settings.
pub(super) fn names() -> Vec<String> {
    let general = GENERAL.iter().map(|name| (*name).to_owned());
    general.chain(Limits::names()).collect()
}

impl Config {
    /// Puts `layers`, weakest first, over what is there.
    pub(super) fn apply(&mut self, layers: Vec<Given>) -> Result<(), ConfigError> {
        // The profile is what the numbers start from, wherever it stands.
        for given in layers.iter().filter(|given| given.name == "profile") {
            self.profile = values::one_of(&given.value)
                .map_err(|why| given.origin.error(format!("profile: {why}")))?;
            self.limits = Limits::of(self.profile);
        }
        for given in layers {
            if self.may_not(&given)? {
                continue;
            }
            self.set(&given)?;
            self.origins.insert(given.name, given.origin);
        }
        Ok(())
    }

    /// Whether the project's file asks for more than the user's own settings grant; says so.
    fn may_not(&mut self, given: &Given) -> Result<bool, ConfigError> {
        if !matches!(given.origin, Origin::Project(_)) {
            return Ok(false);
        }
        let mut asked = self.clone();
        asked.set(given)?;
        let wider = asked.permission > self.permission || asked.allow_http && !self.allow_http;
        if wider {
            self.notices.push(format!(
                "`{}` in {} was left out: a project cannot allow itself more than you do",
                given.name, given.origin
            ));
        }
        Ok(wider)
    }

    fn set(&mut self, given: &Given) -> Result<(), ConfigError> {
        let fails = |why: String| given.origin.error(format!("{}: {why}", given.name));
        let value = &given.value;
        match given.name.as_str() {
            // Done before all others.
            "profile" => {}
            "model" => self.model = values::text(value).map_err(fails)?,
            "base_url" => self.base_url = values::address(value).map_err(fails)?,
            "summary_model" => self.summary_model = values::text_or_none(value).map_err(fails)?,
            "anthropic_version" => self.anthropic_version = values::text(value).map_err(fails)?,
            "anthropic_beta" => self.anthropic_beta = values::text_or_none(value).map_err(fails)?,
            "max_tokens" => self.max_tokens = values::whole(value, 1).map_err(fails)?,
            "max_retries" => self.max_retries = values::whole(value, 0).map_err(fails)?,
            "connect_timeout" => self.connect_timeout = values::seconds(value).map_err(fails)?,
            "stall_timeout" => self.stall_timeout = values::seconds(value).map_err(fails)?,
            "bash_timeout" => self.bash_timeout = values::seconds(value).map_err(fails)?,
            "allow_http" => self.allow_http = values::yes_or_no(value).map_err(fails)?,
            "permission" => self.permission = values::one_of(value).map_err(fails)?,
            name => self.set_number(name, given)?,
        }
        Ok(())
    }

    fn set_number(&mut self, name: &str, given: &Given) -> Result<(), ConfigError> {
        let text = match &given.value {
            Raw::Typed(value) => value.to_string(),
            Raw::Text(text) => text.clone(),
        };
        let set = self.limits.set(name, &text);
        set.map_err(|error| {
            given.origin.error(match error {
                UnknownSetting::Name(name) => unknown(&name, &given.origin),
                UnknownSetting::Value { name, reason } => {
                    format!("{name}: {}", values::in_plain_words(&reason))
                }
            })
        })
    }
}

/// What to say of a name that is not known: the one that was meant, where one is near, else where all of them stand.
fn unknown(name: &str, origin: &Origin) -> String {
    let names = names();
    let typed = name.to_lowercase().replace('-', "_");
    let nearest = names
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, &typed), known))
        .filter(|(distance, known)| is_near(*distance, known, &typed))
        .min();
    if let Some((_, nearest)) = nearest {
        return format!("no setting is called `{name}`; the nearest is `{nearest}`");
    }
    let where_all_are = match origin {
        // Until then the settings cannot be shown.
        Origin::User(_) | Origin::Project(_) => {
            "without this line `plimsoll config` shows the names"
        }
        Origin::Default | Origin::Dotenv(_) | Origin::Environment(_) | Origin::Option(_) => {
            "`plimsoll config` shows the names"
        }
    };
    format!("no setting is called `{name}`; {where_all_are}")
}

/// Whether `typed` is `known` with a slip: a third of its characters at most.
fn is_near(distance: usize, known: &str, typed: &str) -> bool {
    distance * 3 <= known.len().max(typed.chars().count())
}
