//! A journal in memory: for tests, and for runs of which nothing shall remain.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{Batch, BlobHash, Journal, JournalError, Record};

/// Keeps lines and blobs until it is dropped. Its numbers begin at 1.
#[derive(Debug, Default)]
pub struct MemoryJournal(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    // The record with number n stands at n - 1.
    records: Vec<Record>,
    blobs: HashMap<BlobHash, Bytes>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// What it holds as the text of a journal file.
    pub fn text(&self) -> String {
        let kept = self.kept();
        let lines = kept.records.iter().map(|record| String::from_utf8_lossy(&record.line) + "\n");
        lines.collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing in here panics half-way, so a poisoned lock still guards whole data.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        let mut kept = self.kept();
        batch.render(kept.records.len() as u64 + 1);
        kept.records.extend(batch.records());
        Ok(())
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        let kept = self.kept();
        let from = usize::try_from(after).unwrap_or(usize::MAX).min(kept.records.len());
        Ok(kept.records[from..].iter().take(limit).cloned().collect())
    }

    fn last(&self) -> Result<u64, JournalError> {
        Ok(self.kept().records.len() as u64)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        let hash = BlobHash::of(bytes);
        self.kept().blobs.entry(hash).or_insert_with(|| Bytes::copy_from_slice(bytes));
        Ok(hash)
    }

    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        let kept = self.kept().blobs.get(hash).cloned();
        kept.ok_or_else(|| JournalError::NoBlob { location: self.location(), hash: *hash })
    }

    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }

    fn location(&self) -> String {
        "memory".to_owned()
    }
}
