//! Calling: what a task makes of the model's tool calls and of their ends.

use hermes_bus::{Envelope, EnvelopeFailed, FailureKind, Id, Payload};
use hermes_llm::{Finish, ToolCall};

use super::call::{self, Backing, Call, Judged, Progress, Told, error_shown};
use super::{Effects, Phase, Task, millis};
use crate::protocol::{
    CallTool, Failure, Gathered, LlmReplied, RejectReason, ToolFailed, ToolRejected, ToolReturned,
};
use crate::stats::Spent;
use crate::tool::{Effect, Image};

impl Task {
    /// The model asked for tools.
    pub(super) fn take_calls(&mut self, envelope: &Envelope, reply: &LlmReplied, effects: &mut Effects) {
        let asked = &reply.message.tool_calls;
        let judged: Vec<Judged> = asked.iter().map(|call| call::judge(call, &self.definition)).collect();
        let cut = reply.finish == Finish::Length && judged.last().is_some_and(Judged::may_be_cut_off);
        if cut {
            self.state.cut_off += 1;
            if self.state.cut_off > 1 {
                let message = "the model's tool call was cut off twice by its output limit: raise max_tokens"
                    .to_owned();
                return self.fail(
                    envelope,
                    Failure { kind: "cut_off".to_owned(), message, endpoint: false },
                    effects,
                );
            }
        }
        self.state.context.push_of(envelope.id, &reply.message);
        self.state.phase = Phase::Calling;
        let last = judged.len().saturating_sub(1);
        for (i, judged) in judged.into_iter().enumerate() {
            let call = match judged {
                _ if cut && i == last => self.reject_cut_off(envelope, asked[i].clone(), effects),
                Judged::Fit(call) => call,
                Judged::Unfit { call, reason, message } => {
                    self.reject(envelope, call, reason, &message, effects)
                }
            };
            self.state.calls.push(call);
        }
        self.go_on(envelope, effects);
    }

    fn reject_cut_off(&mut self, cause: &Envelope, call: ToolCall, effects: &mut Effects) -> Call {
        let why = "this call was cut off by the output limit and was not run; make it shorter";
        self.reject(cause, call, RejectReason::CutOff, why, effects)
    }

    /// A call that is not made: the model is told why, by a note.
    fn reject(
        &mut self,
        cause: &Envelope,
        call: ToolCall,
        reason: RejectReason,
        why: &str,
        effects: &mut Effects,
    ) -> Call {
        self.state.stats.rejected_calls += 1;
        let told = self.reject_note(cause, &call.id, &call.name, reason, why, effects);
        Call { call_id: call.id, tool: call.name, kind: Backing::Function, progress: Progress::Ended(told) }
    }

    fn reject_note(
        &self,
        cause: &Envelope,
        call_id: &str,
        tool: &str,
        reason: RejectReason,
        why: &str,
        effects: &mut Effects,
    ) -> Told {
        let shown = error_shown(why);
        let note =
            ToolRejected { call_id: call_id.to_owned(), tool: tool.to_owned(), reason, shown: shown.clone() };
        let draft = self.draft(cause, self.me.clone(), call_id, note);
        let of = draft.id();
        effects.send(draft);
        Told::By { of, shown, images: Vec::new() }
    }

    /// Sends what has a place; when every call has its end, the turn is over.
    fn go_on(&mut self, cause: &Envelope, effects: &mut Effects) {
        let places = self.state.start.as_ref().map_or(1, |start| start.limits.tools_at_once) as usize;
        for at in 0..self.state.calls.len() {
            let open = self.state.calls.iter().filter(|call| call.open().is_some()).count();
            if open >= places.max(1) {
                break;
            }
            if matches!(self.state.calls[at].progress, Progress::Queued(_)) {
                self.send_call(cause, at, effects);
            }
        }
        if self.state.calls.iter().all(|call| matches!(call.progress, Progress::Ended(_))) {
            self.take_results();
            self.next_turn(cause, effects);
        }
    }

    fn send_call(&mut self, cause: &Envelope, at: usize, effects: &mut Effects) {
        let call = &mut self.state.calls[at];
        let Progress::Queued(arguments) = &mut call.progress else { return };
        let arguments = std::mem::take(&mut arguments.0);
        let declaration = self.definition.tool(&call.tool).map(|tool| &tool.declaration);
        let payload = CallTool {
            call_id: call.call_id.clone(),
            tool: call.tool.clone(),
            arguments,
            effect: declaration.map_or(Effect::default(), |d| d.effect),
            approval: None,
            asked_by: None,
        };
        let call = &self.state.calls[at];
        let receiver = self.me.sibling(&format!("tool.{}", call.tool));
        let draft = self.draft(cause, receiver, &call.call_id, payload);
        let ask = draft.id();
        effects.send(draft);
        if let Some(timeout) = self.timeout(call, declaration.and_then(|d| d.timeout)) {
            effects.arm(ask, "timeout", timeout);
        }
        self.state.calls[at].progress = Progress::Sent { ask, since_ms: millis(cause.timestamp) };
    }

