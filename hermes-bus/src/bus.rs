//! The bus: the handle through which everything is sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot};

use crate::actor::{Context, Factory};
use crate::journal::{Journal, JournalError};
use crate::observer::Live;
use crate::pending::{AskError, Pending, Stopped, answer};
use crate::render::{Rendered, render};
use crate::restart::RestartBudget;
use crate::rule::{Rule, apply};
use crate::test_log::TestLog;
use crate::writer::{ActorId, Asker, Begun, Op, Place, RegisterError, Registered, Registration, Timer};
use crate::{Address, Ask, Draft, Envelope, Id, TraceId, mailbox};

/// How long [`Bus::ask`] waits.
pub const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// The envelopes and timers of one decision: journaled together, then delivered, in this order.
#[derive(Debug, Default)]
pub struct Step {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) timers: Vec<Timer>,
}

impl Step {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an envelope.
    pub fn push(&mut self, draft: Draft) {
        self.drafts.push(draft);
    }

    /// Arms a timer: unless the open ask `guards` has ended by then, the sender gets
    /// [`TimerFired`](crate::TimerFired) with these words after this time.
    pub fn arm(&mut self, trace: TraceId, guards: Id, words: impl Into<String>, after: Duration) {
        self.timers.push(Timer { trace, guards, words: words.into(), after });
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty() && self.timers.is_empty()
    }
}

impl From<Draft> for Step {
    fn from(draft: Draft) -> Self {
        Self { drafts: vec![draft], timers: Vec::new() }
    }
}

impl From<Vec<Draft>> for Step {
    fn from(drafts: Vec<Draft>) -> Self {
        Self { drafts, timers: Vec::new() }
    }
}

/// Sends envelopes. Cheap to clone; all clones are one bus.
///
/// Sending returns before the step is journaled. Nothing is delivered that is not journaled, and a failed append
/// stops the runtime: from then on what is sent goes nowhere and every wait ends.
#[derive(Clone)]
pub struct Bus(Arc<Shared>);

pub(crate) struct Shared {
    queue: mpsc::UnboundedSender<Op>,
    journal: Arc<dyn Journal>,
    rules: Vec<(String, Box<dyn Rule>)>,
    /// Weak, so that observers see the end when the writer has stopped.
    live: broadcast::WeakSender<Live>,
    stopped: OnceLock<String>,
    numbers: AtomicU64,
    tests: Option<TestLog>,
}

impl Bus {
    pub(crate) fn new(
        queue: mpsc::UnboundedSender<Op>,
        journal: Arc<dyn Journal>,
        rules: Vec<(String, Box<dyn Rule>)>,
        live: broadcast::WeakSender<Live>,
        tests: Option<TestLog>,
    ) -> Self {
        let (stopped, numbers) = (OnceLock::new(), AtomicU64::new(1));
        Self(Arc::new(Shared { queue, journal, rules, live, stopped, numbers, tests }))
    }

    /// Sends in nobody's name: asks sent so have no one who waits for their end.
    pub fn send(&self, step: impl Into<Step>) {
        self.submit(step.into(), None, None);
    }

    /// Sends, and returns when the step is journaled.
    ///
    /// # Errors
    /// When the runtime has stopped.
    pub async fn commit(&self, step: impl Into<Step>) -> Result<(), Stopped> {
        let (done, journaled) = oneshot::channel();
        self.submit(step.into(), None, Some(done));
        journaled.await.map_err(|_| self.stopped())
    }

    /// Sends one ask whose end comes back here. It returns at once; await [`Pending::journaled`] to know that the
    /// ask is in the journal.
    pub fn request(&self, draft: Draft) -> Pending {
        let ((done, journaled), (waiter, end)) = (oneshot::channel(), oneshot::channel());
        let ask = draft.id;
        if let Ok(lines) = self.render(vec![draft]) {
            self.post(Op::Step {
                lines,
                timers: Vec::new(),
                asker: Asker::Waiter(Some(waiter)),
                done: Some(done),
            });
        }
        Pending { bus: self.clone(), ask, journaled: Some(journaled), end }
    }

    /// Asks from outside and waits up to [`ASK_TIMEOUT`] for the typed answer.
    ///
    /// # Errors
    /// What the receiver answered instead, what the bus answered for it, or that the runtime has stopped.
    ///
    /// # Cancel safety
    /// When dropped, the ask stays open until it is answered or expires; the answer goes nowhere.
    pub async fn ask<A: Ask>(
        &self,
        trace: TraceId,
        receiver: Address,
        ask: A,
    ) -> Result<A::Reply, AskError<A::Failure>> {
        let draft = Draft::from_user(trace, receiver, ask).expires_after(ASK_TIMEOUT);
        let end = self.request(draft).end().await.map_err(AskError::Stopped)?;
        answer::<A>(&end)
    }

