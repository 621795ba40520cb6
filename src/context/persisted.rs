//! The forms that a result takes once its full text is a file: the preview with its path, and the placeholders.
//!
//! The words of all of them, and how to tell that a text has exactly such a form. Whether the program really wrote the
//! file is for [`Saved`](super::Saved) to say.

use crate::text;

/// Where persisted results stand, relative to the workspace.
pub const RESULTS_DIR: &str = ".task_outputs/tool-results/";
/// What stands in the place of an older result that was not saved.
pub const PLACEHOLDER: &str = "[Earlier tool result compacted. Re-run if needed.]";

const OPEN: &str = "<persisted-output>\nFull output (";
const PATH: &str = " characters): ";
const PREVIEW: &str = "\nPreview (first ";
const BODY: &str = " characters):\n";
const CLOSE: &str = "\n</persisted-output>";
const KEPT_PATH: &str = "[Earlier tool result compacted. Full output: ";
const KEPT_PATH_CLOSE: &str = "]";

/// A result whose full text is a file, as it stands in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Persisted<'a> {
    /// Characters of the full text.
    pub chars: usize,
    /// The file's name in [`RESULTS_DIR`].
    pub name: &'a str,
    /// The beginning of the text.
    pub preview: &'a str,
}

/// The form of a result of `chars` characters that stands in the file `name`, with `preview`.
#[must_use]
pub(super) fn render(persisted: &Persisted<'_>) -> String {
    let Persisted {
        chars,
        name,
        preview,
    } = persisted;
    let shown = preview.chars().count();
    format!("{OPEN}{chars}{PATH}{RESULTS_DIR}{name}{PREVIEW}{shown}{BODY}{preview}{CLOSE}")
}

/// Reads `whole` (a text of `chars` characters) back, if it has exactly that form.
#[must_use]
pub(super) fn parse(whole: &str, chars: usize) -> Option<Persisted<'_>> {
    let rest = whole.strip_prefix(OPEN)?;
    let (full, rest) = rest.split_once(PATH)?;
    let (name, rest) = rest.strip_prefix(RESULTS_DIR)?.split_once(PREVIEW)?;
    let (shown, rest) = rest.split_once(BODY)?;
    let preview = rest.strip_suffix(CLOSE)?;
    let around = whole.len() - preview.len(); // all of it ASCII in a valid form
    let valid = is_name(name) && figure(shown)?.checked_add(around) == Some(chars);
    valid.then_some(Persisted {
        chars: figure(full)?,
        name,
        preview,
    })
}

/// The placeholder of a result whose full text is the file `name`.
#[must_use]
pub(super) fn placeholder_of(name: &str) -> String {
    format!("{KEPT_PATH}{RESULTS_DIR}{name}{KEPT_PATH_CLOSE}")
}

/// The file that a placeholder names, if `whole` has exactly that form.
#[must_use]
pub fn placeholder_name(whole: &str) -> Option<&str> {
    whole
        .strip_prefix(KEPT_PATH)?
        .strip_prefix(RESULTS_DIR)?
        .strip_suffix(KEPT_PATH_CLOSE)
        .filter(|name| is_name(name))
}

/// The file name, without `-2` and `.txt`, for the result of the call `tool_use_id`.
pub(super) fn base_name(tool_use_id: &str) -> String {
    let name: String = text::head(tool_use_id, 120)
        .chars()
        .map(|c| match c {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => c,
            _ => '_',
        })
        .collect();
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    }
}

/// Whether `name` is one that the program gives its files: no path, no trick.
fn is_name(name: &str) -> bool {
    name.strip_suffix(".txt").is_some_and(|base| {
        !base.is_empty()
            && base
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

/// A number as `render` writes it.
fn figure(digits: &str) -> Option<usize> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    plain.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(whole: &str) -> Option<Persisted<'_>> {
        parse(whole, whole.chars().count())
    }

    #[test]
    fn what_is_rendered_is_read_back() {
        for preview in [
            "",
            "two\nlines",
            "漢👩‍👩‍👧",
            " characters):\n",
            "\n</persisted-output>",
        ] {
            let persisted = Persisted {
                chars: 123_456,
                name: "toolu_01-2.txt",
                preview,
            };
            assert_eq!(read(&render(&persisted)), Some(persisted));
        }
        assert_eq!(placeholder_name(&placeholder_of("a.txt")), Some("a.txt"));
    }

    #[test]
    fn what_is_almost_of_the_form_is_text() {
        let good = render(&Persisted {
            chars: 40_000,
            name: "t0.txt",
            preview: "abc",
        });
        assert!(read(&good).is_some());
        for bad in [
            good.replace("first 3", "first 4"),
            good.replace("first 3", "first 03"),
            good.replace("first 3", &format!("first {}", usize::MAX)),
            good.replace("t0.txt", "../t0.txt"),
            good.replace("t0.txt", "t0"),
            good.replace("t0.txt", "é.txt"),
            good.replace("40000", "forty"),
            good.replace(".task_outputs/", "/tmp/"),
            format!("{good}\n"),
            format!(" {good}"),
        ] {
            assert_eq!(read(&bad), None, "{bad}");
        }
        for bad in [
            "[Earlier tool result compacted. Full output: .task_outputs/tool-results/../a.txt]",
            "[Earlier tool result compacted. Full output: a.txt]",
            PLACEHOLDER,
        ] {
            assert_eq!(placeholder_name(bad), None);
        }
    }

    #[test]
    fn names_are_plain_and_short() {
        assert_eq!(base_name("../../etc/passwd"), "______etc_passwd");
        assert_eq!(base_name(""), "unknown");
        assert_eq!(base_name("é漢 x-1"), "___x-1");
        assert_eq!(base_name(&"a".repeat(200)), "a".repeat(120));
    }
}
