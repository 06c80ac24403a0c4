//! The end of a journal file: its last number, and the torn line that a crash may have left behind it.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::io_error;
use super::lines::{Lines, Numbered, read_up_to};
use crate::journal::{EntryError, FORMAT, JournalError};

/// How much of the end is read first; more when the last line is longer.
const FIRST_LOOK: u64 = 64 * 1024;

/// What stood behind the last whole line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// In which file.
    pub path: PathBuf,
    /// How many bytes.
    pub bytes: u64,
}

impl fmt::Display for Torn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, bytes } = self;
        write!(
            f,
            "the journal {} ends in a torn line of {bytes} bytes, which was never delivered",
            path.display()
        )
    }
}

/// What is known of the end of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The number of its last whole line. None when there is no line.
    pub last: Option<u64>,
    /// Where that line ends: the length without the torn rest.
    pub whole: u64,
}

impl Tail {
    /// The rest behind the last whole line.
    pub(super) fn torn(&self, path: &Path, length: u64) -> Option<Torn> {
        (length > self.whole).then(|| Torn { path: path.to_owned(), bytes: length - self.whole })
    }
}

/// Looks at the first and the last line of a file of `length` bytes. The rest is not read.
///
/// # Errors
/// When it cannot be read, is no journal, or is one of a newer format. Then nothing may be cut off.
pub(super) fn inspect(file: &File, path: &Path, length: u64) -> Result<Tail, JournalError> {
    check_head(file, path, length)?;
    let mut look = FIRST_LOOK;
    loop {
        let start = length.saturating_sub(look);
        let mut end = vec![0; usize::try_from(length - start).unwrap_or(usize::MAX)];
        let count = read_up_to(file, &mut end, start).map_err(|source| io_error("read", path, source))?;
        end.truncate(count);
        if let Some(tail) = tail_of(&end, start, path)? {
            return Ok(tail);
        }
        look *= 8;
    }
}

/// The tail, when `end`, which begins at `start`, holds enough of the file. A last line that is complete and yet no
/// JSON is torn too (blocks of a file that were never written hold zeros); the one before it must be sound.
fn tail_of(end: &[u8], start: u64, path: &Path) -> Result<Option<Tail>, JournalError> {
    let mut whole = end.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    for may_be_torn in [true, false] {
        if whole == 0 {
            // No line feed so far: none at all, or one further up.
            return Ok((start == 0).then_some(Tail { last: None, whole: 0 }));
        }
        let before = end[..whole - 1].iter().rposition(|b| *b == b'\n').map(|at| at + 1);
        let Some(begin) = before.or((start == 0).then_some(0)) else { return Ok(None) };
        let line = &end[begin..whole - 1];
        if may_be_torn && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
            whole = begin;
            continue;
        }
        let last = Some(number_of(line, path)?);
        return Ok(Some(Tail { last, whole: start + whole as u64 }));
    }
    Ok(None)
}

fn number_of(line: &[u8], path: &Path) -> Result<u64, JournalError> {
    let numbered: Numbered = serde_json::from_slice(line).map_err(|source| JournalError::Entry {
        location: path.display().to_string(),
        source: EntryError::new(line, source),
    })?;
    refuse_newer(numbered.v, path)?;
    Ok(numbered.seq)
}

fn refuse_newer(found: u32, path: &Path) -> Result<(), JournalError> {
    if found <= FORMAT {
        return Ok(());
    }
    Err(JournalError::Newer { location: path.display().to_string(), found })
}

/// Refuses a file whose beginning is not that of a journal: somebody named their README.
fn check_head(file: &File, path: &Path, length: u64) -> Result<(), JournalError> {
    #[derive(serde::Deserialize)]
    struct Head {
        v: u32,
    }
    let mut lines = Lines::new(file, 0, length.min(FIRST_LOOK));
    let first = lines.next().map_err(|source| io_error("read", path, source))?;
    let head = match &first {
        // A struct can be read from an array too.
        Some(line) if line.starts_with(b"{") => serde_json::from_slice::<Head>(line).ok(),
        Some(_) => None,
        // One line, torn or long. Ours begin in one way.
        None => starts_alike(lines.left_over(), b"{\"v\":").then_some(Head { v: FORMAT }),
    };
    match head {
        Some(head) => refuse_newer(head.v, path),
        None => Err(JournalError::NoJournal { location: path.display().to_string() }),
    }
}

/// Whether one is the beginning of the other.
fn starts_alike(text: &[u8], beginning: &[u8]) -> bool {
    let length = text.len().min(beginning.len());
    text[..length] == beginning[..length]
}
