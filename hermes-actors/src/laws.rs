//! The laws of a journal, all ten: those of the bus (1 to 5), and those of tasks, contexts and calls.
//!
//! 6. When `task.finished` is written, every ask below its `task.start` has its end, and the task sends nothing more.
//! 7. In a context, an assistant message with calls is followed at once by exactly one tool message for each, and no
//!    tool message stands without its call.
//! 8. A `tool.call` is sent once under its id; unless it says `asked_by: step`, the model asked for it under that id,
//!    for that tool.
//! 9. The digest of an `llm.chat` equals that of the rebuilt context ([`digests`]).
//! 10. A call of a destructive tool was granted, for these arguments.
//!
//! They are checked on the open JSON of the lines, so that a journal of other vocabularies can be checked too.

use std::collections::{HashMap, HashSet};

use hermes_bus::laws::{Broken, Laws, OpenEntry};

pub use digests::digests;

mod calls;
mod contexts;
mod digests;
mod tasks;

/// Whether the process that wrote the journal came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It did: every task has finished.
    Whole,
    /// It was killed, or still runs: tasks may be unfinished, and what works for them open.
    Crashed,
}

/// Checks the laws 1 to 8 and 10 on the lines of one family, oldest first, without line feeds and without a torn last
/// line.
pub fn check<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>, ending: Ending) -> Vec<Broken> {
    let mut checker = Checker::default();
    for line in lines {
        checker.line(line.as_ref());
    }
    checker.finish(ending);
    let mut broken = checker.laws.into_broken();
    broken.sort_by_key(|b| b.line);
    broken.dedup();
    broken
}

/// A context: the trace, the agent's scope, its task, and the purpose.
type ContextKey = (String, String, Option<String>, String);

#[derive(Default)]
struct Checker {
    laws: Laws,
    seen: HashMap<String, OpenEntry>,
    children: HashMap<String, Vec<String>>,
    /// Asks that have an end which is not late.
    ended: HashSet<String>,
    /// The latest task of a scope in a trace.
    task_at: HashMap<(String, String), String>,
    contexts: HashMap<ContextKey, contexts::Calls>,
    approvals_used: HashSet<String>,
}

impl Checker {
    fn line(&mut self, raw: &[u8]) {
        let Some(entry) = self.laws.line(raw) else { return };
        if let Some(parent) = &entry.parent_id {
            self.children.entry(parent.clone()).or_default().push(entry.id.clone());
        }
        self.task(&entry);
        match entry.name.as_str() {
            "llm.replied" if !entry.late => self.replied(&entry),
            "llm.chat" => self.chat(&entry),
            "tool.call" => self.tool_call(&entry),
            _ => {}
        }
        self.seen.insert(entry.id.clone(), entry);
    }

    /// The context that an envelope of the agent at `address` belongs to.
    fn key(&self, entry: &OpenEntry, address: &str) -> ContextKey {
        let scope = scope_of(address).to_owned();
        let task = self.task_at.get(&(entry.trace_id.clone(), scope.clone())).cloned();
        let purpose = entry.payload.get("purpose").and_then(|p| p.as_str()).unwrap_or("turn").to_owned();
        (entry.trace_id.clone(), scope, task, purpose)
    }
}

/// The agent's scope: `researcher#2/tool.search` → `researcher#2`.
fn scope_of(address: &str) -> &str {
    address.rsplit_once('/').map_or("", |(scope, _)| scope)
}

fn text<'a>(entry: &'a OpenEntry, field: &str) -> Option<&'a str> {
    entry.payload.get(field).and_then(|value| value.as_str())
}
