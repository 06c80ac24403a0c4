//! The blobs of a family: a folder of files that are named by the hash of what they hold.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::{family, io_error};
use crate::journal::{BlobHash, JournalError};

/// The folder `<journal>.blobs`. It is made with the first blob.
#[derive(Debug)]
pub(super) struct Blobs {
    journal: PathBuf,
    folder: PathBuf,
    /// Beside a device nothing is kept.
    kept: bool,
}

impl Blobs {
    pub(super) fn of(journal: &Path) -> Self {
        let kept = !std::fs::metadata(journal).is_ok_and(|file| file.file_type().is_char_device());
        Self { journal: journal.to_owned(), folder: family::beside(journal, ".blobs"), kept }
    }

    /// Keeps `bytes`. A file of the right name and length is taken to hold them already.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        let hash = BlobHash::of(bytes);
        let path = self.path(&hash);
        let there = !self.kept || std::fs::metadata(&path).is_ok_and(|file| file.len() == bytes.len() as u64);
        if !there {
            self.write(&path, bytes).map_err(|source| self.failed("write", &path, source))?;
        }
        Ok(hash)
    }

    /// Reads it, and makes sure that it is what its name says.
    pub(super) fn get(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        let path = self.path(hash);
        let bytes = std::fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                JournalError::NoBlob { location: self.journal.display().to_string(), hash: *hash }
            }
            _ => self.failed("read", &path, source),
        })?;
        if BlobHash::of(&bytes) == *hash {
            return Ok(Bytes::from(bytes));
        }
        let why = "the blob does not hold what its name says: the file was damaged or changed";
        Err(io_error("read", &path, io::Error::new(io::ErrorKind::InvalidData, why)))
    }

    fn path(&self, hash: &BlobHash) -> PathBuf {
        self.folder.join(hash.to_string())
    }

    fn failed(&self, action: &'static str, path: &Path, source: io::Error) -> JournalError {
        if self.folder.symlink_metadata().is_ok() && !self.folder.is_dir() {
            let why =
                "it is no folder, and the blobs of the journal must go into one of this name: move it away";
            return io_error(action, &self.folder, io::Error::new(io::ErrorKind::NotADirectory, why));
        }
        io_error(action, path, source)
    }

    /// Writes under a name of its own, then renames: whoever sees the name sees the whole.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        DirBuilder::new().mode(0o700).recursive(true).create(&self.folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!(".{}.{number}", std::process::id()));
        let written = create(&temporary).and_then(|mut file| file.write_all(bytes));
        let done = written.and_then(|()| std::fs::rename(&temporary, path));
        if done.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        done
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}
