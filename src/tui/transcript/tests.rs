//! Rows wrapped piece by piece are those of the whole text, and are kept for what is in view only.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::event::{AgentEvent, Envelope, TurnEnd};
use crate::message::{ContentBlock, Message, StopReason, Usage};

const WIDTH: usize = 30;

fn tell(transcript: &mut Transcript, event: AgentEvent) {
    transcript.apply(&Envelope {
        seq: 1,
        task: None,
        event,
    });
}

fn delta(transcript: &mut Transcript, text: &str) {
    let text = text.to_owned();
    tell(transcript, AgentEvent::TextDelta { text });
}

/// The rows in view, as they are drawn.
fn view(transcript: &mut Transcript, top: usize, height: usize) -> Vec<String> {
    transcript.show(top, height);
    let rows = transcript.rows_from(top).take(height);
    rows.map(|(_, _, text)| text.to_owned()).collect()
}

/// How many rows are kept.
fn kept(transcript: &Transcript) -> usize {
    transcript
        .entries
        .iter()
        .map(|entry| entry.rows.len())
        .sum()
}

/// A conversation of notes of one, two or three rows.
fn notes(count: usize) -> (Transcript, Vec<String>) {
    let mut transcript = Transcript::default();
    let mut rows = Vec::new();
    for n in 0..count {
        let lines: Vec<String> = (0..=n % 3).map(|line| format!("{n}.{line}")).collect();
        transcript.note(lines.join("\n"));
        rows.extend(lines);
    }
    transcript.arrange(WIDTH);
    (transcript, rows)
}

/// Pieces of a reply with all that wrapping, cleaning and trimming look at.
fn pieces() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        6 => "[a-z ]{0,12}",
        3 => "[\n ]{1,3}",
        1 => "[漢é\t\r]{1,4}",
        1 => Just("\r\n".to_owned()),
        1 => Just("\u{feff}\u{2028}".to_owned()),
        1 => Just("\u{1b}]0;".to_owned()),
        1 => Just("\u{7}".to_owned()),
        1 => Just("\u{1b}[1m".to_owned()),
    ];
    prop::collection::vec(piece, 1..40)
}

proptest! {
    #[test]
    fn a_reply_wrapped_piece_by_piece_is_the_reply_wrapped_at_once(pieces in pieces()) {
        let mut transcript = Transcript::default();
        let mut text = String::new();
        for piece in pieces {
            text.push_str(&piece);
            delta(&mut transcript, &piece);
            transcript.arrange(WIDTH);
            let whole = Entry::new(Kind::Reply(Reply::Whole), None, text.clone()).wrapped(WIDTH, Fold::Folded);
            prop_assert_eq!(transcript.height(), whole.len());
            prop_assert_eq!(view(&mut transcript, 0, whole.len()), whole);
        }
    }
}

#[test]
fn a_streamed_reply_is_wrapped_from_its_last_line_on() {
    let mut transcript = Transcript::default();
    delta(
        &mut transcript,
        "one two three four five six seven\nnext\nlast",
    );
    transcript.arrange(WIDTH);
    assert_eq!((transcript.wrapped.bytes, transcript.wrapped.rows), (39, 3));
    delta(&mut transcript, " line");
    transcript.arrange(WIDTH);
    assert_eq!((transcript.wrapped.bytes, transcript.wrapped.rows), (39, 3));
    assert_eq!(view(&mut transcript, 2, 9), ["next", "last line"]);
}

#[test]
fn another_width_wraps_a_streamed_reply_anew() {
    let mut transcript = Transcript::default();
    delta(&mut transcript, "one two three four\nfive");
    transcript.arrange(WIDTH);
    transcript.arrange(INDENT + 9);
    delta(&mut transcript, " six");
    transcript.arrange(INDENT + 9);
    assert_eq!(
        view(&mut transcript, 0, 9),
        ["one two", "three", "four", "five six"]
    );
}

