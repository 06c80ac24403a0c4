//! Observers: cursors over the journal that can be slow or crash without hurting a run.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::journal::{Journal, JournalError, Record};

/// How many records are read at once when an observer catches up.
const PAGE: usize = 256;

/// Follows a journal record by record and misses none: when it falls behind, it catches up from the journal.
pub struct Observer {
    live: Receiver<Record>,
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
}

impl Observer {
    pub(crate) fn new(live: Receiver<Record>, journal: Arc<dyn Journal>, after: u64) -> Self {
        Self { live, journal, seen: after, page: VecDeque::new(), behind: Behind::Yes }
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
            if let Some(record) = self.page.pop_front() {
                self.seen = record.seq;
                return Ok(Some(record));
            }
            if self.behind == Behind::Yes {
                self.page = self.journal.read(self.seen, PAGE)?.into();
                if self.page.is_empty() {
                    self.behind = Behind::No;
                }
                continue;
            }
            match self.live.recv().await {
                Ok(record) if record.seq > self.seen => {
                    self.seen = record.seq;
                    return Ok(Some(record));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => self.behind = Behind::Yes,
                Err(RecvError::Closed) => return Ok(None),
            }
        }
    }
}
