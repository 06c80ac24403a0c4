//! Moves the large strings of a payload's JSON text out into blobs, and back in.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scan::{Found, next_string};
use super::{BLOB_THRESHOLD, BlobHash};
use crate::journal::{EntryError, Journal, JournalError};

/// The key that makes an object a reference. A user's key of this form gets one more `$`.
const KEY: &str = "$blob";

/// How many characters of a blob stand in its reference, for whoever reads the lines.
const HEAD: usize = 200;

/// What stands in a line in place of a large string.
#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "$blob")]
    hash: BlobHash,
    bytes: usize,
}

/// Replaces every string value above [`BLOB_THRESHOLD`] in the JSON that stands in `buffer[start..]` by a reference,
/// after `journal` has kept it; gives a user's `$blob` keys one more `$`; drops line feeds between tokens (a payload
/// from elsewhere may be pretty-printed, and an envelope is one line).
///
/// All else is copied as it is written: numbers of any precision and the order of keys survive. A string that is no
/// Unicode (a lone surrogate, which JSON can write) stays in its line.
///
/// # Errors
/// When a blob could not be kept, or the text is not UTF-8.
pub(crate) fn externalise(
    buffer: &mut Vec<u8>,
    start: usize,
    journal: &dyn Journal,
) -> Result<(), JournalError> {
    let text = &buffer[start..];
    let Ok(utf8) = std::str::from_utf8(text) else {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, "the payload is not UTF-8");
        return Err(JournalError::Io { action: "write", location: journal.location(), source });
    };
    if stands_as_it_is(utf8) {
        return Ok(());
    }
    let mut out = Vec::with_capacity(text.len().min(2 * BLOB_THRESHOLD));
    let mut at = 0;
    while let Some(string) = next_string(text, at) {
        copy_on_one_line(&mut out, &text[at..string.start]);
        let raw = &text[string.start..string.end];
        if string.is_key {
            write_key(&mut out, raw, string.escaped, |key| format!("${key}"));
        } else {
            write_value(&mut out, raw, journal)?;
        }
        at = string.end;
    }
    copy_on_one_line(&mut out, &text[at..]);
    buffer.truncate(start);
    buffer.extend_from_slice(&out);
    Ok(())
}

/// Whether nothing in `text` can need a change. A key can be written with `\u0024` and the like; what is written
/// `\u00..` and needs no change is only copied for nothing. Every envelope comes through here, so it is a plain search
/// for bytes.
fn stands_as_it_is(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= BLOB_THRESHOLD
        && memchr::memchr3(b'$', b'\n', b'\r', bytes).is_none()
        && memchr::memmem::find(bytes, b"\\u00").is_none()
}

fn copy_on_one_line(out: &mut Vec<u8>, between_strings: &[u8]) {
    out.extend(between_strings.iter().filter(|b| !matches!(b, b'\n' | b'\r')));
}

/// Writes a key as it stands, or changed by `change` when it is `$blob`, `$$blob`, ….
fn write_key(out: &mut Vec<u8>, raw: &[u8], escaped: bool, change: impl Fn(&str) -> String) {
    match decoded(raw, escaped).filter(|key| is_ours(key)) {
        // Such a key holds nothing that JSON must escape.
        Some(key) => out.extend_from_slice(format!("\"{}\"", change(&key)).as_bytes()),
        None => out.extend_from_slice(raw),
    }
}

/// Whether `key` matches `^\$+blob$`.
fn is_ours(key: &str) -> bool {
    key.strip_suffix(KEY).is_some_and(|before| before.bytes().all(|b| b == b'$'))
}

/// The string that `raw` (with its quotes) writes. None when it is no Unicode.
fn decoded(raw: &[u8], escaped: bool) -> Option<Cow<'_, str>> {
    if escaped {
        serde_json::from_slice(raw).ok().map(Cow::Owned)
    } else {
        std::str::from_utf8(&raw[1..raw.len() - 1]).ok().map(Cow::Borrowed)
    }
}

