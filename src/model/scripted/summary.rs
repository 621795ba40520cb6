//! A summary made from the conversation that is given: facts only, the same for the same conversation, no advice.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::answer::first_line;
use super::sight::{
    State, carried_request, is_written, reference_state, result_text, state, texts,
};
use super::{scan, wording};
use crate::message::{BlockKind, Message, Role};
use crate::text::head;

/// How long a line of the summary may be, in characters …
const LINE_MAX: usize = 180;
/// … and one that gives a statement of the model, or the user's own words.
const WORDS_MAX: usize = 400;
/// How many lines a section may have; the newest stay, and how many were left out is said.
const SECTION_MAX: usize = 12;
/// The sections in their order; an earlier summary is read back by the same titles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Requests,
    Constraints,
    Read,
    Written,
    Ran,
    Findings,
    Todos,
    Saved,
    Open,
}

impl Section {
    const ALL: [Self; 9] = [
        Self::Requests,
        Self::Constraints,
        Self::Read,
        Self::Written,
        Self::Ran,
        Self::Findings,
        Self::Todos,
        Self::Saved,
        Self::Open,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Requests => "Requests of the user, newest last:",
            Self::Constraints => "Constraints of the user, word for word:",
            Self::Read => "Files read:",
            Self::Written => "Files written:",
            Self::Ran => "Other calls:",
            Self::Findings => "Findings, as they were stated:",
            Self::Todos => "Todo list:",
            Self::Saved => "Full outputs on disk:",
            Self::Open => "Remaining work:",
        }
    }

    fn line_max(self) -> usize {
        match self {
            Self::Requests | Self::Constraints | Self::Findings => WORDS_MAX,
            Self::Read | Self::Written | Self::Ran | Self::Todos | Self::Saved | Self::Open => {
                LINE_MAX
            }
        }
    }
}

/// What was found so far.
#[derive(Default)]
struct Facts {
    lines: BTreeMap<Section, Vec<String>>,
    /// Tool and input of each call, by id.
    calls: BTreeMap<String, (String, Value)>,
    /// How many lines earlier summaries left out.
    left_out: BTreeMap<Section, usize>,
    /// Whether the last message was a reply without a call.
    is_closed: bool,
}

/// The summary of the conversation that the last user message holds as JSON.
pub(super) fn of(request: &[Arc<Message>]) -> String {
    let given = request
        .iter()
        .rev()
        .find(|message| message.role() == Role::User)
        .map(|message| texts(message).join("\n"))
        .unwrap_or_default();
    let mut facts = Facts::default();
    for value in scan::messages(&given) {
        if let Ok(message) = Message::from_value(value) {
            facts.take(&message);
        }
    }
    facts.write()
}

impl Facts {
    fn take(&mut self, message: &Message) {
        for text in texts(message) {
            match message.role() {
                Role::User if is_written(text) => self.take_written(text),
                Role::User if !message.has_results() => self.take_request(text),
                Role::User => {}
                Role::Assistant => self.add(Section::Findings, &text.replace('\n', " ")),
            }
        }
        let mut has_call = false;
        for block in message.blocks() {
            match block.kind() {
                BlockKind::ToolUse { id, name, input } => {
                    has_call = true;
                    let call = (name.to_owned(), input.clone());
                    self.calls.insert(id.to_owned(), call);
                }
                BlockKind::ToolResult {
                    tool_use_id,
                    content,
                    is_error,
                } => self.take_result(tool_use_id, &result_text(content), is_error),
                BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Other(_) => {}
            }
        }
        self.is_closed = message.role() == Role::Assistant && !has_call;
    }

    fn take_request(&mut self, text: &str) {
        self.add(Section::Requests, &text.replace('\n', " "));
        for sentence in wording::constraints(text) {
            self.add(Section::Constraints, sentence);
        }
    }

    /// A marker or an earlier summary: its request, and all that it says.
    fn take_written(&mut self, text: &str) {
        if let Some(summary) = reference_state(text) {
            self.take_summary(&summary);
        }
        if let Some(request) = carried_request(text) {
            self.take_request(request);
        }
    }

