//! The clock: one ordered map of what is due when, and (in the writer) one sleeper.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::ActorId;
use crate::{Address, Id, TraceId};

/// Further off than anybody waits.
const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);

/// Names an armed timer.
pub(crate) type TimerKey = (Instant, u64);

/// What happens to an ask when its time has come.
#[derive(Clone, Debug)]
pub(crate) enum Alarm {
    /// The actor is told.
    Tell { actor: ActorId, address: Address, words: String },
    /// The ask is ended as expired.
    Expire,
    /// The ask, which should have ended after an abort, is ended with all below it.
    Grace,
}

/// A timer: the ask it guards and what happens.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub trace: TraceId,
    pub ask: Id,
    pub alarm: Alarm,
}

impl Due {
    /// Whether it stands still while a gate holds the ask. The grace after an abort does not: who has given up on
    /// an ask does not wait for whoever holds it.
    pub(crate) fn waits_for_gates(&self) -> bool {
        !matches!(self.alarm, Alarm::Grace)
    }
}

#[derive(Default)]
pub(crate) struct Clock {
    due: BTreeMap<TimerKey, Due>,
    armed: u64,
}

impl Clock {
    /// Arms a timer that rings `after` from now. What is further off than a clock can say rings in 30 years.
    pub(crate) fn arm(&mut self, after: Duration, due: Due) -> TimerKey {
        let now = Instant::now();
        let at = now.checked_add(after).unwrap_or_else(|| now + FAR);
        self.armed += 1;
        let key = (at, self.armed);
        self.due.insert(key, due);
        key
    }

    pub(crate) fn disarm(&mut self, key: TimerKey) -> Option<Due> {
        self.due.remove(&key)
    }

    /// Takes out those of `keys` that stand still for a gate, with what is left of each.
    pub(crate) fn pause(&mut self, keys: &mut Vec<TimerKey>, now: Instant) -> Vec<(Duration, Due)> {
        let stops = |key: &TimerKey| self.due.get(key).is_some_and(Due::waits_for_gates);
        let stopped: Vec<TimerKey> = keys.iter().copied().filter(stops).collect();
        keys.retain(|key| !stopped.contains(key));
        let left = |key: TimerKey| Some((key.0.saturating_duration_since(now), self.due.remove(&key)?));
        stopped.into_iter().filter_map(left).collect()
    }

    /// When the next timer is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    /// Takes the next timer that is due at `now`.
    pub(crate) fn ring(&mut self, now: Instant) -> Option<Due> {
        let key = *self.due.keys().next()?;
        if key.0 <= now { self.due.remove(&key) } else { None }
    }
}
