//! Pending asks: what a sender outside of any actor holds until the end of its ask comes.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::bus::Bus;
use crate::{Ask, Envelope, EnvelopeFailed, Id};

/// An ask that was sent and whose end is awaited.
pub struct Pending {
    pub(crate) bus: Bus,
    pub(crate) ask: Id,
    /// Until it has said so.
    pub(crate) journaled: Option<oneshot::Receiver<()>>,
    pub(crate) end: oneshot::Receiver<Arc<Envelope>>,
}

impl Pending {
    /// The id of the ask.
    pub fn ask(&self) -> Id {
        self.ask
    }

    /// Returns when the ask is in the journal.
    ///
    /// # Errors
    /// When the runtime stopped before.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub async fn journaled(&mut self) -> Result<(), Stopped> {
        if let Some(journaled) = &mut self.journaled {
            journaled.await.map_err(|_| self.bus.stopped())?;
            self.journaled = None;
        }
        Ok(())
    }

    /// The event that ended the ask.
    ///
    /// # Errors
    /// When the runtime stopped before.
    ///
    /// # Cancel safety
    /// May be dropped and called again, until it has given the end. After that there is none to wait for.
    pub async fn end(&mut self) -> Result<Arc<Envelope>, Stopped> {
        if self.end.is_terminated() {
            return Err(Stopped { reason: "the end of this ask was given before".to_owned() });
        }
        (&mut self.end).await.map_err(|_| self.bus.stopped())
    }
}

/// Reads the end of an `A`.
pub(crate) fn answer<A: Ask>(end: &Envelope) -> Result<A::Reply, AskError<A::Failure>> {
    fn owned<P: crate::Payload>(end: &Envelope) -> Result<P, String> {
        let mut json = Vec::new();
        end.body.write_wire(&mut json).and_then(|()| serde_json::from_slice(&json)).map_err(|e| e.to_string())
    }
    if end.body.is::<A::Reply>() {
        owned(end).map_err(AskError::Unreadable)
    } else if end.body.is::<EnvelopeFailed>() {
        let failed = owned::<EnvelopeFailed>(end).map_err(AskError::Unreadable)?;
        Err(AskError::Undone(failed.kind, failed.message))
    } else if end.body.is::<A::Failure>() {
        Err(AskError::Failed(owned(end).map_err(AskError::Unreadable)?))
    } else {
        Err(AskError::Unreadable(format!("it was answered by `{}`", end.body.name())))
    }
}

/// The runtime has stopped.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[error("the runtime has stopped: {reason}")]
pub struct Stopped {
    /// Why, for a person.
    pub reason: String,
}

/// An ask that was not answered as hoped.
#[derive(Debug, thiserror::Error)]
pub enum AskError<F> {
    /// The receiver answered with its failure.
    #[error("the ask failed")]
    Failed(F),
    /// The bus ended it.
    #[error("the ask was not answered ({0:?}): {1}")]
    Undone(crate::FailureKind, String),
    /// The answer does not have the shape that was promised.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    /// No answer will come.
    #[error(transparent)]
    Stopped(Stopped),
}
