//! Finding the file that this process may write: resolving its name, opening and locking it.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{family, io_error};
use crate::journal::JournalError;

/// How often a file may be rotated away under our hands before we give up.
const TRIES: u32 = 100;

/// An open file that no other process writes.
#[derive(Debug)]
pub(super) struct Claimed {
    pub file: File,
    /// A character device (`/dev/null`): it has no length, no lock, and is not rotated.
    pub device: bool,
}

/// The name by which this process knows the file: absolute, without symbolic links.
///
/// # Errors
/// When the folder does not exist. It is not made: a typing error would scatter journals over the disk.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, JournalError> {
    let missing = match path.canonicalize() {
        Ok(known) => return Ok(known),
        Err(source) => source.kind() == io::ErrorKind::NotFound,
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A link to what is not there yet (not one that leads in a circle).
    if let (true, Ok(target)) = (missing, path.read_link()) {
        return resolve(&folder.join(target));
    }
    let Some(name) = path.file_name() else {
        let why = "this names no file; name a file, such as hermes_trace.jsonl";
        return Err(io_error("open", path, io::Error::new(io::ErrorKind::InvalidInput, why)));
    };
    // The dot makes sure that it is a folder.
    let known = folder.join(".").canonicalize().map_err(|source| {
        let why = format!(
            "its folder {} cannot be used ({source}); make it, or name another place",
            folder.display()
        );
        io_error("open", path, io::Error::new(source.kind(), why))
    })?;
    Ok(known.join(name))
}

/// Opens and locks `path`, which is made when it is not there. None when another process holds it.
///
/// # Errors
/// When it cannot be opened or locked, or is neither a file nor a character device.
pub(super) fn claim(path: &Path) -> Result<Option<Claimed>, JournalError> {
    for _ in 0..TRIES {
        let file = open(path).map_err(|source| io_error("open", path, say_folder(source)))?;
        let kind = file.metadata().map_err(|source| io_error("open", path, source))?.file_type();
        if kind.is_char_device() {
            return Ok(Some(Claimed { file, device: true }));
        }
        if !kind.is_file() {
            let why = "it is no regular file; name another";
            return Err(io_error("open", path, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => return Ok(Some(Claimed { file, device: false })),
            // Rotated away between opening and locking: what is under the name now is another file.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(io_error("lock", path, source)),
        }
    }
    let why = "it is being replaced again and again; is a program other than Hermes moving it?";
    Err(io_error("lock", path, io::Error::other(why)))
}

/// As [`claim`], for a name that nobody asked for: a link there is somebody's own, and is not followed.
///
/// # Errors
/// As [`claim`], or when it is a link.
pub(super) fn claim_sibling(path: &Path) -> Result<Option<Claimed>, JournalError> {
    if path.is_symlink() {
        return Err(io_error("open", path, io::Error::new(io::ErrorKind::AlreadyExists, "it is a link")));
    }
    claim(path)
}

fn say_folder(source: io::Error) -> io::Error {
    match source.kind() {
        io::ErrorKind::IsADirectory => io::Error::new(source.kind(), "it is a folder: name a file in it"),
        _ => source,
    }
}

/// Takes from others what they may do with a file that somebody else made.
pub(super) fn keep_private(file: &File, path: &Path) {
    let kept = file.metadata().and_then(|found| match found.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => file.set_permissions(Permissions::from_mode(0o600)),
    });
    // Another's file, or a file system without modes: whoever put it there knows who reads it.
    if let Err(error) = kept {
        tracing::warn!(path = %path.display(), "others may read the journal: {error}");
    }
}

/// Opens for reading and appending, made with mode 0600.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)
}

/// Whether `file` is what stands under the name `path`.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => ours.ino() == there.ino() && ours.dev() == there.dev(),
        _ => false,
    }
}

/// Undoes a rotation that a crash cut short: the newest file under two names, an empty successor.
///
/// # Errors
/// When the folder cannot be listed or the second name not be removed.
pub(super) fn mend_rotation(file: &File, path: &Path) -> Result<(), JournalError> {
    let mend = || {
        let newest = family::next_rotation(path)? - 1;
        let name = family::rotated(path, newest);
        if newest > 0 && is_at(file, &name) {
            std::fs::remove_file(&name)?;
        }
        match std::fs::remove_file(family::beside(path, ".new")) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(source),
            _ => Ok(()),
        }
    };
    mend().map_err(|source| io_error("open", path, source))
}