    /// A function has its own time or the usual one; an agent has what is left of the task's deadline.
    fn timeout(&self, call: &Call, declared: Option<std::time::Duration>) -> Option<std::time::Duration> {
        match call.kind {
            Backing::Function => Some(declared.unwrap_or(crate::definition::TOOL_TIMEOUT)),
            Backing::Agent => declared,
        }
    }

    /// One of the calls has its end.
    pub(super) fn call_ended(&mut self, envelope: &Envelope, ask: Id, effects: &mut Effects) {
        let Some(at) =
            self.state.calls.iter().position(|call| call.open().is_some_and(|(open, _)| open == ask))
        else {
            return;
        };
        let since = self.state.calls[at].open().map_or(0, |(_, since)| since);
        let took = u64::try_from(millis(envelope.timestamp) - since).unwrap_or_default();
        let Heard { told, success, spent } = heard(envelope);
        let call = &mut self.state.calls[at];
        if let (Told::By { of, shown, .. }, true) = (&told, success) {
            let (call_id, tool) = (call.call_id.clone(), call.tool.clone());
            self.state.gathered.push(Gathered { call_id, tool, of: *of, shown: shown.clone() });
        }
        let stats = &mut self.state.stats;
        stats.tool_call(&call.tool, !success, took);
        stats.by_sub_agents = stats.by_sub_agents.with(spent);
        call.progress = Progress::Ended(told);
        if self.state.ending.is_some() {
            self.finish_ending(envelope, effects)
        } else {
            self.go_on(envelope, effects)
        }
    }

    /// Puts the results of the turn into the context, in the order of the calls.
    pub(super) fn take_results(&mut self) {
        for call in std::mem::take(&mut self.state.calls) {
            match call.into_told() {
                Some((message, Some(of))) => self.state.context.push_of(of, &message),
                Some((message, None)) => self.state.context.push(message),
                None => {}
            }
        }
    }

    /// Rejects what waits for a place: the task is ending.
    pub(super) fn reject_queued(&mut self, cause: &Envelope, effects: &mut Effects) {
        for at in 0..self.state.calls.len() {
            if matches!(self.state.calls[at].progress, Progress::Queued(_)) {
                let (call_id, tool) =
                    (self.state.calls[at].call_id.clone(), self.state.calls[at].tool.clone());
                let why = "the task ended before this call was made";
                let told = self.reject_note(cause, &call_id, &tool, RejectReason::Cancelled, why, effects);
                self.state.stats.rejected_calls += 1;
                self.state.calls[at].progress = Progress::Ended(told);
            }
        }
    }
}

/// What an end says.
struct Heard {
    told: Told,
    success: bool,
    spent: Spent,
}

/// Reads the end of a call, whatever it is.
fn heard(envelope: &Envelope) -> Heard {
    let by = |shown: &str, images: &[Image], success, spent| {
        let told = Told::By { of: envelope.id, shown: shown.to_owned(), images: images.to_vec() };
        Heard { told, success, spent }
    };
    let here = |why: String| {
        let told = Told::Here { shown: error_shown(&why) };
        Heard { told, success: false, spent: Spent::default() }
    };
    match envelope.body.name() {
        ToolReturned::NAME => match envelope.get::<ToolReturned>() {
            Ok(returned) => by(&returned.shown, &returned.images, true, returned.spent),
            Err(why) => here(why.to_string()),
        },
        ToolFailed::NAME => match envelope.get::<ToolFailed>() {
            Ok(failed) => by(&failed.shown, &[], false, failed.spent),
            Err(why) => here(why.to_string()),
        },
        EnvelopeFailed::NAME => match envelope.get::<EnvelopeFailed>() {
            Ok(failed) if failed.kind == FailureKind::Rejected => {
                here(format!("the call was not allowed: {}", failed.message))
            }
            Ok(failed) => here(format!("the tool gave no answer: {}", failed.message)),
            Err(why) => here(why.to_string()),
        },
        other => here(format!("the tool answered with `{other}`, which is no tool result")),
    }
}
