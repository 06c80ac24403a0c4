//! Gates: interceptors that hold an envelope after it is journaled and before it is delivered.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::Envelope;
use crate::bus::Bus;
use crate::writer::{ActorId, Op};

/// Which envelopes a gate holds.
pub(crate) type Holds = Box<dyn Fn(&Envelope) -> bool + Send + Sync>;

/// Receives what it holds, in the order of the journal. While one envelope is held, all that come after it for the
/// same actor wait behind it, and the timers that guard a held ask stand still.
/// When the gate is dropped, what it holds is released and it holds nothing more.
pub struct Gate {
    pub(crate) held: mpsc::UnboundedReceiver<Held>,
    pub(crate) bus: Bus,
    pub(crate) id: u64,
}

impl Gate {
    /// The next envelope that is held; `None` when the runtime has stopped.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Option<Held> {
        self.held.recv().await
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.bus.post(Op::RemoveGate { id: self.id });
    }
}

/// A held envelope. Dropped without a decision, it is released.
pub struct Held {
    gate: u64,
    envelope: Arc<Envelope>,
    actor: ActorId,
    bus: Bus,
    decided: bool,
}

impl Held {
    /// Hands an envelope to the owner of a gate; false when there is none any more.
    pub(crate) fn offer(
        to: &mpsc::UnboundedSender<Held>,
        gate: u64,
        actor: ActorId,
        envelope: &Arc<Envelope>,
        bus: &Bus,
    ) -> bool {
        let held = Held { gate, envelope: envelope.clone(), actor, bus: bus.clone(), decided: false };
        match to.send(held) {
            Ok(()) => true,
            Err(mpsc::error::SendError(mut refused)) => {
                refused.decided = true;
                false
            }
        }
    }

    /// What is held.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Lets it go to its receiver, and what waited behind it.
    pub fn release(mut self) {
        self.decide(None);
    }

    /// Ends the held ask as `rejected`; its receiver never sees it. An event is released all the same: whoever
    /// waits for it must get it.
    pub fn reject(mut self, why: impl Into<String>) {
        self.decide(Some(why.into()));
    }

    fn decide(&mut self, rejected: Option<String>) {
        self.decided = true;
        let (gate, actor, envelope) = (self.gate, self.actor, self.envelope.clone());
        self.bus.post(Op::Decide { gate, actor, envelope, rejected });
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.decided {
            self.decide(None);
        }
    }
}
