//! Rows wrapped piece by piece are those of the whole text, and are kept for what is in view only.

use proptest::prelude::*;

use super::*;
use crate::event::{AgentEvent, Envelope, TurnEnd};
use crate::message::Usage;

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
            let whole = Entry::new(Kind::Reply(Reply::Whole), None, text.clone()).wrapped(WIDTH);
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
    let rows = ["first", "reply", "(incomplete)", "Stopped.", "a", "b"];
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
    let reply = crate::message::ContentBlock::text("a\nb");
    let message = std::sync::Arc::new(crate::message::Message::assistant(vec![
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
