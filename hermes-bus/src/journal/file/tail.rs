//! The end of a journal file: its last number, and the torn line that a crash may have left behind it.

use std::fmt;
use std::fs::File;
use std::io;
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
/// When it cannot be read, is no journal or a damaged one, or is one of a newer format. Then nothing may be cut off.
pub(super) fn inspect(file: &File, path: &Path, length: u64) -> Result<Tail, JournalError> {
    let inspected = Inspected { file, path };
    inspected.check_head(length)?;
    let mut look = FIRST_LOOK;
    loop {
        let start = length.saturating_sub(look);
        let mut end = vec![0; usize::try_from(length - start).unwrap_or(usize::MAX)];
        let count = read_up_to(file, &mut end, start).map_err(|source| io_error("read", path, source))?;
        end.truncate(count);
        if let Some(tail) = inspected.tail(&end, start)? {
            return Ok(tail);
        }
        look *= 8;
    }
}

/// A file that is looked at.
struct Inspected<'a> {
    file: &'a File,
    path: &'a Path,
}

impl Inspected<'_> {
    /// Refuses a file whose beginning is not that of a journal: somebody named their README.
    fn check_head(&self, length: u64) -> Result<(), JournalError> {
        #[derive(serde::Deserialize)]
        struct Head {
            v: u32,
        }
        let mut lines = Lines::new(self.file, 0, length.min(FIRST_LOOK));
        let first = lines.next().map_err(|source| io_error("read", self.path, source))?;
        let head = match &first {
            // A struct can be read from an array too.
            Some(line) if line.starts_with(b"{") => serde_json::from_slice::<Head>(line).ok(),
            Some(_) => None,
            // One line, torn or long. Ours begin in one way.
            None => starts_alike(lines.left_over(), b"{\"v\":").then_some(Head { v: FORMAT }),
        };
        match head {
            Some(head) => self.refuse_newer(head.v),
            None => Err(JournalError::NoJournal { location: self.location() }),
        }
    }

    /// The tail, when `end`, which begins at `start`, holds enough of the file. A complete last line that holds NUL
    /// is torn too: a power loss leaves zeros where a block was never written. All else that is wrong with it was
    /// not done by a crash, and is not ours to cut off; nor is the line before.
    fn tail(&self, end: &[u8], start: u64) -> Result<Option<Tail>, JournalError> {
        let mut whole = end.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        for may_be_torn in [true, false] {
            if whole == 0 {
                // No line feed so far: none at all, or one further up.
                return Ok((start == 0).then_some(Tail { last: None, whole: 0 }));
            }
            let before = end[..whole - 1].iter().rposition(|b| *b == b'\n').map(|at| at + 1);
            let Some(begin) = before.or((start == 0).then_some(0)) else { return Ok(None) };
            let line = &end[begin..whole - 1];
            if may_be_torn && line.contains(&0) {
                whole = begin;
                continue;
            }
            let last = Some(self.number_of(line, start + begin as u64)?);
            return Ok(Some(Tail { last, whole: start + whole as u64 }));
        }
        Ok(None)
    }

    /// The number in the line that begins at `at`.
    fn number_of(&self, line: &[u8], at: u64) -> Result<u64, JournalError> {
        match serde_json::from_slice::<Numbered>(line) {
            Ok(numbered) => self.refuse_newer(numbered.v).map(|()| numbered.seq),
            Err(source) => {
                let number = self.lines_before(at).map_err(|source| io_error("read", self.path, source))? + 1;
                let source = EntryError::new(line, source);
                Err(JournalError::Damaged { location: self.location(), number, source })
            }
        }
    }

    /// Reads the file up to `at`: only done to name a line to a person.
    fn lines_before(&self, at: u64) -> io::Result<u64> {
        let (mut lines, mut count) = (Lines::new(self.file, 0, at), 0);
        while lines.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    fn refuse_newer(&self, found: u32) -> Result<(), JournalError> {
        if found <= FORMAT {
            return Ok(());
        }
        Err(JournalError::Newer { location: self.location(), found })
    }

    fn location(&self) -> String {
        self.path.display().to_string()
    }
}

/// Whether one is the beginning of the other.
fn starts_alike(text: &[u8], beginning: &[u8]) -> bool {
    let length = text.len().min(beginning.len());
    text[..length] == beginning[..length]
}
