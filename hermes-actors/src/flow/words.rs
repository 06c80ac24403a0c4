//! The words for a payload: what a line of the flow says after the colon.

use std::collections::HashMap;

use hermes_bus::Id;
use serde_json::Value;

use super::lines::About;

/// The most characters of one line's text.
const MOST: usize = 300;

/// What the payload `name` is about, on one line.
pub(super) fn of(name: &str, payload: &Value, about: &HashMap<Id, About>) -> String {
    let text = match name {
        "task.start" => string(payload, "task").to_owned(),
        "task.cancel" => "cancel".to_owned(),
        "task.cancelling" => "cancelling".to_owned(),
        "task.finished" => finished(payload),
        "llm.chat" => chat(payload, about),
        "llm.replied" => replied(payload),
        "llm.failed" | "envelope.failed" => {
            format!("{}: {}", string(payload, "kind"), string(payload, "message"))
        }
        "tool.call" => compact(&payload["arguments"]),
        "tool.returned" => compact(&payload["result"]),
        "tool.failed" | "tool.rejected" | "tool.reused" => string(payload, "shown").to_owned(),
        "tool.started" => format!("started {}", string(payload, "call_id")),
        "timer.fired" => format!("{} of {}", string(payload, "timer"), string(payload, "guards")),
        other => format!("{other} {}", compact(payload)),
    };
    one_line(&text)
}

pub(super) fn string<'a>(payload: &'a Value, field: &str) -> &'a str {
    payload.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn finished(payload: &Value) -> String {
    let failure = payload.pointer("/failure/message").and_then(Value::as_str);
    match (payload.get("answer").and_then(Value::as_str), failure) {
        (Some(answer), _) => answer.to_owned(),
        (None, Some(failure)) => format!("({}) {failure}", string(payload, "outcome")),
        (None, None) => format!("({})", string(payload, "outcome")),
    }
}

/// What is new to the model: tool results by their tools, and words.
fn chat(payload: &Value, about: &HashMap<Id, About>) -> String {
    if payload.get("retry_of").is_some() {
        return "once more".to_owned();
    }
    let append = payload.get("append").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (mut tools, mut said) = (Vec::new(), Vec::new());
    for entry in append {
        let of = entry.get("of").and_then(Value::as_str).and_then(|id| about.get(&id.parse().ok()?));
        match (of, entry.get("content").and_then(Value::as_str)) {
            (Some(About::Tool(tool)), _) => tools.push(tool.as_str()),
            (Some(About::Words(words)), _) => said.push(words.clone()),
            (None, Some(content)) => said.push(content.to_owned()),
            (None, None) => {}
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
        other => compact(other),
    }
}

fn compact(value: &Value) -> String {
    value.to_string()
}

/// On one line, not too long, and without characters that could steer a terminal.
fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        line.push('…');
    }
    line
}
