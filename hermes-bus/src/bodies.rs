//! The bodies that run for an ask, kept with its envelope: who starts one says so at once, and the end of the ask
//! ends them all.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::mailbox::caught;

/// The bodies of one ask. A lock of its own, never held across an await: nobody waits for the writer to start one.
#[derive(Debug, Default)]
pub(crate) struct Bodies(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// None has been started.
    #[default]
    None,
    /// At least one was.
    Some(Vec<AbortHandle>),
    /// The ask has ended.
    Over,
}

impl Bodies {
    /// Starts one; it is dropped when the ask ends before it. When the ask has ended, it never runs.
    pub(crate) fn start(&self, body: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.state();
        if matches!(*state, State::Over) {
            // Outside of the lock: what it holds may look in here when it is dropped, or panic.
            drop(state);
            let _ = caught(|| drop(body));
            return;
        }
        let handle = tokio::spawn(body).abort_handle();
        match &mut *state {
            State::Some(handles) => handles.push(handle),
            state => *state = State::Some(vec![handle]),
        }
    }

    /// Whether one was started.
    pub(crate) fn are_there(&self) -> bool {
        matches!(&*self.state(), State::Some(_))
    }

    /// The ask has ended: they end, and none starts any more.
    pub(crate) fn end(&self) {
        let ended = std::mem::replace(&mut *self.state(), State::Over);
        if let State::Some(handles) = ended {
            handles.iter().for_each(AbortHandle::abort);
        }
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
