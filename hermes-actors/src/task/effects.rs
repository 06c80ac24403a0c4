//! Effects: what a task wants done, as data.

use std::time::Duration;

use hermes_bus::{Draft, Id};

/// What one decision asks for. All of it is one step.
#[derive(Debug, Default)]
pub struct Effects {
    /// Envelopes to send, in this order.
    pub sends: Vec<Draft>,
    /// Timers to arm, each for an ask among `sends` or for the task itself.
    pub timers: Vec<Arm>,
    /// Open asks whose receivers alone can end them and should do so soon.
    pub aborts: Vec<Id>,
}

/// A timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// The ask that it guards.
    pub guards: Id,
    /// `timeout` or `deadline`.
    pub words: &'static str,
    /// When it fires.
    pub after: Duration,
}

impl Effects {
    pub(super) fn send(&mut self, draft: Draft) {
        self.sends.push(draft);
    }

    pub(super) fn arm(&mut self, guards: Id, words: &'static str, after: Duration) {
        self.timers.push(Arm { guards, words, after });
    }

    pub(super) fn abort(&mut self, ask: Id) {
        self.aborts.push(ask);
    }
}
