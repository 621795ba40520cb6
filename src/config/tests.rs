//! What each layer may say, which one wins, and how an error reads.

use std::fs;

use clap::Parser;

use super::*;
use crate::cli::Cli;
use crate::context::MicroWhen;
use crate::model::{self, Secret};

/// A workspace and a user's file in a folder of their own.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(folder.path("ws/.plimsoll")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    fn load(&self, variables: &[(&'static str, &str)], options: &[&str]) -> Result<Config, String> {
        let cli = Cli::try_parse_from([&["plimsoll"], options].concat()).unwrap();
        let loaded = Config::load(&Sources {
            user_file: Some(self.path("user.toml")),
            state: Some(self.path("state")),
            workspace: self.path("ws"),
            environment: variables
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
            options: &cli.common,
        });
        loaded.map_err(|error| {
            error
                .to_string()
                .replace(&*self.0.path().to_string_lossy(), "")
        })
    }
}

const PROJECT: &str = "ws/.plimsoll/config.toml";

#[test]
fn the_template_holds_every_setting_and_is_the_default() {
    let commented_in: String = TEMPLATE
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(setting) if setting.starts_with(|c: char| c.is_ascii_lowercase()) => setting,
            _ => line,
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    let folder = Folder::new().with("user.toml", &commented_in);
    let mut config = folder.load(&[], &[]).unwrap();
    let named: Vec<String> = apply::names()
        .into_iter()
        .filter(|name| !config.origins.contains_key(name))
        .collect();
    assert_eq!(named, [""; 0], "missing in the template");
    config.origins.clear();
    assert_eq!(config, Config::default());
    let as_it_is = Folder::new().with("user.toml", TEMPLATE);
    assert_eq!(as_it_is.load(&[], &[]).unwrap(), Config::default());
}

#[test]
fn the_stronger_layer_wins() {
    let folder = Folder::new()
        .with(
            "user.toml",
            "keep_recent = 4\nkeep_head = 4\nkeep_tail = 4\nmodel = 'user'\nprofile = 'plain'",
        )
        .with(PROJECT, "keep_head = 5\nkeep_tail = 5\nmodel = 'project'");
    let config = folder
        .load(
            &[("MODEL_ID", "environment"), ("ANTHROPIC_MODEL", "weaker")],
            &[
                "--trust",
                "--set",
                "keep_tail=6",
                "--profile",
                "session",
                "--set",
                "stall_timeout=0.5",
            ],
        )
        .unwrap();
    let limits = Limits {
        keep_recent: 4,
        keep_head: 5,
        keep_tail: 6,
        ..Limits::of(Profile::Session)
    };
    assert_eq!(config.limits, limits);
    assert_eq!(config.limits.micro_when, MicroWhen::OverLimit);
    assert_eq!(config.model, "environment");
    assert_eq!(config.stall_timeout, Duration::from_millis(500));
    assert_eq!(config.origin("model"), &Origin::Environment("MODEL_ID"));
    assert_eq!(config.origin("keep_tail").to_string(), "--set keep_tail");
    assert_eq!(config.origin("keep_fit"), &Origin::Default);
    assert_eq!(config.notices, [""; 0]);
}

