//! A journal in a file: JSON Lines, one writer, rotated, with its blobs beside it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{Batch, BlobHash, Journal, JournalError, Record};
use blobs::Blobs;
use writer::Writer;

pub use family::{families, family};
pub use read_only::{Family, ReadOnlyJournal, read_family};
pub use tail::Torn;

mod blobs;
mod claim;
mod family;
mod lines;
mod read_only;
mod registry;
mod sources;
mod tail;
mod writer;

/// When a line is safe. The stronger is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Durability {
    /// Lines are kept back in this process, up to 64 KiB of them, until [`Journal::flush`], a read, or the end
    /// of the journal. A killed process loses them.
    None,
    /// When `append` returns, the kernel has the lines: they survive `kill -9`, but not a loss of power.
    #[default]
    Process,
}

/// What to do when another process writes the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenTaken {
    /// Write `x-2.jsonl` (`x-3.jsonl`, …): a run of its own.
    #[default]
    Sibling,
    /// Refuse: who continues a trace must write the file that holds it.
    Refuse,
}

/// How a file journal is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// When a line is safe.
    pub durability: Durability,
    /// From how many bytes on a file is put aside and a new one begun.
    pub rotate_at: u64,
    /// What to do when another process writes the file.
    pub when_taken: WhenTaken,
}

impl Default for Options {
    /// Safe from `kill -9`, rotated at 256 MiB, in a sibling when the file is taken.
    fn default() -> Self {
        let (durability, when_taken) = (Durability::default(), WhenTaken::default());
        Self { durability, rotate_at: 256 * 1024 * 1024, when_taken }
    }
}

/// A journal in the file `x.jsonl`, rotated to `x.r1.jsonl`, `x.r2.jsonl`, …, with blobs in `x.jsonl.blobs/`.
///
/// One process writes a file. When another holds it, this one writes `x-2.jsonl` (`x-3.jsonl`, …), a family
/// of its own; [`Journal::location`] says which. All who open one name in one process share one writer.
///
/// ```
/// use hermes_bus::journal::{Durability, FileJournal, Journal};
/// let folder = tempfile::tempdir()?;
/// let journal = FileJournal::open(folder.path().join("trace.jsonl"), Durability::Process)?;
/// assert!(journal.location().ends_with("trace.jsonl"));
/// assert!(journal.read(0, 10)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    blobs: Blobs,
    torn: Option<Torn>,
    writer: Mutex<Writer>,
}

impl FileJournal {
    /// Opens the journal at `path` for writing, with a new file if there is none; its folder must exist. A torn last
    /// line is reported (as a warning, and by [`FileJournal::torn`]) and cut off.
    ///
    /// # Errors
    /// When the file cannot be opened, or is no journal, a damaged one, or one of a newer format (then it is left as it
    /// is).
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<Arc<Self>, JournalError> {
        Self::open_with(path, Options { durability, ..Options::default() })
    }

    /// As [`FileJournal::open`]. When this process has it open already, the stronger durability counts, and the
    /// size for rotation stays as it was.
    ///
    /// # Errors
    /// As [`FileJournal::open`]; with [`WhenTaken::Refuse`] also when another process writes the file.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Arc<Self>, JournalError> {
        registry::open(path.as_ref(), options)
    }

    /// The torn line that was cut off when this process opened the file.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// The file that lines are appended to: what was asked for without symbolic links, or its sibling.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes over a file that is claimed.
    fn start(path: PathBuf, claimed: claim::Claimed, options: Options) -> Result<Arc<Self>, JournalError> {
        let (writer, torn) = Writer::start(path.clone(), claimed, options)?;
        if let Some(torn) = &torn {
            tracing::warn!(path = %torn.path.display(), bytes = torn.bytes, "{torn}: it is cut off");
        }
        let blobs = Blobs::of(&path);
        Ok(Arc::new(Self { path, blobs, torn, writer: Mutex::new(writer) }))
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // The writer breaks itself on every failure half-way, so a poisoned lock still guards whole data.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for FileJournal {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        self.writer().append(batch)
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        let Some(sources) = self.writer().sources(after)? else { return Ok(Vec::new()) };
        // Outside the lock: a long read must not hold up who appends.
        sources::read(&sources, after, limit)
    }

    fn last(&self) -> Result<u64, JournalError> {
        Ok(self.writer().last())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        self.blobs.put(bytes)
    }

    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        self.blobs.get(hash)
    }

    fn flush(&self) -> Result<(), JournalError> {
        self.writer().flush()
    }

    fn location(&self) -> String {
        self.path.display().to_string()
    }
}

impl Drop for FileJournal {
    fn drop(&mut self) {
        registry::close(self);
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> JournalError {
    JournalError::Io { action, location: path.display().to_string(), source }
}

#[cfg(test)]
mod tests;
