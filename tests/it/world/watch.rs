//! Watchers: observers of the journal at every pace, and a gate that holds nothing and sees all that is delivered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_actors::Runtime;
use hermes_bus::journal::{Journal, Record};
use hermes_bus::{Gate, Observer};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::scenario::Watcher;

/// What an observer saw.
pub enum Saw {
    /// All, until the runtime stopped.
    All(Vec<Record>),
    /// The beginning.
    Some(Vec<Record>),
}

/// Observes as the scenario says. `over` tells when the runtime has stopped.
pub async fn observe(runtime: Runtime, watcher: Watcher, over: Arc<Notify>) -> Saw {
    if let Watcher::CatchesUp(after) = watcher {
        sleep(Duration::from_millis(after)).await;
    }
    let observer = runtime.observe_from(0);
    drop(runtime);
    match watcher {
        Watcher::KeepsUp | Watcher::CatchesUp(_) => Saw::All(read(observer, u64::MAX, 0).await),
        Watcher::Slow(pause) => Saw::All(read(observer, u64::MAX, pause).await),
        Watcher::Sleeps => {
            over.notified().await;
            Saw::All(read(observer, u64::MAX, 0).await)
        }
        Watcher::Leaves(after) => Saw::Some(read(observer, after, 0).await),
    }
}

/// Reads up to `most` records with a pause after each.
async fn read(mut observer: Observer, most: u64, pause: u64) -> Vec<Record> {
    let mut seen = Vec::new();
    while (seen.len() as u64) < most
        && let Some(record) = observer.next().await.unwrap()
    {
        seen.push(record);
        sleep(Duration::from_millis(pause)).await;
    }
    seen
}

/// What is wrong with the deliveries of a run.
pub type Wrong = Arc<Mutex<Vec<String>>>;

/// Sees every envelope that is about to be delivered to an actor. It must stand in the journal by then, and come after
/// what its receiver got before. Must be the first gate of the runtime.
pub fn deliveries(runtime: &Runtime, journal: Arc<dyn Journal>, wrong: &Wrong) -> Gate {
    let (last, wrong) = (Mutex::new(HashMap::new()), wrong.clone());
    runtime.gate(move |envelope| {
        let (seq, name) = (envelope.seq, envelope.body.name());
        if seq == 0 {
            return false;
        }
        if journal.last().unwrap() < seq {
            wrong.lock().unwrap().push(format!("{name} at {seq} was delivered before it was journaled"));
        }
        let inbox = (envelope.trace_id, envelope.receiver.clone());
        if let Some(before) = last.lock().unwrap().insert(inbox, seq)
            && before >= seq
        {
            wrong.lock().unwrap().push(format!("{name} at {seq} was delivered after {before}"));
        }
        false
    })
}
