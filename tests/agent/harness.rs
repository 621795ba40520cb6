//! What the agent's tests are made of: a model that plays given deltas, a workspace in a temporary folder, stores in memory,
//! and the events as they came. Every request that leaves is held against the rules of a strict server.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use plimsoll::agent::{AgentConfig, Questions, spawn};
use plimsoll::context::{History, Limits, Profile, Stage};
use plimsoll::event::{AgentEvent, Command, Envelope, Handle, TurnEnd};
use plimsoll::message::{BlockKind, ContentBlock, Message, Role, StopReason, Usage};
use plimsoll::model::{Delta, Model, ModelError, Purpose, Request};
use plimsoll::permission::{Mode, Policy};
use plimsoll::session::{Header, Session, fold};
use plimsoll::store::{MemStore, Store};
use plimsoll::tools::{ToolSettings, Tools, Workspace};
use serde_json::{Value, json};

use super::events::{self, Live};

/// One reply: its deltas, and whether it then hangs instead of ending.
pub(crate) struct Reply {
    deltas: Vec<Delta>,
    hangs: bool,
}

impl Reply {
    pub(crate) fn blocks(blocks: Vec<ContentBlock>) -> Self {
        let calls = blocks
            .iter()
            .any(|block| matches!(block.kind(), BlockKind::ToolUse { .. }));
        let stop = if calls {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        };
        Self::stopped(blocks, stop)
    }

    pub(crate) fn stopped(blocks: Vec<ContentBlock>, stop_reason: StopReason) -> Self {
        let mut deltas = Vec::new();
        for block in blocks {
            if let BlockKind::Text(text) = block.kind() {
                deltas.push(Delta::Text(text.to_owned()));
            }
            deltas.push(Delta::Block(block));
        }
        // What goes in is not counted: tests that look at that set it.
        let usage = Usage {
            output_tokens: Some(10),
            ..Usage::default()
        };
        deltas.push(Delta::Finished { stop_reason, usage });
        Self {
            deltas,
            hangs: false,
        }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::blocks(vec![ContentBlock::text(text)])
    }

    pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Self {
        Self::blocks(
            calls
                .iter()
                .map(|(id, name, input)| ContentBlock::tool_use(*id, *name, input.clone()))
                .collect(),
        )
    }

    pub(crate) fn bash(id: &str, command: &str) -> Self {
        Self::calls(&[(id, "bash", json!({ "command": command }))])
    }

    /// A command that prints `n` characters.
    pub(crate) fn print(id: &str, n: usize) -> Self {
        Self::bash(id, &format!("head -c {n} /dev/zero | tr '\\0' x"))
    }

    pub(crate) fn deltas(deltas: Vec<Delta>) -> Self {
        Self {
            deltas,
            hangs: false,
        }
    }

    pub(crate) fn hanging(deltas: Vec<Delta>) -> Self {
        Self {
            deltas,
            hangs: true,
        }
    }

    pub(crate) fn failed(error: ModelError) -> Self {
        Self::deltas(vec![Delta::Failed(error)])
    }

    pub(crate) fn too_long() -> Self {
        Self::failed(ModelError::PromptTooLong {
            message: "prompt is too long: 210000 tokens > 200000 maximum".to_owned(),
            tokens: None,
            window: None,
        })
    }
}

/// A model that plays its replies in order, those for summaries and for tasks from lists of their own.
#[derive(Default)]
pub(crate) struct Play {
    turns: Mutex<VecDeque<Reply>>,
    summaries: Mutex<VecDeque<Reply>>,
    tasks: Mutex<VecDeque<Reply>>,
    /// Whether it says "ok" once a list is at its end, instead of failing the test.
    endless: bool,
    /// What it says of its window, in tokens.
    window: Option<u64>,
    /// Whose last reply was a pause.
    paused: Mutex<HashSet<String>>,
    pub(crate) requests: Mutex<Vec<Request>>,
}

impl Model for Play {
    fn name(&self) -> &'static str {
        "play"
    }

    fn window(&self) -> BoxFuture<'static, Option<u64>> {
        std::future::ready(self.window).boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Delta> {
        assert_valid(&request.messages);
        let who = format!("{:?}", request.purpose);
        let mut paused = self.paused.lock().unwrap();
        assert!(
            request.messages.last().unwrap().role() == Role::User || paused.contains(&who),
            "the last message is the user's, but for a reply that was paused"
        );
        let list = match request.purpose {
            Purpose::Turn => &self.turns,
            Purpose::Summary => &self.summaries,
            Purpose::Task(_) => &self.tasks,
        };
        let reply = list.lock().unwrap().pop_front();
        self.requests.lock().unwrap().push(request);
        let reply = match reply {
            None if self.endless => Reply::text("ok"),
            reply => reply.expect("a reply for every request"),
        };
        match reply.deltas.last() {
            Some(Delta::Finished {
                stop_reason: StopReason::PauseTurn,
                ..
            }) => paused.insert(who),
            Some(Delta::Finished { .. }) => paused.remove(&who),
            _ => false,
        };
        let played = stream::iter(reply.deltas);
        if reply.hangs {
            played.chain(stream::pending()).boxed()
        } else {
            played.boxed()
        }
    }
}