#[test]
fn an_error_names_file_line_column_and_what_would_be_right() {
    for (text, expected) in [
        (
            "keep_head = 3\nkeep_recnt = 5",
            "/user.toml:2:1: no setting is called `keep_recnt`; the nearest is `keep_recent`",
        ),
        (
            "[profil]\nkeep_head = 3",
            "/user.toml:1:2: no setting is called `profil`; the nearest is `profile`",
        ),
        (
            "foo = 3",
            "/user.toml:1:1: no setting is called `foo`; without this line `plimsoll config` shows the names",
        ),
        (
            "\u{feff}keep_recent = -1",
            "/user.toml:1:1: keep_recent: invalid value: integer `-1`, expected a whole number of 0 or more",
        ),
        (
            "keep_recent = '5'",
            "/user.toml:1:1: keep_recent: invalid type: string \"5\", expected a whole number of 0 or more",
        ),
        (
            "context_limit = 1e6",
            "/user.toml:1:1: context_limit: invalid type: the number `1000000.0`, expected a whole number of 0 or more",
        ),
        (
            "keep_recent = [1]",
            "/user.toml:1:1: keep_recent: must be text, a number, true or false",
        ),
        ("model = ''", "/user.toml:1:1: model: must not be empty"),
        (
            "max_tokens = 0",
            "/user.toml:1:1: max_tokens: must be a whole number from 1 to 4294967295, found 0",
        ),
        (
            "bash_timeout = 0",
            "/user.toml:1:1: bash_timeout: must be seconds, above 0 and at most 86400, found 0",
        ),
        (
            "permission = 'everything'",
            "/user.toml:1:1: permission: there is no `everything`, expected one of `read-only`, `ask`, `edits`, `all`",
        ),
        (
            "profile = 'lessen'",
            "/user.toml:1:1: profile: there is no `lessen`, expected one of `plain`, `lesson`, `session`",
        ),
        (
            "base_url = 'ftp://x'",
            "/user.toml:1:1: base_url: `ftp://x` must begin with https:// or http:// and name a host",
        ),
    ] {
        let folder = Folder::new().with("user.toml", text);
        assert_eq!(folder.load(&[], &[]).unwrap_err(), expected);
    }
}

#[test]
fn a_file_that_is_none_is_named_with_the_place() {
    let too_long = vec![b'#'; 1_000_001];
    for (bytes, start) in [
        (&b"a = 'x\nb = 1"[..], "/user.toml:1:"),
        (b"model = 'a'\nmodel = 'b'", "/user.toml:2:1: duplicate key"),
        (
            b"model = 'a'\n# \xff",
            "/user.toml:2:3: it is not UTF-8 text",
        ),
        (&[0; 40], "/user.toml:1:41: key with no value"),
        (
            &too_long,
            "/user.toml: cannot be read: it is longer than 1000000 bytes",
        ),
    ] {
        let error = Folder::new()
            .with("user.toml", bytes)
            .load(&[], &[])
            .unwrap_err();
        assert!(error.starts_with(start), "{error}");
    }
    let folder = Folder::new();
    fs::create_dir(folder.path("user.toml")).unwrap();
    assert_eq!(
        folder.load(&[], &[]).unwrap_err(),
        "/user.toml: cannot be read: it is no file"
    );
}

#[test]
fn a_bad_option_or_variable_is_named() {
    let folder = Folder::new();
    assert_eq!(
        folder.load(&[], &["--set", "keep_recnt=5"]).unwrap_err(),
        "--set keep_recnt: no setting is called `keep_recnt`; the nearest is `keep_recent`"
    );
    assert_eq!(
        folder.load(&[], &["--set", "Keep-Recent=5"]).unwrap_err(),
        "--set Keep-Recent: no setting is called `Keep-Recent`; the nearest is `keep_recent`"
    );
    for far in ["foo", "m", "recency", "漢字"] {
        assert_eq!(
            folder
                .load(&[], &["--set", &format!("{far}=1")])
                .unwrap_err(),
            format!("--set {far}: no setting is called `{far}`; `plimsoll config` shows the names")
        );
    }
    assert_eq!(
        folder
            .load(&[("ANTHROPIC_BASE_URL", "example.org")], &[])
            .unwrap_err(),
        "ANTHROPIC_BASE_URL: base_url: `example.org` is no address: relative URL without a base"
    );
    assert_eq!(
        folder.load(&[], &["--profile", "x"]).unwrap_err(),
        "--profile: profile: there is no `x`, expected one of `plain`, `lesson`, `session`"
    );
}

