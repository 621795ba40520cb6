//! `bash`: one command line in a session of its own, without a terminal, stopped as a whole tree.
//!
//! The result comes when the shell ends, even if something it started still holds the pipe; standard output and standard
//! error are one pipe, so what they say stays in order. A status other than 0 is an error with the output kept.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStdout, Command};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::output::Output;
use super::{Bash, MAX_CHARS, ToolOutput, ToolSettings};

/// How long a command may run if nobody says otherwise.
pub(super) const TIMEOUT: Duration = Duration::from_mins(2);
/// How long it may run at most.
const MAX_TIMEOUT: Duration = Duration::from_mins(10);
/// How long the pipe is read on after the shell ended, for those who still write.
const GRACE: Duration = Duration::from_millis(200);
/// How long a tree has to end by itself before it is killed.
const POLITE: Duration = Duration::from_millis(100);
/// How long what a killed tree wrote is collected.
const REMAINS: Duration = Duration::from_millis(50);
/// What makes programs behave without a terminal: no prompts, pagers and editors.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GCM_INTERACTIVE", "never"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("TERM", "dumb"),
];

/// How a command came to its end.
enum End {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
    Lost(io::Error),
}

/// A running command, killed as a whole if it is dropped.
struct Running {
    child: Box<dyn ChildWrapper>,
    pipe: ChildStdout,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.start_kill();
        }
    }
}

pub(super) async fn run(
    call: &Bash,
    root: &Path,
    settings: &ToolSettings,
    cancel: &CancellationToken,
) -> ToolOutput {
    let limit = call
        .timeout
        .map_or(settings.bash_timeout, |seconds| {
            Duration::from_secs(seconds.max(1))
        })
        .min(MAX_TIMEOUT);
    let mut running = match spawn(&call.command, root, settings) {
        Ok(running) => running,
        Err(problem) => return ToolOutput::failed(format!("cannot start a shell: {problem}")),
    };
    let mut output = Output::default();
    let (end, open) = running.watch(&mut output, limit, cancel).await;
    answer(&end, open, limit, output)
}

/// Starts `command` in a bash, or in a plain shell where there is no bash.
fn spawn(command: &str, root: &Path, settings: &ToolSettings) -> io::Result<Running> {
    match spawn_in("bash", command, root, settings) {
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => {
            spawn_in("sh", command, root, settings)
        }
        result => result,
    }
}

fn spawn_in(
    shell: &str,
    command: &str,
    root: &Path,
    settings: &ToolSettings,
) -> io::Result<Running> {
    let (reader, writer) = io::pipe()?;
    let mut shell = Command::new(shell);
    shell
        .arg("-c")
        .arg(command)
        .current_dir(root)
        .envs(ENVIRONMENT)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    for name in &settings.hidden_env {
        shell.env_remove(name);
    }
    let mut wrap = CommandWrap::from(shell);
    wrap.wrap(KillOnDrop);
    #[cfg(unix)]
    wrap.wrap(process_wrap::tokio::ProcessSession);
    let child = wrap.spawn()?;
    drop(wrap); // it holds the pipe's other end
    #[cfg(unix)]
    let reader = std::os::fd::OwnedFd::from(reader);
    #[cfg(windows)]
    let reader = std::os::windows::io::OwnedHandle::from(reader);
    Ok(Running {
        child,
        pipe: ChildStdout::from_std(reader.into())?,
        ended: false,
    })
}

impl Running {
    /// Reads until the shell ended or was stopped; the flag says whether something still holds the pipe.
    async fn watch(
        &mut self,
        output: &mut Output,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> (End, bool) {
        let deadline = Instant::now() + limit;
        let mut open = true;
        let mut buffer = vec![0; 65_536];
        let end = loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break End::Interrupted,
                () = sleep_until(deadline) => break End::TimedOut,
                status = wait(&mut self.child) => match status {
                    Ok(status) => break End::Exited(status),
                    Err(problem) => break End::Lost(problem),
                },
                read = self.pipe.read(&mut buffer), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(n) => take(output, &buffer[..n]).await,
                },
            }
        };
        let rest = match end {
            End::Exited(_) => GRACE,
            End::TimedOut | End::Interrupted | End::Lost(_) => {
                self.stop().await;
                REMAINS
            }
        };
        self.ended = true;
        if open {
            open = timeout(rest, drain(&mut self.pipe, output)).await.is_err();
        }
        (end, open)
    }

    /// Ends the whole tree, politely first.
    async fn stop(&mut self) {
        #[cfg(unix)]
        {
            let _ = self.child.signal(rustix::process::Signal::TERM.as_raw());
            let _ = timeout(POLITE, wait(&mut self.child)).await;
        }
        let _ = self.child.start_kill();
        let _ = timeout(REMAINS, wait(&mut self.child)).await;
    }
}

/// Waits for the shell itself. The wrapper would wait for its whole group where this program is the one that inherits
/// orphans (as the first process of a container), and so for every server left running.
async fn wait(child: &mut Box<dyn ChildWrapper>) -> io::Result<ExitStatus> {
    child.inner_mut().wait().await
}

/// Reads `pipe` to its end.
async fn drain(pipe: &mut ChildStdout, output: &mut Output) {
    let mut buffer = vec![0; 65_536];
    while let Ok(n) = pipe.read(&mut buffer).await {
        if n == 0 {
            break;
        }
        take(output, &buffer[..n]).await;
    }
}

/// Keeps a piece. A pipe that is always full must not keep timers and others from their turn.
async fn take(output: &mut Output, piece: &[u8]) {
    output.push(piece);
    tokio::task::yield_now().await;
}

/// The result: what was written, and behind it in brackets what else the model must know.
fn answer(end: &End, open: bool, limit: Duration, output: Output) -> ToolOutput {
    let mut notes = Vec::new();
    let is_error = match end {
        End::Exited(status) if status.success() => false,
        End::Exited(status) => {
            notes.push(format!("[{}]", describe(*status)));
            true
        }
        End::TimedOut => {
            notes.push(format!(
                "[stopped after {} s: give a longer `timeout` (at most 600), or start it with `&` and its output in a file]",
                limit.as_secs_f64()
            ));
            true
        }
        End::Interrupted => {
            notes.push("[interrupted]".to_owned());
            true
        }
        End::Lost(problem) => {
            notes.push(format!("[the command was lost: {problem}]"));
            true
        }
    };
    if open {
        notes.push(match end {
            End::Exited(_) => {
                "[something that the command started still runs in the background]".to_owned()
            }
            End::TimedOut | End::Interrupted | End::Lost(_) => {
                "[something that the command started has left its group and may still run]"
                    .to_owned()
            }
        });
    }
    let notes = notes.join("\n");
    let room = MAX_CHARS.saturating_sub(notes.chars().count() + 1);
    let max = if notes.is_empty() { MAX_CHARS } else { room };
    let mut text = output.finish(max);
    if text.is_empty() {
        "(no output)".clone_into(&mut text);
    }
    if !notes.is_empty() {
        text = format!("{text}\n{notes}");
    }
    ToolOutput { text, is_error }
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "ended without an exit status".to_owned(),
    }
}