impl Play {
    /// From here on it plays what comes after its lists.
    pub(crate) fn forget_the_rest(&self) {
        for list in [&self.turns, &self.summaries, &self.tasks] {
            list.lock().unwrap().clear();
        }
    }
}

/// What a strict server checks, on the list as it is before neighbours of one role are merged.
pub(crate) fn assert_valid(messages: &[Arc<Message>]) {
    assert_eq!(
        messages.first().map(|message| message.role()),
        Some(Role::User),
        "the first message is the user's"
    );
    let mut ids = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message.role() {
            Role::Assistant => {
                assert!(open.is_empty(), "unanswered: {open:?}");
                assert!(!message.blocks().is_empty(), "an empty reply");
                open = message.tool_uses().map(|(id, _)| id.to_owned()).collect();
                for id in &open {
                    assert!(ids.insert(id.clone()), "{id} is used twice");
                }
            }
            Role::User => {
                let mut text_came = false;
                for block in message.blocks() {
                    match block.kind() {
                        BlockKind::ToolResult { tool_use_id, .. } => {
                            assert!(!text_came, "text before a result");
                            let at = open.iter().position(|id| id == tool_use_id);
                            open.remove(
                                at.unwrap_or_else(|| panic!("{tool_use_id} answers nothing")),
                            );
                        }
                        BlockKind::Text(text) => {
                            assert!(!text.trim().is_empty(), "blank text");
                            text_came = true;
                        }
                        other => panic!("{other:?} in a user message"),
                    }
                }
            }
        }
    }
    assert!(open.is_empty(), "unanswered at the end: {open:?}");
}

/// An agent that runs, with all that it touches.
pub(crate) struct Run {
    pub(crate) handle: Handle,
    pub(crate) model: Arc<Play>,
    pub(crate) files: Arc<MemStore>,
    pub(crate) logs: Arc<MemStore>,
    pub(crate) folder: tempfile::TempDir,
    /// Every event so far.
    pub(crate) events: Vec<Envelope>,
    /// The session as its events tell it.
    pub(crate) live: Live,
    /// Its context.
    pub(crate) mirror: History,
}

/// How an agent is set up.
pub(crate) struct Setup {
    pub(crate) mode: Mode,
    pub(crate) asks: bool,
    pub(crate) limits: Limits,
    pub(crate) turns: Vec<Reply>,
    pub(crate) summaries: Vec<Reply>,
    pub(crate) tasks: Vec<Reply>,
    pub(crate) endless: bool,
    pub(crate) window: Option<u64>,
}

impl Setup {
    pub(crate) fn turns(turns: Vec<Reply>) -> Self {
        let limits = Limits::of(Profile::Lesson);
        Self {
            mode: Mode::All,
            asks: false,
            limits,
            turns,
            summaries: Vec::new(),
            tasks: Vec::new(),
            endless: false,
            window: None,
        }
    }

    pub(crate) fn start(self) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let model = Arc::new(Play {
            turns: Mutex::new(self.turns.into()),
            summaries: Mutex::new(self.summaries.into()),
            tasks: Mutex::new(self.tasks.into()),
            endless: self.endless,
            window: self.window,
            paused: Mutex::default(),
            requests: Mutex::default(),
        });
        let (files, logs) = (Arc::new(MemStore::new()), Arc::new(MemStore::new()));
        let header = Header::new(
            "w".to_owned(),
            "play".to_owned(),
            Profile::Lesson,
            self.limits.clone(),
        );
        let handle = spawn(AgentConfig {
            model: Arc::clone(&model) as Arc<dyn Model>,
            tools: Arc::new(Tools::new(
                Workspace::open(folder.path()).unwrap(),
                ToolSettings::default(),
            )),
            policy: Policy::new(self.mode, Vec::new()),
            questions: if self.asks {
                Questions::Ask(Arc::new(|_| Ok(())))
            } else {
                Questions::Refuse
            },
            store: Arc::clone(&files) as Arc<dyn Store>,
            session: Session::create(Arc::clone(&logs) as Arc<dyn Store>, header).unwrap(),
            profile: Profile::Lesson,
            limits: self.limits,
        });
        Run {
            handle,
            model,
            files,
            logs,
            folder,
            events: Vec::new(),
            live: Live::default(),
            mirror: History::new(),
        }
    }
}

