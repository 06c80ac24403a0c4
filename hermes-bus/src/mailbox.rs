//! Mailboxes: the one place where ractor is used.
//!
//! Ractor gives each actor a mailbox and a task. Supervision is ours, because a mailbox must outlive the actor that
//! reads it: the shell catches a fault, makes the actor anew in place, and goes on with the next envelope. So none
//! of ractor's handlers ever fails, and its names, groups and supervisors (process-global, and stopping with any
//! child) are not used.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ractor::{ActorProcessingErr, ActorRef};
use tokio::time::Instant;

use crate::actor::{Actor, Birth, Context, Factory, Fault};
use crate::restart::RestartBudget;
use crate::writer::{Op, RegisterError, Registered};
use crate::{Envelope, TraceId};

/// What a mailbox holds.
pub(crate) enum Mail {
    /// The first one: the actor has its address and can be made.
    Born(Option<Registered>),
    Envelope(Arc<Envelope>),
    TraceClosed(TraceId),
}

/// The sending side of a mailbox. Unbounded: what is admitted is bounded instead. It is closed when its last clone
/// goes: an actor that never came to its address, because the runtime stopped before, must not wait for ever.
#[derive(Clone)]
pub(crate) struct Mailbox(Arc<Reader>);

/// The actor that reads a mailbox.
struct Reader(ActorRef<Mail>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.stop(None);
    }
}

impl Mailbox {
    pub(crate) fn put(&self, mail: Mail) {
        // It fails only when the actor has stopped: the writer has ended its asks then.
        let _ = self.0.0.cast(mail);
    }

    /// Lets no more be read. What the handler is doing goes on to its end.
    pub(crate) fn close(&self) {
        self.0.0.stop(None);
    }
}

/// Opens a mailbox for the actor that `factory` will make.
pub(crate) fn open<F: Factory>(
    factory: F,
    context: Context,
    budget: RestartBudget,
) -> Result<Mailbox, Fault> {
    let resident = Resident { actor: None, factory: Some(factory), context, budget, taken: 0 };
    let (mailbox, _started) =
        ractor::ActorRuntime::spawn_instant(None, Shell(std::marker::PhantomData), resident)?;
    Ok(Mailbox(Arc::new(Reader(mailbox))))
}

struct Shell<F>(std::marker::PhantomData<fn() -> F>);

/// An actor, and what is needed to make it anew.
struct Resident<F: Factory> {
    actor: Option<F::Actor>,
    factory: Option<F>,
    context: Context,
    budget: RestartBudget,
    /// The greatest number that it has taken: an interim envelope has none.
    taken: u64,
}

impl<F: Factory> ractor::Actor for Shell<F> {
    type Msg = Mail;
    type State = Resident<F>;
    type Arguments = Resident<F>;

    async fn pre_start(
        &self,
        _: ActorRef<Mail>,
        new: Resident<F>,
    ) -> Result<Resident<F>, ActorProcessingErr> {
        Ok(new)
    }

    async fn handle(
        &self,
        myself: ActorRef<Mail>,
        mail: Mail,
        state: &mut Resident<F>,
    ) -> Result<(), ActorProcessingErr> {
        match mail {
            Mail::Born(done) => state.be_born(done, &myself),
            Mail::Envelope(envelope) => state.take(envelope, &myself),
            Mail::TraceClosed(trace) => state.forget(trace, &myself),
        }
        Ok(())
    }
}

impl<F: Factory> Resident<F> {
    fn be_born(&mut self, done: Option<Registered>, myself: &ActorRef<Mail>) {
        let made = self.make(Birth::First).map_err(|reason| {
            self.give_up(myself, &reason);
            RegisterError::NotStarted(self.context.address.clone(), reason)
        });
        let _ = done.map(|done| done.send(made));
    }

    fn take(&mut self, envelope: Arc<Envelope>, myself: &ActorRef<Mail>) {
        self.taken = self.taken.max(envelope.seq);
        let Some(actor) = &mut self.actor else { return };
        if let Err(reason) = guarded(|| actor.handle(envelope, &self.context)) {
            self.recover(reason, myself);
        }
    }

    fn forget(&mut self, trace: TraceId, myself: &ActorRef<Mail>) {
        let Some(actor) = &mut self.actor else { return };
        if let Err(reason) = caught(|| actor.trace_closed(trace)) {
            self.recover(reason, myself);
        }
    }

    /// Makes the actor anew until it lives or the budget is spent.
    fn recover(&mut self, mut reason: String, myself: &ActorRef<Mail>) {
        let seq = self.taken;
        while self.budget.allows(Instant::now()) {
            tracing::warn!(actor = %self.context.address, reason, "an actor died and is restarted");
            if !F::REBUILDS {
                let (actor, reason) = (self.context.actor, reason.clone());
                self.context.bus.post(Op::Restarted { actor, seq, reason });
            }
            match self.make(Birth::Again { seq }) {
                Ok(()) => return,
                Err(again) => reason = again,
            }
        }
        self.give_up(myself, &reason);
    }

    fn make(&mut self, birth: Birth) -> Result<(), String> {
        let Some(factory) = &mut self.factory else { return Ok(()) };
        let former = self.actor.take();
        // Dropping the former may panic as well.
        if let Err(reason) = caught(|| drop(former)) {
            tracing::warn!(reason, "an actor panicked in its drop");
        }
        self.actor = Some(guarded(|| factory.make(birth, &self.context))?);
        Ok(())
    }

    fn give_up(&mut self, myself: &ActorRef<Mail>, reason: &str) {
        tracing::error!(actor = %self.context.address, reason, "an actor cannot be made, or died too often: it is given up");
        if let Some(factory) = self.factory.take() {
            let (actor, reason) = (self.context.actor, reason.to_owned());
            let last_words = Box::new(move |ask: &Envelope, reason: &str| factory.lost(ask, reason));
            self.context.bus.post(Op::Lost { actor, reason, last_words });
        }
        myself.stop(None);
    }
}

/// Runs `work`; a panic becomes its reason.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(panic.as_ref()).to_owned())
}

/// The same where an error is as bad as a panic.
fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, String> {
    caught(work)?.map_err(|fault| fault.to_string())
}

/// The words of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "it panicked",
    }
}
