//! A conversation read back out of JSON that may be cut in the middle: whole messages, and what is left of broken ones.

use serde_json::Value;

/// How a message begins where a list of messages is written as JSON.
const MESSAGE: [&str; 2] = [r#"{"role":""#, r#"{"role": ""#];
/// How a block begins.
const BLOCK: [&str; 2] = [r#"{"type":""#, r#"{"type": ""#];
/// How the text of a result or a text block begins.
const TEXT: [&str; 4] = [
    r#""content":""#,
    r#""content": ""#,
    r#""text":""#,
    r#""text": ""#,
];

/// The messages in `text`, in their order, in wire form. One that is cut is there with the blocks that can be read.
pub(super) fn messages(text: &str) -> Vec<Value> {
    let starts = starts(text, &MESSAGE);
    starts
        .iter()
        .enumerate()
        .map(|(at, &start)| {
            let end = starts.get(at + 1).copied().unwrap_or(text.len());
            whole(&text[start..]).unwrap_or_else(|| broken(&text[start..end]))
        })
        .collect()
}

/// Where one of `marks` begins. Inside a JSON string its quotes are escaped, so that what a message quotes is no match.
fn starts(text: &str, marks: &[&str]) -> Vec<usize> {
    let mut found: Vec<usize> = marks
        .iter()
        .flat_map(|mark| text.match_indices(mark).map(|(at, _)| at))
        .collect();
    found.sort_unstable();
    found
}

/// The JSON value that `text` begins with, if it is complete.
fn whole(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text)
        .into_iter::<Value>()
        .next()?
        .ok()
}

/// What can be read of a message that is cut.
fn broken(text: &str) -> Value {
    let is_reply = MESSAGE
        .iter()
        .filter_map(|mark| text.strip_prefix(mark))
        .any(|rest| rest.starts_with("assistant"));
    let role = if is_reply { "assistant" } else { "user" };
    let starts = starts(text, &BLOCK);
    let blocks: Vec<Value> = starts
        .iter()
        .enumerate()
        .filter_map(|(at, &start)| {
            let end = starts.get(at + 1).copied().unwrap_or(text.len());
            whole(&text[start..]).or_else(|| broken_block(&text[start..end]))
        })
        .collect();
    let content = if starts.is_empty() {
        cut_string(text, &TEXT).unwrap_or_default().into()
    } else {
        Value::Array(blocks)
    };
    serde_json::json!({"role": role, "content": content})
}

/// What can be read of a block that is cut: the beginning of its text.
fn broken_block(text: &str) -> Option<Value> {
    let begin = cut_string(text, &TEXT)?;
    let id = cut_string(text, &[r#""tool_use_id":""#, r#""tool_use_id": ""#]);
    Some(match id {
        Some(id) => {
            serde_json::json!({"type": "tool_result", "tool_use_id": id, "content": begin, "cut": true})
        }
        None => serde_json::json!({"type": "text", "text": begin, "cut": true}),
    })
}

/// The string behind the first of `keys`, up to its closing quote or to where the text breaks off.
fn cut_string(text: &str, keys: &[&str]) -> Option<String> {
    let start = keys
        .iter()
        .filter_map(|key| Some(text.find(key)? + key.len()))
        .min()?;
    let rest = &text[start..];
    let mut escaped = false;
    let end = rest
        .char_indices()
        .find(|&(_, c)| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        })
        .map_or(rest.len(), |(at, _)| at);
    // An escape that was cut off at the end makes the string unreadable: leave it out. A line that stands where something
    // was left out is no JSON: its line breaks are escaped first.
    (0..=6).find_map(|less| {
        let cut = rest.get(..end.checked_sub(less)?)?;
        serde_json::from_str(&format!("\"{}\"", cut.replace('\n', "\\n"))).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_messages_come_back_as_they_are() {
        let list = json!([
            {"role": "user", "content": "say {\"role\":\"user\"} twice"},
            {"role": "assistant", "content": [{"type": "text", "text": "{\"type\":\"text\"}"}]},
        ]);
        let text = format!("Summarise this:\n{list}\nEnd.");
        assert_eq!(Value::Array(messages(&text)), list);
    }

    #[test]
    fn a_cut_message_keeps_what_can_be_read() {
        let list = json!([
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t0", "content": "ok"},
                {"type": "tool_result", "tool_use_id": "t1", "content": "first\nsecond \"line\"\nand much more"},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        ])
        .to_string();
        let cut = list.find("and much").unwrap();
        let back = list.find("more\"").unwrap();
        let text = format!(
            "{}\n[… 10 characters left out …]\n{}",
            &list[..cut],
            &list[back..]
        );
        assert_eq!(
            messages(&text)[1],
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t0", "content": "ok"},
                {"type": "tool_result", "tool_use_id": "t1", "content": "first\nsecond \"line\"\n\n[… 10 characters left out …]\nmore", "cut": true},
            ]})
        );
    }

    #[test]
    fn no_cut_anywhere_makes_it_fail() {
        let list = json!([
            {"role": "user", "content": "é漢 \" \\ \n\u{7f}"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "\u{1}\u{2028}"}]},
        ])
        .to_string();
        for (cut, _) in list.char_indices() {
            assert!(messages(&list[..cut]).len() <= 2);
        }
        assert_eq!(messages("nothing here"), Vec::<Value>::new());
    }
}
