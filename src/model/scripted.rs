//! The scripted model: one more [`Model`], part of the product, that plays a script or follows plain typed orders.
//!
//! It never claims to be a real model. What it plays are the model's turns only: results, sizes and summaries come from
//! the conversation that it is given. It never knows an agent, a tool's inside or a file.

mod answer;
mod orders;
mod play;
mod scan;
mod script;
mod sight;
mod summary;
mod wording;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::stream::BoxStream;

use super::{Delta, Model, ModelError, Purpose, Request};
use crate::message::ContentBlock;
use play::{Reply, stream};
use script::Turn;
use sight::{Asked, Sight};

pub use play::Pace;
pub use script::{Act, Script};

/// The name under which the scripted model always appears.
pub const NAME: &str = "scripted model";

/// A model that plays a [`Script`], and follows plain orders wherever the script has no part for what was typed.
#[derive(Debug)]
pub struct ScriptedModel {
    script: Script,
    pace: Pace,
    state: Mutex<State>,
}

/// What it remembers between calls; a compaction may take the conversation away, but not this.
#[derive(Debug, Default)]
struct State {
    cursor: Option<Cursor>,
    /// The last number given to a call.
    last_id: usize,
    /// Requests whose orders went out already, by the `task` call that they belong to (`None`: the main conversation).
    ordered: HashMap<Option<String>, String>,
}

/// Where it is in the script.
#[derive(Debug)]
struct Cursor {
    act: usize,
    /// The turn that comes next.
    turn: usize,
    /// Whether the last turn was an error, so that the same request comes again.
    failed: bool,
}

impl ScriptedModel {
    /// A model that plays `script` at `pace`; with an empty script it only follows typed orders.
    #[must_use]
    pub fn new(script: Script, pace: Pace) -> Self {
        Self {
            script,
            pace,
            state: Mutex::default(),
        }
    }

    fn reply(&self, request: &Request) -> Reply {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let sight = Sight::new(&request.messages);
        match &request.purpose {
            Purpose::Summary => Reply::text(summary::of(&request.messages)),
            Purpose::Task(task) => state.follow(Some(task), &sight, sight.request(orders::has_one)),
            Purpose::Turn => {
                let asked = sight.request(|text| self.script.knows(text) || orders::has_one(text));
                match state.next_turn(&self.script, asked.as_ref(), &sight) {
                    Some(turn) => state.play(turn, &sight),
                    None => state.follow(None, &sight, asked),
                }
            }
        }
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Delta> {
        stream(self.reply(&request), self.pace)
    }
}

impl State {
    /// The script's next turn for what was asked; `None` where the script has none.
    fn next_turn<'s>(
        &mut self,
        script: &'s Script,
        asked: Option<&Asked>,
        sight: &Sight,
    ) -> Option<&'s Turn> {
        let asked = asked?;
        let on = self
            .cursor
            .as_ref()
            .filter(|cursor| script.is_prompt(cursor.act, &asked.text));
        let has_turn = on.is_some_and(|on| script.turn(on.act, on.turn).is_some());
        let goes_on = on.is_some_and(|on| on.failed || !asked.just_typed);
        if goes_on && !has_turn && sight.has_new_results() {
            return None;
        }
        if !(goes_on && has_turn) {
            let after = self.cursor.as_ref().map_or(0, |cursor| cursor.act + 1);
            self.cursor = Some(Cursor {
                act: script.act_for(&asked.text, after)?,
                turn: 0,
                failed: false,
            });
        }
        let cursor = self.cursor.as_mut()?;
        let turn = script.turn(cursor.act, cursor.turn)?;
        cursor.turn += 1;
        cursor.failed = turn.fail.is_some();
        Some(turn)
    }

    /// Plays `turn`, or what it has for the case that something it needs is no longer in sight.
    fn play(&mut self, turn: &Turn, sight: &Sight) -> Reply {
        let turn = turn.for_sight(sight);
        if let Some(message) = &turn.fail {
            return Reply::Failed(ModelError::PromptTooLong {
                message: message.clone(),
                tokens: None,
                window: None,
            });
        }
        let calls = turn
            .calls
            .iter()
            .map(|call| {
                let input = script::fill_value(&call.input, sight);
                ContentBlock::tool_use(self.fresh_id(None, sight), &*call.tool, input)
            })
            .collect();
        Reply::Complete {
            text: script::fill(&turn.text, sight),
            calls,
        }
    }

    /// Follows the orders in what was typed, or says what came of them.
    fn follow(&mut self, task: Option<&String>, sight: &Sight, asked: Option<Asked>) -> Reply {
        let Some(asked) = asked else {
            return Reply::text(orders::HELP.trim_end().to_owned());
        };
        let key = task.cloned();
        let is_out = self.ordered.get(&key) == Some(&asked.text);
        if !asked.just_typed && (is_out || sight.has_new_results()) {
            self.ordered.remove(&key);
            return Reply::text(answer::closing(sight));
        }
        let parsed = orders::parse(&asked.text);
        let mut calls = Vec::with_capacity(parsed.orders.len());
        for order in &parsed.orders {
            let id = self.fresh_id(task, sight);
            calls.push(ContentBlock::tool_use(id, order.tool, order.input.clone()));
        }
        self.ordered.insert(key, asked.text);
        Reply::Complete {
            text: parsed.preface(),
            calls,
        }
    }

    /// An id that no call of the conversation has; a subagent's calls carry the id of its `task` call in front.
    fn fresh_id(&mut self, task: Option<&String>, sight: &Sight) -> String {
        let prefix = match task {
            Some(task) => format!("{task}_"),
            None => "toolu_".to_owned(),
        };
        self.last_id = self.last_id.max(sight.highest_id(&prefix)) + 1;
        format!("{prefix}{:02}", self.last_id)
    }
}

#[cfg(test)]
mod tests;
