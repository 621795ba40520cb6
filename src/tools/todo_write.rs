//! `todo_write`: checks a todo list and says it back as a checklist. Who keeps the list is not decided here.

use super::TodoWrite;
use crate::event::{Todo, TodoStatus};

pub(super) fn run(call: &TodoWrite) -> Result<String, String> {
    let todos = &call.todos;
    if let Some(at) = todos.iter().position(|todo| todo.content.trim().is_empty()) {
        return Err(format!("item {} is empty: the list is unchanged", at + 1));
    }
    let busy = count(todos, TodoStatus::InProgress);
    if busy > 1 {
        return Err(format!(
            "{busy} items are in_progress, at most one may be: the list is unchanged"
        ));
    }
    if todos.is_empty() {
        return Ok("the todo list is empty".to_owned());
    }
    let mut text = String::new();
    for todo in todos {
        text.push_str(match todo.status {
            TodoStatus::Pending => "[ ] ",
            TodoStatus::InProgress => "[>] ",
            TodoStatus::Completed => "[x] ",
        });
        text.push_str(&todo.content);
        text.push('\n');
    }
    let done = count(todos, TodoStatus::Completed);
    Ok(format!("{text}({done} of {} completed)", todos.len()))
}

fn count(todos: &[Todo], status: TodoStatus) -> usize {
    todos.iter().filter(|todo| todo.status == status).count()
}
