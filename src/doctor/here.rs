//! This machine: the terminal, the folders, the tools.

use std::io::{IsTerminal, stdin, stdout};
use std::path::Path;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Check;
use crate::cli::{Color, Display};
use crate::config;
use crate::show::is_utf8;
use crate::tools::{ToolCall, ToolSettings, Tools, Workspace};

/// The smallest screen, and the one from which all of it is shown: columns and rows.
const LEAST: (u16, u16) = (40, 10);
const WHOLE: (u16, u16) = (80, 24);
/// What the tools are tried with.
const WORDS: &str = "plimsoll doctor";

/// Terminal, colours and characters.
pub(super) fn screen(display: &Display) -> Vec<Check> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let size = (stdin().is_terminal() && stdout().is_terminal())
        .then(|| crossterm::terminal::size().unwrap_or_default());
    vec![
        terminal(size, variable("TERM").as_deref()),
        colours(display.color, &variable),
        characters(display, variable),
    ]
}

/// `size` is that of the terminal, if there is one.
fn terminal(size: Option<(u16, u16)>, term: Option<&str>) -> Check {
    let name = "terminal";
    let Some((width, height)) = size else {
        return Check::warn(
            name,
            "standard input or output is none: the screen needs one, `plimsoll run PROMPT` does not",
        );
    };
    let said = format!("{width}x{height}, TERM is {}", term.unwrap_or("not set"));
    match term {
        None | Some("dumb") => Check::warn(
            name,
            format!(
                "{said}: the screen cannot be shown; set TERM to what the terminal is, or use `plimsoll run PROMPT`"
            ),
        ),
        Some(_) if width < LEAST.0 || height < LEAST.1 => Check::warn(
            name,
            format!(
                "{said}: too small for the screen, which needs {}x{}",
                LEAST.0, LEAST.1
            ),
        ),
        Some(_) if width < WHOLE.0 || height < WHOLE.1 => Check::ok(
            name,
            format!(
                "{said}; from {}x{} on all panes are shown",
                WHOLE.0, WHOLE.1
            ),
        ),
        Some(_) => Check::ok(name, said),
    }
}

fn colours(color: Color, variable: &impl Fn(&str) -> Option<String>) -> Check {
    let name = "colours";
    match color {
        Color::Never => Check::ok(name, "none, as --color never says"),
        Color::Always => Check::ok(name, "the terminal's own 16, as --color always says"),
        Color::Auto if variable("NO_COLOR").is_some() => Check::ok(
            name,
            "none: NO_COLOR is set; --color always uses them all the same",
        ),
        Color::Auto => {
            let more = variable("COLORTERM")
                .map_or(String::new(), |more| format!("; COLORTERM is {more}"));
            Check::ok(name, format!("the terminal's own 16{more}"))
        }
    }
}

fn characters(display: &Display, variable: impl Fn(&str) -> Option<String>) -> Check {
    let name = "characters";
    if display.ascii {
        return Check::ok(name, "ASCII, as --ascii says");
    }
    if is_utf8(variable) {
        return Check::ok(name, "UTF-8");
    }
    Check::warn(
        name,
        "the locale is not UTF-8, so the screen is drawn in ASCII; set LC_ALL or LANG to one that is, such as C.UTF-8",
    )
}

/// The workspace and the folder of the sessions.
pub(super) fn folders(workspace: &Path) -> Vec<Check> {
    let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_owned());
    let home = home.and_then(|home| home.canonicalize().ok());
    let shown = workspace.display();
    let folder = match tempfile::tempfile_in(workspace) {
        Err(error) => Check::warn(
            "folder",
            format!(
                "{shown} cannot be written to ({error}): the model can read here, and change nothing"
            ),
        ),
        Ok(_) if workspace.parent().is_none() || home.as_deref() == Some(workspace) => Check::warn(
            "folder",
            format!(
                "{shown} holds more than one project: start in the folder of the one that is worked on"
            ),
        ),
        Ok(_) => Check::ok("folder", format!("{shown} can be read and written")),
    };
    vec![folder, sessions()]
}

fn sessions() -> Check {
    let name = "sessions";
    let Some(folder) = config::sessions_folder() else {
        return Check::warn(
            name,
            "this system has no folder for them, so none is kept; set HOME",
        );
    };
    let shown = folder.display();
    let written = std::fs::create_dir_all(&folder).and_then(|()| tempfile::tempfile_in(&folder));
    match written {
        Ok(_) => Check::ok(name, format!("are kept in {shown}")),
        Err(error) => Check::fail(
            name,
            format!(
                "{shown} cannot be written to ({error}): make room there, or set XDG_DATA_HOME to another folder"
            ),
        ),
    }
}

/// The tools, on a folder of their own.
pub(super) async fn tools() -> Check {
    let name = "tools";
    match tried().await {
        Ok(()) => Check::ok(name, "bash runs; files are written, read and found"),
        Err(why) => Check::fail(name, why),
    }
}

async fn tried() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| {
        format!("no temporary folder can be made ({error}): set TMPDIR to one that can be written")
    })?;
    let workspace = Workspace::open(folder.path()).map_err(|error| format!("{error:#}"))?;
    let tools = Tools::new(workspace, ToolSettings::default());
    for (tool, input, expected) in [
        ("write_file", json!({"path": "a.txt", "content": WORDS}), ""),
        ("read_file", json!({"path": "a.txt"}), WORDS),
        ("glob", json!({"pattern": "*.txt"}), "a.txt"),
        (
            "bash",
            json!({"command": "test -n \"$BASH_VERSION\" && cat a.txt"}),
            WORDS,
        ),
    ] {
        let call = ToolCall::parse(tool, &input).map_err(|error| format!("{tool}: {error}"))?;
        let output = tools.run(&call, &CancellationToken::new()).await;
        if output.is_error || !output.text.contains(expected) {
            let more = if tool == "bash" {
                "; is bash installed, and in PATH?"
            } else {
                ""
            };
            return Err(format!("{tool} does not work: {}{more}", output.text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Mark;
    use super::*;

    #[test]
    fn a_terminal_is_judged_by_what_the_screen_needs() {
        for (size, term, mark) in [
            (Some((80, 24)), Some("xterm"), Mark::Ok),
            (Some((40, 10)), Some("xterm"), Mark::Ok),
            (Some((39, 24)), Some("xterm"), Mark::Warn),
            (Some((80, 24)), Some("dumb"), Mark::Warn),
            (Some((80, 24)), None, Mark::Warn),
            (None, Some("xterm"), Mark::Warn),
        ] {
            assert_eq!(terminal(size, term).mark, mark, "{size:?} {term:?}");
        }
    }

    #[test]
    fn colours_follow_the_option_before_the_variable() {
        let none = |_: &str| None;
        let no_color = |name: &str| (name == "NO_COLOR").then(|| "1".to_owned());
        assert_eq!(colours(Color::Auto, &none).said, "the terminal's own 16");
        assert!(
            colours(Color::Auto, &no_color)
                .said
                .starts_with("none: NO_COLOR")
        );
        assert!(colours(Color::Always, &no_color).said.contains("16"));
    }

    #[tokio::test]
    async fn the_tools_work_on_this_machine() {
        assert_eq!(tried().await, Ok(()));
    }
}
