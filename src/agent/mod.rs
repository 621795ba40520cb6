//! The agent: one task behind a channel that works on requests; commands in, events out.
//!
//! [`spawn`] starts it. The command loop here stays awake while a turn runs, so that a stop or an answer always gets
//! through; what a turn does is in `turn.rs`, the file to read first. Nothing here draws or prints.

mod batch;
mod call;
mod controls;
mod emit;
mod stage;
mod summary;
mod task;
mod turn;
mod window;

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::mpsc;

use crate::context::{History, Limits, Pause, Profile, Saved, Trigger};
use crate::event::{
    AgentEvent, COMMAND_CAPACITY, Command, EVENT_CAPACITY, Envelope, Handle, SessionStarted, Todo,
};
use crate::message::Usage;
use crate::model::{Model, Purpose};
use crate::permission::{Policy, Rule};
use crate::session::Session;
use crate::store::Store;
use crate::tools::Tools;

use controls::{Controls, lock};
use emit::Emitter;
use window::Window;

/// What an agent is made of.
pub struct AgentConfig {
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// The hands, bound to the workspace.
    pub tools: Arc<Tools>,
    /// What may run unasked.
    pub policy: Policy,
    /// What to do where a question would be asked.
    pub questions: Questions,
    /// The workspace's own folders for persisted results and transcripts.
    pub store: Arc<dyn Store>,
    /// The log of this session.
    pub session: Session,
    /// The profile that `limits` came from.
    pub profile: Profile,
    /// The pipeline's numbers.
    pub limits: Limits,
}

/// Keeps a rule with the user's settings.
pub type Remember = Arc<dyn Fn(&Rule) -> anyhow::Result<()> + Send + Sync>;

/// What happens where the user would have to be asked.
#[derive(Clone)]
pub enum Questions {
    /// Ask, and keep a rule that the user wants kept with this function.
    Ask(Remember),
    /// Nobody is there: refuse, and tell the model so.
    Refuse,
}

/// What the main agent and its subagents have in common.
struct Shared {
    model: Arc<dyn Model>,
    tools: Arc<Tools>,
    policy: Mutex<Policy>,
    questions: Questions,
    store: Arc<dyn Store>,
    controls: Controls,
    system: Arc<str>,
    profile: Profile,
    window: Arc<Window>,
    /// Every id of a call so far, subagents' included: a server may use one twice, the session may not.
    ids: Mutex<HashSet<String>>,
    /// Logs of subagents that have ended and whose last entries the disk had no room for.
    unwritten: Mutex<Vec<Session>>,
}

/// One agent's own: its context, and everything that is kept beside it.
struct Agent {
    shared: Arc<Shared>,
    emitter: Emitter,
    session: Session,
    specs: Arc<[Value]>,
    purpose: Purpose,
    history: History,
    saved: Saved,
    limits: Limits,
    pause: Pause,
    todos: Vec<Todo>,
    /// Replies with calls since the last `todo_write`.
    rounds_without_todos: usize,
    /// Requests to the model so far.
    calls: u64,
    /// Requests that it may make; no bound for the main agent.
    max_calls: Option<u64>,
    /// Transcripts written so far.
    transcripts: usize,
    /// The newest numbers that were left while something ran, and are taken.
    limits_seen: u64,
    /// How many of the first messages stand as they were in the last request.
    sent: usize,
    /// Characters sent and tokens reported for them, where the server reports any.
    measured: turn::Measured,
    /// Whether it was said that the server counts too few tokens for what is sent.
    told_cut: bool,
    /// Tokens used since the turn began.
    spent: Mutex<Usage>,
    /// Set once the session log could not be written; nothing is replaced until it can.
    log_error: Option<String>,
}

/// Starts an agent on the current runtime. It ends when the handle's command sender is dropped or says so; then the
/// channel of events closes.
#[must_use]
pub fn spawn(config: AgentConfig) -> Handle {
    let (commands, command_queue) = mpsc::channel(COMMAND_CAPACITY);
    let (event_queue, events) = mpsc::channel(EVENT_CAPACITY);
    let agent = Agent::main(config, event_queue);
    tokio::spawn(agent.serve(command_queue));
    Handle { commands, events }
}

/// Something that the command loop has to start.
enum Work {
    Prompt(String),
    Compact,
}

impl Agent {
    fn main(config: AgentConfig, events: mpsc::Sender<Envelope>) -> Self {
        let system = turn::system_prompt(&config.tools);
        let shared = Shared {
            model: config.model,
            tools: config.tools,
            policy: Mutex::new(config.policy),
            questions: config.questions,
            store: config.store,
            controls: Controls::default(),
            system,
            profile: config.profile,
            window: Arc::default(),
            ids: Mutex::default(),
            unwritten: Mutex::default(),
        };
        Self::with(
            Arc::new(shared),
            Emitter::new(events),
            config.session,
            config.limits,
        )
    }