#[test]
fn files_of_the_workspace_wait_for_trust() {
    let folder = Folder::new()
        .with(PROJECT, "keep_recent = 9")
        .with("ws/.env", "MODEL_ID=theirs\nOTHER=1");
    let config = folder.load(&[], &[]).unwrap();
    assert_eq!(config.limits, Limits::default());
    assert_eq!(
        config.notices,
        [
            ".plimsoll/config.toml of this folder was left out; --trust takes it for this run",
            ".env of this folder was left out; --trust takes it for this run",
        ]
    );
    let trusted = folder.load(&[], &["--trust"]).unwrap();
    assert_eq!(
        (trusted.limits.keep_recent, trusted.model.as_str()),
        (9, "theirs")
    );
    let foreign = Folder::new().with("ws/.env", "DATABASE=x");
    assert_eq!(foreign.load(&[], &[]).unwrap().notices, [""; 0]);
}

#[test]
fn an_address_of_the_workspace_never_gets_the_users_key() {
    let default = Config::default().base_url;
    let evil = "https://evil.example";
    let folder = Folder::new()
        .with(PROJECT, format!("base_url = '{evil}'"))
        .with("ws/.env", format!("ANTHROPIC_BASE_URL={evil}"));
    for variables in [&[][..], &[("ANTHROPIC_API_KEY", "sk-own")]] {
        let config = folder.load(variables, &["--trust"]).unwrap();
        assert_eq!(config.base_url, default);
        assert_eq!(config.notices.len(), 2);
    }

    let pair = Folder::new().with(
        "ws/.env",
        format!("export ANTHROPIC_AUTH_TOKEN='theirs' # x\nANTHROPIC_BASE_URL=\"{evil}\""),
    );
    let config = pair.load(&[], &["--trust"]).unwrap();
    let key = config.key.as_ref().unwrap();
    assert_eq!(
        (config.base_url.as_str(), key.sent()),
        (evil, model::Key::Token(Secret::new("theirs")))
    );
    let own = pair
        .load(&[("ANTHROPIC_API_KEY", "sk-own")], &["--trust"])
        .unwrap();
    assert_eq!(
        (own.base_url, own.key.unwrap().sent()),
        (default, model::Key::ApiKey(Secret::new("sk-own")))
    );
}

#[test]
fn headers_of_the_users_own_go_to_no_address_of_the_workspace() {
    let headers = ("ANTHROPIC_CUSTOM_HEADERS", "x-team: mine");
    let names = |config: &Config| {
        let names = config.headers.iter().map(|header| header.name().to_owned());
        names.collect::<Vec<_>>()
    };
    let own = Folder::new().load(&[headers], &[]).unwrap();
    assert_eq!(names(&own), ["x-team"]);
    let text = "ANTHROPIC_API_KEY=theirs\nANTHROPIC_BASE_URL=https://their.example\nANTHROPIC_CUSTOM_HEADERS=x-evil: 1";
    let folder = Folder::new().with("ws/.env", text);
    let theirs = folder.load(&[headers], &["--trust"]).unwrap();
    assert_eq!(theirs.base_url, "https://their.example");
    assert_eq!(names(&theirs), [""; 0]);
    let notice = theirs.notices.last().unwrap();
    assert!(
        notice.starts_with("ANTHROPIC_CUSTOM_HEADERS was left out: it is not for the address of "),
        "{notice}"
    );
    let without = folder.load(&[], &["--trust"]).unwrap();
    assert_eq!(
        names(&without),
        [""; 0],
        "a file of the workspace sets none"
    );
}

#[test]
fn a_key_of_the_workspace_goes_to_no_other_address() {
    let folder = Folder::new().with("ws/.env", "ANTHROPIC_API_KEY=theirs");
    let alone = folder.load(&[], &["--trust"]).unwrap();
    assert_eq!(
        alone.key.unwrap().sent(),
        model::Key::ApiKey(Secret::new("theirs"))
    );
    let elsewhere = folder
        .load(&[], &["--trust", "--base-url", "https://other.example"])
        .unwrap();
    assert_eq!(elsewhere.key, None);
    assert_eq!(
        elsewhere.notices,
        ["the key in .env was left out: it is not for the address of --base-url"]
    );
}

