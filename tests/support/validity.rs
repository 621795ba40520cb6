//! What the strictest server checks in a request, with the texts that the API answers.

use std::collections::HashSet;

use serde_json::Value;

/// The fields of a request.
const FIELDS: [&str; 10] = [
    "model",
    "max_tokens",
    "stream",
    "system",
    "tools",
    "tool_choice",
    "messages",
    "metadata",
    "stop_sequences",
    "thinking",
];

/// What the server knows from the replies that it gave.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The blocks of each reply.
    pub(super) replies: Vec<Vec<Value>>,
    /// The last reply was a pause: the request may end with it.
    pub(super) paused: bool,
}

/// The first thing that is wrong with a request, in the API's words.
pub(super) fn check(body: &Value, known: &Known) -> Result<(), String> {
    for key in ["temperature", "top_p", "top_k"] {
        if body.get(key).is_some() {
            return Err(format!("{key}: this model does not take it"));
        }
    }
    for key in body.as_object().into_iter().flat_map(|body| body.keys()) {
        ensure(
            FIELDS.contains(&key.as_str()),
            &format!("{key}: Extra inputs are not permitted"),
        )?;
    }
    ensure(body["model"].is_string(), "model: Field required")?;
    ensure(
        body["max_tokens"].as_u64().is_some_and(|n| n > 0),
        "max_tokens: must be greater than or equal to 1",
    )?;
    ensure(body["stream"] == true, "stream: this server only streams")?;
    for block in list(body, "system") {
        ensure(
            !text(block, "text").trim().is_empty(),
            "system: text content blocks must be non-empty",
        )?;
    }
    let mut names = HashSet::new();
    for (at, tool) in list(body, "tools").iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        ensure(names.insert(name), "tools: Tool names must be unique.")?;
        ensure(
            tool["input_schema"]["type"] == "object",
            &format!("tools.{at}.input_schema.type: Field required"),
        )?;
        ensure(
            is_word(name, 64),
            &format!("tools.{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"),
        )?;
    }
    check_marks(body)?;
    let messages = list(body, "messages");
    ensure(
        !messages.is_empty(),
        "messages: at least one message is required",
    )?;
    let turns = turns(messages)?;
    check_pairs(&turns)?;
    check_thinking(&turns, known)?;
    let last_is_user = turns.last().is_some_and(|turn| turn.role == "user");
    ensure(
        last_is_user || known.paused,
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    )?;
    // What was paused comes back as it came, at the end of what may be several replies.
    let paused = known.replies.last().filter(|_| !last_is_user);
    let paused: Vec<&Value> = paused.into_iter().flatten().collect();
    let last = turns.last().map(|turn| turn.blocks.as_slice());
    ensure(
        last.is_some_and(|blocks| without_marks(blocks).ends_with(&without_marks(&paused))),
        "messages: a paused turn must be sent again as it came",
    )
}

fn without_marks(blocks: &[&Value]) -> Vec<Value> {
    let mut blocks: Vec<Value> = blocks.iter().map(|block| (*block).clone()).collect();
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        block.shift_remove("cache_control");
    }
    blocks
}

struct Turn<'a> {
    role: &'a str,
    blocks: Vec<&'a Value>,
}

/// Messages of one role in a row are one turn.
fn turns(messages: &[Value]) -> Result<Vec<Turn<'_>>, String> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        ensure(
            matches!(role, "user" | "assistant"),
            &format!("messages.{at}.role: Input should be 'user' or 'assistant'"),
        )?;
        ensure(
            at > 0 || role == "user",
            "messages: first message must use the \"user\" role",
        )?;
        for key in message.as_object().into_iter().flat_map(|m| m.keys()) {
            ensure(
                matches!(key.as_str(), "role" | "content"),
                &format!("messages.{at}.{key}: Extra inputs are not permitted"),
            )?;
        }
        let blocks = list(message, "content");
        ensure(
            message["content"]
                .as_str()
                .is_some_and(|text| !text.trim().is_empty())
                || !blocks.is_empty(),
            &format!("messages.{at}: all messages must have non-empty content"),
        )?;
        for block in blocks {
            check_block(at, block)?;
        }
        match turns.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => turns.push(Turn {
                role,
                blocks: blocks.iter().collect(),
            }),
        }
    }
    Ok(turns)
}