#[test]
fn the_next_reply_begins_anew() {
    let mut transcript = Transcript::default();
    delta(&mut transcript, "first\nreply");
    transcript.arrange(WIDTH);
    let cut = AgentEvent::TurnFinished {
        end: TurnEnd::Interrupted,
        error: None,
        usage: Usage::default(),
    };
    tell(&mut transcript, cut);
    delta(&mut transcript, "a\nb");
    transcript.arrange(WIDTH);
    let rows = ["first", "reply", "… cut: stopped", "Stopped.", "a", "b"];
    assert_eq!(view(&mut transcript, 0, 9), rows);
}

#[test]
fn only_what_is_in_view_keeps_its_rows() {
    let (mut transcript, rows) = notes(3_000);
    assert_eq!(transcript.height(), rows.len());
    assert_eq!(kept(&transcript), 0);
    for top in [rows.len() - 10, 0, 2_999, 3_001, rows.len() - 3] {
        let end = rows.len().min(top + 10);
        assert_eq!(view(&mut transcript, top, 10), rows[top..end]);
        // At most two rows of an entry that reaches in from either end are out of sight.
        assert!(kept(&transcript) <= 10 + 4, "{}", kept(&transcript));
    }
}

#[test]
fn what_a_reply_pushes_out_of_view_keeps_no_rows() {
    let (mut transcript, rows) = notes(4);
    delta(&mut transcript, "a\nb");
    transcript.note("behind");
    transcript.arrange(WIDTH);
    let end = transcript.height();
    view(&mut transcript, 0, end);
    let reply = ContentBlock::text("a\nb");
    let message = Arc::new(Message::assistant(vec![
        reply.clone(),
        reply.clone(),
        reply,
    ]));
    let id = MessageId(1);
    tell(
        &mut transcript,
        AgentEvent::MessageAppended {
            id,
            message,
            size: 9,
        },
    );
    transcript.arrange(WIDTH);
    assert_eq!(
        view(&mut transcript, rows.len(), 7),
        ["a", "b", "a", "b", "a", "b", "behind"]
    );
    view(&mut transcript, 0, 1);
    assert_eq!(kept(&transcript), 1);
}

#[test]
fn a_change_measures_nothing_that_stands_before_it() {
    let (mut transcript, rows) = notes(100);
    transcript.warn("last");
    assert_eq!(transcript.ends.len(), 100);
    transcript.changed(98);
    assert_eq!(transcript.ends.len(), 98);
    transcript.arrange(WIDTH);
    assert_eq!(transcript.height(), rows.len() + 1);
}

fn ended(transcript: &mut Transcript, stop_reason: Option<StopReason>, kept: &[ContentBlock]) {
    let usage = Usage::default();
    tell(
        transcript,
        AgentEvent::ModelCallFinished { stop_reason, usage },
    );
    tell(
        transcript,
        AgentEvent::MessageAppended {
            id: MessageId(2),
            message: Arc::new(Message::assistant(kept.to_vec())),
            size: 9,
        },
    );
}

fn finished(transcript: &mut Transcript, end: TurnEnd, error: Option<&str>) {
    let (error, usage) = (error.map(str::to_owned), Usage::default());
    tell(transcript, AgentEvent::TurnFinished { end, error, usage });
}

fn all(transcript: &mut Transcript) -> Vec<String> {
    transcript.arrange(60);
    let height = transcript.height();
    view(transcript, 0, height)
}

