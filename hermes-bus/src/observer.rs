//! Observers: cursors over the journal that can be slow or crash without hurting a run.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::Envelope;
use crate::journal::{Journal, JournalError, Record};

/// How many records are read at once when an observer catches up.
const PAGE: usize = 256;

/// What an observer sees.
#[derive(Debug, Clone)]
pub enum Sight {
    /// A record: none is ever missed.
    Record(Record),
    /// An interim envelope, which stands in no journal: one that falls behind may miss it.
    Interim(Arc<Envelope>),
}

/// What the writer shows to observers as it happens.
#[derive(Debug, Clone)]
pub(crate) enum Live {
    Record(Record),
    Interim {
        /// The number of the record before it.
        after: u64,
        envelope: Arc<Envelope>,
    },
}

/// Follows a journal record by record and misses none: when it falls behind, it catches up from the journal.
pub struct Observer {
    live: Receiver<Live>,
    journal: Arc<dyn Journal>,
    /// The number of the last record that was given out.
    seen: u64,
    /// Read from the journal, not yet given out.
    page: VecDeque<Record>,
    /// Whether there may be records in the journal that will not come live.
    behind: Behind,
}

#[derive(PartialEq)]
enum Behind {
    Yes,
    No,
    /// The runtime has stopped: what is left is in the journal.
    Over,
}

impl Observer {
    /// One that begins after the record `after` and has to catch up from there.
    pub(crate) fn behind(live: Receiver<Live>, journal: Arc<dyn Journal>, after: u64) -> Self {
        Self { live, journal, seen: after, page: VecDeque::new(), behind: Behind::Yes }
    }

    /// One to which everything after the record `last` comes live.
    pub(crate) fn abreast(live: Receiver<Live>, journal: Arc<dyn Journal>, last: u64) -> Self {
        Self { behind: Behind::No, ..Self::behind(live, journal, last) }
    }

    /// The next record; `None` when the runtime has stopped and all were given.
    ///
    /// # Errors
    /// When it has to catch up and the journal cannot be read.
    ///
    /// # Cancel safety
    /// No record is lost when it is dropped.
    pub async fn next(&mut self) -> Result<Option<Record>, JournalError> {
        loop {
            match self.next_sight().await? {
                Some(Sight::Record(record)) => return Ok(Some(record)),
                Some(Sight::Interim(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// As [`Observer::next`], with the interim envelopes (`llm.delta`, `tool.progress`, `ask.abort`) in their places
    /// between the records.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped.
    pub async fn next_sight(&mut self) -> Result<Option<Sight>, JournalError> {
        loop {
            if let Some(record) = self.page.pop_front() {
                self.seen = record.seq;
                return Ok(Some(Sight::Record(record)));
            }
            if self.behind != Behind::No {
                self.page = self.journal.read(self.seen, PAGE)?.into();
                match (self.page.is_empty(), &self.behind) {
                    (true, Behind::Over) => return Ok(None),
                    (true, _) => self.behind = Behind::No,
                    (false, _) => {}
                }
                continue;
            }
            match self.live.recv().await {
                Ok(Live::Record(record)) if record.seq == self.seen + 1 => {
                    self.seen = record.seq;
                    return Ok(Some(Sight::Record(record)));
                }
                // What came before a record that was given out already would come out of its place.
                Ok(Live::Interim { after, envelope }) if after >= self.seen => {
                    return Ok(Some(Sight::Interim(envelope)));
                }
                Ok(Live::Interim { .. }) => {}
                Ok(Live::Record(record)) if record.seq <= self.seen => {}
                // Another runtime writes to this journal as well: what it wrote stands between.
                Ok(Live::Record(_)) | Err(RecvError::Lagged(_)) => self.behind = Behind::Yes,
                Err(RecvError::Closed) => self.behind = Behind::Over,
            }
        }
    }
}