impl Run {
    /// What was said beside the work.
    pub(crate) fn notices(&self) -> Vec<&str> {
        let notices = self
            .events
            .iter()
            .filter_map(|envelope| match &envelope.event {
                AgentEvent::Notice { text } => Some(text.as_str()),
                _ => None,
            });
        notices.collect()
    }

    pub(crate) async fn send(&self, command: Command) {
        self.handle.commands.send(command).await.unwrap();
    }

    /// The next event, seen and kept.
    pub(crate) async fn next(&mut self) -> AgentEvent {
        let envelope = self.handle.events.recv().await.expect("the agent lives");
        self.see(envelope)
    }

    pub(crate) fn see(&mut self, envelope: Envelope) -> AgentEvent {
        self.events.push(envelope.clone());
        if envelope.task.is_none() {
            self.live.take(&envelope.event);
            self.mirror = self.live.history.clone();
        }
        envelope.event
    }

    /// Goes on until `stop` says so, and returns that event.
    pub(crate) async fn until(&mut self, stop: impl Fn(&AgentEvent) -> bool) -> AgentEvent {
        loop {
            let event = self.next().await;
            if stop(&event) {
                return event;
            }
        }
    }

    /// Sends a request and goes on to the end of the main agent's turn.
    pub(crate) async fn prompt(&mut self, text: &str) -> (TurnEnd, Option<String>) {
        self.send(Command::Prompt(text.to_owned())).await;
        self.turn_end().await
    }

    /// Goes on to the end of the main agent's turn, and holds the session log against what was seen.
    pub(crate) async fn turn_end(&mut self) -> (TurnEnd, Option<String>) {
        loop {
            let event = self.next().await;
            if let AgentEvent::TurnFinished { end, error, .. } = event
                && self
                    .events
                    .last()
                    .is_some_and(|envelope| envelope.task.is_none())
            {
                self.assert_log();
                return (end, error);
            }
        }
    }

    /// The log, folded, is the session as the events tell it, and every beginning has its end.
    pub(crate) fn assert_log(&self) {
        events::assert_brackets(&self.events);
        events::assert_five_stages(&self.events);
        self.live.assert_is(&fold(&self.log()).unwrap());
    }

    /// The main agent's log.
    pub(crate) fn log(&self) -> String {
        let AgentEvent::SessionStarted(started) = &self.events[0].event else {
            panic!("no session")
        };
        let name = plimsoll::session::log_name(&started.session);
        self.logs.read(&name).unwrap()
    }

    /// The names of all events, those of subagents indented, repeated deltas once.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .events
            .iter()
            .map(|envelope| {
                let value = serde_json::to_value(envelope).unwrap();
                let mut name = value["event"].as_str().unwrap().to_owned();
                for key in ["stage", "tool", "end"] {
                    if let Some(detail) = value[key].as_str() {
                        name = format!("{name} {detail}");
                    }
                }
                if envelope.task.is_some() {
                    format!("  {name}")
                } else {
                    name
                }
            })
            .collect();
        names.dedup();
        names
    }

    /// The stages that changed something, in their order.
    pub(crate) fn fired(&self) -> Vec<Stage> {
        let fired = self
            .events
            .iter()
            .filter_map(|envelope| match &envelope.event {
                AgentEvent::StageFinished(report) => Some(report.stage),
                _ => None,
            });
        fired.collect()
    }

    /// Id, error flag and text of each result in the context.
    pub(crate) fn results(&self) -> Vec<(String, bool, String)> {
        let blocks = self.mirror.messages().flat_map(|message| message.blocks());
        let results = blocks.filter_map(|block| match block.kind() {
            BlockKind::ToolResult {
                tool_use_id,
                is_error,
                ..
            } => {
                let text = block.fields()["content"].as_str().unwrap().to_owned();
                Some((tool_use_id.to_owned(), is_error, text))
            }
            _ => None,
        });
        results.collect()
    }

    /// The last message of the last request of this purpose.
    pub(crate) fn last_request(&self) -> Vec<Arc<Message>> {
        self.model
            .requests
            .lock()
            .unwrap()
            .last()
            .unwrap()
            .messages
            .clone()
    }
}
