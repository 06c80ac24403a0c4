//! Law 6: a task that has finished has nothing open and sends nothing more.

use hermes_bus::laws::OpenEntry;

use super::{Checker, Ending, scope_of};

impl Checker {
    pub(super) fn task(&mut self, entry: &OpenEntry) {
        if entry.name == "task.start" {
            let key = (entry.trace_id.clone(), scope_of(&entry.receiver).to_owned());
            self.task_at.insert(key, entry.id.clone());
            self.inherit(entry);
        }
        if matches!(entry.name.as_str(), "llm.chat" | "tool.call") {
            self.sends(entry);
        }
        match &entry.in_reply_to {
            None if entry.name == "task.finished" => {
                self.laws.report(6, entry, "task.finished that ends no task.start")
            }
            Some(ask) if entry.is_event() && !entry.late => self.end(&ask.clone()),
            _ => {}
        }
    }

    fn sends(&mut self, entry: &OpenEntry) {
        let key = (entry.trace_id.clone(), scope_of(&entry.sender).to_owned());
        if self.task_at.get(&key).is_some_and(|task| self.ended.contains(task)) {
            self.laws.report(6, entry, format!("{} sent after its task finished", entry.name));
        }
    }

    fn end(&mut self, ask: &str) {
        if !self.seen.contains_key(ask) || !self.ended.insert(ask.to_owned()) {
            return;
        }
        if self.seen.get(ask).is_some_and(|ask| ask.name == "task.start") {
            for open in self.open_below(ask) {
                self.laws.report(6, &open, format!("{} still open when its task finished", open.name));
            }
        }
    }

    /// The asks without an end that descend from a `task.start`, not through a later task of the same agent or a
    /// topic event.
    fn open_below(&self, start: &str) -> Vec<OpenEntry> {
        let address = self.seen.get(start).map(|entry| entry.receiver.as_str());
        let (mut open, mut stack) = (Vec::new(), vec![start]);
        while let Some(id) = stack.pop() {
            for child in self.children.get(id).into_iter().flatten().filter_map(|id| self.seen.get(id)) {
                let later = child.name == "task.start" && Some(child.receiver.as_str()) == address;
                if later || child.receiver.starts_with("topic:") {
                    continue;
                }
                if !child.is_event() && !self.ended.contains(&child.id) {
                    open.push(child.clone());
                }
                stack.push(&child.id);
            }
        }
        open
    }

    /// What never got its end.
    pub(super) fn finish(&mut self, ending: Ending) {
        let open = |entry: &&OpenEntry| !entry.is_event() && !self.ended.contains(&entry.id);
        let excused = |entry: &&OpenEntry| ending == Ending::Crashed && self.in_unfinished_task(entry);
        let never: Vec<OpenEntry> =
            self.seen.values().filter(open).filter(|e| !excused(e)).cloned().collect();
        for entry in never {
            self.laws.report(6, &entry, format!("{} never got its terminal event", entry.name));
        }
    }

    /// Whether the nearest task that it works for has not finished. What the end of a task made happen works for
    /// whoever asked for that task.
    fn in_unfinished_task<'a>(&'a self, mut entry: &'a OpenEntry) -> bool {
        let earlier = |id: &Option<String>| id.as_ref().and_then(|id| self.seen.get(id));
        while entry.name != "task.start" {
            let Some(cause) = earlier(&entry.parent_id) else { break };
            let ended = earlier(&cause.in_reply_to).filter(|ask| ask.name == "task.start");
            entry = ended.map_or(cause, |start| earlier(&start.parent_id).unwrap_or(start));
        }
        !self.ended.contains(&entry.id)
    }
}
