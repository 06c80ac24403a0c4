//! Alarms: the timers that guard open asks, and what happens when one rings.

use std::time::Duration;

use tokio::time::Instant;

use super::clock::{Alarm, Due};
use super::ends::end_draft;
use super::{ActorId, Asker, Target, Timer, Writer};
use crate::render::{Rendered, render};
use crate::{Address, AskAbort, Body, EnvelopeFailed, FailureKind, Id, TimerFired, TraceId};

impl Writer {
    /// Tells the receiver of an open ask that its answer is not wanted any more.
    pub(super) fn abort(&mut self, trace: TraceId, ask: Id, grace: Duration) {
        let Some(open) = self.traces.get(&trace).and_then(|t| t.ask(ask)) else { return };
        let (actor, mut draft) = (open.actor, end_draft(trace, open, Body::new(AskAbort { ask })));
        std::mem::swap(&mut draft.sender, &mut draft.receiver);
        draft.in_reply_to = None;
        self.push(Rendered::new(draft, None, None), false, false, Target::Actor(actor));
        self.guard(trace, ask, grace, Alarm::Grace);
    }

    pub(super) fn expire(&mut self, trace: TraceId, ask: Id, after: Duration) {
        self.guard(trace, ask, after, Alarm::Expire);
    }

    pub(super) fn arm(&mut self, timer: Timer, asker: &Asker) {
        let Asker::Actor(actor) = *asker else { return };
        let Some(address) = self.routes.resident(actor).map(|r| r.address.clone()) else { return };
        let alarm = Alarm::Tell { actor, address, words: timer.words };
        self.guard(timer.trace, timer.guards, timer.after, alarm);
    }

    fn guard(&mut self, trace: TraceId, ask: Id, after: Duration, alarm: Alarm) {
        let Some(open) = self.traces.get_mut(&trace).and_then(|t| t.ask_mut(ask)) else { return };
        let due = Due { trace, ask, alarm };
        match &mut open.paused {
            Some(paused) if due.waits_for_gates() => paused.push((after, due)),
            _ => open.timers.push(self.clock.arm(after, due)),
        }
    }

    /// Lets every timer ring that is due.
    pub(super) fn ring(&mut self) {
        if self.clock.next().is_none() {
            return;
        }
        let now = Instant::now();
        while let Some(Due { trace, ask, alarm }) = self.clock.ring(now) {
            let expired = |why: &str| EnvelopeFailed::new(FailureKind::Expired, why);
            match alarm {
                Alarm::Tell { actor, address, words } => self.tell(trace, ask, actor, address, words),
                Alarm::Expire => self.fail(trace, ask, expired("no answer in time")),
                Alarm::Grace => {
                    self.fail(trace, ask, expired("it was aborted and did not end within the grace"));
                }
            }
        }
    }

    fn tell(&mut self, trace: TraceId, ask: Id, actor: ActorId, address: Address, words: String) {
        let Some(open) = self.traces.get(&trace).and_then(|t| t.ask(ask)) else { return };
        let body = Body::new(TimerFired { guards: ask, timer: words });
        let mut draft = end_draft(trace, open, body);
        (draft.sender, draft.receiver, draft.in_reply_to) = (Address::clock(), address, None);
        match render(draft, None, &**self.bus.journal()) {
            Ok(rendered) => self.push(rendered, false, false, Target::Actor(actor)),
            Err(error) => self.bus.fail(&error),
        }
    }
}
