//! A journal that stands in for another and does something of its own when lines are appended.

use std::sync::Arc;

use bytes::Bytes;
use hermes_bus::journal::{Batch, BlobHash, Journal, JournalError, Record};

/// All is as in `inner`, but for how it appends.
pub struct Double<F> {
    inner: Arc<dyn Journal>,
    append: F,
}

impl<F> Double<F>
where
    F: Fn(&dyn Journal, &mut Batch) -> Result<(), JournalError> + Send + Sync + 'static,
{
    pub fn of(inner: Arc<dyn Journal>, append: F) -> Arc<dyn Journal> {
        Arc::new(Self { inner, append })
    }
}

impl<F> Journal for Double<F>
where
    F: Fn(&dyn Journal, &mut Batch) -> Result<(), JournalError> + Send + Sync + 'static,
{
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        (self.append)(&*self.inner, batch)
    }
    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        self.inner.read(after, limit)
    }
    fn last(&self) -> Result<u64, JournalError> {
        self.inner.last()
    }
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        self.inner.put_blob(bytes)
    }
    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        self.inner.blob(hash)
    }
    fn flush(&self) -> Result<(), JournalError> {
        self.inner.flush()
    }
    fn location(&self) -> String {
        self.inner.location()
    }
}
