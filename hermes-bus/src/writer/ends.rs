//! Ends: each open ask gets one, after what is open below it; whoever asked gets it.

use super::open_ask::{OpenAsk, Trace};
use super::{ActorId, Asker, Place, Target, Writer};
use crate::render::{Rendered, render};
use crate::{Address, Body, Draft, EnvelopeFailed, FailureKind, Id, TraceId};

impl Writer {
    /// An end: what is still open below the ask is ended first; a second end is late and goes nowhere.
    pub(super) fn stage_end(&mut self, rendered: Rendered, ask: Id, sender: &Asker) {
        let (trace, closes) = (rendered.envelope.trace_id, rendered.closes);
        let closing = if let (true, Asker::Actor(actor)) = (closes, sender) { Some(*actor) } else { None };
        if let Some(actor) = closing {
            let why = EnvelopeFailed::new(FailureKind::Undelivered, "its receiver has finished");
            self.end_received(actor, &why, |open| open.id != ask);
        }
        self.end_below(trace, ask);
        self.end(trace, ask, rendered);
        if let Some(actor) = closing {
            self.retire(actor);
        }
    }

    /// Writes `rendered` as the end of `ask` and delivers it to whoever asked.
    fn end(&mut self, trace: TraceId, ask: Id, rendered: Rendered) {
        let Some(open) = self.traces.get_mut(&trace).and_then(|t| t.take(ask)) else {
            return self.push(rendered, true, false, Target::Nobody);
        };
        self.open_asks -= 1;
        open.end_bodies();
        for key in open.timers {
            self.clock.disarm(key);
        }
        let target = match open.asker {
            Asker::Actor(actor) => Target::Actor(actor),
            Asker::Waiter(Some(waiter)) => Target::Waiter(waiter),
            Asker::Waiter(None) | Asker::Nobody => Target::Nobody,
        };
        self.push(rendered, false, open.begun, target);
        self.touch(trace);
    }

    /// Ends an open ask in the name of its receiver.
    pub(super) fn fail(&mut self, trace: TraceId, ask: Id, failed: EnvelopeFailed) {
        self.end_with(trace, ask, Body::new(failed));
    }

    pub(super) fn end_with(&mut self, trace: TraceId, ask: Id, body: Body) {
        self.end_below(trace, ask);
        let Some(open) = self.traces.get(&trace).and_then(|t| t.ask(ask)) else { return };
        let (actor, draft) = (open.actor, end_draft(trace, open, body));
        match render(draft, None, &**self.bus.journal()) {
            Ok(rendered) => self.end(trace, ask, rendered),
            Err(error) => self.bus.fail(&error),
        }
        self.retire_without_asks(trace, actor);
    }

    /// A task whose ask has ended without it must not go on.
    fn retire_without_asks(&mut self, trace: TraceId, actor: ActorId) {
        let of_this_trace = self.routes.resident(actor).is_some_and(|r| r.place == Place::Trace(trace));
        let idle = |t: &Trace| t.asks.iter().all(|a| a.actor != actor);
        if of_this_trace && self.traces.get(&trace).is_some_and(idle) {
            self.retire(actor);
        }
    }

    /// Ends what is open below `ask`, deepest first. A rebuild must know what was delivered: only what no actor can
    /// have seen ends as undelivered.
    fn end_below(&mut self, trace: TraceId, ask: Id) {
        let below = self.traces.get(&trace).map(|t| t.below(ask)).unwrap_or_default();
        for id in below {
            let open = self.traces.get(&trace).and_then(|t| t.ask(id));
            let unseen = open.is_some_and(|open| open.envelope.is_none() || open.paused.is_some());
            let kind = if unseen { FailureKind::Undelivered } else { FailureKind::Expired };
            self.fail(trace, id, EnvelopeFailed::new(kind, "what it was asked for has ended"));
        }
    }

    /// Ends the open asks that `actor` has and that `which` picks.
    pub(super) fn end_received(
        &mut self,
        actor: ActorId,
        failed: &EnvelopeFailed,
        which: impl Fn(&OpenAsk) -> bool,
    ) {
        for (trace, id) in self.received(actor, which) {
            self.fail(trace, id, failed.clone());
        }
    }

    /// The open asks that `actor` has and that `which` picks, in the order of the journal.
    pub(super) fn received(&self, actor: ActorId, which: impl Fn(&OpenAsk) -> bool) -> Vec<(TraceId, Id)> {
        let picked = |(trace, t): (&TraceId, &Trace)| -> Vec<(u64, TraceId, Id)> {
            let asks = t.asks.iter().filter(|a| a.actor == actor && which(a));
            asks.map(|a| (a.seq(), *trace, a.id)).collect()
        };
        let mut found = match self.routes.resident(actor).map(|r| r.place) {
            Some(Place::Trace(trace)) => self.traces.get_key_value(&trace).map(picked).unwrap_or_default(),
            _ => self.traces.iter().flat_map(picked).collect(),
        };
        found.sort_by_key(|(seq, ..)| *seq);
        found.into_iter().map(|(_, trace, id)| (trace, id)).collect()
    }
}

/// An envelope to the asker in the name of the receiver, caused by the ask and ending it.
pub(super) fn end_draft(trace: TraceId, open: &OpenAsk, body: Body) -> Draft {
    // The outcome of a task from outside is written to `final`, whoever writes it.
    let task_from_outside = open.sender == Address::user() && body.name() == "task.finished";
    let receiver = if task_from_outside { Address::finally() } else { open.sender.clone() };
    Draft {
        id: Id::fresh(),
        trace_id: trace,
        sender: open.receiver.clone(),
        receiver,
        parent_id: Some(open.id),
        in_reply_to: Some(open.id),
        meta: open.meta.clone(),
        body,
        below: None,
        closes: false,
        expires_after: None,
    }
}
