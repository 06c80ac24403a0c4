//! Operations: what can be asked of the writer.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{DirectoryId, Place, RegisterError};
use crate::gate::{Held, Holds};
use crate::mailbox::Mailbox;
use crate::render::Rendered;
use crate::{Address, Body, Envelope, Id, TraceId};

/// Names a registered actor for as long as it is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ActorId(pub(crate) u64);

/// Who waits for the end of an ask.
pub(crate) enum Asker {
    Actor(ActorId),
    Waiter(Option<oneshot::Sender<Arc<Envelope>>>),
    Nobody,
}

/// A timer to arm together with a step.
#[derive(Debug)]
pub(crate) struct Timer {
    pub trace: TraceId,
    pub guards: Id,
    pub words: String,
    pub after: Duration,
}

/// What a lost actor leaves behind for an ask that it had taken.
pub(crate) type LastWords = Box<dyn Fn(&Envelope, &str) -> Option<Body> + Send>;

/// What can be asked of the writer.
pub(crate) enum Op {
    Step { lines: Vec<Rendered>, timers: Vec<Timer>, asker: Asker, done: Option<oneshot::Sender<()>> },
    Begin { trace: TraceId, ask: Id, lines: Vec<Rendered>, then: Begun },
    Abort { trace: TraceId, ask: Id, grace: Duration },
    Register(Box<Registration>),
    Bind { trace: TraceId, directory: DirectoryId },
    Restarted { actor: ActorId, seq: u64, reason: String },
    Lost { actor: ActorId, reason: String, last_words: LastWords },
    RemoveDirectory { directory: DirectoryId },
    AddGate { id: u64, holds: Holds, held: mpsc::UnboundedSender<Held> },
    RemoveGate { id: u64 },
    Decide { gate: u64, actor: ActorId, envelope: Arc<Envelope>, rejected: Option<String> },
    Quiet { done: oneshot::Sender<()> },
    Stop { reason: Option<String> },
}

/// What follows when it is in the journal that the body of an ask begins. Dropped when the ask has ended before.
pub(crate) enum Begun {
    Tell(oneshot::Sender<bool>),
    Start(Box<dyn FnOnce() + Send>),
}

/// Says whether an actor has its address and lives.
pub(crate) type Registered = oneshot::Sender<Result<(), RegisterError>>;

/// An actor that wants an address.
pub(crate) struct Registration {
    pub actor: ActorId,
    pub place: Place,
    pub address: Address,
    pub mailbox: Mailbox,
    pub remembers_traces: bool,
    pub done: Option<Registered>,
}
