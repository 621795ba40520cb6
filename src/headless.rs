//! An agent without a screen: sends it requests, writes its events, and makes an exit code of how its turns end.
//!
//! Knows events only, never the agent's inside. It answers no question: the agent is set up to refuse what would ask.

mod log;
mod sink;

use std::io;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::event::{AgentEvent, Command, Envelope, Gate, Handle, TurnEnd};

pub use log::{EventLog, escape_json, json_line};
pub use sink::{JsonLines, Sink, Text};

/// How long an agent that was told to stop may take to say so.
const GRACE: Duration = Duration::from_secs(2);

/// The exit code of a turn that ended so.
#[must_use]
pub fn exit_code(end: TurnEnd) -> u8 {
    match end {
        TurnEnd::Done => 0,
        TurnEnd::Failed | TurnEnd::MaxTokens => 1,
        TurnEnd::Interrupted => 130,
    }
}

/// Sends each gate's request once the turn before it has ended, writes all events to `sink`, and ends the agent.
///
/// The first turn that does not end well is the last. When `stop` gives the number of a signal, the agent is
/// interrupted, what it still says is written, and the code is 128 + that number.
///
/// # Errors
/// If `sink` cannot be written to; the agent is ended all the same.
pub async fn drive(
    mut handle: Handle,
    gates: Vec<Gate>,
    sink: &mut dyn Sink,
    stop: impl Future<Output = u8>,
) -> io::Result<u8> {
    let mut stop = pin!(stop);
    let played = tokio::select! {
        biased;
        signal = &mut stop => Err(signal),
        played = play(&mut handle, gates, sink) => Ok(played),
    };
    match played {
        Ok(played) => {
            end(handle, &mut |_| Ok(())).await?;
            played.map(exit_code)
        }
        Err(signal) => {
            // A full channel only means that the agent is told by its closing instead.
            let _ = handle.commands.try_send(Command::Interrupt);
            end(handle, &mut |envelope| sink.event(envelope)).await?;
            Ok(128 + signal)
        }
    }
}

/// Plays the gates; how the last turn ended.
async fn play(handle: &mut Handle, gates: Vec<Gate>, sink: &mut dyn Sink) -> io::Result<TurnEnd> {
    let mut last = TurnEnd::Done;
    for gate in gates {
        if !gate.say.is_empty() {
            sink.say(&gate.say)?;
        }
        if let Some(limits) = gate.limits {
            let reason = "the demo sets them".to_owned();
            tell(handle, Command::SetLimits { limits, reason }).await?;
        }
        tell(handle, Command::Prompt(gate.prompt)).await?;
        last = turn(handle, sink).await?;
        if last != TurnEnd::Done {
            break;
        }
    }
    Ok(last)
}

async fn tell(handle: &Handle, command: Command) -> io::Result<()> {
    handle.commands.send(command).await.map_err(|_| gone())
}

/// Writes events until the main agent's turn has ended.
async fn turn(handle: &mut Handle, sink: &mut dyn Sink) -> io::Result<TurnEnd> {
    while let Some(envelope) = handle.events.recv().await {
        sink.event(&envelope)?;
        if let (None, AgentEvent::TurnFinished { end, .. }) = (&envelope.task, &envelope.event) {
            return Ok(*end);
        }
    }
    Err(gone())
}

/// Ends the agent and waits until it has, for a while.
async fn end(handle: Handle, write: &mut dyn FnMut(&Envelope) -> io::Result<()>) -> io::Result<()> {
    let Handle {
        commands,
        mut events,
    } = handle;
    let _ = commands.try_send(Command::Shutdown);
    drop(commands);
    let drain = async {
        while let Some(envelope) = events.recv().await {
            write(&envelope)?;
        }
        Ok(())
    };
    // An agent that hangs is left behind.
    timeout(GRACE, drain).await.unwrap_or(Ok(()))
}

fn gone() -> io::Error {
    io::Error::other("the agent ended in the middle of a turn")
}

/// Waits for a signal that asks the process to end; gives its number.
///
/// # Errors
/// If the handlers cannot be set.
#[cfg(unix)]
pub fn stop_signal() -> io::Result<impl Future<Output = u8>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut quit = signal(SignalKind::quit())?;
    Ok(async move {
        let kind = tokio::select! {
            _ = interrupt.recv() => SignalKind::interrupt(),
            _ = terminate.recv() => SignalKind::terminate(),
            _ = hangup.recv() => SignalKind::hangup(),
            _ = quit.recv() => SignalKind::quit(),
        };
        u8::try_from(kind.as_raw_value()).unwrap_or_default()
    })
}

/// Waits for Ctrl-C; gives the number that Unix has for it.
///
/// # Errors
/// None on this platform.
#[cfg(not(unix))]
pub fn stop_signal() -> io::Result<impl Future<Output = u8>> {
    Ok(async {
        // Without a handler nothing can stop the run from here.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        2
    })
}

#[cfg(test)]
mod tests;
