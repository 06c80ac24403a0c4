//! The disk: a journal that fails, loses its writer or the whole process at a drawn moment, and remembers all that was
//! ever written.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hermes_bus::journal::{Batch, BlobHash, Journal, JournalError, Record};
use tokio::sync::Notify;

use super::scenario::{Fault, Lines};

/// As `inner`, until a fault strikes.
pub struct Disk {
    inner: Arc<dyn Journal>,
    faults: Vec<Fault>,
    appends: AtomicU64,
    blobs: AtomicU64,
    written: Mutex<Vec<Record>>,
    /// Told when the process is to go.
    pub power_cut: Notify,
}

impl Disk {
    pub fn new(inner: Arc<dyn Journal>, faults: &[Fault]) -> Arc<Self> {
        let (appends, blobs) = (AtomicU64::new(0), AtomicU64::new(0));
        let (written, power_cut) = (Mutex::default(), Notify::new());
        Arc::new(Self { inner, faults: faults.to_vec(), appends, blobs, written, power_cut })
    }

    /// All records that were kept, in the order in which they were.
    pub fn written(&self) -> Vec<Record> {
        self.written.lock().unwrap().clone()
    }

    fn keep(&self, batch: &mut Batch) -> Result<(), JournalError> {
        self.inner.append(batch)?;
        self.written.lock().unwrap().extend(batch.records());
        Ok(())
    }

    fn full(&self) -> JournalError {
        let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
        JournalError::Io { action: "write", location: self.location(), source }
    }
}

impl Journal for Disk {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        let append = self.appends.fetch_add(1, Ordering::Relaxed) + 1;
        for fault in &self.faults {
            match fault {
                Fault::DiskFull { at } if append >= *at => return Err(self.full()),
                Fault::WriterLost { at, lines } if append == *at => {
                    if *lines == Lines::Kept {
                        self.keep(batch)?;
                    }
                    // A panic without its message on the terminal.
                    std::panic::resume_unwind(Box::new("the writer is lost"));
                }
                _ => {}
            }
        }
        self.keep(batch)?;
        let last = batch.records().last().map_or(0, |record| record.seq);
        if self.faults.iter().any(|fault| matches!(fault, Fault::PowerCut { record } if last >= *record)) {
            self.power_cut.notify_one();
        }
        Ok(())
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        self.inner.read(after, limit)
    }

    fn last(&self) -> Result<u64, JournalError> {
        self.inner.last()
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        let blob = self.blobs.fetch_add(1, Ordering::Relaxed) + 1;
        if self.faults.iter().any(|fault| matches!(fault, Fault::NoBlob { at } if blob >= *at)) {
            return Err(self.full());
        }
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
