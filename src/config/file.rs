//! Reads settings files: flat TOML, and the few lines of a `.env` that are for this program.

use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::{CUSTOM_HEADERS, ConfigError, Given, Origin, Place, Raw, VARIABLES};

/// A settings file is never longer.
const MAX_BYTES: u64 = 1_000_000;

/// The settings in the TOML `text` of the file at `path`; none if there is no such file.
pub(super) fn settings(
    path: &Path,
    text: Option<&str>,
    origin: fn(Place) -> Origin,
) -> Result<Vec<Given>, ConfigError> {
    let Some(text) = text else {
        return Ok(Vec::new());
    };
    // The parser takes a mark at the start for part of the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let place = |span: Range<usize>| place(path, text, span.start);
    let table = DeTable::parse(text).map_err(|error| ConfigError::File {
        place: place(error.span().unwrap_or_default()),
        reason: error.message().to_owned(),
    })?;
    let mut found = Vec::new();
    for (name, value) in table.into_inner() {
        let origin = origin(place(name.span()));
        let name = name.into_inner().into_owned();
        // A name that is not known is the better thing to say of a table.
        let value = match value.into_inner() {
            DeValue::Table(_) if !super::apply::names().contains(&name) => Value::Null,
            value => json(&value).ok_or_else(|| {
                origin.error(format!("{name}: must be text, a number, true or false"))
            })?,
        };
        found.push(Given {
            name,
            value: Raw::Typed(value),
            origin,
        });
    }
    Ok(found)
}

fn json(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::String(text.clone().into_owned())),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(Value::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().ok().map(Value::from),
        DeValue::Boolean(yes) => Some(Value::Bool(*yes)),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// The variables of [`VARIABLES`] in the `text` of the `.env` at `path`, the last of each; nothing is expanded.
pub(super) fn dotenv(path: &Path, text: &str) -> Result<Vec<Given>, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found: Vec<Given> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let Some((name, value)) = line.strip_prefix("export ").unwrap_or(line).split_once('=')
        else {
            continue;
        };
        let ours = VARIABLES.into_iter().filter(|name| *name != CUSTOM_HEADERS);
        let Some(name) = ours.into_iter().find(|known| *known == name.trim()) else {
            continue;
        };
        let place = Place {
            path: path.to_owned(),
            line: at + 1,
            column: 1,
        };
        let value = unquoted(value.trim()).ok_or_else(|| ConfigError::File {
            place: place.clone(),
            reason: format!("{name}: the quote is not closed"),
        })?;
        found.retain(|given| given.name != name);
        if !value.is_empty() {
            found.push(Given {
                name: name.to_owned(),
                value: Raw::Text(value.into_owned()),
                origin: Origin::Dotenv(place),
            });
        }
    }
    Ok(found)
}

/// The text between quotes, or up to a comment.
fn unquoted(value: &str) -> Option<Cow<'_, str>> {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.split_once(quote).map(|(inner, _)| inner.into());
        }
    }
    let end = value.find(" #").unwrap_or(value.len());
    Some(value[..end].trim_end().into())
}

/// The text of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let fails = |reason: String| ConfigError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(fails("it is no file".to_owned())),
        Ok(found) if found.len() > MAX_BYTES => {
            return Err(fails(format!("it is longer than {MAX_BYTES} bytes")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fails(error.to_string())),
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(|error| fails(error.to_string()))?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        ConfigError::File {
            place: place(path, &before, before.len()),
            reason: "it is not UTF-8 text".to_owned(),
        }
    })
}

/// Line and column of byte `at`.
fn place(path: &Path, text: &str, at: usize) -> Place {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