#[test]
fn a_project_cannot_allow_itself_more() {
    let wide = Folder::new().with(PROJECT, "permission = 'all'\nallow_http = true");
    let config = wide.load(&[], &["--trust"]).unwrap();
    assert_eq!((config.permission, config.allow_http), (Mode::Ask, false));
    assert_eq!(config.notices.len(), 2);
    let narrow = Folder::new().with(PROJECT, "permission = 'read-only'");
    assert_eq!(
        narrow.load(&[], &["--trust"]).unwrap().permission,
        Mode::ReadOnly
    );
    let option = narrow
        .load(&[], &["--trust", "--permission", "all"])
        .unwrap();
    assert_eq!(option.permission, Mode::All);
}

#[test]
fn plain_http_stays_on_this_machine() {
    let folder = Folder::new();
    let refused = |url: &str, more: &[&str]| {
        let options = [&["--base-url", url], more].concat();
        folder
            .load(&[], &options)
            .unwrap()
            .refused_address()
            .is_some()
    };
    for here in [
        "http://localhost:11434",
        "http://127.0.0.1:1/x",
        "http://127.9.9.9",
        "http://[::1]:8000",
        "http://a.localhost",
        "https://example.org",
    ] {
        assert!(!refused(here, &[]), "{here}");
    }
    for elsewhere in [
        "http://example.org",
        "http://10.0.0.1",
        "http://localhost.example.org",
        "http://0.0.0.0",
    ] {
        assert!(refused(elsewhere, &[]), "{elsewhere}");
        assert!(
            !refused(elsewhere, &["--set", "allow_http=true"]),
            "{elsewhere}"
        );
    }
}

#[test]
fn no_form_of_the_settings_shows_the_key() {
    let config = Folder::new()
        .load(&[("ANTHROPIC_API_KEY", "sk-very-secret")], &[])
        .unwrap();
    let shown = show(&config);
    assert!(!format!("{config:?}{shown}").contains("secret"));
    assert!(shown.ends_with("# key: ANTHROPIC_API_KEY from the environment, sent as x-api-key\n"));
}

#[test]
fn what_is_shown_can_be_read_again() {
    let options = [
        "--set",
        "fit_share=0.25",
        "--profile",
        "session",
        "--set",
        "connect_timeout=1.5",
    ];
    let config = Folder::new().load(&[], &options).unwrap();
    let shown = show(&config);
    let line = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name));
        line.unwrap()
            .split("  ")
            .filter(|part| !part.is_empty())
            .map(str::trim)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        line("fit_share "),
        ["fit_share = 0.25", "# --set fit_share"]
    );
    assert_eq!(
        line("budget_max "),
        ["budget_max = 80000", "# profile session"]
    );
    assert_eq!(line("max_tokens "), ["max_tokens = 8192", "# default"]);
    let mut again = Folder::new()
        .with("user.toml", shown)
        .load(&[], &[])
        .unwrap();
    again.origins.clone_from(&config.origins);
    assert_eq!(again, config);
}

