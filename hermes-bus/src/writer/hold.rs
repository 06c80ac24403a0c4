//! Holds: what gates hold back, whose turn comes when they let go, and the timers that stand still meanwhile.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{ActorId, Writer};
use crate::bus::Bus;
use crate::gate::{Held, Holds};
use crate::mailbox::{Mail, caught};
use crate::{Envelope, EnvelopeFailed, FailureKind, Id, TraceId};

/// The gates of a runtime, oldest first.
#[derive(Default)]
pub(crate) struct Gates(Vec<(u64, Holds, mpsc::UnboundedSender<Held>)>);

impl Gates {
    pub(crate) fn add(&mut self, id: u64, holds: Holds, held: mpsc::UnboundedSender<Held>) {
        self.0.push((id, holds, held));
        self.0.sort_by_key(|(id, ..)| *id);
    }

    /// Forgets a gate. What its owner had not taken yet is dropped with it, which releases it.
    pub(crate) fn remove(&mut self, id: u64) {
        self.0.retain(|(known, ..)| *known != id);
    }

    /// Offers an envelope to the gates that come after the one with the number `after`; gives the one that holds it.
    pub(crate) fn hold(
        &self,
        after: u64,
        actor: ActorId,
        envelope: &Arc<Envelope>,
        bus: &Bus,
    ) -> Option<u64> {
        let holding = self.0.iter().find(|(gate, holds, to)| {
            // A predicate that panics cannot be asked: then whoever watches the gate decides.
            let wanted = *gate > after && caught(|| holds(envelope)).unwrap_or(true);
            wanted && Held::offer(to, *gate, actor, envelope, bus)
        });
        holding.map(|(gate, ..)| *gate)
    }
}

impl Writer {
    /// The gate that holds the first of the actor's held envelopes has decided about it.
    pub(super) fn decide(
        &mut self,
        gate: u64,
        actor: ActorId,
        envelope: &Envelope,
        rejected: Option<String>,
    ) {
        let Some(resident) = self.routes.resident(actor) else { return };
        if resident.held_by != gate || resident.held.front().is_none_or(|first| first.id != envelope.id) {
            return;
        }
        if let Some(why) = rejected
            && envelope.body.kind().is_ask()
        {
            self.fail(envelope.trace_id, envelope.id, EnvelopeFailed::new(FailureKind::Rejected, why));
        }
        self.release(gate, actor);
    }

    /// Delivers what is held for the actor, up to the next envelope that a gate holds. About the first one, the gates
    /// up to `passed` have decided.
    fn release(&mut self, mut passed: u64, actor: ActorId) {
        while let Some(first) = self.routes.resident(actor).and_then(|resident| resident.held.front()) {
            let first = first.clone();
            let held_by =
                if self.has_ended(&first) { None } else { self.gates.hold(passed, actor, &first, &self.bus) };
            let Some(resident) = self.routes.resident_mut(actor) else { return };
            if let Some(gate) = held_by {
                resident.held_by = gate;
                return;
            }
            resident.held.pop_front();
            self.pass(actor, first);
            passed = 0;
        }
    }

    /// Into the mailbox, unless it is an ask that has ended meanwhile.
    fn pass(&mut self, actor: ActorId, envelope: Arc<Envelope>) {
        if self.has_ended(&envelope) {
            return;
        }
        self.resume(envelope.trace_id, envelope.id);
        if let Some(resident) = self.routes.resident(actor) {
            resident.mailbox.put(Mail::Envelope(envelope));
        }
    }

    fn has_ended(&self, envelope: &Envelope) -> bool {
        let open = |trace: &super::Trace| trace.ask(envelope.id).is_some();
        envelope.body.kind().is_ask() && !self.traces.get(&envelope.trace_id).is_some_and(open)
    }

    /// Stops the timers that guard a held ask.
    pub(super) fn pause(&mut self, trace: TraceId, ask: Id) {
        if let Some(ask) = self.traces.get_mut(&trace).and_then(|t| t.ask_mut(ask)) {
            ask.paused = Some(self.clock.pause(&mut ask.timers, Instant::now()));
        }
    }

    /// Starts them again with what was left.
    fn resume(&mut self, trace: TraceId, ask: Id) {
        if let Some(ask) = self.traces.get_mut(&trace).and_then(|t| t.ask_mut(ask)) {
            let paused = ask.paused.take().unwrap_or_default();
            ask.timers.extend(paused.into_iter().map(|(left, due)| self.clock.arm(left, due)));
        }
    }
}
