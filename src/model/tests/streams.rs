//! Captures of running servers: the same reply however they are cut, and the reply that was meant.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::Delta;
use super::reader::{block, error_of, events_of_chunks, finished, read, read_cut, sse, whole};
use crate::message::{StopReason, Usage};

fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "sse"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_capture_gives_the_same_however_it_is_cut() {
    let files = captures();
    assert_eq!(files.len(), 22);
    for file in files {
        let raw = std::fs::read(&file).unwrap();
        let whole = read(&raw, raw.len());
        assert_eq!(read(&raw, 1), whole, "{} by bytes", file.display());
        let events = events_of_chunks(&[&raw]);
        for at in 1..raw.len() {
            // The message is made of the events alone, so the same events are the same message.
            let (before, behind) = raw.split_at(at);
            let cut = events_of_chunks(&[before, behind]);
            assert!(cut == events, "{} cut at {at}", file.display());
        }
        for at in (1..raw.len()).step_by(53) {
            assert_eq!(read_cut(&raw, at), whole, "{} cut at {at}", file.display());
        }
        let name = file.file_stem().unwrap().to_str().unwrap();
        if name == "stream_disconnect" || name == "stream_truncate" {
            assert_eq!(
                error_of(&whole).to_string(),
                "http://host ended the stream before the reply was complete"
            );
        } else {
            assert!(
                matches!(whole.last(), Some(Ok(Delta::Finished { .. }))),
                "{name}: {whole:?}"
            );
        }
    }
}

#[test]
fn captures_are_read_as_they_were_meant() {
    let capture = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/wire")
            .join(name);
        let raw = std::fs::read(path).unwrap();
        let pieces = read(&raw, raw.len());
        whole(pieces)
            .into_iter()
            .filter(|delta| !matches!(delta, Delta::Text(_) | Delta::Thinking(_)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        capture("aimock/thinking_then_text.sse"),
        [
            block(
                json!({"type": "thinking", "thinking": "The user wants a short greeting.",
                "signature": "aimock-placeholder-signature"})
            ),
            block(json!({"type": "text", "text": "Hello there."})),
            finished(StopReason::EndTurn, None, None),
        ]
    );
    assert_eq!(
        capture("llama-server/tool_cut_by_max_tokens_stream.sse"),
        [Delta::Finished {
            stop_reason: StopReason::MaxTokens,
            usage: Usage {
                input_tokens: Some(1),
                output_tokens: Some(12),
                cache_creation_input_tokens: None,
                cache_read_input_tokens: Some(308),
            }
        }]
    );
    let two = capture("fakellm/two_tools_stream.sse");
    assert_eq!(two.len(), 3);
    assert_eq!(
        two[0],
        block(
            json!({"type": "tool_use", "id": "toolu_aaa9d701660a", "name": "bash",
            "input": {"command": "ls -la"}})
        )
    );
}

#[test]
fn the_order_of_fields_stays() {
    let raw = sse(&[
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"input": {}, "id": "t", "caller": {"type": "direct"}, "type": "tool_use", "name": "bash"}}),
        json!({"type": "content_block_delta", "index": 0, "delta":
            {"type": "input_json_delta", "partial_json": "{\"z\": 1, \"a\": \"\\u00e9\"}"}}),
        json!({"type": "content_block_stop", "index": 0}),
    ]);
    let pieces = read(raw.as_bytes(), 1);
    let Some(Ok(Delta::Block(block))) = pieces.first() else {
        panic!("{pieces:?}");
    };
    assert_eq!(
        serde_json::to_string(block).unwrap(),
        r#"{"input":{"z":1,"a":"é"},"id":"t","caller":{"type":"direct"},"type":"tool_use","name":"bash"}"#
    );
}
