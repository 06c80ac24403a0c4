//! The handle of a running task.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_bus::{Draft, Id, Observer, Pending, Runtime, Stopped, TraceId};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use crate::agent::Agent;
use crate::outcome::Outcome;
use crate::protocol::CancelTask;
use crate::rebuild::{Rebuilt, rebuild, records_after};
use crate::run_states::Entered;
use crate::text_stream::TextStream;
use crate::trace_stream::{Trace, TraceStream};

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
    /// Sees everything from the beginning on, for the first one who asks for a stream; those who ask later see again what
    /// is in the journal.
    first: Mutex<Option<Observer>>,
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
pub(crate) struct Running {
    pub pending: Pending,
    pub permit: OwnedSemaphorePermit,
    /// Keeps the states of the task where its tools find them.
    pub states: Entered,
    pub follower: Option<JoinHandle<()>>,
}

/// Where the trace of a task begins in the journal.
pub(crate) struct Beginning {
    pub trace: TraceId,
    /// The number of the record before.
    pub after: u64,
    /// One who sees everything from there on.
    pub first: Option<Observer>,
}

impl TaskHandle {
    pub(crate) fn new(
        agent: Agent,
        runtime: Runtime,
        Beginning { trace, after, first }: Beginning,
        running: Running,
    ) -> Self {
        let (start, first) = (running.pending.ask(), Mutex::new(first));
        Self { agent, runtime, trace, start, after, first, running: Some(running) }
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

    /// The envelopes of the task's trace, from its beginning, as they stand in the journal, and the interim ones
    /// between them as they happen. A slow reader hurts nobody and misses no record.
    pub fn envelopes(&self) -> TraceStream {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let observer = first.unwrap_or_else(|| self.runtime.observe_from(self.after));
        let journal = self.runtime.journal().clone();
        TraceStream::new(Trace { observer, journal, trace: self.trace, start: self.start })
    }

    /// What the task's model says, as it says it. A slow reader hurts nobody.
    ///
    /// ```
    /// use hermes_actors::{Agent, Runtime};
    /// use hermes_llm::{ScriptedModel, Step};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Step::text("床前明月光，疑是地上霜。")]);
    /// let agent = Agent::builder("poet").model(model).runtime(&Runtime::for_tests()).build()?;
    /// let handle = agent.start("Recite something by Li Bai.").await?;
    /// let mut text = handle.text();
    /// let mut said = String::new();
    /// while let Some(piece) = text.next().await {
    ///     said += &piece; // or print it
    /// }
    /// assert_eq!(handle.outcome().await.into_answer()?, said);
    /// # Ok(()) }
    /// ```
    pub fn text(&self) -> TextStream {
        TextStream::new(self.envelopes(), Agent::orchestrator().sibling("llm"))
    }

    /// Waits for the outcome.
    ///
    /// # Cancel safety
    /// When dropped, the task is cancelled lawfully and ends in the background.
    pub async fn outcome(mut self) -> Outcome {
        // Nobody can ask for a stream any more.
        drop(self.first.get_mut().map(Option::take));
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
            drop((running.permit, running.states, agent));
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
