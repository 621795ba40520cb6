//! A command line taken apart.

use crate::tools::Workspace;

/// What a command line would do.
pub(super) struct Script {
    pub(super) refused: Option<String>,
    pub(super) unclear: Option<String>,
}

pub(super) fn read(_line: &str, _workspace: &Workspace) -> Script {
    Script {
        refused: None,
        unclear: Some("the command was not looked at".to_owned()),
    }
}

pub(super) fn only_command(_line: &str) -> Option<Vec<String>> {
    None
}
