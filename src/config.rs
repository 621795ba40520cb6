//! The settings in force: defaults < the user's file < the project's file < environment < options.
//!
//! Everything is read and checked once, here; nothing is silently ignored. The key comes from the environment only (or
//! from a trusted `.env`), and no form of it is ever shown or written.

mod apply;
mod consent;
mod file;
mod folders;
mod found;
mod key;
mod rules;
mod show;
mod values;
mod workspace;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::Common;
use crate::context::{Limits, Profile};
use crate::model::Header;
use crate::permission::Mode;
use found::{Given, Raw};
use workspace::Files;

pub use consent::{Consent, Folder};
pub use folders::{init, sessions_folder, state_folder, user_file};
pub use found::{ConfigError, Origin, Place};
pub use key::{Key, KeyForm};
pub use rules::{keep_rule, kept_rules};
pub use show::{route, show};
pub(crate) use values::is_this_machine;

/// Every setting with its default and a comment; `plimsoll config --init` writes it.
pub const TEMPLATE: &str = include_str!("../assets/config.toml");

/// The settings in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The set of defaults that `limits` started from.
    pub profile: Profile,
    /// The pipeline's numbers.
    pub limits: Limits,
    /// The model's name.
    pub model: String,
    /// The server, without `/v1`.
    pub base_url: String,
    /// The key for it.
    pub key: Option<Key>,
    /// Another model for summaries.
    pub summary_model: Option<String>,
    /// Headers of the user's own for it.
    pub headers: Vec<Header>,
    /// The version of the API that is asked for.
    pub anthropic_version: String,
    /// What is asked of the API that is still tried out.
    pub anthropic_beta: Option<String>,
    /// The most tokens of one reply.
    pub max_tokens: u32,
    /// How often a request is made again.
    pub max_retries: u32,
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// How long a server may be silent.
    pub stall_timeout: Duration,
    /// How long a shell command may take.
    pub bash_timeout: Duration,
    /// Whether plain http may go to other machines.
    pub allow_http: bool,
    /// What may run unasked.
    pub permission: Mode,
    /// What was left out, and why: for the user.
    pub notices: Vec<String>,
    /// The workspace's settings files, where they were left out and the user can agree to them.
    pub untrusted: Option<Folder>,
    /// Where each setting that is no default came from.
    origins: BTreeMap<String, Origin>,
}

/// Where settings are looked for.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    /// The user's settings file, which need not exist; `None` where the platform has no place for one.
    pub user_file: Option<PathBuf>,
    /// Where it is kept what the user agreed to; `None` where the platform has no place for it.
    pub state: Option<PathBuf>,
    /// The folder that the agent works in.
    pub workspace: PathBuf,
    /// The variables of [`VARIABLES`] that are set.
    pub environment: BTreeMap<&'static str, String>,
    /// The options.
    pub options: &'a Common,
}

impl<'a> Sources<'a> {
    /// The sources of this process, for work in `workspace`.
    ///
    /// # Errors
    /// If a variable is not UTF-8.
    pub fn of(workspace: PathBuf, options: &'a Common) -> Result<Self, ConfigError> {
        Ok(Self {
            user_file: user_file(),
            state: state_folder(),
            workspace,
            environment: environment()?,
            options,
        })
    }
}

/// Headers for the server, a line each. Taken from the environment only, never from a file.
const CUSTOM_HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";

