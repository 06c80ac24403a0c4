//! The envelopes of one trace as a stream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{BoxStream, Stream, StreamExt, try_unfold};
use hermes_bus::journal::{Entry, Journal, JournalError, Record};
use hermes_bus::{Envelope, Id, Observer, Sight, TraceId};

/// The envelopes of one trace, in the order of the journal, until its task has finished. Interim ones (`llm.delta`,
/// `tool.progress`) come in their places, with the number 0; a reader that falls far behind may miss those, and no other.
///
/// It is a [`Stream`] too.
pub struct TraceStream(BoxStream<'static, Result<Envelope, JournalError>>);

/// What of a trace was seen.
pub(crate) struct Trace {
    pub observer: Observer,
    pub journal: Arc<dyn Journal>,
    pub trace: TraceId,
    pub start: Id,
}

impl TraceStream {
    pub(crate) fn new(trace: Trace) -> Self {
        let next = async |trace: Option<Trace>| {
            let Some(mut trace) = trace else { return Ok(None) };
            let Some(envelope) = trace.next().await? else { return Ok(None) };
            let is_over = envelope.in_reply_to == Some(trace.start);
            Ok(Some((envelope, if is_over { None } else { Some(trace) })))
        };
        Self(try_unfold(Some(trace), next).boxed())
    }

    /// The next envelope; `None` after the outcome, or when the runtime has stopped.
    ///
    /// # Errors
    /// When the journal cannot be read.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Result<Option<Envelope>, JournalError> {
        self.0.next().await.transpose()
    }
}

impl Stream for TraceStream {
    type Item = Result<Envelope, JournalError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl Trace {
    async fn next(&mut self) -> Result<Option<Envelope>, JournalError> {
        loop {
            match self.observer.next_sight().await? {
                None => return Ok(None),
                Some(Sight::Interim(envelope)) if envelope.trace_id == self.trace => {
                    return Ok(Some((*envelope).clone()));
                }
                Some(Sight::Interim(_)) => {}
                Some(Sight::Record(record)) => {
                    if let Some(envelope) = self.read(&record)? {
                        return Ok(Some(envelope));
                    }
                }
            }
        }
    }

    fn read(&self, record: &Record) -> Result<Option<Envelope>, JournalError> {
        let broken = |source| JournalError::Entry { location: self.journal.location(), source };
        let entry = Entry::parse(record).map_err(broken)?;
        if entry.trace_id != self.trace {
            return Ok(None);
        }
        entry.envelope(&*self.journal).map(Some)
    }
}
