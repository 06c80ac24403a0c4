//! The states of running tasks: what a task was given beside its agent's own, for the tools of all agents in its trace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_bus::TraceId;

use crate::tool::States;

/// The states by trace. One table for all actors of one hosted agent; its lock is never held across an await.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunStates(Arc<Mutex<HashMap<TraceId, States>>>);

/// Keeps the states of one trace in the table while it is held.
#[derive(Debug)]
pub(crate) struct Entered {
    table: RunStates,
    trace: TraceId,
}

impl RunStates {
    /// Sets what the tools of `trace` see, until the guard is dropped. Whoever runs the task holds it to its end.
    pub fn enter(&self, trace: TraceId, states: States) -> Entered {
        if !states.is_empty() {
            self.table().insert(trace, states);
        }
        Entered { table: self.clone(), trace }
    }

    /// What is set for `trace`.
    pub fn of(&self, trace: TraceId) -> Option<States> {
        self.table().get(&trace).cloned()
    }

    fn table(&self) -> MutexGuard<'_, HashMap<TraceId, States>> {
        // Nothing in here panics half-way, so a poisoned lock still guards whole data.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // A value whose own drop panics, or looks in here, finds the lock free.
        let states = self.table.table().remove(&self.trace);
        drop(states);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_its_states_while_it_is_entered() {
        let (table, trace) = (RunStates::default(), TraceId::fresh());
        let mut states = States::default();
        states.insert(7_u8);
        let entered = table.enter(trace, states);
        assert_eq!(table.of(trace).and_then(|states| states.get::<u8>()).as_deref(), Some(&7));
        assert!(table.of(TraceId::fresh()).is_none());
        drop(entered);
        assert!(table.of(trace).is_none());
    }
}
