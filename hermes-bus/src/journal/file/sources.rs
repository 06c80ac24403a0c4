//! Reading records out of the files of a family.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::io_error;
use super::lines::{Lines, locate, seq_of};
use crate::journal::{EntryError, JournalError, Record};

/// A file to read from, or a part of one.
#[derive(Debug)]
pub(super) struct Source {
    pub path: PathBuf,
    /// The file if it is open; a rotated file is opened when it is needed.
    pub file: Option<Arc<File>>,
    /// The beginning of a line, where what is asked for begins at the earliest, if that is known.
    pub start: Option<u64>,
    /// How far it is written. None: to its end.
    pub end: Option<u64>,
}

/// A source that is open.
struct Opened<'a> {
    source: &'a Source,
    file: Arc<File>,
    end: u64,
}

/// The records above number `after` in `sources`, which are oldest first; at most `limit`.
pub(super) fn read(sources: &[Source], after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
    let mut records = Vec::new();
    for opened in from_first(sources, after)? {
        if records.len() >= limit {
            break;
        }
        opened.read(after, limit, &mut records)?;
    }
    Ok(records)
}

/// The sources from the one on that holds the first record above `after`. Only those are opened that must be.
fn from_first(sources: &[Source], after: u64) -> Result<Vec<Opened<'_>>, JournalError> {
    let mut needed = Vec::new();
    for source in sources.iter().rev() {
        let Some(opened) = source.open()? else { continue };
        // Where the place is known, nothing older can be meant.
        let begins =
            source.start.is_some() || opened.first()?.is_some_and(|first| first <= after.saturating_add(1));
        needed.push(opened);
        if begins {
            break;
        }
    }
    needed.reverse();
    Ok(needed)
}

impl Source {
    /// None when it is not there: somebody put a rotated file away.
    fn open(&self) -> Result<Option<Opened<'_>>, JournalError> {
        let file = match &self.file {
            Some(file) => Ok(file.clone()),
            None => File::open(&self.path).map(Arc::new),
        };
        let opened = file.and_then(|file| {
            let end = match self.end {
                Some(end) => end,
                None => file.metadata()?.len(),
            };
            Ok(Some(Opened { source: self, file, end }))
        });
        match opened {
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map_err(|source| io_error("read", &self.path, source)),
        }
    }
}

impl Opened<'_> {
    fn first(&self) -> Result<Option<u64>, JournalError> {
        let line = Lines::new(&self.file, 0, self.end).next().map_err(|source| self.failed(source))?;
        Ok(line.and_then(|line| seq_of(&line)))
    }

    fn read(&self, after: u64, limit: usize, records: &mut Vec<Record>) -> Result<(), JournalError> {
        let start = match self.source.start {
            Some(start) => start,
            None => locate(&self.file, self.end, after).map_err(|source| self.failed(source))?,
        };
        let mut lines = Lines::new(&self.file, start, self.end);
        while records.len() < limit {
            let Some(line) = lines.next().map_err(|source| self.failed(source))? else { break };
            let Some(seq) = seq_of(&line) else { return Err(self.no_record(&line)) };
            if seq > after {
                records.push(Record { seq, line });
            }
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> JournalError {
        io_error("read", &self.source.path, source)
    }

    fn no_record(&self, line: &[u8]) -> JournalError {
        let why = match serde_json::from_slice::<super::lines::Numbered>(line) {
            Err(why) => why,
            Ok(_) => serde::de::Error::custom("no number"),
        };
        JournalError::Entry {
            location: self.source.path.display().to_string(),
            source: EntryError::new(line, why),
        }
    }
}
