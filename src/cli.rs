//! What can be typed behind `plimsoll`: commands and options, with their help.
//!
//! Never reads a file or the environment; what the options mean together with them is `config`'s.

use std::path::PathBuf;
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// A coding agent for the terminal that shows its own context window.
///
/// Without a command it opens the screen in the current folder. Without a key it plays the scripted model, which needs
/// no network.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do; the screen if absent.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// Options of the screen.
    #[command(flatten)]
    pub screen: Screen,
}

/// Behind the help of `doctor`.
const DOCTOR: &str = "The server gets two requests, one of them for a reply of one token. --offline leaves them out.";

/// A command.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Watch the pipeline at work: the scripted model in a fresh practice folder, no key and no network needed
    Demo(Demo),
    /// Work on one request without a screen and print the reply
    Run(Run),
    /// Put a saved history through the pipeline and say what each stage would do; calls no model, writes nothing
    Replay(Replay),
    /// Show the settings in force and where each comes from
    Config(ShowConfig),
    /// Look what works here, and say what to do where it does not: terminal, folder, key, server, model, tools
    #[command(after_help = DOCTOR)]
    Doctor,
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// Options of `demo`.
#[derive(Clone, Debug, Args)]
pub struct Demo {
    /// Which demo [default: tour]; --list shows them all
    #[arg(conflicts_with = "list")]
    pub name: Option<String>,
    /// List the demos
    #[arg(long)]
    pub list: bool,
    /// Play it without a screen
    #[arg(long, conflicts_with_all = ["list", "keys", "print", "events"])]
    pub headless: bool,
    /// What goes to standard output, with --headless
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        requires = "headless"
    )]
    pub format: Format,
    /// Options of the screen.
    #[command(flatten)]
    pub screen: Screen,
}

/// Options of `run`.
#[derive(Clone, Debug, Args)]
pub struct Run {
    /// The request; `-` reads it from standard input
    pub prompt: String,
    /// What goes to standard output: the text of the final reply, or one JSON object for each event
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// Options of `replay`.
#[derive(Clone, Debug, Args)]
pub struct Replay {
    /// A JSON list of messages, one JSON message a line, an object with `messages`, or a session log or a file of
    /// --events: the context at its end
    pub file: PathBuf,
    /// What goes to standard output: a report for people, or one JSON object
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// Options of `config`.
#[derive(Clone, Debug, Args)]
pub struct ShowConfig {
    /// Print where your settings file is, or would be
    #[arg(long)]
    pub path: bool,
    /// Write a settings file with every setting, its default and what it does; leaves one that exists alone
    #[arg(long, conflicts_with = "path")]
    pub init: bool,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Work in DIR instead of the current folder
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Option<PathBuf>,
    /// Which model
    #[arg(long, value_name = "NAME", global = true)]
    pub model: Option<String>,
    /// Which server, without `/v1`
    #[arg(long, value_name = "URL", global = true)]
    pub base_url: Option<String>,
    /// Use the scripted model, whatever keys are set
    #[arg(long, global = true)]
    pub offline: bool,
    /// Defaults for the pipeline: plain, lesson or session
    #[arg(long, value_name = "PROFILE", global = true)]
    pub profile: Option<String>,
    /// Change one setting for this run; may be repeated. `plimsoll config` shows their names
    #[arg(long, value_name = "NAME=VALUE", global = true)]
    pub set: Vec<Assignment>,
    /// What may run unasked: ask, edits, all or read-only
    #[arg(long, value_name = "MODE", global = true)]
    pub permission: Option<String>,
    /// Take the workspace's `.env` and `.plimsoll/config.toml` for this run
    #[arg(long, global = true)]
    pub trust: bool,
    /// How things look.
    #[command(flatten)]
    pub display: Display,
}

/// How things look.
#[derive(Clone, Debug, Args)]
pub struct Display {
    /// Colours: auto, always or never
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        global = true,
        hide_possible_values = true
    )]
    pub color: Color,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Nothing moves by itself
    #[arg(long, global = true)]
    pub reduced_motion: bool,
}

/// Options of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Screen {
    /// Write what happens to FILE, one JSON object for each event; a file that exists goes on at its end
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Type these keys before the frame is printed.
    #[arg(
        long,
        value_name = "KEYS",
        requires = "print",
        help = "With --print: type KEYS before the frame is printed, characters as typed and names such as <enter> <esc> <c-c> <lt>"
    )]
    pub keys: Option<String>,
    /// Print one frame as text once nothing moves, and end; needs no terminal. Without a size: 80x24
    #[arg(long, value_name = "WxH", num_args = 0..=1, default_missing_value = "80x24")]
    pub print: Option<Size>,
}

/// What goes to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Where the terminal has them and `NO_COLOR` is not set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `NAME=VALUE`, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// What stands before the first `=`.
    pub name: String,
    /// What stands behind it.
    pub value: String,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok(Self {
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => Err("write it as NAME=VALUE, for example keep_recent=5".to_owned()),
        }
    }
}

/// The size of a screen in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let side = |side: &str| side.parse().ok().filter(|n| (1..=1_000).contains(n));
        match text.split_once('x').map(|(w, h)| (side(w), side(h))) {
            Some((Some(width), Some(height))) => Ok(Self { width, height }),
            _ => Err(
                "write it as columns and rows, for example 80x24 (at most 1000x1000)".to_owned(),
            ),
        }
    }
}

impl Cli {
    /// Parses the process's arguments.
    ///
    /// # Errors
    /// With what to print, also where help or the version was asked for.
    pub fn from_process() -> Result<Self, clap::Error> {
        Self::try_parse()?.checked()
    }

    /// What no derive can say: options of the screen stand alone, or behind `demo`.
    fn checked(self) -> Result<Self, clap::Error> {
        if self.command.is_some() && self.screen != Screen::default() {
            return Err(Self::command().error(
                ErrorKind::ArgumentConflict,
                "--events, --keys and --print belong to the screen: write them without a command, or behind `demo`",
            ));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' ')).and_then(Cli::checked)
    }

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_of_every_command_stand_before_it_or_behind_it() {
        for line in [
            "plimsoll --offline --set keep_recent=5 run hi",
            "plimsoll run hi --offline --set keep_recent=5",
        ] {
            let cli = parse(line).unwrap();
            assert!(cli.common.offline);
            assert_eq!(
                cli.common.set,
                [Assignment {
                    name: "keep_recent".to_owned(),
                    value: "5".to_owned()
                }]
            );
        }
    }

    #[test]
    fn a_frame_has_a_size_or_the_usual_one() {
        let print = |line: &str| parse(line).unwrap().screen.print;
        let size = |width, height| Some(Size { width, height });
        assert_eq!(print("plimsoll"), None);
        assert_eq!(print("plimsoll --print"), size(80, 24));
        assert_eq!(print("plimsoll --print 120x40"), size(120, 40));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for line in [
            "plimsoll --print 0x24",
            "plimsoll --print 80",
            "plimsoll --keys abc",
            "plimsoll --set keep_recent",
            "plimsoll --set =5",
            "plimsoll --events x run hi",
            "plimsoll demo --list micro",
            "plimsoll demo --format json",
            "plimsoll demo --headless --print",
            "plimsoll run",
            "plimsoll config --path --init",
            "plimsoll nothing",
        ] {
            let error = parse(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}: {error}");
        }
    }
}
