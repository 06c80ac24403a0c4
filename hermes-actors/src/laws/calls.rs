//! Laws 8 and 10: a call is sent once, as the model asked for it, and a destructive one only when it was granted.

use hermes_bus::laws::OpenEntry;

use super::{Checker, text};

impl Checker {
    pub(super) fn tool_call(&mut self, entry: &OpenEntry) {
        let key = self.key(entry, &entry.sender);
        let call = text(entry, "call_id").unwrap_or_default().to_owned();
        let address = entry.receiver.rsplit('/').next().unwrap_or_default();
        let tool = text(entry, "tool").unwrap_or_else(|| address.strip_prefix("tool.").unwrap_or(address));
        let calls = self.contexts.entry(key).or_default();
        if text(entry, "asked_by") != Some("step") {
            match calls.asked.get(&call) {
                None => {
                    self.laws.report(8, entry, format!("tool.call {call:?} was not asked for by the model"))
                }
                Some(asked) if asked != tool => {
                    self.laws.report(8, entry, format!("the model asked for {asked:?}, not {tool:?}"));
                }
                Some(_) => {}
            }
        }
        if !calls.sent.insert(call.clone()) {
            self.laws.report(8, entry, format!("call {call:?} sent twice"));
        }
        if text(entry, "effect") == Some("destructive") {
            self.granted(entry);
        }
    }

    fn granted(&mut self, entry: &OpenEntry) {
        let grant = text(entry, "approval").and_then(|id| self.seen.get(id));
        let grant = grant.filter(|g| g.name == "approval.granted" && g.trace_id == entry.trace_id);
        match grant.map(|g| g.id.clone()) {
            None => self.laws.report(10, entry, "destructive call without a granted approval"),
            Some(id) if !self.approvals_used.insert(id.clone()) => {
                self.laws.report(10, entry, "approval used twice")
            }
            Some(_) => {}
        }
    }
}