#[test]
fn a_reply_that_was_cut_stays_and_says_why() {
    let text = [ContentBlock::text("half a sen")];
    let call = ContentBlock::tool_use("t", "bash", serde_json::json!({ "command": "ls" }));
    for (stop, kept, (end, error), rows) in [
        (
            None,
            &text[..],
            (TurnEnd::Interrupted, None),
            vec!["half a sen", "… cut: stopped", "Stopped."],
        ),
        (
            None,
            &[text[0].clone(), call][..],
            (TurnEnd::Failed, Some("the server hung up")),
            vec![
                "half a sen",
                "… cut: the server hung up",
                "bash ls",
                "Failed: the server hung up",
            ],
        ),
        (
            Some(StopReason::MaxTokens),
            &text[..],
            (TurnEnd::MaxTokens, None),
            vec![
                "half a sen",
                "… cut: the output limit (max_tokens)",
                "The reply was cut by the output limit (max_tokens).",
            ],
        ),
        (
            Some(StopReason::EndTurn),
            &text[..],
            (TurnEnd::Done, None),
            vec!["half a sen"],
        ),
    ] {
        let mut transcript = Transcript::default();
        delta(&mut transcript, "half a sen");
        ended(&mut transcript, stop, kept);
        finished(&mut transcript, end, error);
        assert_eq!(all(&mut transcript), rows);
        // What comes next is not marked for it.
        delta(&mut transcript, "next");
        ended(&mut transcript, Some(StopReason::EndTurn), &text);
        finished(&mut transcript, TurnEnd::Done, None);
        assert_eq!(all(&mut transcript).last().unwrap(), "half a sen");
    }
}

#[test]
fn what_the_model_thinks_is_one_line_until_it_is_wanted() {
    let mut transcript = Transcript::default();
    let think = |transcript: &mut Transcript, text: &str| {
        let text = text.to_owned();
        tell(transcript, AgentEvent::ThinkingDelta { text });
    };
    think(&mut transcript, &"h".repeat(1_200));
    think(&mut transcript, "é\u{1b}[2J");
    assert_eq!(all(&mut transcript), ["thinking … 1,205 chars"]);
    delta(&mut transcript, "So it is");
    assert_eq!(all(&mut transcript), ["thinking … 1,205 chars", "So it is"]);
    let thinking = serde_json::json!({"type": "thinking", "thinking": "hm \u{1b}[2Jhm\nthen", "signature": "s"});
    let blocks = [
        ContentBlock::from_value(thinking).unwrap(),
        ContentBlock::text("So it is."),
    ];
    ended(&mut transcript, Some(StopReason::EndTurn), &blocks);
    let folded = ["thinking, 14 chars   /thinking shows it", "So it is."];
    assert_eq!(all(&mut transcript), folded);
    assert_eq!(transcript.turn_thinking(), Fold::Open);
    assert_eq!(
        all(&mut transcript),
        ["thinking, 14 chars", "  hm hm", "  then", "So it is."]
    );
    assert_eq!(transcript.turn_thinking(), Fold::Folded);
    assert_eq!(all(&mut transcript), folded);
    // Deltas of a try that failed are void; a call that ends in its thoughts leaves the line.
    think(&mut transcript, "again");
    let (reason, wait_ms) = ("429".to_owned(), 1);
    let retry = AgentEvent::Retrying {
        attempt: 1,
        wait_ms,
        reason,
    };
    tell(&mut transcript, retry);
    assert_eq!(all(&mut transcript), folded);
    think(&mut transcript, "last");
    finished(&mut transcript, TurnEnd::Interrupted, None);
    assert_eq!(
        all(&mut transcript)[2..],
        ["thinking, 4 chars … cut", "Stopped."]
    );
}

#[test]
fn a_change_of_limits_names_each_setting() {
    let mut transcript = Transcript::default();
    let mut limits = Limits::default();
    limits.set("guards", "false").unwrap();
    limits.set("context_limit", "30000").unwrap();
    for reason in ["the demo", "again"] {
        let (limits, reason) = (limits.clone(), reason.to_owned());
        tell(
            &mut transcript,
            AgentEvent::LimitsChanged { limits, reason },
        );
    }
    assert_eq!(
        all(&mut transcript).join(" "),
        "Changed: guards on → off, the line 50,000 → 30,000 (the demo). Changed: no number changed (again)."
    );
}