fn check_block(at: usize, block: &Value) -> Result<(), String> {
    match kind(block) {
        "" => Err(format!("messages.{at}.content: a block has no type")),
        "text" => ensure(
            !text(block, "text").trim().is_empty(),
            &format!("messages.{at}: text content blocks must contain non-whitespace text"),
        ),
        "tool_use" => {
            ensure(
                is_word(text(block, "id"), usize::MAX),
                &format!(
                    "messages.{at}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                ),
            )?;
            ensure(
                is_word(text(block, "name"), 64),
                &format!(
                    "messages.{at}: tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
                ),
            )?;
            ensure(
                block["input"].is_object(),
                &format!("messages.{at}: tool_use.input: Input should be a valid dictionary"),
            )
        }
        "tool_result" => {
            for inner in list(block, "content") {
                check_block(at, inner)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Each call answered once in the very next turn, results first, ids used once.
fn check_pairs(turns: &[Turn<'_>]) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut waiting: HashSet<&str> = HashSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let mut behind_text = false;
        for block in &turn.blocks {
            match (turn.role, kind(block)) {
                ("assistant", "tool_use") => {
                    let id = text(block, "id");
                    ensure(
                        seen.insert(id),
                        &format!("messages.{at}: `tool_use` ids must be unique"),
                    )?;
                    waiting.insert(id);
                }
                ("user", "tool_result") => {
                    let id = text(block, "tool_use_id");
                    ensure(
                        !behind_text,
                        &format!("messages.{at}: tool_result blocks must come before text"),
                    )?;
                    ensure(
                        waiting.remove(id),
                        &format!(
                            "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                        ),
                    )?;
                }
                ("user", "tool_use") | ("assistant", "tool_result") => {
                    return Err(format!(
                        "messages.{at}: a {} block in a {} message",
                        kind(block),
                        turn.role
                    ));
                }
                ("user", _) => behind_text = true,
                _ => {}
            }
        }
        ensure(
            turn.role == "assistant" || waiting.is_empty(),
            &format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {waiting:?}"
            ),
        )?;
        let reasoning_last = turn.blocks.last().is_some_and(|block| is_thinking(block));
        ensure(
            !(reasoning_last && turn.role == "assistant" && at + 1 < turns.len()),
            &format!(
                "messages.{at}: The final block in an assistant message cannot be `thinking`."
            ),
        )?;
    }
    ensure(
        waiting.is_empty(),
        "messages: `tool_use` ids were found without `tool_result` blocks",
    )
}

/// The reasoning of the latest reply comes back unmodified, complete and in order, where other blocks of it do; and
/// reasoning with a signature that this server gave is as it gave it.
fn check_thinking(turns: &[Turn<'_>], known: &Known) -> Result<(), String> {
    let Some(latest) = turns.iter().rfind(|turn| turn.role == "assistant") else {
        return Ok(());
    };
    let modified = "messages: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.";
    let ids = |blocks: &[&Value]| -> HashSet<String> {
        let calls = blocks.iter().filter(|block| kind(block) == "tool_use");
        calls.map(|block| text(block, "id").to_owned()).collect()
    };
    let returned = ids(&latest.blocks);
    for reply in &known.replies {
        let reply: Vec<&Value> = reply.iter().collect();
        if ids(&reply).is_disjoint(&returned) {
            continue;
        }
        let mut rest = latest.blocks.iter();
        for block in reply.iter().filter(|block| is_thinking(block)) {
            ensure(rest.any(|sent| sent == block), modified)?;
        }
    }
    let given = || {
        known
            .replies
            .iter()
            .flatten()
            .filter(|block| is_thinking(block))
    };
    for block in latest.blocks.iter().filter(|block| is_thinking(block)) {
        let same_signature = |other: &&Value| {
            let signature = text(block, "signature");
            !signature.is_empty() && text(other, "signature") == signature
        };
        let mut signed = given().filter(same_signature).peekable();
        ensure(
            signed.peek().is_none() || signed.any(|other| other == *block),
            modified,
        )?;
    }
    Ok(())
}

/// At most four cache marks, none on reasoning or empty text.
fn check_marks(body: &Value) -> Result<(), String> {
    let messages = list(body, "messages");
    let blocks = messages.iter().flat_map(|message| list(message, "content"));
    let all = list(body, "system")
        .iter()
        .chain(list(body, "tools"))
        .chain(blocks);
    let mut marks = 0;
    for block in all.filter(|block| block.get("cache_control").is_some()) {
        marks += 1;
        ensure(
            !(is_thinking(block) || kind(block) == "text" && text(block, "text").is_empty()),
            "cache_control cannot be set for thinking or empty text blocks",
        )?;
    }
    ensure(
        marks <= 4,
        "A maximum of 4 blocks with cache_control may be provided.",
    )
}

fn ensure(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(otherwise.to_owned())
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn text<'a>(block: &'a Value, key: &str) -> &'a str {
    block.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn kind(block: &Value) -> &str {
    text(block, "type")
}

fn is_thinking(block: &Value) -> bool {
    matches!(kind(block), "thinking" | "redacted_thinking")
}

fn is_word(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text.len() <= longest
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
