//! The writer: the one task that numbers, journals and delivers, and that owns all of the bus's state.
//!
//! It drains its queue, stages everything it found (which may add ends: `undelivered`, `restarted`, …), appends
//! once, and only then delivers. So a mailbox's order is the journal's order, and nothing is delivered that is not
//! journaled. There is no lock and no await between staging and delivery.

use std::task::Poll;

use tokio::sync::{broadcast, mpsc, oneshot};

use crate::TraceId;
use crate::bus::Bus;
use crate::journal::Batch;
use crate::observer::Live;
use clock::Clock;
use delivery::{Done, Staged, Target};
use hold::Gates;
use id_hash::IdMap;
use open_ask::Trace;
use routes::Routes;
use sleeper::Sleeper;

pub(crate) use op::{ActorId, Asker, Begun, LastWords, Op, Registered, Registration, Timer};
pub use routes::{DirectoryId, Place, RegisterError};

mod alarms;
mod asks;
mod clock;
mod delivery;
mod ends;
mod hold;
mod id_hash;
mod op;
mod open_ask;
mod residents;
mod routes;
mod sleeper;

/// With more traces than these under way, one append can carry what several of them send.
const FEW: usize = 4;

/// The most operations that go into one append.
const MOST_AT_ONCE: usize = 1024;

/// The writer's state.
pub(crate) struct Writer {
    bus: Bus,
    queue: mpsc::UnboundedReceiver<Op>,
    /// What observers follow.
    live: broadcast::Sender<Live>,
    /// The number of the last record that was written.
    last: u64,
    traces: IdMap<TraceId, Trace>,
    routes: Routes,
    clock: Clock,
    gates: Gates,
    batch: Batch,
    staged: Vec<Staged>,
    /// Who waits for the batch to be journaled.
    done: Vec<Done>,
    /// The traces in which something ended in this batch.
    touched: Vec<TraceId>,
    quiet: Vec<oneshot::Sender<()>>,
    open_asks: usize,
}

impl Writer {
    pub(crate) fn new(bus: Bus, queue: mpsc::UnboundedReceiver<Op>, live: broadcast::Sender<Live>) -> Self {
        Self {
            bus,
            queue,
            live,
            last: 0,
            traces: IdMap::default(),
            routes: Routes::default(),
            clock: Clock::default(),
            gates: Gates::default(),
            batch: Batch::new(chrono::Utc::now()),
            staged: Vec::new(),
            done: Vec::new(),
            touched: Vec::new(),
            quiet: Vec::new(),
            open_asks: 0,
        }
    }

    /// Works until it is told to stop, or cannot write.
    pub(crate) async fn run(mut self) {
        let mut sleeper = Sleeper::default();
        let reason = loop {
            sleeper.wind(self.clock.next());
            let op = tokio::select! {
                op = self.queue.recv() => op,
                () = sleeper.rings() => None,
            };
            if self.traces.len() > FEW {
                others_first().await;
            }
            if let Some(reason) = self.work(op) {
                break reason;
            }
        };
        self.stop(&reason).await;
    }

    /// Stages what is queued and due, appends, delivers. Gives the reason to stop, if there is one.
    fn work(&mut self, first: Option<Op>) -> Option<String> {
        self.batch.reset(chrono::Utc::now());
        let mut stop = None;
        let mut next = first;
        for _ in 0..MOST_AT_ONCE {
            match next.take().or_else(|| self.queue.try_recv().ok()) {
                Some(Op::Stop { reason }) => {
                    stop = Some(reason.unwrap_or_else(|| "it was shut down".to_owned()));
                    break;
                }
                Some(op) => self.apply(op),
                None => break,
            }
        }
        self.ring();
        if let Err(error) = self.commit() {
            return Some(error);
        }
        stop
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Step { lines, timers, asker, done } => self.step(lines, timers, asker, done),
            Op::Begin { trace, ask, lines, then } => self.begin(trace, ask, lines, then),
            Op::Abort { trace, ask, grace } => self.abort(trace, ask, grace),
            Op::Register(registration) => self.register(*registration),
            Op::Bind { trace, directory } => {
                self.traces.entry(trace).or_default().directory = Some(directory)
            }
            Op::Restarted { actor, seq, reason } => self.restarted(actor, seq, &reason),
            Op::Lost { actor, reason, last_words } => self.lost(actor, &reason, &last_words),
            Op::RemoveDirectory { directory } => self.remove_directory(directory),
            Op::AddGate { id, holds, held } => self.gates.add(id, holds, held),
            Op::RemoveGate { id } => self.gates.remove(id),
            Op::Decide { gate, actor, envelope, rejected } => self.decide(gate, actor, &envelope, rejected),
            Op::Quiet { done } => self.quiet.push(done),
            Op::Stop { .. } => {}
        }
    }

    /// Says why it stops, then lets go of everything that is still queued, until nobody can queue more.
    async fn stop(mut self, reason: &str) {
        self.bus.mark_stopped(reason);
        if let Err(error) = self.bus.journal().flush() {
            tracing::error!(%error, "the journal could not be flushed");
        }
        self.queue.close();
        while self.queue.recv().await.is_some() {}
    }
}

/// However it ends (it may also be dropped with the whole tokio runtime): bodies are aborted, mailboxes closed, and
/// all waits end, because what they wait for is dropped.
impl Drop for Writer {
    fn drop(&mut self) {
        self.bus.mark_stopped("the task that writes the journal was lost");
        for ask in self.traces.values().flat_map(|trace| &trace.asks) {
            ask.end_bodies();
        }
        self.traces.clear();
        self.routes.close_all();
    }
}

/// Lets the tasks that are ready now queue what they have, so that one append carries it all. Not tokio's
/// `yield_now`, which asks the operating system for events first and costs as much as a whole hop.
async fn others_first() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