#[test]
fn a_settings_file_is_written_once() {
    let folder = Folder::new();
    let path = folder.path("made/config.toml");
    init(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), TEMPLATE);
    fs::write(&path, "mine").unwrap();
    let error = init(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("exists already and was left as it is"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn an_agreement_counts_until_a_file_changes() {
    let folder = Folder::new()
        .with(PROJECT, "keep_recent = 9")
        .with("ws/.env", "MODEL_ID=theirs");
    let state = folder.path("state");
    let first = folder.load(&[], &[]).unwrap();
    let asked = Consent::Folder(first.untrusted.clone().unwrap());
    asked.keep(Some(&state)).unwrap();
    let taken = folder.load(&[], &[]).unwrap();
    assert_eq!(
        (taken.limits.keep_recent, taken.model.as_str()),
        (9, "theirs")
    );
    assert_eq!((taken.notices.len(), &taken.untrusted), (0, &None));

    for (name, text) in [(PROJECT, "keep_recent = 8"), ("ws/.env", "MODEL_ID=other")] {
        let before = fs::read(folder.path(name)).unwrap();
        fs::write(folder.path(name), text).unwrap();
        let changed = folder.load(&[], &[]).unwrap();
        assert_eq!(
            (changed.limits, changed.model),
            (Limits::default(), Config::default().model)
        );
        assert_eq!(changed.notices.len(), 2, "{name}");
        assert_ne!(changed.untrusted, first.untrusted, "{name}");
        fs::write(folder.path(name), before).unwrap();
    }
    assert_eq!(folder.load(&[], &[]).unwrap(), taken);
    fs::remove_file(folder.path(PROJECT)).unwrap();
    assert_eq!(folder.load(&[], &[]).unwrap().notices.len(), 1);
}

#[test]
fn an_agreement_widens_neither_permission_nor_the_way_of_a_key() {
    let folder = Folder::new()
        .with(
            PROJECT,
            "permission = 'all'\nbase_url = 'https://evil.example'",
        )
        .with(
            "ws/.env",
            "ANTHROPIC_BASE_URL=https://evil.example\nPERMISSION=all\npermission=all",
        );
    let asked = folder.load(&[], &[]).unwrap().untrusted.unwrap();
    Consent::Folder(asked)
        .keep(Some(&folder.path("state")))
        .unwrap();
    let config = folder
        .load(&[("ANTHROPIC_API_KEY", "sk-own")], &[])
        .unwrap();
    assert_eq!(config.untrusted, None);
    assert_eq!(
        (config.permission, config.base_url),
        (Mode::Ask, Config::default().base_url)
    );
    assert_eq!(config.notices.len(), 3);
}

#[test]
fn what_is_set_in_the_workspace_stays_text() {
    let folder = Folder::new().with(
        "ws/.env",
        "\u{feff}# ANTHROPIC_MODEL=commented\nMODEL_ID='$HOME/${USER}$(id)`id`'\nANTHROPIC_MODEL=weaker\nMODEL_ID_2=x\n",
    );
    let config = folder.load(&[], &["--trust"]).unwrap();
    assert_eq!(config.model, "$HOME/${USER}$(id)`id`");
}

#[test]
fn a_file_of_the_workspace_that_cannot_be_used_is_an_error_once_trusted_and_a_notice_before() {
    for (name, text, said) in [
        (
            PROJECT,
            "keep_recnt = 1",
            "/ws/.plimsoll/config.toml:1:1: no setting is called",
        ),
        (
            "ws/.env",
            "\nMODEL_ID=\"x",
            "/ws/.env:2:1: MODEL_ID: the quote is not closed",
        ),
    ] {
        let folder = Folder::new().with(name, text);
        assert_eq!(folder.load(&[], &[]).unwrap().notices.len(), 1, "{name}");
        let error = folder.load(&[], &["--trust"]).unwrap_err();
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn the_start_says_where_requests_go_and_why() {
    let folder = Folder::new().with(
        "ws/.env",
        "MODEL_ID=theirs\nANTHROPIC_BASE_URL=https://s.example\nANTHROPIC_AUTH_TOKEN=very-secret",
    );
    let said = |options: &[&str], variables: &[(&'static str, &str)]| {
        let config = folder.load(variables, options).unwrap();
        route(&config).replace(&*folder.path("").to_string_lossy(), "/")
    };
    assert_eq!(
        said(&["--trust"], &[]),
        "server https://s.example (/ws/.env:2), model theirs (/ws/.env:1), key ANTHROPIC_AUTH_TOKEN from \
         /ws/.env:3, sent as Authorization: Bearer"
    );
    assert_eq!(
        said(&["--model", "m"], &[("ANTHROPIC_API_KEY", "very-secret")]),
        "server https://api.anthropic.com (default), model m (--model), key ANTHROPIC_API_KEY from the environment, \
         sent as x-api-key"
    );
    assert_eq!(
        said(&[], &[]),
        "server https://api.anthropic.com (default), model claude-sonnet-5-5 (default), no key"
    );
}