    /// An agent with an empty context.
    fn with(shared: Arc<Shared>, emitter: Emitter, session: Session, limits: Limits) -> Self {
        Self {
            shared,
            emitter,
            session,
            specs: crate::tools::specs(),
            purpose: Purpose::Turn,
            history: History::new(),
            saved: Saved::default(),
            limits,
            pause: Pause::default(),
            todos: Vec::new(),
            rounds_without_todos: 0,
            calls: 0,
            max_calls: None,
            transcripts: 0,
            limits_seen: 0,
            sent: 0,
            measured: turn::Measured::default(),
            told_cut: false,
            spent: Mutex::default(),
            log_error: None,
        }
    }

    /// The command loop: starts work, and while it runs listens on.
    async fn serve(mut self, mut commands: mpsc::Receiver<Command>) {
        self.announce().await;
        let mut queue = VecDeque::new();
        loop {
            let work = match queue.pop_front() {
                Some(work) => work,
                None => match commands.recv().await {
                    Some(Command::Prompt(text)) => Work::Prompt(text),
                    Some(Command::Compact) => Work::Compact,
                    Some(Command::SetLimits { limits, reason }) => {
                        self.set_limits(limits, reason).await;
                        continue;
                    }
                    Some(Command::Interrupt | Command::Decide { .. }) => continue,
                    Some(Command::Shutdown) | None => return,
                },
            };
            if self.work(work, &mut commands, &mut queue).await.is_break() {
                return;
            }
            // Numbers that came after the last call; a later change must not be undone by them.
            self.take_limits().await;
        }
    }

    /// Does `work`, and listens on meanwhile; breaks where the session is to end.
    async fn work(
        &mut self,
        work: Work,
        commands: &mut mpsc::Receiver<Command>,
        queue: &mut VecDeque<Work>,
    ) -> ControlFlow<()> {
        let shared = Arc::clone(&self.shared);
        let cancel = shared.controls.begin();
        let run = async {
            match work {
                Work::Prompt(request) => {
                    self.turn(request, &cancel).await;
                }
                Work::Compact => self.compact(Trigger::Command, &cancel).await,
            }
        };
        tokio::pin!(run);
        let mut flow = ControlFlow::Continue(());
        loop {
            tokio::select! {
                // Commands first: a stop must get through while events wait for a slow screen.
                biased;
                command = commands.recv(), if flow.is_continue() => match command {
                    Some(Command::Prompt(text)) => queue.push_back(Work::Prompt(text)),
                    Some(Command::Compact) => queue.push_back(Work::Compact),
                    Some(Command::SetLimits { limits, reason }) => shared.controls.leave_limits(limits, reason),
                    Some(Command::Decide { id, decision }) => shared.controls.decide(&id, decision),
                    Some(Command::Interrupt) => shared.controls.interrupt(),
                    Some(Command::Shutdown) | None => {
                        shared.controls.interrupt();
                        flow = ControlFlow::Break(());
                    }
                },
                () = &mut run => return flow,
            }
        }
    }

    /// The first event.
    async fn announce(&self) {
        let started = SessionStarted {
            session: self.session.id().to_owned(),
            log: self.session.path().map(|path| path.display().to_string()),
            workspace: self.shared.tools.workspace().root().display().to_string(),
            model: self.shared.model.name().to_owned(),
            scripted: self.shared.model.is_scripted(),
            profile: self.shared.profile,
            limits: self.limits.clone(),
            system_chars: self.shared.system.chars().count(),
            tools_chars: self
                .specs
                .iter()
                .map(|spec| spec.to_string().chars().count())
                .sum(),
            context: self.history.clone(),
        };
        self.emit(AgentEvent::SessionStarted(Box::new(started)))
            .await;
        for skill in self.shared.tools.broken_skills() {
            self.notice(format!(
                "the skill {} is left out: {}",
                skill.name, skill.problem
            ))
            .await;
        }
    }

    async fn emit(&self, event: AgentEvent) {
        self.emitter.emit(event).await;
    }

    async fn notice(&self, text: impl Into<String>) {
        self.emit(AgentEvent::Notice { text: text.into() }).await;
    }

    /// Takes the numbers that were left while something ran.
    async fn take_limits(&mut self) {
        let left = self.shared.controls.limits_since(&mut self.limits_seen);
        if let Some((limits, reason)) = left {
            self.set_limits(limits, reason).await;
        }
    }

    /// Takes other numbers, and says so.
    async fn set_limits(&mut self, limits: Limits, reason: String) {
        if limits == self.limits {
            return;
        }
        self.limits = limits.clone();
        let logged = self.session.limits(&limits, &reason);
        self.logged(logged).await;
        self.emit(AgentEvent::LimitsChanged { limits, reason })
            .await;
    }

    /// Takes note of how writing to the session log went. The first failure is said; from then on nothing is replaced
    /// until a write succeeds, which writes what is missing too.
    async fn logged(&mut self, result: std::io::Result<()>) {
        match result {
            Ok(()) => {
                self.log_error = None;
                let mut unwritten = lock(&self.shared.unwritten);
                unwritten.retain_mut(|session| session.flush().is_err());
            }
            Err(error) => {
                let text = error.to_string();
                if self.log_error.as_ref() != Some(&text) {
                    self.notice(format!(
                        "the session log cannot be written: {text}; until it can, nothing leaves the context"
                    ))
                    .await;
                }
                self.log_error = Some(text);
            }
        }
    }
}
