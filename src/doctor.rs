//! `plimsoll doctor`: what works here, a line each, and what to do about the rest.
//!
//! Each part looks at one side: this machine, the settings, the server. Here they are put in order and printed.

mod here;
mod server;
mod settings;

use std::fmt::Write;

use tokio::runtime::Runtime;

use crate::Failed;
use crate::cli::Common;
use crate::commands::print;
use crate::launch::{self, GRACE};
use crate::text::{clean, clean_line};

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// As it should be.
    Ok,
    /// It works, but not all of it.
    Warn,
    /// It does not work.
    Fail,
    /// It was not looked at.
    Skip,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    mark: Mark,
    name: &'static str,
    /// How it is, and behind it what to do.
    said: String,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "-",
        }
    }
}

impl Check {
    fn ok(name: &'static str, said: impl Into<String>) -> Self {
        let said = said.into();
        Self {
            mark: Mark::Ok,
            name,
            said,
        }
    }

    fn warn(name: &'static str, said: impl Into<String>) -> Self {
        let said = said.into();
        Self {
            mark: Mark::Warn,
            name,
            said,
        }
    }

    fn fail(name: &'static str, said: impl Into<String>) -> Self {
        let said = said.into();
        Self {
            mark: Mark::Fail,
            name,
            said,
        }
    }

    fn skip(name: &'static str, said: impl Into<String>) -> Self {
        let said = said.into();
        Self {
            mark: Mark::Skip,
            name,
            said,
        }
    }
}

/// Looks at everything; 1 if something does not work.
pub(crate) fn doctor(common: &Common) -> Result<u8, Failed> {
    let runtime = Runtime::new()?;
    let mut checks = here::screen(&common.display);
    let config = match launch::workspace(common) {
        Ok(folder) => {
            checks.extend(here::folders(&folder));
            let (found, config) = settings::settings(folder, common);
            checks.extend(found);
            config
        }
        Err(error) => {
            checks.push(Check::fail(
                "folder",
                format!("{error:#}: choose another with --workspace"),
            ));
            None
        }
    };
    checks.push(runtime.block_on(here::tools()));
    checks.extend(match &config {
        Some(config) if common.offline => server::skipped(config, "left out, as --offline says"),
        Some(config) if config.key.is_none() => server::skipped(config, "needs a key"),
        Some(config) if config.refused_address().is_some() => {
            server::skipped(config, "nothing is sent to this address")
        }
        Some(config) => runtime.block_on(server::server(config)),
        None => Vec::new(),
    });
    runtime.shutdown_timeout(GRACE);
    print(&clean(&told(&checks)))?;
    Ok(u8::from(
        checks.iter().any(|check| check.mark == Mark::Fail),
    ))
}

/// The checks, a line each.
fn told(checks: &[Check]) -> String {
    let mut text = String::new();
    for Check { mark, name, said } in checks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:4}  {name:10}  {}", mark.word(), clean_line(said));
    }
    text
}