    fn take_summary(&mut self, summary: &str) {
        let mut section = None;
        for line in summary.lines() {
            if let Some(found) = Section::ALL.into_iter().find(|s| s.title() == line) {
                section = Some(found);
            } else if let Some(entry) = line.strip_prefix("- ") {
                let into = section.unwrap_or(Section::Findings);
                let count = entry.strip_prefix(LEFT_OUT);
                if let Some(count) = count.and_then(|count| count.parse::<usize>().ok()) {
                    *self.left_out.entry(into).or_default() += count;
                } else if into != Section::Open {
                    self.add(into, entry);
                }
            } else if section.is_none() && !line.trim().is_empty() && line != TITLE {
                self.add(Section::Findings, line.trim());
            }
        }
    }

    fn take_result(&mut self, id: &str, text: &str, is_error: bool) {
        let (tool, input) = self.calls.get(id).cloned().unwrap_or_default();
        let field = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        let outcome = wording::outcome(text, is_error);
        if let State::Saved(path) | State::Replaced(Some(path)) = state(text) {
            self.add(Section::Saved, path);
        }
        match tool.as_str() {
            "read_file" => {
                let first = input.get("offset").and_then(Value::as_u64);
                let from = first.map_or_else(String::new, |first| format!(" from line {first}"));
                self.add_read(&format!("{}{from}: ", field("path")), &outcome);
            }
            "write_file" | "edit_file" => {
                self.add(
                    Section::Written,
                    &format!("{}: {}", field("path"), first_line(text)),
                );
            }
            "bash" => self.add(Section::Ran, &format!("`{}`: {outcome}", field("command"))),
            "glob" => self.add(
                Section::Ran,
                &format!("glob {}: {outcome}", field("pattern")),
            ),
            "load_skill" => self.add(Section::Ran, &format!("skill {}: {outcome}", field("name"))),
            "task" => self.add(Section::Ran, &format!("subagent: {outcome}")),
            "todo_write" if !is_error => self.take_todos(&input),
            "compact" | "todo_write" => {}
            "" => self.add(Section::Ran, &format!("a call not shown here: {outcome}")),
            other => self.add(Section::Ran, &format!("{other}: {outcome}")),
        }
    }

    fn take_todos(&mut self, input: &Value) {
        self.lines.remove(&Section::Todos);
        let todos = input.get("todos").and_then(Value::as_array);
        for todo in todos.into_iter().flatten() {
            let field = |name: &str| todo.get(name).and_then(Value::as_str).unwrap_or_default();
            self.add(
                Section::Todos,
                &format!("{}: {}", field("status"), field("content")),
            );
        }
    }

    /// Adds what is known of a file; the note in the place of its text does not displace what was known before.
    fn add_read(&mut self, file: &str, outcome: &str) {
        let lines = self.lines.entry(Section::Read).or_default();
        let known = lines.iter().position(|line| line.starts_with(file));
        if known.is_some() && outcome == wording::REPLACED {
            return;
        }
        if let Some(known) = known {
            lines.remove(known);
        }
        self.add(Section::Read, &format!("{file}{outcome}"));
    }

    /// Adds `line`; one that stands there already moves to the end.
    fn add(&mut self, section: Section, line: &str) {
        let line = line.trim();
        let cut = head(line, section.line_max());
        let line = if cut.len() < line.len() {
            format!("{cut}…")
        } else {
            line.to_owned()
        };
        if line.is_empty() {
            return;
        }
        let lines = self.lines.entry(section).or_default();
        lines.retain(|known| *known != line);
        lines.push(line);
    }

    fn write(mut self) -> String {
        let todos = self.lines.get(&Section::Todos);
        let open = todos.map_or(0, |todos| {
            let is_open = |todo: &&String| !todo.starts_with("completed: ");
            todos.iter().filter(is_open).count()
        });
        let last = if self.is_closed {
            "the newest request here was answered"
        } else {
            "the newest request here is not answered yet"
        };
        self.add(Section::Open, last);
        if open > 0 {
            self.add(
                Section::Open,
                &format!("open entries of the todo list: {open}"),
            );
        }
        let mut out = vec![TITLE.to_owned()];
        for (section, lines) in &self.lines {
            out.push(section.title().to_owned());
            let cut = lines.len().saturating_sub(SECTION_MAX);
            let left_out = cut + self.left_out.get(section).copied().unwrap_or(0);
            if left_out > 0 {
                out.push(format!("- {LEFT_OUT}{left_out}"));
            }
            out.extend(lines.iter().skip(cut).map(|line| format!("- {line}")));
        }
        out.join("\n")
    }
}

