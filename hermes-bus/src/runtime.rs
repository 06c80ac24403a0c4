//! The runtime: a value that owns a bus, its journal and its actors. Two live in one process without seeing
//! each other.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, oneshot};

use crate::actor::Factory;
use crate::bus::Bus;
use crate::gate::Gate;
use crate::journal::{Journal, JournalError, MemoryJournal, Record};
use crate::observer::Observer;
use crate::pending::Stopped;
use crate::rule::Rule;
use crate::test_log::TestLog;
use crate::writer::{DirectoryId, Op, Place, RegisterError, Writer};
use crate::{Address, Envelope, TraceId};

/// How many tasks run at once before the next ones wait.
pub const ADMITTED: usize = 1000;

/// How far an observer may fall behind before it catches up from the journal.
const OBSERVER_LAG: usize = 4096;

/// A bus, a journal and actors. Cheap to clone; all clones are one runtime.
///
/// Dropping the last clone stops it without waiting; [`Runtime::shutdown`] waits.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    bus: Bus,
    admission: Arc<Semaphore>,
}

/// Makes a [`Runtime`].
pub struct RuntimeBuilder {
    journal: Arc<dyn Journal>,
    rules: Vec<(String, Box<dyn Rule>)>,
    admitted: usize,
    tests: Option<TestLog>,
}

impl RuntimeBuilder {
    /// Adds a rule; rules judge in the order in which they are added. `name` stands in `meta.rule` of what it changes.
    #[must_use]
    pub fn rule(mut self, name: impl Into<String>, rule: impl Rule) -> Self {
        self.rules.push((name.into(), Box::new(rule)));
        self
    }

    /// How many tasks run at once ([`ADMITTED`] unless told).
    #[must_use]
    pub fn admit(mut self, tasks: usize) -> Self {
        self.admitted = tasks;
        self
    }

    /// Starts it. Must be called within a tokio runtime.
    pub fn start(self) -> Runtime {
        let (queue, ops) = mpsc::unbounded_channel();
        let (live, _) = broadcast::channel(OBSERVER_LAG);
        let bus = Bus::new(queue, self.journal, self.rules, live.downgrade(), self.tests);
        tokio::spawn(Writer::new(bus.clone(), ops, live).run());
        Runtime(Arc::new(Inner { bus, admission: Arc::new(Semaphore::new(self.admitted)) }))
    }
}

impl Runtime {
    /// A runtime that writes to `journal`.
    pub fn builder(journal: Arc<dyn Journal>) -> RuntimeBuilder {
        RuntimeBuilder { journal, rules: Vec::new(), admitted: ADMITTED, tests: None }
    }

    /// A runtime with a journal in memory that panics on drop when a law of the journal was broken. Must be called within
    /// a tokio runtime. Whoever brings a
    /// vocabulary adds its own laws ([`TestLog::add_check`]).
    pub fn for_tests() -> Self {
        Self::tests_builder(Arc::new(MemoryJournal::default())).start()
    }

    /// As [`Runtime::for_tests`], to be refined, and with any journal.
    pub fn tests_builder(journal: Arc<dyn Journal>) -> RuntimeBuilder {
        RuntimeBuilder { tests: Some(TestLog::default()), ..Self::builder(journal) }
    }

    /// The bus.
    pub fn bus(&self) -> &Bus {
        &self.0.bus
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        self.0.bus.journal()
    }

    /// Gives `address` in `place` to the actor that `factory` makes, and returns when it is made. An actor that dies
    /// is made anew up to three times a minute.
    ///
    /// # Errors
    /// When the address is taken or reserved, the factory fails, or the runtime has stopped.
    pub async fn register(
        &self,
        place: Place,
        address: Address,
        factory: impl Factory,
    ) -> Result<(), RegisterError> {
        self.0.bus.register(place, address, factory).await
    }

    /// A new set of addresses, empty.
    pub fn directory(&self) -> Directory {
        Directory { id: DirectoryId(self.0.bus.fresh_number()), bus: self.0.bus.clone() }
    }

    /// Lets the addresses of `directory` hold in `trace`.
    pub fn bind(&self, trace: TraceId, directory: &Directory) {
        self.0.bus.post(Op::Bind { trace, directory: directory.id });
    }

    /// Holds every envelope that `holds` picks, from now on, between journal and delivery.
    pub fn gate(&self, holds: impl Fn(&Envelope) -> bool + Send + Sync + 'static) -> Gate {
        let (to, held) = mpsc::unbounded_channel();
        let id = self.0.bus.fresh_number();
        self.0.bus.post(Op::AddGate { id, holds: Box::new(holds), held: to });
        Gate { held, bus: self.0.bus.clone(), id }
    }

    /// Follows the journal from the record after number `after` (0: from its beginning).
    pub fn observe_from(&self, after: u64) -> Observer {
        Observer::behind(self.bus().live(), self.journal().clone(), after)
    }

    /// Follows the journal from the next record on.
    pub fn observe(&self) -> Observer {
        // What was numbered up to here is not new. A journal that cannot say it will not be read either.
        let live = self.bus().live();
        let after = self.journal().last().unwrap_or_default();
        Observer::abreast(live, self.journal().clone(), after)
    }

    /// Waits for a place among the tasks that may run at once, and says so when it has to wait.
    ///
    /// # Errors
    /// When the runtime is shut down.
    pub async fn admit(&self) -> Result<OwnedSemaphorePermit, Stopped> {
        let admission = self.0.admission.clone();
        if admission.available_permits() == 0 && !admission.is_closed() {
            tracing::warn!("as many tasks run as are admitted at once; the next one waits");
        }
        admission.acquire_owned().await.map_err(|_| self.0.bus.stopped())
    }

    /// Admits no more tasks, waits up to `grace` for what is open to end, then stops: what is still open stays open
    /// in the journal. The journal is flushed.
    ///
    /// # Cancel safety
    /// When dropped, the runtime may be left running without admitting tasks; call it again.
    pub async fn shutdown(&self, grace: Duration) {
        self.0.admission.close();
        let (done, quiet) = oneshot::channel();
        self.0.bus.post(Op::Quiet { done });
        if tokio::time::timeout(grace, quiet).await.is_err() {
            tracing::warn!("the grace is over; what is still open stays open in the journal");
        }
        self.0.bus.post(Op::Stop { reason: None });
        self.0.bus.closed().await;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.bus.post(Op::Stop { reason: None });
        if let Some(tests) = self.bus.test_log()
            && !std::thread::panicking()
        {
            let broken = tests.broken(&**self.bus.journal());
            assert!(broken.is_empty(), "the journal is not lawful:\n{}", broken.join("\n"));
        }
    }
}

/// A set of addresses of its own: the actors of one agent. When it is dropped, its actors stop.
pub struct Directory {
    id: DirectoryId,
    bus: Bus,
}

impl Directory {
    /// As a place to register actors in.
    pub fn place(&self) -> Place {
        Place::Directory(self.id)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        self.bus.post(Op::RemoveDirectory { directory: self.id });
    }
}

/// All records of a journal, oldest first.
///
/// # Errors
/// When it could not be read.
pub fn read_all(journal: &dyn Journal) -> Result<Vec<Record>, JournalError> {
    let mut records: Vec<Record> = Vec::new();
    loop {
        let after = records.last().map_or(0, |record| record.seq);
        let more = journal.read(after, 4096)?;
        if more.is_empty() {
            return Ok(records);
        }
        records.extend(more);
    }
}