    /// Writes the note that the body of the open ask begins, and marks the ask as begun.
    /// The body may begin only if this gives `true`: then the note is journaled and the ask was still open.
    pub async fn begin(&self, ask: &Envelope, note: Draft) -> bool {
        let (done, begun) = oneshot::channel();
        self.begin_then(ask, note, Begun::Tell(done));
        begun.await.unwrap_or(false)
    }

    /// As [`Bus::begin`]; what follows is done by the writer, without a way back.
    pub(crate) fn begin_then(&self, ask: &Envelope, note: Draft, then: Begun) {
        if let Ok(lines) = self.render(vec![note]) {
            self.post(Op::Begin { trace: ask.trace_id, ask: ask.id, lines, then });
        }
    }

    /// [`Runtime::register`](crate::Runtime::register).
    pub(crate) async fn register(
        &self,
        place: Place,
        address: Address,
        factory: impl Factory,
    ) -> Result<(), RegisterError> {
        let (done, registered) = oneshot::channel();
        self.enter(place, address.clone(), factory, Some(done))?;
        registered
            .await
            .unwrap_or_else(|_| Err(RegisterError::NotStarted(address, self.stopped().to_string())))
    }

    /// As [`Runtime::register`](crate::Runtime::register) where the address is known to be free (an orchestrator in a fresh scope): what is sent
    /// after this finds the actor. When the address is taken all the same, the new actor never gets anything.
    ///
    /// # Errors
    /// When the actor could not be started.
    pub fn place(&self, place: Place, address: Address, factory: impl Factory) -> Result<(), RegisterError> {
        self.enter(place, address, factory, None)
    }

    fn enter<F: Factory>(
        &self,
        place: Place,
        address: Address,
        factory: F,
        done: Option<Registered>,
    ) -> Result<(), RegisterError> {
        let actor = ActorId(self.fresh_number());
        let context = Context { bus: self.clone(), actor, address: address.clone() };
        let mailbox = mailbox::open(factory, context, RestartBudget::default())
            .map_err(|e| RegisterError::NotStarted(address.clone(), e.to_string()))?;
        let new =
            Registration { actor, place, address, mailbox, remembers_traces: F::REMEMBERS_TRACES, done };
        self.post(Op::Register(Box::new(new)));
        Ok(())
    }

    /// What a runtime for tests records; `None` in earnest.
    pub fn test_log(&self) -> Option<&TestLog> {
        self.0.tests.as_ref()
    }

    /// A number that this bus has not given before.
    pub(crate) fn fresh_number(&self) -> u64 {
        self.0.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The journal that everything is written to.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.0.journal
    }

    /// Whether anybody observes: else nobody would see an interim note, and it need not be made.
    pub fn is_observed(&self) -> bool {
        self.0.live.upgrade().is_some_and(|live| live.receiver_count() > 0)
    }

    /// What happens from now on.
    pub(crate) fn live(&self) -> broadcast::Receiver<Live> {
        match self.0.live.upgrade() {
            Some(live) => live.subscribe(),
            None => broadcast::channel(1).1,
        }
    }

    /// Why the runtime has stopped, if it has.
    pub fn stop_reason(&self) -> Option<&str> {
        self.0.stopped.get().map(String::as_str)
    }

    pub(crate) fn submit(&self, step: Step, actor: Option<ActorId>, done: Option<oneshot::Sender<()>>) {
        let asker = actor.map_or(Asker::Nobody, Asker::Actor);
        if let Ok(lines) = self.render(step.drafts) {
            self.post(Op::Step { lines, timers: step.timers, asker, done });
        }
    }

    /// Applies the rules and makes the JSON, outside of the writer. A blob that cannot be kept stops the runtime:
    /// to go on without it would be to deliver what is not journaled.
    fn render(&self, drafts: Vec<Draft>) -> Result<Vec<Rendered>, ()> {
        let mut lines = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let (draft, refused) = apply(&self.0.rules, draft);
            // The reason is known before the first wait ends because of it.
            lines.push(render(draft, refused, &*self.0.journal).map_err(|error| self.fail(&error))?);
        }
        Ok(lines)
    }

    pub(crate) fn post(&self, op: Op) {
        // It fails only when the writer has stopped: then every waiter has been dropped.
        let _ = self.0.queue.send(op);
    }

    /// Stops the runtime because of `error`.
    pub(crate) fn fail(&self, error: &JournalError) {
        self.mark_stopped(&error.to_string());
        self.post(Op::Stop { reason: Some(error.to_string()) });
    }

    /// Returns when the writer has stopped.
    pub(crate) async fn closed(&self) {
        self.0.queue.closed().await;
    }

    pub(crate) fn mark_stopped(&self, reason: &str) {
        let _ = self.0.stopped.set(reason.to_owned());
    }

    pub(crate) fn stopped(&self) -> Stopped {
        Stopped { reason: self.stop_reason().unwrap_or("it was shut down").to_owned() }
    }
}
