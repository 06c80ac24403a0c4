//! The lines of a flow: numbers, directions, and what an envelope is about.

use std::collections::HashMap;

use hermes_bus::journal::Entry;
use hermes_bus::{Id, Kind};
use serde_json::Value;

use super::words;

/// One line.
pub(super) enum Line {
    /// An ask or an end.
    Numbered(String),
    /// Not numbered, but nobody should miss it: a call that was not made.
    Remark(String),
    /// Anything else.
    Note(String),
}

/// What must be known of a trace to print its next line.
#[derive(Default)]
pub(super) struct Lines {
    printed: u32,
    first: Option<Id>,
    memory: Memory,
}

/// What earlier envelopes said that later ones refer to.
#[derive(Default)]
pub(super) struct Memory {
    /// The calls that were made, by their ask.
    calls: HashMap<Id, Call>,
    /// What the envelopes that may enter a context are about.
    about: HashMap<Id, About>,
    /// The tools by the scope and id of their calls.
    tools: HashMap<(String, String), String>,
    /// How many calls were asked for, by scope and turn.
    crowded: HashMap<(String, String), usize>,
}

/// One call.
#[derive(Clone)]
pub(super) struct Call {
    pub tool: String,
    /// Its id, where other calls of the same turn stand beside it.
    pub label: Option<String>,
}

/// What an envelope that enters a context is about.
pub(super) enum About {
    /// It is the end of a call of this tool.
    Tool(String),
    /// It holds these words.
    Words(String),
}

impl Lines {
    pub(super) fn line(&mut self, entry: &Entry<'_>) -> Line {
        self.first.get_or_insert(entry.id);
        let payload = serde_json::from_str(entry.payload.get()).unwrap_or_default();
        self.memory.learn(entry, &payload);
        let text = words::of(entry, &payload, &self.memory);
        let kind = entry.kind.as_str().to_uppercase();
        let line = format!("{kind:<7} {} -> {}: {text}", entry.sender, entry.receiver);
        let numbered = entry.kind != Kind::Event || entry.in_reply_to.is_some();
        match (numbered && !entry.late, &*entry.name) {
            (true, _) => {
                let number = self.printed;
                self.printed += 1;
                Line::Numbered(format!("[{number:02}] {line}"))
            }
            (false, "tool.rejected") => Line::Remark(format!("     {line}")),
            (false, _) => Line::Note(format!("     {line}")),
        }
    }

    /// Whether the first ask of the trace has its end with this.
    pub(super) fn is_over(&self, entry: &Entry<'_>) -> bool {
        entry.in_reply_to.is_some() && entry.in_reply_to == self.first
    }
}

impl Memory {
    fn learn(&mut self, entry: &Entry<'_>, payload: &Value) {
        let field = |name| words::string(payload, name).to_owned();
        match &*entry.name {
            "task.start" => drop(self.about.insert(entry.id, About::Words(field("task")))),
            "tool.rejected" => drop(self.about.insert(entry.id, About::Tool(field("tool")))),
            "llm.replied" => self.asked(entry.receiver.scope(), payload),
            "tool.call" => {
                let key = (entry.sender.scope().to_owned(), field("call_id"));
                let crowded = self.crowded.get(&(key.0.clone(), turn_of(&key.1).to_owned()));
                let label = crowded.is_some_and(|calls| *calls > 1).then_some(key.1);
                self.calls.insert(entry.id, Call { tool: field("tool"), label });
            }
            _ => {
                if let Some(call) = entry.in_reply_to.and_then(|ask| self.calls.get(&ask)) {
                    self.about.insert(entry.id, About::Tool(call.tool.clone()));
                }
            }
        }
    }

    fn asked(&mut self, scope: &str, payload: &Value) {
        let calls = payload.pointer("/message/tool_calls").and_then(Value::as_array);
        let calls = calls.map(Vec::as_slice).unwrap_or_default();
        for call in calls {
            let id = words::string(call, "id").to_owned();
            let turn = turn_of(&id).to_owned();
            self.crowded.insert((scope.to_owned(), turn), calls.len());
            let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            self.tools.insert((scope.to_owned(), id), name.to_owned());
        }
    }

    /// The call that an envelope makes or ends.
    pub(super) fn call(&self, entry: &Entry<'_>) -> Option<&Call> {
        self.calls.get(&entry.in_reply_to.unwrap_or(entry.id))
    }

    /// What the envelope that enters a context is about.
    pub(super) fn about(&self, of: Id) -> Option<&About> {
        self.about.get(&of)
    }

    /// The tool that was called under an id.
    pub(super) fn tool(&self, scope: &str, call_id: &str) -> Option<&str> {
        self.tools.get(&(scope.to_owned(), call_id.to_owned())).map(String::as_str)
    }
}

/// `t3` of `t3.1`.
fn turn_of(call_id: &str) -> &str {
    call_id.split_once('.').map_or(call_id, |(turn, _)| turn)
}
