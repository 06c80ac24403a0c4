//! The handle of a running task.

use std::time::Duration;

use hermes_bus::{Draft, Id, Observer, Pending, Runtime, Stopped, TraceId};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use crate::agent::Agent;
use crate::outcome::Outcome;
use crate::protocol::CancelTask;
use crate::rebuild::{Rebuilt, rebuild, records_after};
use crate::trace_stream::TraceStream;

/// How long an outcome waits for the printing of its flow. Observers never hold up a run; this is only good manners.
const FLOW_PATIENCE: Duration = Duration::from_millis(500);

/// A running task. Dropped before its outcome, it cancels the task lawfully; [`TaskHandle::detach`] lets it run.
pub struct TaskHandle {
    agent: Agent,
    runtime: Runtime,
    trace: TraceId,
    start: Id,
    /// The number after which the trace begins.
    after: u64,
    running: Option<Running>,
}

/// Cancels one task. Cheap to clone; does nothing when the task has finished.
#[derive(Clone)]
pub struct Canceller {
    runtime: Runtime,
    trace: TraceId,
    start: Id,
}

impl Canceller {
    /// Asks the task to end, as [`TaskHandle::cancel`].
    pub fn cancel(&self) {
        let cancel = Draft::from_user(self.trace, Agent::orchestrator(), CancelTask {});
        self.runtime.bus().send(cancel.with_parent(self.start).below(self.start));
    }
}

/// What is held until the task has finished.
struct Running {
    pending: Pending,
    permit: OwnedSemaphorePermit,
    follower: Option<JoinHandle<()>>,
}

impl TaskHandle {
    pub(crate) fn new(
        agent: Agent,
        runtime: Runtime,
        trace: TraceId,
        after: u64,
        pending: Pending,
        permit: OwnedSemaphorePermit,
        follower: Option<JoinHandle<()>>,
    ) -> Self {
        let start = pending.ask();
        Self { agent, runtime, trace, start, after, running: Some(Running { pending, permit, follower }) }
    }

    /// Returns when the task is in the journal.
    pub(crate) async fn journaled(&mut self) -> Result<(), Stopped> {
        match &mut self.running {
            Some(running) => running.pending.journaled().await,
            None => Ok(()),
        }
    }

    /// The trace of the task.
    pub fn trace_id(&self) -> TraceId {
        self.trace
    }

    /// Asks the task to end; [`TaskHandle::outcome`] tells when it has.
    pub fn cancel(&self) {
        self.canceller().cancel();
    }

    /// What can cancel the task while somebody waits for its outcome: on Ctrl-C, say.
    pub fn canceller(&self) -> Canceller {
        Canceller { runtime: self.runtime.clone(), trace: self.trace, start: self.start }
    }

    /// The envelopes of the task's trace, from its beginning, as they stand in the journal. A slow reader hurts
    /// nobody and misses nothing.
    pub fn envelopes(&self) -> TraceStream {
        let observer: Observer = self.runtime.observe_from(self.after);
        TraceStream::new(observer, self.runtime.journal().clone(), self.trace, self.start)
    }

    /// Waits for the outcome.
    ///
    /// # Cancel safety
    /// When dropped, the task is cancelled lawfully and ends in the background.
    pub async fn outcome(mut self) -> Outcome {
        let Some(running) = &mut self.running else {
            return Outcome::failed("journal", "the task has no outcome".to_owned(), self.trace);
        };
        let end = running.pending.end().await;
        let running = self.running.take();
        if let Some(follower) = running.and_then(|r| r.follower) {
            let _ = tokio::time::timeout(FLOW_PATIENCE, follower).await;
        }
        match end {
            Ok(end) => Outcome::of(&end),
            Err(stopped) => self.broken_off(&stopped),
        }
    }

    /// The runtime has stopped: what is in the journal by then is what the task gathered and used.
    fn broken_off(&self, stopped: &Stopped) -> Outcome {
        let outcome = Outcome::failed("journal", stopped.to_string(), self.trace);
        let journal = &**self.runtime.journal();
        let records = records_after(journal, self.after, self.trace).unwrap_or_default();
        match rebuild(journal, &records, self.start) {
            Ok(Rebuilt { task, .. }) => {
                Outcome { gathered: task.gathered().to_vec(), stats: task.stats().clone(), ..outcome }
            }
            Err(_) => outcome,
        }
    }

    /// Lets the task run on by itself.
    pub fn detach(mut self) {
        self.leave();
    }

    /// Keeps what must be held until the task has finished.
    fn leave(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let agent = self.agent.clone();
        tokio::spawn(async move {
            let _ = running.pending.end().await;
            drop((running.permit, agent));
        });
    }
}

impl Drop for TaskHandle {
    fn drop(&mut self) {
        // Outside of a runtime nothing runs any more that could be cancelled.
        if self.running.is_some() && tokio::runtime::Handle::try_current().is_ok() {
            self.cancel();
            self.leave();
        }
    }
}
