//! An open entry: one line of a journal read as leniently as its laws can be checked on.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The fields that every line has.
const FIELDS: [&str; 11] =
    ["v", "id", "trace_id", "seq", "type", "name", "sender", "receiver", "parent_id", "ts", "payload"];

/// How deep a payload is read. What lies deeper stays text.
const DEPTH: usize = 100;

/// One line with ids of any form and its payload as plain JSON. A field that should be a text and is not is kept as
/// its JSON in parentheses, which no law takes for sound.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenEntry {
    /// Its place in the family, from 1; 0 when it was parsed alone.
    pub line: usize,
    /// Its number; None when that is not a positive integer.
    pub seq: Option<u64>,
    /// Its id.
    pub id: String,
    /// Its trace.
    pub trace_id: String,
    /// The field `type`: command, event or query.
    pub kind: String,
    /// The payload's name.
    pub name: String,
    /// Who sent it.
    pub sender: String,
    /// To whom.
    pub receiver: String,
    /// What made it happen.
    pub parent_id: Option<String>,
    /// The ask that it ends.
    pub in_reply_to: Option<String>,
    /// An end that came after another.
    pub late: bool,
    /// The end of an ask whose body had begun.
    pub begun: bool,
    /// When it was numbered.
    pub ts: String,
    /// The payload, an object. What JSON can write and Rust cannot hold (1e400, half a surrogate pair) is in it as
    /// the text that stands in the line.
    pub payload: Value,
}

/// A line that has not the outline of an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct NoEntry {
    /// Its number, if one can be read.
    pub seq: Option<u64>,
    /// What is wrong.
    pub text: String,
}

impl OpenEntry {
    /// Parses one line.
    ///
    /// # Errors
    /// When it is no JSON object, lacks a field, its id is no string or its payload no object.
    pub fn parse(line: &[u8]) -> Result<Self, NoEntry> {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(line).map_err(|error| {
            let head: String =
                String::from_utf8_lossy(&line[..line.len().min(320)]).chars().take(80).collect();
            NoEntry { seq: None, text: format!("no JSON object: {error}: {head:?}") }
        })?;
        let seq =
            fields.get("seq").and_then(|seq| serde_json::from_str(seq.get()).ok()).filter(|seq| *seq > 0);
        let missing: Vec<&str> = FIELDS.into_iter().filter(|field| !fields.contains_key(*field)).collect();
        if !missing.is_empty() {
            return Err(NoEntry { seq, text: format!("missing {}", missing.join(", ")) });
        }
        let value = |field: &str| fields.get(field).map_or(Value::Null, |raw| lenient(raw, DEPTH));
        let (id, payload) = (value("id"), value("payload"));
        let (Value::String(id), Value::Object(_)) = (id, &payload) else {
            return Err(NoEntry { seq, text: "payload is not an object, or id not a string".to_owned() });
        };
        Ok(Self {
            line: 0,
            seq,
            id,
            trace_id: text(value("trace_id")),
            kind: text(value("type")),
            name: text(value("name")),
            sender: text(value("sender")),
            receiver: text(value("receiver")),
            parent_id: some_text(value("parent_id")),
            in_reply_to: some_text(value("in_reply_to")),
            late: is_set(&value("late")),
            begun: is_set(&value("begun")),
            ts: text(value("ts")),
            payload,
        })
    }

    /// Whether it states what happened; everything else asks.
    pub fn is_event(&self) -> bool {
        self.kind == "event"
    }
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => format!("({other})"),
    }
}

fn some_text(value: Value) -> Option<String> {
    if value.is_null() { None } else { Some(text(value)) }
}

/// Whether a mark is set; an empty or zero value does not set it.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// The value as JSON, with what cannot be held as the text that stands there.
fn lenient(raw: &RawValue, depth: usize) -> Value {
    let text = raw.get();
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    let within = |raw: &RawValue| lenient(raw, depth - 1);
    let parts = match text.as_bytes().first() {
        _ if depth == 0 => None,
        Some(b'{') => serde_json::from_str::<BTreeMap<String, &RawValue>>(text)
            .ok()
            .map(|fields| fields.into_iter().map(|(key, raw)| (key, within(raw))).collect()),
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)
            .ok()
            .map(|items| Value::Array(items.into_iter().map(within).collect())),
        _ => None,
    };
    parts.unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(payload: &str) -> String {
        format!(
            r#"{{"v":1,"seq":1,"id":"e1","trace_id":7,"type":"event","name":"a.b","sender":null,"receiver":"x",
               "parent_id":null,"ts":"now","payload":{payload}}}"#
        )
    }

    #[test]
    fn what_rust_cannot_hold_is_no_fault_of_the_line() {
        let entry =
            OpenEntry::parse(line(r#"{"big":[1e400,1],"half":"\ud800","n":1.5}"#).as_bytes()).unwrap();
        assert_eq!(entry.payload, serde_json::json!({"big": ["1e400", 1], "half": "\"\\ud800\"", "n": 1.5}));
        let deep = format!("{{\"deep\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(OpenEntry::parse(line(&deep).as_bytes()).unwrap().payload["deep"].is_array());
    }

    #[test]
    fn fields_of_a_wrong_form_are_seen_to_be_wrong() {
        let entry = OpenEntry::parse(line("{}").as_bytes()).unwrap();
        assert_eq!((&*entry.trace_id, &*entry.sender), ("(7)", "(null)"));
        let error = |text: &str| OpenEntry::parse(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error(&line("[]")), "payload is not an object, or id not a string");
        assert_eq!(error("{\"v\":1,\"payload\":{}}").split(", ").count(), 9);
        expect_test::expect![[
            r#"no JSON object: invalid type: sequence, expected a map at line 1 column 0: "[1]""#
        ]]
        .assert_eq(&error("[1]"));
    }
}
