//! Actors: what a stranger implements to receive envelopes, and what it may do with them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use crate::bus::{Bus, Step};
use crate::mailbox::panic_message;
use crate::writer::{ActorId, Begun, Op};
use crate::{Address, Ask, Body, Draft, Envelope, EnvelopeFailed, Event, FailureKind, TraceId};

/// An error from a handler: it means only "restart me".
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Something with a mailbox. Its handler decides and sends; what takes time runs outside, in [`Context::run`],
/// so that an actor is never busy for longer than a decision takes.
///
/// ```
/// use hermes_bus::*;
/// use serde::{Deserialize, Serialize};
/// use std::sync::Arc;
///
/// #[derive(Serialize, Deserialize)]
/// struct Add { amount: u32 }
/// impl Payload for Add {
///     const NAME: &'static str = "till.add";
///     const KIND: Kind = Kind::Command;
/// }
/// impl Ask for Add { type Reply = Added; type Failure = EnvelopeFailed; }
///
/// #[derive(Serialize, Deserialize)]
/// struct Added { total: u32 }
/// impl Payload for Added {
///     const NAME: &'static str = "till.added";
///     const KIND: Kind = Kind::Event;
/// }
/// impl Event for Added {}
///
/// #[derive(Default)]
/// struct Till { total: u32 }
/// impl Actor for Till {
///     fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
///         match envelope.get::<Add>() {
///             Ok(add) => {
///                 self.total += add.amount;
///                 context.reply(&envelope, Added { total: self.total });
///             }
///             Err(why) => context.unacceptable(&envelope, &why.to_string()),
///         }
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::for_tests();
/// runtime.register(Place::Runtime, Address::new("till")?, Till::default).await?;
/// let added = runtime.bus().ask(TraceId::fresh(), Address::new("till")?, Add { amount: 3 }).await?;
/// assert_eq!(added.total, 3);
/// # Ok(()) }
/// ```
pub trait Actor: Send + 'static {
    /// Takes one envelope from the mailbox. An ask must be ended exactly once, here or later.
    ///
    /// # Errors
    /// An error, like a panic, restarts the actor: asks that it had taken and that no body is running for are
    /// ended as `restarted`; its mailbox is kept.
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault>;

    /// A trace in which this actor took part is over; what is kept for it can go.
    /// Called only where [`Factory::REMEMBERS_TRACES`] says so.
    fn trace_closed(&mut self, _trace: TraceId) {}
}

impl<A: Actor + ?Sized> Actor for Box<A> {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        (**self).handle(envelope, context)
    }
    fn trace_closed(&mut self, trace: TraceId) {
        (**self).trace_closed(trace);
    }
}

/// Why an actor is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Birth {
    /// For the first time.
    First,
    /// After a fault, while it handled the envelope with this number.
    Again {
        /// The number up to which (inclusive) the former one had taken envelopes.
        seq: u64,
    },
}

/// Makes an actor, and makes it anew when it has died. Any `Fn() -> impl Actor` is one.
pub trait Factory: Send + 'static {
    /// What it makes.
    type Actor: Actor;
    /// Whether the actor keeps something per trace and wants [`Actor::trace_closed`].
    const REMEMBERS_TRACES: bool = false;
    /// Whether asks that a dead actor had taken are still answered by its successor (which rebuilds its state).
    const REBUILDS: bool = false;

    /// Makes it.
    ///
    /// # Errors
    /// The first time, [`Runtime::register`](crate::Runtime::register) fails with it; later it counts as another death.
    fn make(&mut self, birth: Birth, context: &Context) -> Result<Self::Actor, Fault>;

    /// The end for an ask that the actor has not ended when it is given up; `None`: `envelope.failed {restarted}`.
    fn lost(&self, _ask: &Envelope, _reason: &str) -> Option<Body> {
        None
    }
}

impl<A: Actor, F: Fn() -> A + Send + 'static> Factory for F {
    type Actor = A;
    fn make(&mut self, _birth: Birth, _context: &Context) -> Result<A, Fault> {
        Ok(self())
    }
}

/// What an actor can do: send in its own name, and run what takes time.
#[derive(Clone)]
pub struct Context {
    pub(crate) bus: Bus,
    pub(crate) actor: ActorId,
    pub(crate) address: Address,
}

