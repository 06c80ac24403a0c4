//! Our journals pass the suite that every journal must pass.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use hermes_bus::conformance;
use hermes_bus::journal::{
    Batch, BlobHash, Durability, FileJournal, Journal, JournalError, MemoryJournal, Options, Record,
};

/// A journal that forgets where a page begins.
struct Forgetful(MemoryJournal);

impl Journal for Forgetful {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        self.0.append(batch)
    }
    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        self.0.read(after.saturating_sub(1), limit)
    }
    fn last(&self) -> Result<u64, JournalError> {
        self.0.last()
    }
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        self.0.put_blob(bytes)
    }
    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        self.0.blob(hash)
    }
    fn flush(&self) -> Result<(), JournalError> {
        self.0.flush()
    }
    fn location(&self) -> String {
        self.0.location()
    }
}

#[test]
#[should_panic(expected = "read(1, 1) gave [1]")]
fn a_wrong_journal_is_told_what_it_does_wrong() {
    conformance::check(|| Arc::new(Forgetful(MemoryJournal::new())));
}

#[test]
fn memory() {
    conformance::check(|| Arc::new(MemoryJournal::new()));
}

fn file(options: Options) {
    let folder = tempfile::tempdir().unwrap();
    let number = AtomicU32::new(0);
    let open = |name: &str| -> Arc<dyn Journal> {
        FileJournal::open_with(folder.path().join(name), options).unwrap()
    };
    conformance::check(|| open(&format!("{}.jsonl", number.fetch_add(1, Ordering::Relaxed))));
    conformance::check_reopening(|| open("reopened.jsonl"));
}

#[test]
fn file_process() {
    file(Options { durability: Durability::Process, ..Options::default() });
}

#[test]
fn file_none() {
    file(Options { durability: Durability::None, ..Options::default() });
}

#[test]
fn file_rotated_often() {
    for durability in [Durability::Process, Durability::None] {
        file(Options { durability, rotate_at: 2_000, ..Options::default() });
    }
}
