//! Halves of characters: JSON writes a character beyond U+FFFF as two escapes, and some servers cut between them.
//!
//! A half alone is no text in Rust and is refused by serde_json. So it is first read as two characters that stand for it,
//! and then joined with its other half, or replaced by U+FFFD.

use std::ops::Range;

use serde_json::{Map, Value, json};

/// The first halves.
const FIRST: Range<u16> = 0xD800..0xDC00;
/// All halves.
const HALVES: Range<u16> = 0xD800..0xE000;
/// What stands before the character that stands for a half, and before itself: a code point that is no character.
const MARK: char = '\u{10FFFF}';
/// Taken from a half gives the character that stands for it after the mark.
const SHIFT: u16 = 0xC800;

/// How many are kept at once: no server tells more texts side by side.
const MOST_KEPT: usize = 64;

/// First halves at the ends of texts, whose second halves may come at the same places of later chunks.
#[derive(Debug, Default)]
pub(super) struct Halves(Vec<(Vec<Step>, u16)>);

/// A step from a JSON value into one that it holds.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    /// An item of a list, known by the `index` that it says: parts of several calls each come as the only item.
    Item(Option<i64>),
}

impl Halves {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same JSON with all halves joined, those with each other that two chunks hold; a first half at the end of a
    /// text is kept for the next chunk.
    ///
    /// # Errors
    /// If it is no JSON.
    pub(super) fn join(&mut self, json: &str) -> Result<String, serde_json::Error> {
        let marked = json.replace(MARK, &String::from_iter([MARK, MARK]));
        let marked = map_escapes(&marked, |escaped, marked| match escaped {
            Ok(MARK) => marked.extend([MARK, MARK]),
            Ok(whole) => marked.push(whole),
            Err(half) => marked.extend(std::iter::once(MARK).chain(char::from_u32((half - SHIFT).into()))),
        });
        let value = serde_json::from_str(&marked)?;
        Ok(self.walk(value, &mut Vec::new()).to_string())
    }

    /// A chunk that closes a text whose second half never came, until there is none.
    pub(super) fn rest(&mut self) -> Option<String> {
        let (path, _) = self.0.pop()?;
        Some(nest(&path, json!("\u{FFFD}")).to_string())
    }

    fn walk(&mut self, value: Value, path: &mut Vec<Step>) -> Value {
        match value {
            Value::String(text) => self.join_text(&text, path).into(),
            Value::Array(items) => {
                let index = |item: &Value| item.get("index").and_then(Value::as_i64);
                items.into_iter().map(|item| self.step(Step::Item(index(&item)), item, path)).collect()
            }
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(key, value)| {
                    let key = String::from_utf16_lossy(&units(&key));
                    (key.clone(), self.step(Step::Key(key), value, path))
                });
                Value::Object(fields.collect::<Map<_, _>>())
            }
            other => other,
        }
    }

    fn step(&mut self, step: Step, value: Value, path: &mut Vec<Step>) -> Value {
        path.push(step);
        let value = self.walk(value, path);
        path.pop();
        value
    }

    fn join_text(&mut self, text: &str, path: &[Step]) -> String {
        let kept = self.0.iter().position(|(known, _)| known == path);
        let mut joined: Vec<_> = kept.map(|place| self.0.swap_remove(place).1).into_iter().collect();
        joined.extend(units(text));
        if let Some(first) = joined.pop_if(|last| self.0.len() < MOST_KEPT && FIRST.contains(last)) {
            self.0.push((path.to_vec(), first));
        }
        String::from_utf16_lossy(&joined)
    }
}

/// The same JSON with U+FFFD for each half that stands alone.
pub(super) fn replace_lone(json: &str) -> String {
    map_escapes(json, |escaped, replaced| replaced.push(escaped.unwrap_or('\u{FFFD}')))
}

/// The same JSON with something else for each two escapes that are a character together, and for each half alone.
fn map_escapes(json: &str, write: impl Fn(Result<char, u16>, &mut String)) -> String {
    let mut mapped = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mapped.push_str(before);
        let pair = [half(escape), escape.get(6..).and_then(half)];
        let read = char::decode_utf16(pair.into_iter().map_while(|half| half)).next();
        let length = match &read {
            Some(Ok(_)) => 12,
            Some(Err(_)) => 6,
            // The backslash and what it escapes.
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        match read {
            Some(read) => write(read.map_err(|lone| lone.unpaired_surrogate()), &mut mapped),
            None => mapped.push_str(&escape[..length]),
        }
        rest = &escape[length..];
    }
    mapped + rest
}

/// The half of a character that this text begins with, as an escape.
fn half(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| HALVES.contains(unit))
}

/// A marked text in UTF-16, with the halves themselves.
fn units(marked: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(marked.len());
    let mut characters = marked.chars();
    while let Some(character) = characters.next() {
        match if character == MARK { characters.next() } else { None } {
            Some(stand_in) if stand_in != MARK => {
                units.extend(u16::try_from(stand_in).map(|unit| unit + SHIFT))
            }
            _ => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
        }
    }
    units
}

/// The value at the end of this path, and nothing else.
fn nest(path: &[Step], value: Value) -> Value {
    path.iter().rev().fold(value, |mut inner, step| match step {
        Step::Key(key) => json!({ key: inner }),
        Step::Item(index) => {
            if let (Value::Object(fields), Some(index)) = (&mut inner, index) {
                fields.insert("index".into(), (*index).into());
            }
            json!([inner])
        }
    })
}
