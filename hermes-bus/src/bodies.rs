//! The bodies that run for an ask, kept with its envelope: who starts one says so at once, and the end of the ask
//! ends them all.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// What keeps a body running: dropped, it ends the body.
type Lease = oneshot::Sender<Infallible>;

/// What a body learns of the end of its ask: when this is ready, the ask has ended.
pub(crate) type Over = oneshot::Receiver<Infallible>;

/// The bodies of one ask. A lock of its own, never held across an await: nobody waits for the writer to start one.
#[derive(Debug, Default)]
pub(crate) struct Bodies(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// None has been started.
    #[default]
    None,
    /// At least one was.
    Some(Vec<Lease>),
    /// The ask has ended.
    Over,
}

impl Bodies {
    /// Starts one: it may run until what this gives is ready.
    pub(crate) fn start(&self) -> Over {
        let (lease, over) = oneshot::channel();
        match &mut *self.state() {
            State::Over => {}
            State::Some(leases) => leases.push(lease),
            state @ State::None => *state = State::Some(vec![lease]),
        }
        over
    }

    /// Whether one was started.
    pub(crate) fn are_there(&self) -> bool {
        matches!(&*self.state(), State::Some(_))
    }

    /// The ask has ended: they end, and none starts any more.
    pub(crate) fn end(&self) {
        let ended = std::mem::replace(&mut *self.state(), State::Over);
        // Outside of the lock: whoever is woken by it may look in here.
        drop(ended);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way, so a poisoned lock still guards whole data.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy of an envelope has no bodies: they belong to the one that was delivered.
impl Clone for Bodies {
    fn clone(&self) -> Self {
        Self::default()
    }
}
