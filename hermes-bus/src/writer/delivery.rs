//! Delivery: how a batch goes into the journal, and then into mailboxes, behind gates, and to those who wait.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{ActorId, Begun, Writer};
use crate::Envelope;
use crate::journal::Line;
use crate::mailbox::Mail;
use crate::observer::Live;
use crate::render::Rendered;

/// Something to deliver once the batch is in the journal.
pub(super) enum Target {
    Nobody,
    Actor(ActorId),
    Waiter(oneshot::Sender<Arc<Envelope>>),
}

/// An envelope on its way through one batch. Interim ones have no line in it.
pub(super) struct Staged {
    envelope: Arc<Envelope>,
    journaled: bool,
    target: Target,
}

/// Someone who waits for the batch to be journaled.
pub(super) enum Done {
    Journaled(oneshot::Sender<()>),
    Begun(Begun),
}

impl Done {
    fn tell(self) {
        match self {
            // Nobody may be waiting any more.
            Self::Journaled(done) => drop(done.send(())),
            Self::Begun(Begun::Tell(done)) => drop(done.send(true)),
            Self::Begun(Begun::Start(start)) => start(),
        }
    }
}

impl Writer {
    /// Appends what is staged, then delivers it.
    pub(super) fn commit(&mut self) -> Result<(), String> {
        self.append()?;
        let mut staged = std::mem::take(&mut self.staged);
        let (timestamp, mut journaled_before) = (self.batch.timestamp(), 0);
        let is_observed = self.live.receiver_count() > 0;
        // What was rendered is copied only when somebody sees it.
        let records = if is_observed { self.batch.records() } else { Vec::new() };
        for Staged { mut envelope, journaled, target } in staged.drain(..) {
            let seq = if journaled { self.batch.seq(journaled_before) } else { None }.unwrap_or(0);
            let record = records.get(journaled_before);
            journaled_before += usize::from(journaled);
            self.last = self.last.max(seq);
            // Nobody else has it yet, so nothing is copied.
            let numbered = Arc::make_mut(&mut envelope);
            (numbered.seq, numbered.timestamp) = (seq, timestamp);
            match record {
                _ if !is_observed => {}
                Some(record) if journaled => self.show(Live::Record(record.clone())),
                _ if !journaled => self.show(Live::Interim { after: self.last, envelope: envelope.clone() }),
                // A journal that keeps no lines has none to show.
                _ => {}
            }
            self.deliver(envelope, target);
        }
        self.staged = staged;
        self.done.drain(..).for_each(Done::tell);
        self.settle_touched();
        if self.open_asks == 0 {
            self.quiet.drain(..).for_each(|quiet| _ = quiet.send(()));
        }
        Ok(())
    }

    /// Puts the batch into the journal.
    fn append(&mut self) -> Result<(), String> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.bus.journal().append(&mut self.batch).map_err(|error| error.to_string())
    }

    /// Shows something to the observers.
    fn show(&self, shown: Live) {
        // It fails only when the last of them has just gone.
        let _ = self.live.send(shown);
    }

    fn deliver(&mut self, envelope: Arc<Envelope>, target: Target) {
        if envelope.body.kind().is_ask() {
            match self.traces.get_mut(&envelope.trace_id).and_then(|t| t.ask_mut(envelope.id)) {
                Some(ask) => ask.envelope = Some(envelope.clone()),
                // It ended in the batch that holds it: nothing may run for it.
                None => envelope.bodies.end(),
            }
        }
        match target {
            Target::Nobody => {}
            Target::Waiter(waiter) => {
                let _ = waiter.send(envelope);
            }
            Target::Actor(actor) => self.put(actor, envelope),
        }
    }

    /// Puts it into the actor's mailbox, or behind what a gate holds.
    fn put(&mut self, actor: ActorId, envelope: Arc<Envelope>) {
        let Some(resident) = self.routes.resident_mut(actor) else { return };
        if resident.held.is_empty() {
            match self.gates.hold(0, actor, &envelope, &self.bus) {
                Some(gate) => resident.held_by = gate,
                None => return resident.mailbox.put(Mail::Envelope(envelope)),
            }
        }
        let (trace, id) = (envelope.trace_id, envelope.id);
        resident.held.push_back(envelope);
        self.pause(trace, id);
    }

    /// Adds a line to the batch and its draft to what will be delivered.
    pub(super) fn push(&mut self, rendered: Rendered, late: bool, begun: bool, target: Target) {
        let journaled = rendered.tail.is_some();
        if let Some(tail) = rendered.tail {
            self.batch.push(Line { tail, late, begun });
        }
        self.staged.push(Staged { envelope: rendered.envelope, journaled, target });
    }
}
