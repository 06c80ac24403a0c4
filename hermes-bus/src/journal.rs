//! The journal: the append-only JSON Lines that hold every envelope, behind one door.

use bytes::Bytes;

pub use batch::{Batch, Line};
pub(crate) use blob::externalise;
pub use blob::{BLOB_THRESHOLD, BlobHash, BlobHashError};
pub use entry::{Entry, EntryError};
pub use file::{
    Durability, Family, FileJournal, Options, ReadOnlyJournal, Torn, WhenTaken, families, family, read_family,
};
pub use memory::MemoryJournal;

mod batch;
mod blob;
mod entry;
mod file;
mod memory;

/// The version of the format, which stands in every line as `v`.
pub const FORMAT: u32 = 1;

/// One line of a journal, without its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number.
    pub seq: u64,
    /// The JSON object, UTF-8.
    pub line: Bytes,
}

/// Where envelopes are kept. A journal of another kind is written by implementing this and passing
/// [`conformance`](crate::conformance).
///
/// All methods are called from async code and are expected to be short (a write to the page cache).
pub trait Journal: Send + Sync + 'static {
    /// Numbers the lines of `batch` one after another above every number used before in this family, renders
    /// them with [`Batch::render`], and keeps them: all, in order, or none as far as readers can tell.
    ///
    /// # Errors
    /// When the lines could not be kept. The runtime stops then.
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError>;

    /// Whether it keeps lines at all. For a journal that does not, no JSON is made: its lines are empty, it gives them
    /// numbers with [`Batch::number`], and there is nothing to read or to observe.
    fn keeps_lines(&self) -> bool {
        true
    }

    /// The records above number `after`, oldest first, at most `limit`. Empty at the end.
    ///
    /// # Errors
    /// When they could not be read.
    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError>;

    /// The highest number given in this family so far; 0 when there is none.
    ///
    /// # Errors
    /// When it could not be read.
    fn last(&self) -> Result<u64, JournalError>;

    /// Keeps `bytes` under their hash before a line names it. Keeping the same bytes twice is no error.
    ///
    /// # Errors
    /// When they could not be kept.
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError>;

    /// The bytes kept under `hash`.
    ///
    /// # Errors
    /// When there are none, or they could not be read.
    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError>;

    /// Hands everything appended to the operating system. Called at shutdown, and before a reader of
    /// another process is told to look.
    ///
    /// # Errors
    /// When it could not be written, or readers would not find what was: somebody took the journal away.
    fn flush(&self) -> Result<(), JournalError>;

    /// Where it is, for a person: a path, or `memory`.
    fn location(&self) -> String;
}

/// A journal that cannot be opened, written or read. The text of each is whole: it holds what lies below, so
/// [`Error::source`](std::error::Error::source) is empty, and reports that print both say nothing twice.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused.
    #[error("cannot {action} the journal {location}: {source}")]
    Io {
        /// What was tried: `open`, `write`, `read`, `lock`.
        action: &'static str,
        /// Which journal or file.
        location: String,
        /// What the system said.
        r#source: std::io::Error,
    },
    /// A blob that a line names is not there.
    #[error("the journal {location} names the blob {hash}, which is not there")]
    NoBlob {
        /// Which journal.
        location: String,
        /// Which blob.
        hash: BlobHash,
    },
    /// A line that does not have the format.
    #[error("the journal {location} cannot be understood: {source}")]
    Entry {
        /// Which journal.
        location: String,
        /// What is wrong.
        r#source: EntryError,
    },
    /// The last complete line is no envelope: a crash does not leave it so. Nothing in the file was changed.
    #[error(
        "line {number} of the journal {location} is damaged: {source}; nothing was changed: \
         `hermes trace verify` it, then move it away or name another file"
    )]
    Damaged {
        /// Which file.
        location: String,
        /// Which line of it.
        number: u64,
        /// What is wrong.
        r#source: EntryError,
    },
    /// A file that is there and is no journal. Nothing in it was changed.
    #[error("{location} is there and is no journal (its first line is no envelope): name another file")]
    NoJournal {
        /// Which file.
        location: String,
    },
    /// Another process writes it, and no other file would do.
    #[error("another process is writing the journal {location}: wait for it or stop it, then try again")]
    Taken {
        /// Which file.
        location: String,
    },
    /// A newer Hermes wrote it.
    #[error("the journal {location} has format {found}; this program reads up to {FORMAT}: use a newer one")]
    Newer {
        /// Which journal.
        location: String,
        /// Its format.
        found: u32,
    },
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let source = std::io::Error::other("its folder is gone");
        let error = JournalError::Io { action: "open", location: "t.jsonl".into(), source };
        assert_eq!(error.to_string(), "cannot open the journal t.jsonl: its folder is gone");
        assert!(error.source().is_none());
    }
}
