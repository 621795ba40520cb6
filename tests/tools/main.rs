//! The tools on real files and processes in temporary folders: whole outputs compared, nothing left behind.
#![expect(clippy::unwrap_used, reason = "test helpers")]

mod bash;
mod calls;
mod edit_file;
mod glob;
mod read_file;
mod skills_and_todos;
mod write_file;

use std::fs;
use std::path::PathBuf;

use plimsoll::tools::{ToolCall, ToolOutput, ToolSettings, Tools, Workspace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Tools on a workspace in a temporary folder.
struct Place {
    folder: tempfile::TempDir,
    tools: Tools,
}

impl Place {
    fn new() -> Self {
        Self::with(ToolSettings::default())
    }

    fn with(settings: ToolSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("w");
        fs::create_dir(&root).unwrap();
        let tools = Tools::new(Workspace::open(&root).unwrap(), settings);
        Self { folder, tools }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tools.workspace().root().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    async fn run(&self, name: &str, input: Value) -> ToolOutput {
        let call = ToolCall::parse(name, &input).unwrap();
        self.tools.run(&call, &CancellationToken::new()).await
    }

    async fn done(&self, name: &str, input: Value) -> String {
        let output = self.run(name, input).await;
        assert!(!output.is_error, "{}", output.text);
        output.text
    }

    async fn failed(&self, name: &str, input: Value) -> String {
        let output = self.run(name, input).await;
        assert!(output.is_error, "{}", output.text);
        output.text
    }

    async fn bash(&self, command: &str) -> ToolOutput {
        self.run("bash", json!({"command": command})).await
    }
}

fn ok(text: &str) -> ToolOutput {
    ToolOutput {
        text: text.to_owned(),
        is_error: false,
    }
}

fn err(text: &str) -> ToolOutput {
    ToolOutput {
        text: text.to_owned(),
        is_error: true,
    }
}