impl Context {
    /// The address under which the actor was registered.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The bus, for sending in nobody's name (from a body).
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Sends all envelopes and timers of one decision as one step. The ends of asks come to the mailbox.
    pub fn send(&self, step: impl Into<Step>) {
        self.bus.submit(step.into(), Some(self.actor), None);
    }

    /// Ends `ask`.
    pub fn reply(&self, ask: &Envelope, event: impl Event) {
        self.send(Draft::ending(ask, event));
    }

    /// Ends an ask of which the actor understands neither name nor shape; ignores such an event.
    pub fn unacceptable(&self, envelope: &Envelope, why: &str) {
        if envelope.body.kind().is_ask() {
            self.reply(envelope, EnvelopeFailed::new(FailureKind::Unacceptable, why));
        } else {
            tracing::debug!(receiver = %self.address, name = envelope.body.name(), why, "an event was ignored");
        }
    }

    /// Asks another actor because of `cause`; the end comes to the mailbox.
    pub fn ask(&self, cause: &Envelope, receiver: Address, ask: impl Ask) {
        self.send(Draft::caused_by(cause, self.address.clone(), receiver, ask));
    }

    /// Runs `body` outside of the handler; the draft that it gives, if any, ends `ask`. When another ends the ask
    /// first, the body is dropped. When it panics, what `on_panic` makes of the panic's words ends the ask, and the
    /// actor lives.
    pub fn run<F, P>(&self, ask: &Arc<Envelope>, on_panic: P, body: F)
    where
        F: Future<Output: Into<Option<Draft>>> + Send + 'static,
        P: FnOnce(&str) -> Body + Send + 'static,
    {
        ask.bodies.start(ended(self.bus.clone(), ask.clone(), on_panic, body));
    }

    /// As [`Context::run`], for a body that begins only when `note` says so in the journal, and only if the ask is still
    /// open then: as [`Bus::begin`], without a way back.
    pub fn run_noted<F, P>(&self, ask: &Arc<Envelope>, note: Draft, on_panic: P, body: F)
    where
        F: Future<Output: Into<Option<Draft>>> + Send + 'static,
        P: FnOnce(&str) -> Body + Send + 'static,
    {
        let (of, body) = (ask.clone(), ended(self.bus.clone(), ask.clone(), on_panic, body));
        self.bus.begin_then(ask, note, Begun::Start(Box::new(move || of.bodies.start(body))));
    }

    /// Tells the receiver of the open ask that its answer is not wanted any more ([`AskAbort`](crate::AskAbort)).
    /// If it has not ended after `grace`, the bus ends it and all below it.
    pub fn abort(&self, trace: TraceId, ask: crate::Id, grace: Duration) {
        self.bus.post(Op::Abort { trace, ask, grace });
    }
}

/// A body that ends its ask.
async fn ended<F, P>(bus: Bus, held: Arc<Envelope>, on_panic: P, body: F)
where
    F: Future<Output: Into<Option<Draft>>>,
    P: FnOnce(&str) -> Body,
{
    let end = match caught(body).await {
        Ok(end) => end.into(),
        Err(words) => Some(Draft::ending_with(&held, on_panic(&words))),
    };
    // Before the asker reads the end it must be the only one that holds what it sent.
    let ask = Arc::downgrade(&held);
    drop(held);
    if let Some(end) = end {
        send_end(&bus, end, &ask);
    }
}

/// Sends the end of `ask`. One whose payload panics when it is written must not leave the ask open for ever.
fn send_end(bus: &Bus, end: Draft, ask: &Weak<Envelope>) {
    let sent = catch_unwind(AssertUnwindSafe(|| bus.send(end)));
    // While the ask is open, the writer holds its envelope.
    if let (Err(panic), Some(ask)) = (sent, ask.upgrade()) {
        let why = format!("its end cannot be written: {}", panic_message(panic.as_ref()));
        bus.send(Draft::ending(&ask, EnvelopeFailed::new(FailureKind::Unacceptable, why)));
    }
}

/// The output of `future`, or the words of its panic.
async fn caught<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = std::pin::pin!(Some(future));
    std::future::poll_fn(|cx| {
        let Some(running) = future.as_mut().as_pin_mut() else { return Poll::Pending };
        match catch_unwind(AssertUnwindSafe(|| running.poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => {
                // What it holds may panic when it is dropped, and its ask must be ended all the same.
                let _ = catch_unwind(AssertUnwindSafe(|| future.set(None)));
                Poll::Ready(Err(panic_message(panic.as_ref()).to_owned()))
            }
        }
    })
    .await
}
