//! Ending: timers, cancel, and how a task that must stop brings everything it has open to its end.

use hermes_bus::{Envelope, Event, Id, TimerFired};

use super::call::{Backing, Progress};
use super::{Answer, Effects, Phase, Task, Verdict};
use crate::protocol::{End, LlmFailed, Purpose, TaskCancelling, ToolFailed, ToolFailureKind};

impl Task {
    pub(super) fn cancel(&mut self, ask: &Envelope, effects: &mut Effects) {
        self.end_of(ask, TaskCancelling {}, effects);
        self.stop(ask, End::Cancelled, effects);
    }

    pub(super) fn timer(&mut self, envelope: &Envelope, timer: &TimerFired, effects: &mut Effects) {
        if Some(timer.guards) == self.id() {
            return self.stop(envelope, End::Deadline, effects);
        }
        let guarded =
            |call: &super::Call| matches!(call.progress, Progress::Sent { ask, .. } if ask == timer.guards);
        if let Some(at) = self.state.calls.iter().position(guarded) {
            let why = self.timed_out(at);
            self.end_call(envelope, at, ToolFailureKind::Timeout, &why, effects);
        }
    }

    /// What the model is told of a timeout, and what it can make of that.
    fn timed_out(&self, at: usize) -> String {
        let declaration = self.definition.tool(&self.state.calls[at].tool).map(|tool| &tool.declaration);
        let timeout = declaration.and_then(|d| d.timeout).unwrap_or(crate::definition::TOOL_TIMEOUT);
        let advice = if declaration.is_some_and(|d| d.effect.may_run_again()) {
            "ask it for less, or go on without it"
        } else {
            "whether it has done its work is not known"
        };
        format!("the tool did not answer within {} s: {advice}", timeout.as_secs_f64())
    }

    /// The end of something that this task had asked for.
    pub(super) fn ended(&mut self, envelope: &Envelope, ask: Id, effects: &mut Effects) {
        match self.current_chat(ask) {
            Some(chat) => self.chat_ended(envelope, &chat, effects),
            None => self.call_ended(envelope, ask, effects),
        }
    }

    /// Ends everything that is open; when all ends have been read, the task is finished with `end`.
    fn stop(&mut self, cause: &Envelope, end: End, effects: &mut Effects) {
        if self.state.ending.is_some() || self.is_finished() {
            return;
        }
        self.state.ending = Some(Verdict { end, failure: None });
        let why = if end == End::Deadline { "the task's time was over" } else { "the task was cancelled" };
        if let Phase::Thinking(chat) = &self.state.phase {
            let id = chat.id;
            self.end_own(cause, id, &id.to_string(), LlmFailed::cancelled(Purpose::Turn, why), effects);
        }
        self.reject_queued(cause, effects);
        for at in 0..self.state.calls.len() {
            if matches!(self.state.calls[at].progress, Progress::Sent { .. }) {
                self.end_call(cause, at, ToolFailureKind::Cancelled, why, effects);
            }
        }
        self.finish_ending(cause, effects);
    }

    /// Asks for the end of an open call: gives it, or, where only the receiver can, asks the receiver for it.
    fn end_call(
        &mut self,
        cause: &Envelope,
        at: usize,
        kind: ToolFailureKind,
        why: &str,
        effects: &mut Effects,
    ) {
        let call = &self.state.calls[at];
        let Progress::Sent { ask, since_ms } = call.progress else { return };
        match call.kind {
            Backing::Agent => effects.abort(ask),
            Backing::Function => {
                let call_id = call.call_id.clone();
                self.end_own(cause, ask, &call_id, ToolFailed::new(call_id.as_str(), kind, why), effects);
            }
        }
        self.state.calls[at].progress = Progress::Ending { ask, since_ms };
    }

    /// Ends an ask of this task in the name of its receiver. It counts when it is read, like any end.
    fn end_own(&self, cause: &Envelope, ask: Id, key: &str, event: impl Event, effects: &mut Effects) {
        let draft = self.draft(cause, self.me.clone(), key, event);
        effects.send(draft.in_reply_to(ask));
    }

    /// Finishes a task that is ending, once nothing of it is open.
    pub(super) fn finish_ending(&mut self, cause: &Envelope, effects: &mut Effects) {
        let chat_open =
            matches!(&self.state.phase, Phase::Thinking(chat) if cause.in_reply_to != Some(chat.id));
        if chat_open || self.state.calls.iter().any(|call| call.open().is_some()) {
            return;
        }
        self.take_results();
        if let Some(verdict) = self.state.ending.clone() {
            self.finish(cause, verdict, Answer::default(), effects);
        }
    }
}
