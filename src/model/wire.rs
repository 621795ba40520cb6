//! A conversation as a request that the strictest server takes: valid turns, stable order, cache marks.
//!
//! Pure. The same messages always give the same bytes; nothing here changes what is stored, and nothing is copied but what
//! has to be changed for the way.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Request;
use super::block::{free_id, valid_name};
use crate::message::{BlockKind, Content, ContentBlock, Message, ResultContent, Role};

/// Stands for the answer of a call that has none, in a conversation from elsewhere.
const NO_RESULT: &str = "(no result was recorded)";
/// Stands before a conversation that begins with the model.
const NO_BEGINNING: &str = "(the beginning of the conversation is missing)";

type Fields = Map<String, Value>;

/// What a request says beside the conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form<'a> {
    /// The model's name.
    pub(crate) model: &'a str,
    /// The most tokens of the reply.
    pub(crate) max_tokens: u64,
    /// Whether the server is told what to cache.
    pub(crate) marks: Marks,
}

/// Whether the server is told what to cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// It is: up to the system prompt, and up to the end.
    Set,
    /// It does not take marks.
    Left,
}

/// A block as it is sent: the stored one, or a changed copy.
type Block<'a> = Cow<'a, Fields>;

/// Neighbouring messages of one role as the one turn that the API sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Turn<'a> {
    role: Role,
    #[serde(rename = "content")]
    blocks: Vec<Block<'a>>,
}

/// The body of a request; its JSON is what is sent.
#[derive(Debug, Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Fields; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    messages: Vec<Turn<'a>>,
}

/// The body of `request`.
pub(crate) fn body<'a>(request: &'a Request, form: Form<'a>) -> Body<'a> {
    let mut tools = request.tools.to_vec();
    let mut system = (!request.system.trim().is_empty()).then(|| [fields_of_text(&request.system)]);
    let mut turns = turns(&request.messages);
    if form.marks == Marks::Set {
        if let Some([system]) = &mut system {
            mark(system);
        } else if let Some(Value::Object(last)) = tools.last_mut() {
            mark(last);
        }
        let last = turns.last_mut().map(|turn| turn.blocks.iter_mut());
        if let Some(block) = last.and_then(|blocks| blocks.rev().find(|block| may_be_marked(block)))
        {
            mark(block.to_mut());
        }
    }
    Body {
        model: form.model,
        max_tokens: form.max_tokens,
        stream: true,
        system,
        tools,
        messages: turns,
    }
}

/// The ids of all calls in `messages`.
pub(crate) fn call_ids(messages: &[Arc<Message>]) -> HashSet<String> {
    let calls = messages.iter().flat_map(|message| message.tool_uses());
    calls.map(|(id, _)| id.to_owned()).collect()
}

fn turns(messages: &[Arc<Message>]) -> Vec<Turn<'_>> {
    let sent = messages.iter().map(|message| Turn {
        role: message.role(),
        blocks: sendable(message),
    });
    let mut turns = merge(sent.collect());
    // A reply that ends in reasoning is refused, save as the last: there a paused reply goes on.
    let before_last = turns.len().saturating_sub(1);
    for turn in &mut turns[..before_last] {
        if turn.role == Role::Assistant {
            while turn.blocks.last().is_some_and(is_thinking) {
                turn.blocks.pop();
            }
        }
    }
    let mut turns = merge(turns);
    if turns
        .first()
        .is_some_and(|turn| turn.role == Role::Assistant)
    {
        turns.insert(0, user(vec![text_block(NO_BEGINNING)]));
    }
    pair(turns)
}

/// One turn for neighbours of one role; turns without a block go.
fn merge(turns: Vec<Turn<'_>>) -> Vec<Turn<'_>> {
    let mut merged: Vec<Turn<'_>> = Vec::new();
    for turn in turns.into_iter().filter(|turn| !turn.blocks.is_empty()) {
        match merged.last_mut() {
            Some(last) if last.role == turn.role => last.blocks.extend(turn.blocks),
            _ => merged.push(turn),
        }
    }
    merged
}

/// Every call answered once in the turn behind it, results before text, ids used once.
fn pair(turns: Vec<Turn<'_>>) -> Vec<Turn<'_>> {
    let mut out: Vec<Turn<'_>> = Vec::new();
    let mut taken = HashSet::new();
    // Ids of the calls that wait for their result, as they stand in the history and as they are sent.
    let mut waiting: Vec<(String, String)> = Vec::new();
    for mut turn in turns {
        match turn.role {
            Role::Assistant => {
                for call in turn.blocks.iter_mut().filter(|block| is(block, "tool_use")) {
                    let id = string(call, "id").to_owned();
                    let free = free_id(&id, &mut taken);
                    set(call, "id", &free);
                    let name = valid_name(string(call, "name"));
                    set(call, "name", &name);
                    waiting.push((id, free));
                }
            }
            Role::User => turn.blocks = answers(&std::mem::take(&mut waiting), turn.blocks),
        }
        out.push(turn);
    }
    if !waiting.is_empty() {
        out.push(user(answers(&waiting, Vec::new())));
    }
    out
}

/// The blocks of the turn that answers `calls`: their results in the order in which they stand, then all else.
fn answers<'a>(calls: &[(String, String)], blocks: Vec<Block<'a>>) -> Vec<Block<'a>> {
    let mut left: HashMap<&str, &str> = calls
        .iter()
        .map(|(id, sent)| (id.as_str(), sent.as_str()))
        .collect();
    let mut results = Vec::new();
    let mut rest = Vec::new();
    for mut block in blocks {
        if !is(&block, "tool_result") {
            rest.push(block);
        } else if let Some(sent) = left.remove(string(&block, "tool_use_id")) {
            set(&mut block, "tool_use_id", sent);
            results.push(block);
        } else if let Some(text) =
            result_text(block.into_owned()).filter(|text| !text.trim().is_empty())
        {
            rest.push(text_block(&text));
        }
    }
    for (id, sent) in calls {
        if left.remove(id.as_str()).is_some() {
            let answer = ContentBlock::tool_error(sent, NO_RESULT);
            results.push(Cow::Owned(answer.fields().clone()));
        }
    }
    results.extend(rest);
    results
}

