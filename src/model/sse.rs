//! Server-sent events: bytes in, events out, however the bytes are cut.
//!
//! Pure. Never looks into the data of an event; see [`super::decode`] for that.

/// The longest line, and the most data in one event, in bytes; a server that sends more is not speaking this protocol.
const LIMIT: usize = 8 * 1024 * 1024;

/// One event as it stood in the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The `event:` field; some servers leave it out.
    pub(crate) name: Option<String>,
    /// The `data:` lines, joined by a newline.
    pub(crate) data: String,
}

/// A line or an event was longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Reads a stream of bytes; what is not a whole event yet waits inside.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The last byte was a CR: a LF that follows belongs to it.
    after_cr: bool,
    /// A first line was read: a byte order mark is none any more.
    begun: bool,
    name: Option<String>,
    data: Option<String>,
}

impl Decoder {
    /// Takes `bytes` and appends the events that are complete now to `out`.
    ///
    /// The cost is that of `bytes` alone. What stands before an error is in `out`.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.after_cr {
                self.after_cr = false;
                if rest[0] == b'\n' {
                    rest = &rest[1..];
                    continue;
                }
            }
            let Some(end) = rest.iter().position(|&b| b == b'\n' || b == b'\r') else {
                return self.hold(rest);
            };
            self.hold(&rest[..end])?;
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.line_read(&line, out)?;
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > LIMIT {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line_read(&mut self, line: &[u8], out: &mut Vec<Event>) -> Result<(), TooLong> {
        let text = String::from_utf8_lossy(line);
        let mut text = text.as_ref();
        if !self.begun {
            self.begun = true;
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            let name = self.name.take();
            if let Some(data) = self.data.take() {
                out.push(Event { name, data });
            }
            return Ok(());
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) if data.len() + value.len() >= LIMIT => return Err(TooLong),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            // An empty field is a comment; `id`, `retry` and others mean nothing here.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<(Option<String>, String)> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, &mut out).unwrap();
        }
        out.into_iter().map(|e| (e.name, e.data)).collect()
    }

    fn named(name: &str, data: &str) -> (Option<String>, String) {
        (Some(name.to_owned()), data.to_owned())
    }

    #[test]
    fn line_ends_names_comments_and_marks() {
        let expected = vec![named("a", "1\n2"), (None, "é漢".to_owned())];
        for end in ["\n", "\r\n", "\r"] {
            let text = "\u{feff}: hello\nevent: a\ndata: 1\ndata:2\nid: 7\n\n:\n\nevent: gone\n\ndata: é漢\n\ndata: no blank line\n".replace('\n', end);
            assert_eq!(events(&[text.as_bytes()]), expected, "{end:?}");
            for cut in 0..text.len() {
                let (a, b) = text.as_bytes().split_at(cut);
                assert_eq!(events(&[a, b]), expected, "{end:?} cut at {cut}");
            }
            let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(events(&single), expected, "{end:?} one byte a chunk");
        }
    }

    #[test]
    fn a_bad_byte_spoils_its_own_character_only() {
        assert_eq!(
            events(&[b"data: a\xffb\n\ndata: c\n\n"]),
            [(None, "a\u{fffd}b".to_owned()), (None, "c".to_owned())]
        );
    }

    #[test]
    fn an_event_of_megabytes_passes_and_an_endless_one_ends() {
        let big = format!("data: {}\n\n", "x".repeat(5_000_000));
        let chunks: Vec<&[u8]> = big.as_bytes().chunks(1000).collect();
        assert_eq!(events(&chunks)[0].1.len(), 5_000_000);

        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        let chunk = vec![b'x'; 1_000_000];
        let took = (0..20)
            .take_while(|_| decoder.feed(&chunk, &mut out).is_ok())
            .count();
        assert_eq!((took, out.len()), (8, 0));

        let mut decoder = Decoder::default();
        let line = format!("data: {}\n", "x".repeat(1_000_000));
        let took = (0..20)
            .take_while(|_| decoder.feed(line.as_bytes(), &mut out).is_ok())
            .count();
        assert_eq!((took, out.len()), (8, 0));
    }
}