/// The variables that are read, the stronger of two for the same thing first.
pub const VARIABLES: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    CUSTOM_HEADERS,
    "ANTHROPIC_BASE_URL",
    "MODEL_ID",
    "ANTHROPIC_MODEL",
];

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            limits: Limits::default(),
            model: "claude-sonnet-5-5".to_owned(),
            base_url: "https://api.anthropic.com".to_owned(),
            key: None,
            summary_model: None,
            headers: Vec::new(),
            anthropic_version: "2023-06-01".to_owned(),
            anthropic_beta: None,
            max_tokens: 8_192,
            max_retries: 4,
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_mins(5),
            bash_timeout: Duration::from_mins(2),
            allow_http: false,
            permission: Mode::default(),
            notices: Vec::new(),
            untrusted: None,
            origins: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Reads the files, puts the layers over each other and checks every value.
    ///
    /// # Errors
    /// If a file cannot be read or parsed, a name is not known or a value does not fit.
    pub fn load(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        let mut layers = Vec::new();
        if let Some(path) = &sources.user_file {
            let text = file::read(path)?;
            layers.extend(file::settings(path, text.as_deref(), Origin::User)?);
        }
        let (project, dotenv) = config.workspace_files(sources)?;
        layers.extend(project);
        let key = key::choose(&sources.environment, &dotenv);
        layers.extend(key::without_keys(dotenv));
        layers.extend(from_environment(&sources.environment));
        layers.extend(from_options(sources.options));
        let key = config.part_addresses_from_keys(&mut layers, key);
        config.apply(layers)?;
        config.key = key;
        config.take_headers(&sources.environment)?;
        Ok(config)
    }

    /// The user's own headers, which are as secret as the key: they do not go to an address from the workspace either.
    fn take_headers(
        &mut self,
        environment: &BTreeMap<&'static str, String>,
    ) -> Result<(), ConfigError> {
        let Some(text) = environment.get(CUSTOM_HEADERS) else {
            return Ok(());
        };
        if matches!(self.origin("base_url"), Origin::Dotenv(_)) {
            self.notices.push(format!(
                "{CUSTOM_HEADERS} was left out: it is not for the address of {}",
                self.origin("base_url")
            ));
            return Ok(());
        }
        self.headers = Header::parse_lines(text)
            .map_err(|why| Origin::Environment(CUSTOM_HEADERS).error(why))?;
        Ok(())
    }

    /// The settings of the workspace's files where they are trusted, else a notice for each that was left out.
    fn workspace_files(
        &mut self,
        sources: &Sources<'_>,
    ) -> Result<(Vec<Given>, Vec<Given>), ConfigError> {
        let files = Files::read(&sources.workspace);
        let folder = files.consent();
        let agreed = folder.clone().map(Consent::Folder).map(|consent| {
            let kept = consent.is_kept(sources.state.as_deref());
            kept.map_err(|error| ConfigError::Consent(format!("{error:#}")))
        });
        if sources.options.trust || agreed.transpose()?.unwrap_or(false) {
            return files.parse();
        }
        for name in files.names() {
            self.notices.push(format!(
                "{name} of this folder was left out; --trust takes it for this run"
            ));
        }
        self.untrusted = folder.filter(|_| sources.state.is_some());
        Ok((Vec::new(), Vec::new()))
    }

    /// An address from a file of the workspace is only ever used with a key from that same file, and a key from there
    /// with no other address than its own or the default: a cloned project must not send the user's key elsewhere.
    fn part_addresses_from_keys(
        &mut self,
        layers: &mut Vec<Given>,
        key: Option<Key>,
    ) -> Option<Key> {
        let own_key = key.as_ref().is_some_and(Key::is_from_dotenv);
        layers.retain(|given| {
            let dangerous = given.name == "base_url"
                && match given.origin {
                    Origin::Project(_) => true,
                    Origin::Dotenv(_) => !own_key,
                    Origin::Default
                    | Origin::User(_)
                    | Origin::Environment(_)
                    | Origin::Option(_) => false,
                };
            if dangerous {
                self.notices.push(format!(
                    "the address in {} was left out: one from the workspace is only used with a key from the same file",
                    given.origin
                ));
            }
            !dangerous
        });
        let address = layers.iter().rfind(|given| given.name == "base_url");
        match address.map(|given| &given.origin) {
            Some(origin) if own_key && !matches!(origin, Origin::Dotenv(_)) => {
                self.notices.push(format!(
                    "the key in .env was left out: it is not for the address of {origin}"
                ));
                None
            }
            _ => key,
        }
    }

    /// Puts the pipeline's numbers that were typed behind `--set` over `limits` too.
    ///
    /// # Errors
    /// If one does not fit.
    pub fn again(&self, options: &Common, limits: &mut Limits) -> Result<(), ConfigError> {
        let mut other = self.clone();
        other.limits = limits.clone();
        other.apply(from_options(options))?;
        *limits = other.limits;
        Ok(())
    }

    /// Why the address must not be used as it is: plain http to another machine.
    #[must_use]
    pub fn refused_address(&self) -> Option<String> {
        (!self.allow_http && self.is_plain_to_elsewhere()).then(|| {
            format!(
                "{} is plain http to another machine: key and text could be read on the way; use https, or allow it \
                 with --set allow_http=true",
                self.base_url
            )
        })
    }

    /// Whether key and text go to another machine where everyone on the way can read them.
    #[must_use]
    pub fn is_plain_to_elsewhere(&self) -> bool {
        values::is_plain_to_elsewhere(&self.base_url)
    }

    /// Where the setting `name` came from.
    #[must_use]
    pub fn origin(&self, name: &str) -> &Origin {
        self.origins.get(name).unwrap_or(&Origin::Default)
    }
}

/// The variables of [`VARIABLES`] that are set and not empty.
///
/// # Errors
/// If one is not UTF-8.
pub fn environment() -> Result<BTreeMap<&'static str, String>, ConfigError> {
    let mut found = BTreeMap::new();
    for name in VARIABLES {
        match std::env::var(name) {
            Ok(text) if !text.trim().is_empty() => {
                found.insert(name, text.trim().to_owned());
            }
            Ok(_) | Err(std::env::VarError::NotPresent) => {}
            Err(std::env::VarError::NotUnicode(_)) => {
                return Err(ConfigError::Setting {
                    origin: name.to_owned(),
                    reason: "its value is not UTF-8".to_owned(),
                });
            }
        }
    }
    Ok(found)
}

/// The profile called `name`, typed behind `--profile`.
///
/// # Errors
/// If there is none of that name.
pub fn profile_of_option(name: &str) -> Result<Profile, ConfigError> {
    let option = Origin::Option("--profile".to_owned());
    values::one_of(&Raw::Text(name.to_owned())).map_err(|why| option.error(why))
}

/// The settings that a map of variables holds.
fn from_environment(variables: &BTreeMap<&'static str, String>) -> Vec<Given> {
    let setting = |variable: &'static str, name: &str| {
        variables.get(variable).map(|text| Given {
            name: name.to_owned(),
            value: Raw::Text(text.clone()),
            origin: Origin::Environment(variable),
        })
    };
    [
        setting("ANTHROPIC_BASE_URL", "base_url"),
        setting("MODEL_ID", "model").or_else(|| setting("ANTHROPIC_MODEL", "model")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The settings that the options hold; the short forms are stronger than `--set`.
fn from_options(options: &Common) -> Vec<Given> {
    let given = |name: &str, value: &str, option: String| Given {
        name: name.to_owned(),
        value: Raw::Text(value.to_owned()),
        origin: Origin::Option(option),
    };
    let set = options
        .set
        .iter()
        .map(|set| given(&set.name, &set.value, format!("--set {}", set.name)));
    let short = [
        ("model", &options.model),
        ("base_url", &options.base_url),
        ("profile", &options.profile),
        ("permission", &options.permission),
    ];
    let short = short.into_iter().filter_map(|(name, value)| {
        let option = format!("--{}", name.replace('_', "-"));
        value.as_ref().map(|value| given(name, value, option))
    });
    set.chain(short).collect()
}

#[cfg(test)]
mod tests;
