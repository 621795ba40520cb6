//! The two lines that stand where a summary took the history's place. Nothing but figures; the summary is elsewhere.

use crate::event::StageReport;
use crate::text::thousands;
use crate::tui::text::cells;

/// The figures of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    call: u64,
    messages: (usize, usize),
    size: (usize, usize),
    duration_ms: u64,
    api_calls: u32,
}

impl Compacted {
    pub(super) fn of(report: &StageReport) -> Self {
        Self {
            call: report.call,
            messages: (report.messages_before, report.messages_after),
            size: (report.size_before, report.size_after),
            duration_ms: report.duration_ms,
            api_calls: report.api_calls,
        }
    }

    /// Two lines: what became of the history, and what it took.
    pub(super) fn rows(&self, width: usize, transcript: &str) -> Vec<String> {
        let head = format!("━━ Compacted · call {}", self.call);
        let messages = format!(" · {} messages → {}", self.messages.0, self.messages.1);
        let sizes = format!(" · {} → {}", thousands(self.size.0), thousands(self.size.1));
        let room = width.saturating_sub(2 + 3);
        let all = [head.as_str(), &messages, &sizes].concat();
        let some = [head.as_str(), &sizes].concat();
        let first = [all, some]
            .into_iter()
            .find(|line| cells(line) <= room)
            .unwrap_or(head);
        let first = first + " ━━";
        let calls = match self.api_calls {
            1 => "1 API call".to_owned(),
            n => format!("{n} API calls"),
        };
        let mut second = String::new();
        let time = format!(
            "{}.{} s",
            self.duration_ms / 1000,
            self.duration_ms % 1000 / 100
        );
        let parts = [transcript.to_owned(), time, calls];
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let gap = if second.is_empty() { "   " } else { " · " };
            if cells(&second) + cells(part) + cells(gap) <= width.saturating_sub(2) {
                second.push_str(gap);
                second.push_str(part);
            }
        }
        if second.is_empty() {
            vec![first]
        } else {
            vec![first, second]
        }
    }
}
