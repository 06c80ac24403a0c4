//! Reading a family without its lock: of a process that died, or of one that is still writing.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::blobs::Blobs;
use super::lines::{Lines, seq_of};
use super::sources::{self, Source};
use super::writer::last_of;
use super::{Torn, family, io_error};
use crate::journal::{Batch, BlobHash, Journal, JournalError, Record};

/// The lines of a family as they stand on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// Every line, oldest first. One that holds no number has the number 0: what is wrong with it, the
    /// [laws](crate::laws) say.
    pub records: Vec<Record>,
    /// What stands behind the last whole line; its writer may still be at it.
    pub torn: Option<Torn>,
}

/// Reads `files` (as [`family`](super::family()) lists them) whole. Needs no lock and changes nothing.
///
/// # Errors
/// When one cannot be read.
pub fn read_family(files: &[PathBuf]) -> Result<Family, JournalError> {
    let mut found = Family { records: Vec::new(), torn: None };
    for path in files {
        let torn = read_file(path, &mut found.records).map_err(|source| io_error("read", path, source))?;
        found.torn = torn.or(found.torn);
    }
    Ok(found)
}

fn read_file(path: &Path, records: &mut Vec<Record>) -> std::io::Result<Option<Torn>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut lines = Lines::new(&file, 0, length);
    while let Some(line) = lines.next()? {
        records.push(Record { seq: seq_of(&line).unwrap_or(0), line });
    }
    let bytes = lines.left_over().len() as u64;
    Ok((bytes > 0).then(|| Torn { path: path.to_owned(), bytes }))
}

/// A family that is read and never written: for viewers, and for whoever follows another process's journal.
/// Each [`Journal::read`] sees what is on disk by then; a torn last line is not seen.
#[derive(Debug)]
pub struct ReadOnlyJournal {
    path: PathBuf,
    blobs: Blobs,
}

impl ReadOnlyJournal {
    /// The family of the journal at `path`, which need not be locked, nor finished.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let path = path.as_ref().canonicalize().map_err(|source| io_error("open", path.as_ref(), source))?;
        Ok(Self { blobs: Blobs::of(&path), path })
    }

    /// The family's current file, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files of one moment, opened: another process may rotate while we look.
    fn sources(&self) -> std::io::Result<Vec<Source>> {
        loop {
            let paths = family::family(&self.path)?;
            let mut found = Vec::new();
            for path in &paths {
                let file = File::open(path)?;
                let end = Some(file.metadata()?.len());
                found.push(Source { path: path.clone(), file: Some(Arc::new(file)), start: None, end });
            }
            if paths == family::family(&self.path)? && found.last().is_none_or(is_still_there) {
                return Ok(found);
            }
        }
    }
}

fn is_still_there(source: &Source) -> bool {
    let opened = source.file.as_ref().and_then(|file| file.metadata().ok());
    let there = std::fs::metadata(&source.path).ok();
    opened
        .zip(there)
        .is_some_and(|(opened, there)| opened.ino() == there.ino() && opened.dev() == there.dev())
}

impl Journal for ReadOnlyJournal {
    /// Always refuses.
    fn append(&self, _: &mut Batch) -> Result<(), JournalError> {
        Err(refused(&self.path))
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        let sources = self.sources().map_err(|source| io_error("read", &self.path, source))?;
        sources::read(&sources, after, limit)
    }

    fn last(&self) -> Result<u64, JournalError> {
        let files = family::family(&self.path).map_err(|source| io_error("read", &self.path, source))?;
        Ok(last_of(&files)?.unwrap_or(0))
    }

    /// Always refuses.
    fn put_blob(&self, _: &[u8]) -> Result<BlobHash, JournalError> {
        Err(refused(&self.path))
    }

    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        self.blobs.get(hash)
    }

    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }

    fn location(&self) -> String {
        self.path.display().to_string()
    }
}

fn refused(path: &Path) -> JournalError {
    let why = "it was opened for reading only";
    io_error("write", path, std::io::Error::new(std::io::ErrorKind::PermissionDenied, why))
}