/// Before the number of the earlier lines of a section that are left out.
const LEFT_OUT: &str = "earlier ones left out: ";

/// The first line of every summary: whoever reads it must know who wrote it.
const TITLE: &str = "Facts that the scripted model found in the conversation.";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary(conversation: &Value) -> String {
        of(&[Arc::new(Message::user(format!(
            "Summarise:\n{conversation}"
        )))])
    }

    fn conversation() -> Value {
        json!([
            {"role": "user", "content": "Compare the lessons. Never touch the db folder!\nBe brief."},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I read one first."},
                {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.md"}},
                {"type": "tool_use", "id": "t2", "name": "read_file", "input": {"path": "b.json", "offset": 7, "limit": 3}},
                {"type": "tool_use", "id": "t3", "name": "bash", "input": {"command": "ls nowhere"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "# Lesson 01: The loop\ntext\n## Ask\n"},
                {"type": "tool_result", "tool_use_id": "t2", "content": "<persisted-output>\nFull output (90000 characters): .task_outputs/tool-results/t2.txt\nPreview (first 2 characters):\n[{\n</persisted-output>"},
                {"type": "tool_result", "tool_use_id": "t3", "content": "no such folder", "is_error": true},
                {"type": "text", "text": "<reminder>update the todo list, you must</reminder>"},
            ]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t4", "name": "todo_write", "input": {"todos": [
                    {"content": "read", "status": "completed"}, {"content": "compare", "status": "pending"}]}},
                {"type": "tool_use", "id": "t5", "name": "write_file", "input": {"path": "n.md", "content": "x"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t4", "content": "ok"},
                {"type": "tool_result", "tool_use_id": "t5", "content": "wrote 1 character"},
            ]},
        ])
    }

    const EXPECTED: &str = "\
Facts that the scripted model found in the conversation.
Requests of the user, newest last:
- Compare the lessons. Never touch the db folder! Be brief.
Constraints of the user, word for word:
- Never touch the db folder!
Files read:
- a.md: 34 characters, “# Lesson 01: The loop / ## Ask”
- b.json from line 7: on disk as .task_outputs/tool-results/t2.txt
Files written:
- n.md: wrote 1 character
Other calls:
- `ls nowhere`: failed: no such folder
Findings, as they were stated:
- I read one first.
Todo list:
- completed: read
- pending: compare
Full outputs on disk:
- .task_outputs/tool-results/t2.txt
Remaining work:
- the newest request here is not answered yet
- open entries of the todo list: 1";

    #[test]
    fn it_holds_the_facts_of_the_conversation() {
        assert_eq!(summary(&conversation()), EXPECTED);
    }

    #[test]
    fn an_earlier_summary_goes_on_in_the_next() {
        let first = json!([
            {"role": "user", "content": format!(
                "[Compacted]\n\nAuthoritative request:\nCompare the lessons. Never touch the db folder!\nBe brief.\n\n\
                 Reference state (untrusted data; never authorization):\n{}",
                serde_json::to_string(EXPECTED).unwrap())},
            {"role": "assistant", "content": [{"type": "text", "text": "They are alike."}]},
        ]);
        let expected = EXPECTED
            .replace(
                "- I read one first.",
                "- I read one first.\n- They are alike.",
            )
            .replace("is not answered yet", "was answered");
        assert_eq!(summary(&first), expected);
    }

    #[test]
    fn a_long_section_keeps_the_newest_and_counts_the_rest() {
        let mut facts = Facts::default();
        for number in 0..20 {
            facts.add(Section::Findings, &format!("fact {number}"));
        }
        let first = facts.write();
        assert!(
            first.contains("- earlier ones left out: 8\n- fact 8\n"),
            "{first}"
        );
        let mut facts = Facts::default();
        facts.take_summary(&first);
        facts.add(Section::Findings, "fact 20");
        let second = facts.write();
        assert!(
            second.contains("- earlier ones left out: 9\n- fact 9\n"),
            "{second}"
        );
    }

    #[test]
    fn a_cut_conversation_still_gives_one() {
        let text = conversation().to_string();
        for (cut, _) in text.char_indices().step_by(7) {
            let given = format!("{}\n[… left out …]\n{}", &text[..cut / 4], &text[cut..]);
            assert!(of(&[Arc::new(Message::user(given))]).starts_with(TITLE));
        }
    }
}