/// The text of a result that answers no call.
fn result_text(fields: Fields) -> Option<String> {
    let block = ContentBlock::from_value(Value::Object(fields)).ok()?;
    match block.kind() {
        BlockKind::ToolResult { content, .. } => match content {
            ResultContent::Empty => None,
            ResultContent::Text(text) => Some(text.to_owned()),
            ResultContent::Blocks(_) | ResultContent::Other(_) => {
                block.fields().get("content").map(Value::to_string)
            }
        },
        _ => None,
    }
}

/// The blocks of a message that the API takes.
fn sendable(message: &Message) -> Vec<Block<'_>> {
    match message.content() {
        Content::Absent => Vec::new(),
        Content::Text(text) if text.trim().is_empty() => Vec::new(),
        Content::Text(text) => vec![text_block(text)],
        Content::Blocks(blocks) => blocks.iter().filter_map(sendable_block).collect(),
    }
}

fn sendable_block(block: &ContentBlock) -> Option<Block<'_>> {
    let mut fields = Cow::Borrowed(block.fields());
    // Marks are set anew for each request; those of a recording would be too many.
    if fields.contains_key("cache_control") {
        fields.to_mut().shift_remove("cache_control");
    }
    match block.kind() {
        BlockKind::Text(text) if text.trim().is_empty() => return None,
        BlockKind::ToolUse { input, .. } if !input.is_object() => {
            let input = Value::Object(Map::new());
            fields.to_mut().insert("input".to_owned(), input);
        }
        BlockKind::ToolResult { content, .. } => match content {
            ResultContent::Empty if fields.contains_key("content") => {
                fields.to_mut().shift_remove("content");
            }
            ResultContent::Blocks(inner) if inner.iter().any(is_blank_text) => {
                if let Some(Value::Array(inner)) = fields.to_mut().get_mut("content") {
                    inner.retain(|block| !is_blank_text(block));
                }
            }
            ResultContent::Other(other) => {
                let text = Value::String(other.to_string());
                fields.to_mut().insert("content".to_owned(), text);
            }
            ResultContent::Empty | ResultContent::Text(_) | ResultContent::Blocks(_) => {}
        },
        BlockKind::Text(_)
        | BlockKind::ToolUse { .. }
        | BlockKind::Thinking(_)
        | BlockKind::Other(_) => {}
    }
    Some(fields)
}

fn is_blank_text(block: &Value) -> bool {
    let text = block.get("text").and_then(Value::as_str);
    block.get("type").and_then(Value::as_str) == Some("text")
        && text.is_none_or(|text| text.trim().is_empty())
}

fn is(block: &Fields, kind: &str) -> bool {
    string(block, "type") == kind
}

fn is_thinking(block: &Block<'_>) -> bool {
    is(block, "thinking") || is(block, "redacted_thinking")
}

/// The API takes marks on blocks that it knows to hold content of their own.
fn may_be_marked(block: &Fields) -> bool {
    matches!(
        string(block, "type"),
        "text" | "tool_use" | "tool_result" | "image" | "document"
    )
}

fn mark(fields: &mut Fields) {
    fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
}

fn string<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Sets a field, where it does not stand there already.
fn set(block: &mut Block<'_>, key: &str, text: &str) {
    if string(block, key) != text {
        block.to_mut().insert(key.to_owned(), text.into());
    }
}

fn fields_of_text(text: &str) -> Fields {
    ContentBlock::text(text).fields().clone()
}

fn text_block(text: &str) -> Block<'static> {
    Cow::Owned(fields_of_text(text))
}

fn user(blocks: Vec<Block<'_>>) -> Turn<'_> {
    Turn {
        role: Role::User,
        blocks,
    }
}
