//! The envelopes of one trace as a stream.

use std::sync::Arc;

use hermes_bus::journal::{Entry, Journal, JournalError};
use hermes_bus::{Envelope, Id, Observer, TraceId};

/// The envelopes of one trace, in the order of the journal, until its task has finished.
pub struct TraceStream {
    observer: Observer,
    journal: Arc<dyn Journal>,
    trace: TraceId,
    start: Id,
    finished: Finished,
}

#[derive(PartialEq)]
enum Finished {
    Yes,
    No,
}

impl TraceStream {
    pub(crate) fn new(observer: Observer, journal: Arc<dyn Journal>, trace: TraceId, start: Id) -> Self {
        Self { observer, journal, trace, start, finished: Finished::No }
    }

    /// The next envelope; `None` after the outcome, or when the runtime has stopped.
    ///
    /// # Errors
    /// When the journal cannot be read.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Result<Option<Envelope>, JournalError> {
        while self.finished == Finished::No {
            let Some(record) = self.observer.next().await? else { return Ok(None) };
            let broken = |source| JournalError::Entry { location: self.journal.location(), source };
            let entry = Entry::parse(&record).map_err(broken)?;
            if entry.trace_id != self.trace {
                continue;
            }
            if entry.in_reply_to == Some(self.start) && !entry.late {
                self.finished = Finished::Yes;
            }
            return entry.envelope(&*self.journal).map(Some);
        }
        Ok(None)
    }
}
