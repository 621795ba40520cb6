//! The tools: a checked call goes in, what came of it comes out.
//!
//! Never asks, never draws, never touches a history; whether a call may run was decided before it came here. `task` and
//! `compact` are calls that only the agent can carry out.

mod bash;
mod call;
mod edit_file;
mod file;
mod glob;
mod load_skill;
mod output;
mod path;
mod read_file;
mod todo_write;
mod write_file;

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub(crate) use call::one_line;
pub use call::{
    Bash, EditFile, Glob, LoadSkill, ReadFile, Task, TodoWrite, ToolCall, WriteFile, specs,
};
pub use load_skill::{BrokenSkill, SkillInfo, SkillSource};
pub use path::{Place, Workspace};

/// How many characters a tool hands to the history at most.
pub const MAX_CHARS: usize = 400_000;

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text of the result, never empty.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolOutput {
    /// What a call that went well says.
    pub(crate) fn done(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            text: if text.is_empty() {
                "(no output)".to_owned()
            } else {
                text
            },
            is_error: false,
        }
    }

    /// What a call that failed says: what is wrong and what to do.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::done(text)
        }
    }
}

impl From<Result<String, String>> for ToolOutput {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self::done(text),
            Err(text) => Self::failed(text),
        }
    }
}

/// What the tools are told from outside.
#[derive(Clone, Debug)]
pub struct ToolSettings {
    /// How long a command may run that names no time itself; at most 600 seconds count.
    pub bash_timeout: Duration,
    /// Names of environment variables that are withheld from commands: those with the provider's keys. A help, not a
    /// wall: a command of the same user can still look into this program's own process.
    pub hidden_env: Vec<String>,
    /// Folders of skills beside the workspace's `skills/`, weaker ones later.
    pub skill_dirs: Vec<PathBuf>,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            bash_timeout: bash::TIMEOUT,
            hidden_env: vec![
                "ANTHROPIC_API_KEY".to_owned(),
                "ANTHROPIC_AUTH_TOKEN".to_owned(),
                "ANTHROPIC_CUSTOM_HEADERS".to_owned(),
            ],
            skill_dirs: Vec::new(),
        }
    }
}

/// The tools of one workspace.
#[derive(Debug)]
pub struct Tools {
    workspace: Workspace,
    settings: ToolSettings,
}

impl Tools {
    /// Tools that work in `workspace`.
    #[must_use]
    pub fn new(workspace: Workspace, settings: ToolSettings) -> Self {
        Self {
            workspace,
            settings,
        }
    }

    /// Where they work.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The skills that can be loaded, by name. Reads the skill folders.
    #[must_use]
    pub fn skills(&self) -> Vec<SkillInfo> {
        load_skill::list(&self.workspace, &self.settings.skill_dirs)
    }

    /// The skills that cannot be loaded, with what is wrong. Reads the skill folders.
    #[must_use]
    pub fn broken_skills(&self) -> Vec<BrokenSkill> {
        load_skill::broken(&self.workspace, &self.settings.skill_dirs)
    }

    /// Carries out `call`, also outside the workspace: permission was given before.
    ///
    /// Returns within 200 ms of `cancel`: a command's processes are ended and what they wrote is kept; the others stop
    /// at the next point where nothing is half done.
    pub async fn run(&self, call: &ToolCall, cancel: &CancellationToken) -> ToolOutput {
        if cancel.is_cancelled() {
            return ToolOutput::failed("interrupted before it began");
        }
        match call {
            ToolCall::Bash(call) => {
                bash::run(call, self.workspace.root(), &self.settings, cancel).await
            }
            ToolCall::ReadFile(call) => {
                let (workspace, call) = (self.workspace.clone(), call.clone());
                blocking(cancel, move || read_file::run(&call, &workspace)).await
            }
            ToolCall::WriteFile(call) => {
                let (workspace, call) = (self.workspace.clone(), call.clone());
                blocking(cancel, move || write_file::run(&call, &workspace)).await
            }
            ToolCall::EditFile(call) => {
                let (workspace, call) = (self.workspace.clone(), call.clone());
                blocking(cancel, move || edit_file::run(&call, &workspace)).await
            }
            ToolCall::Glob(call) => {
                let (workspace, call) = (self.workspace.clone(), call.clone());
                let stop = cancel.clone();
                blocking(cancel, move || glob::run(&call, &workspace, &stop)).await
            }
            ToolCall::TodoWrite(call) => todo_write::run(call).into(),
            ToolCall::LoadSkill(call) => {
                let (workspace, call) = (self.workspace.clone(), call.clone());
                let dirs = self.settings.skill_dirs.clone();
                blocking(cancel, move || load_skill::run(&call, &workspace, &dirs)).await
            }
            ToolCall::Task(_) | ToolCall::Compact => {
                ToolOutput::failed(format!("{} is not available here", call.name()))
            }
        }
    }
}

/// Runs `work` where it may block, and does not wait for it once `cancel` fires and it makes no progress.
async fn blocking(
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<String, String> + Send + 'static,
) -> ToolOutput {
    let mut running = tokio::task::spawn_blocking(work);
    let joined = tokio::select! {
        biased;
        joined = &mut running => joined,
        () = cancel.cancelled() => match tokio::time::timeout(STOP_WITHIN, running).await {
            Ok(joined) => joined,
            Err(_) => return ToolOutput::failed("interrupted; it may still take effect"),
        },
    };
    match joined {
        Ok(result) => result.into(),
        Err(problem) => ToolOutput::failed(format!("the tool broke down: {problem}")),
    }
}

/// How long a tool that works on files has to come to its next safe point.
const STOP_WITHIN: Duration = Duration::from_millis(150);
