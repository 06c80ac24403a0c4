//! The words for a payload: what a line of the flow says after the colon.

use hermes_bus::journal::Entry;
use serde_json::Value;

use super::lines::{About, Memory};

/// The most characters of one line's text.
const MOST: usize = 300;

/// What an envelope is about, on one line.
pub(super) fn of(entry: &Entry<'_>, payload: &Value, memory: &Memory) -> String {
    let text = match &*entry.name {
        "task.start" => string(payload, "task").to_owned(),
        "task.cancel" => "cancel".to_owned(),
        "task.cancelling" => "cancelling".to_owned(),
        "task.finished" => finished(payload),
        "llm.chat" => chat(entry, payload, memory),
        "llm.replied" => replied(payload),
        "llm.failed" | "envelope.failed" => {
            format!("{}: {}", string(payload, "kind"), string(payload, "message"))
        }
        "tool.call" => compact(&payload["arguments"]),
        "tool.returned" => compact(&payload["result"]),
        "tool.failed" | "tool.reused" => string(payload, "shown").to_owned(),
        "tool.rejected" => format!("{}: {}", string(payload, "tool"), string(payload, "shown")),
        "tool.started" => format!("started {}", string(payload, "call_id")),
        "timer.fired" => format!("{} of {}", string(payload, "timer"), string(payload, "guards")),
        other => format!("{other} {}", compact(payload)),
    };
    one_line(&with_call(entry, text, memory))
}

/// Says which call it is about, where sender and receiver do not.
fn with_call(entry: &Entry<'_>, text: String, memory: &Memory) -> String {
    let Some(call) = memory.call(entry) else { return text };
    // An end that the task itself gave: the tool did not.
    let text = if entry.sender == entry.receiver { format!("{}: {text}", call.tool) } else { text };
    match &call.label {
        Some(label) => format!("{text} ({label})"),
        None => text,
    }
}

pub(super) fn string<'a>(payload: &'a Value, field: &str) -> &'a str {
    payload.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn finished(payload: &Value) -> String {
    let failure = payload.pointer("/failure/message").and_then(Value::as_str);
    match (payload.get("answer").map(text_of), failure) {
        (Some(answer), _) => answer,
        (None, Some(failure)) => format!("({}) {failure}", string(payload, "outcome")),
        (None, None) => format!("({})", string(payload, "outcome")),
    }
}

/// What is new to the model: tool results by their tools, and words.
fn chat(entry: &Entry<'_>, payload: &Value, memory: &Memory) -> String {
    if payload.get("retry_of").is_some() {
        return "once more".to_owned();
    }
    let append = payload.get("append").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (mut tools, mut said) = (Vec::new(), Vec::new());
    for message in append {
        let of = message.get("of").and_then(Value::as_str).and_then(|id| memory.about(id.parse().ok()?));
        let call_id = message.get("tool_call_id").and_then(Value::as_str);
        match (of, call_id.and_then(|id| memory.tool(entry.sender.scope(), id))) {
            (Some(About::Tool(tool)), _) => tools.push(tool.as_str()),
            (Some(About::Words(words)), _) => said.push(words.clone()),
            (None, Some(tool)) => tools.push(tool),
            (None, None) => said.extend(message.get("content").map(text_of)),
        }
    }
    if !tools.is_empty() {
        said.insert(0, format!("tool results: {}", tools.join(", ")));
    }
    said.join(" | ")
}

fn replied(payload: &Value) -> String {
    let calls = payload
        .pointer("/message/tool_calls")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if calls.is_empty() {
        return text_of(&payload["message"]["content"]);
    }
    let calls: Vec<String> = calls.iter().map(|call| call_of(&call["function"])).collect();
    format!("tool_calls[{}]", calls.join(", "))
}

fn call_of(function: &Value) -> String {
    let arguments = string(function, "arguments");
    let arguments = match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(map)) => {
            map.iter().map(|(key, value)| format!("{key}={}", text_of(value))).collect::<Vec<_>>().join(", ")
        }
        _ => arguments.to_owned(),
    };
    format!("{}({arguments})", string(function, "name"))
}

/// A string as it is, all else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // A text that is kept beside the journal: its beginning.
        Value::Object(blob) if blob.contains_key("$blob") => format!("{}…", string(value, "head")),
        other => compact(other),
    }
}

fn compact(value: &Value) -> String {
    if value.get("$blob").is_some() { text_of(value) } else { value.to_string() }
}

/// On one line, not too long, and without characters that could steer a terminal or turn the line around.
fn one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let mut line: String = text.chars().filter(|c| !is_invisible(*c)).take(MOST).map(shown).collect();
    if text.chars().nth(MOST).is_some() {
        line.push('…');
    }
    line
}

/// Marks of direction and other characters without a shape; not the joiners, which scripts and emoji are spelt with.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
