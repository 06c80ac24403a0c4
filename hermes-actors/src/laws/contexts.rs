//! Law 7: in a context, calls and their tool messages stay together.

use std::collections::{HashMap, HashSet};

use hermes_bus::laws::OpenEntry;
use serde_json::Value;

use super::{Checker, text};

const TOOL_MESSAGES: [&str; 4] = ["tool.returned", "tool.failed", "tool.reused", "tool.rejected"];

/// The calls of one context.
#[derive(Default)]
pub(super) struct Calls {
    /// Which tool the model asked for under which id.
    pub asked: HashMap<String, String>,
    /// The ids under which a `tool.call` was sent.
    pub sent: HashSet<String>,
    /// The calls of the last assistant message that have no tool message yet.
    waiting: Vec<String>,
}

/// What a message of `append` is to the law.
enum Said {
    Assistant(Vec<String>),
    Tool(String),
    Other(String),
}

impl Checker {
    /// A branch inherits the calls that waited for their results.
    pub(super) fn inherit(&mut self, start: &OpenEntry) {
        let open = calls_of(start.payload.get("open_calls"));
        if !open.is_empty() {
            let calls = self.contexts.entry(self.key(start, &start.receiver)).or_default();
            calls.waiting = open.iter().map(|(id, _)| id.clone()).collect();
            calls.asked.extend(open);
        }
    }

    pub(super) fn replied(&mut self, entry: &OpenEntry) {
        let key = self.key(entry, &entry.receiver);
        for (id, tool) in calls_of(entry.payload.pointer("/message/tool_calls")) {
            let asked = &mut self.contexts.entry(key.clone()).or_default().asked;
            if id.is_empty() {
                self.laws.report(7, entry, "a tool call without an id");
            } else if asked.insert(id.clone(), tool).is_some() {
                self.laws.report(7, entry, format!("call id {id} was used before in this task"));
            }
        }
    }

    pub(super) fn chat(&mut self, entry: &OpenEntry) {
        let append = entry.payload.get("append").and_then(Value::as_array).cloned();
        let (Some(append), Some(_)) = (append, text(entry, "digest")) else {
            return self.laws.report(7, entry, "llm.chat needs append and digest");
        };
        let key = self.key(entry, &entry.sender);
        let mut waiting = std::mem::take(&mut self.contexts.entry(key.clone()).or_default().waiting);
        for message in &append {
            self.follow(entry, message, &mut waiting);
        }
        if !waiting.is_empty() {
            self.laws.report(7, entry, format!("sent while calls {waiting:?} have no tool message"));
        }
    }

    fn follow(&mut self, entry: &OpenEntry, message: &Value, waiting: &mut Vec<String>) {
        match self.said(message) {
            Err(wrong) => self.laws.report(7, entry, wrong),
            Ok(Said::Tool(id)) => match waiting.iter().position(|call| *call == id) {
                Some(at) => drop(waiting.remove(at)),
                None => {
                    self.laws.report(7, entry, format!("tool message for {id:?}, which no open call has"))
                }
            },
            Ok(said) => {
                if !waiting.is_empty() {
                    self.laws.report(
                        7,
                        entry,
                        format!("another message while calls {waiting:?} wait for theirs"),
                    );
                    waiting.clear();
                }
                match said {
                    Said::Assistant(calls) => waiting.extend(calls),
                    Said::Other(role) if !matches!(&*role, "system" | "developer" | "user") => {
                        self.laws.report(7, entry, format!("role {role:?}"));
                    }
                    Said::Other(_) | Said::Tool(_) => {}
                }
            }
        }
    }

    /// Reads an entry of `append`: a chat message, or a reference to the envelope that holds it.
    fn said(&self, message: &Value) -> Result<Said, String> {
        let ids = |calls: Option<&Value>| calls_of(calls).into_iter().map(|(id, _)| id).collect();
        let string = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(of) = message.get("of").and_then(Value::as_str) else {
            return Ok(match message.get("role").and_then(Value::as_str) {
                Some("assistant") => Said::Assistant(ids(message.get("tool_calls"))),
                Some("tool") => Said::Tool(string(message.get("tool_call_id"))),
                other => Said::Other(other.unwrap_or_default().to_owned()),
            });
        };
        let source =
            self.seen.get(of).ok_or(format!("append refers to {of}, which is not earlier in the journal"))?;
        match source.name.as_str() {
            "llm.replied" => Ok(Said::Assistant(ids(source.payload.pointer("/message/tool_calls")))),
            "task.start" | "task.steer" => Ok(Said::Other("user".to_owned())),
            name if TOOL_MESSAGES.contains(&name) => Ok(Said::Tool(string(source.payload.get("call_id")))),
            name => Err(format!("append refers to a {name}, which holds no chat message")),
        }
    }
}

/// Ids and names of tool calls, in our form or a provider's.
fn calls_of(calls: Option<&Value>) -> Vec<(String, String)> {
    let string = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let calls = calls.and_then(Value::as_array).into_iter().flatten();
    calls
        .map(|call| (string(call.get("id")), string(call.get("name").or(call.pointer("/function/name")))))
        .collect()
}
