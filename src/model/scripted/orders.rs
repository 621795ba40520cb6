//! Plain orders in typed text, parsed into calls of tools: where an order begins and ends, and what is none.
//!
//! Knows the words of orders; what each becomes is in `calls`.

mod calls;
mod quotes;

use serde_json::Value;

use crate::text::{clean_line, cut, thousands};
use calls::calls_for;
use quotes::split;

/// What the model says when it understands nothing, and for `help`.
pub(super) const HELP: &str = include_str!("../../../assets/demo/orders.md");

/// What is said where only a part was understood.
const REST: &str =
    "The rest I carry out. Text that holds `;` or a line break needs quotes around it.";

/// Words that may stand before an order and mean nothing here.
const FILLERS: [&str; 12] = [
    "please", "now", "also", "and", "then", "first", "next", "finally", "can", "could", "you", "-",
];
/// The words that an order begins with.
const WORDS: [&str; 10] = [
    "read", "run", "find", "write", "edit", "todo", "task", "skill", "compact", "help",
];
/// What always ends an order.
const BREAKS: [&str; 2] = [";", "\n"];
/// What parts two orders, if an order follows.
const JOINTS: [&str; 3] = [", then ", " and ", " then "];
/// How much of what was not understood is quoted, in characters …
const QUOTE: usize = 60;
/// … and of how many parts.
const MISREAD: usize = 3;

/// One call to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// Its input.
    pub(super) input: Value,
}

/// What was understood, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parsed {
    /// The calls, in their order.
    pub(super) orders: Vec<Order>,
    /// Clauses that are no order, each with the reason.
    pub(super) misread: Vec<String>,
    /// Whether the user asked what there is.
    help: bool,
}

impl Parsed {
    /// What the model says before its calls; never empty where it makes none.
    pub(super) fn preface(&self) -> String {
        let mut lines: Vec<String> = self.misread.iter().take(MISREAD).cloned().collect();
        match self.misread.len().saturating_sub(MISREAD) {
            0 => {}
            1 => lines.push("There is 1 part more that I did not understand.".to_owned()),
            more => lines.push(format!(
                "There are {} parts more that I did not understand.",
                thousands(more)
            )),
        }
        if !lines.is_empty() && !self.orders.is_empty() {
            lines.push(REST.to_owned());
        }
        if self.orders.is_empty() || self.help {
            lines.push(HELP.trim_end().to_owned());
        }
        lines.join("\n\n")
    }
}

/// Whether `text` holds an order.
pub(super) fn has_one(text: &str) -> bool {
    !parse(text).orders.is_empty()
}

/// The orders in `text`.
pub(super) fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let mut is_any = false;
    for clause in clauses(text) {
        let Some((word, rest)) = order_at(clause) else {
            parsed.misread.push(format!("{}.", not_understood(clause)));
            continue;
        };
        is_any = true;
        if word == "help" {
            parsed.help = true;
            continue;
        }
        match calls_for(word, rest) {
            Ok(orders) => parsed.orders.extend(orders),
            Err(form) => {
                let what = not_understood(clause);
                parsed.misread.push(format!("{what}: I need {form}."));
            }
        }
    }
    if !is_any && parsed.misread.len() > 1 {
        // Not orders gone wrong, but some other text: there is one thing to say of it.
        parsed.misread = vec![format!("{}.", not_understood(text))];
    }
    parsed
}

fn not_understood(text: &str) -> String {
    let line = clean_line(text.trim());
    format!("I did not understand “{}”", cut(&line, QUOTE))
}

/// `text` parted where one order ends and the next begins; what stands in quotes is never parted.
fn clauses(text: &str) -> Vec<&str> {
    split(text, &BREAKS, |_, _| true)
        .into_iter()
        .flat_map(|part| split(part, &JOINTS, |_, after| follows(after)))
        .map(str::trim)
        .filter(|clause| !clause.is_empty())
        .collect()
}

/// Whether `after` is an order, so that the word before it joins two.
fn follows(after: &str) -> bool {
    order_at(after)
        .is_some_and(|(word, rest)| matches!(word, "compact" | "help") || !rest.trim().is_empty())
}

/// The order that `clause` begins with, fillers and a leading `something: ` left out, and what follows it.
fn order_at(clause: &str) -> Option<(&'static str, &str)> {
    begins_with_order(clause).or_else(|| begins_with_order(clause.split_once(": ")?.1))
}

fn begins_with_order(clause: &str) -> Option<(&'static str, &str)> {
    let mut rest = clause.trim_start();
    loop {
        let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let bare = first
            .trim_end_matches([':', ',', '.', '!', '?', ';'])
            .to_lowercase();
        if let Some(word) = WORDS.iter().find(|word| **word == bare) {
            let is_alone = matches!(*word, "compact" | "help");
            return (!is_alone || after.trim().is_empty() || begins_with_joint(after))
                .then_some((*word, after.trim()));
        }
        if after.is_empty() || !FILLERS.contains(&bare.as_str()) {
            return None;
        }
        rest = after.trim_start();
    }
}

/// Whether `after` goes on with another order rather than with more words of this one.
fn begins_with_joint(after: &str) -> bool {
    let after = after.trim_start();
    after.starts_with([';', '-'])
        || after.starts_with("and ")
        || after.starts_with("then ")
        || begins_with_order(after).is_some()
}

#[cfg(test)]
mod tests;