/// Writes a string value as it stands, or a reference when it is large.
fn write_value(out: &mut Vec<u8>, raw: &[u8], journal: &dyn Journal) -> Result<(), JournalError> {
    // Escapes only make a text longer, so a short one need not be decoded.
    let large = if raw.len() > BLOB_THRESHOLD { decoded(raw, raw.contains(&b'\\')) } else { None };
    let Some(text) = large.filter(|text| text.len() > BLOB_THRESHOLD) else {
        out.extend_from_slice(raw);
        return Ok(());
    };
    let hash = journal.put_blob(text.as_bytes())?;
    let head: String = text.chars().take(HEAD).collect();
    let head = serde_json::Value::String(head);
    out.extend_from_slice(
        format!("{{\"{KEY}\":\"{hash}\",\"bytes\":{},\"head\":{head}}}", text.len()).as_bytes(),
    );
    Ok(())
}

/// The inverse of [`externalise`]: puts the strings back in place of their references, and takes the extra `$` from
/// a user's keys.
///
/// # Errors
/// When a blob is missing, could not be read or is not what the reference says, or a `$blob` object is no reference.
pub(crate) fn inline(payload: &RawValue, journal: &dyn Journal) -> Result<Box<RawValue>, JournalError> {
    let text = payload.get();
    if !text.contains("$blob\"") {
        return Ok(payload.to_owned());
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() + BLOB_THRESHOLD);
    let mut at = 0;
    while let Some(string) = next_string(bytes, at) {
        let raw = &bytes[string.start..string.end];
        let opening = reference_opens(bytes, at, string);
        out.extend_from_slice(&bytes[at..opening.unwrap_or(string.start)]);
        at = string.end;
        if let Some(opening) = opening {
            at = opening + inline_reference(&mut out, &text[opening..], journal)?;
        } else if string.is_key {
            write_key(&mut out, raw, string.escaped, |key| key[1..].to_owned());
        } else {
            out.extend_from_slice(raw);
        }
    }
    out.extend_from_slice(&bytes[at..]);
    from_bytes(out).map_err(|source| misread(text, source, journal))
}

/// Where the object begins whose first key is the string `key`, if that is `$blob`; what lies between is no string.
fn reference_opens(text: &[u8], from: usize, key: Found) -> Option<usize> {
    let is_reference = key.is_key && &text[key.start + 1..key.end - 1] == KEY.as_bytes();
    let before = &text[from..key.start];
    let brace = before.iter().rposition(|b| !b.is_ascii_whitespace())?;
    (is_reference && before[brace] == b'{').then_some(from + brace)
}

/// Writes the string that the reference at the head of `text` stands for; returns how long the reference is.
fn inline_reference(out: &mut Vec<u8>, text: &str, journal: &dyn Journal) -> Result<usize, JournalError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Reference>();
    let reference = match values.next() {
        Some(Ok(reference)) => reference,
        Some(Err(source)) => return Err(misread(text, source, journal)),
        None => return Ok(0),
    };
    let blob = journal.blob(&reference.hash)?;
    let string = std::str::from_utf8(&blob).ok().filter(|string| string.len() == reference.bytes);
    let Some(string) = string else {
        let why =
            format!("the blob {} is not the text of {} bytes it should be", reference.hash, reference.bytes);
        return Err(misread(text, serde::de::Error::custom(why), journal));
    };
    serde_json::to_writer(out, string).map_err(|source| misread(text, source, journal))?;
    Ok(values.byte_offset())
}

fn from_bytes(text: Vec<u8>) -> serde_json::Result<Box<RawValue>> {
    let text = String::from_utf8(text).map_err(serde::de::Error::custom)?;
    RawValue::from_string(text)
}

fn misread(text: &str, source: serde_json::Error, journal: &dyn Journal) -> JournalError {
    JournalError::Entry { location: journal.location(), source: EntryError::new(text.as_bytes(), source) }
}

#[cfg(test)]
mod tests;
