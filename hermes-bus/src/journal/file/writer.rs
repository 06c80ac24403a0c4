//! The one writer of a journal file: numbers, appends, rotates, and breaks for good on the first failure.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::claim::{self, Claimed};
use super::sources::Source;
use super::tail::{Torn, inspect};
use super::{Durability, Options, family, io_error};
use crate::journal::{Batch, JournalError};

/// How much is kept back at most without durability.
const BUFFER: usize = 64 * 1024;

/// One record in how many has its place remembered.
const STRIDE: u64 = 32;

/// The highest number that a run may go on from. What is left above it, no run can use up.
const HIGHEST: u64 = u64::MAX / 2;

/// Where a line stands that this process appended.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// All records above this number stand at the place or behind it.
    after: u64,
    /// Which file of the family.
    file: usize,
    offset: u64,
}

#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    file: Arc<File>,
    device: bool,
    durability: Durability,
    rotate_at: u64,
    /// At which length the next rotation is tried.
    next_rotation: u64,
    /// How much of the file is whole lines; what is longer is a failed write.
    length: u64,
    /// Lines that are appended and not yet written.
    buffer: Vec<u8>,
    last: u64,
    rotated: Vec<PathBuf>,
    marks: Vec<Mark>,
    broken: Option<Broken>,
}

/// The failure that broke the writer, to say it again.
#[derive(Debug)]
struct Broken {
    kind: io::ErrorKind,
    words: String,
}

/// What is there when a writer starts.
#[derive(Debug, Default)]
struct Found {
    rotated: Vec<PathBuf>,
    length: u64,
    last: Option<u64>,
    torn: Option<Torn>,
}

impl Found {
    /// Looks through the family. Then, when it is one that can be gone on with, mends what a crash left behind.
    fn look(file: &File, path: &Path) -> Result<Self, JournalError> {
        let mut rotated = family::family(path).map_err(|source| io_error("open", path, source))?;
        rotated.pop();
        let size = size(file, path)?;
        let tail = inspect(file, path, size)?;
        let last = match tail.last {
            None => last_of(&rotated)?,
            last => last,
        };
        refuse_used_up(last, path)?;
        claim::mend_rotation(file, path)?;
        if size == 0 {
            claim::keep_private(file, path);
        }
        let torn = tail.torn(path, size);
        if torn.is_some() {
            file.set_len(tail.whole).map_err(|source| io_error("write", path, source))?;
        }
        Ok(Self { rotated, length: tail.whole, last, torn })
    }
}

/// The last number in the newest of `files` that holds one.
pub(super) fn last_of(files: &[PathBuf]) -> Result<Option<u64>, JournalError> {
    for file in files.iter().rev() {
        if let Some(last) = last_number(file)? {
            return Ok(Some(last));
        }
    }
    Ok(None)
}

fn refuse_used_up(last: Option<u64>, path: &Path) -> Result<(), JournalError> {
    let Some(last) = last.filter(|last| *last > HIGHEST) else { return Ok(()) };
    let why = format!("its last number is {last}, and too few are left above it: name another file");
    Err(io_error("open", path, io::Error::new(io::ErrorKind::InvalidData, why)))
}

impl Writer {
    /// Takes over a claimed file where its last whole line ends.
    pub(super) fn start(
        path: PathBuf,
        claimed: Claimed,
        options: Options,
    ) -> Result<(Self, Option<Torn>), JournalError> {
        let Claimed { file, device } = claimed;
        let found = if device { Found::default() } else { Found::look(&file, &path)? };
        let writer = Self {
            path,
            file: Arc::new(file),
            device,
            durability: options.durability,
            rotate_at: options.rotate_at,
            next_rotation: options.rotate_at,
            length: found.length,
            buffer: Vec::new(),
            last: found.last.unwrap_or(0),
            rotated: found.rotated,
            marks: Vec::new(),
            broken: None,
        };
        Ok((writer, found.torn))
    }

    /// Gives it the stronger of its own and this durability.
    pub(super) fn strengthen(&mut self, durability: Durability) -> Result<(), JournalError> {
        self.durability = self.durability.max(durability);
        if self.durability == Durability::None { Ok(()) } else { self.write_buffer() }
    }

    pub(super) fn append(&mut self, batch: &mut Batch) -> Result<(), JournalError> {
        self.refuse_when_broken()?;
        if self.end() >= self.next_rotation && self.end() > 0 {
            self.rotate()?;
        }
        let lines = batch.render(self.last + 1);
        let begin = self.end();
        match self.durability {
            Durability::Process if self.buffer.is_empty() => self.write(lines)?,
            _ => {
                self.buffer.extend_from_slice(lines);
                if self.durability > Durability::None || self.buffer.len() >= BUFFER {
                    self.write_buffer()?;
                }
            }
        }
        if self.marks.last().is_none_or(|mark| self.last >= mark.after + STRIDE) {
            self.marks.push(Mark { after: self.last, file: self.rotated.len(), offset: begin });
        }
        self.last += batch.len() as u64;
        Ok(())
    }

    /// Writes what is kept back, and makes sure that all of it stands where readers will look.
    pub(super) fn flush(&mut self) -> Result<(), JournalError> {
        self.write_buffer()?;
        self.refuse_when_gone()
    }

    fn write_buffer(&mut self) -> Result<(), JournalError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.refuse_when_broken()?;
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)
    }

    /// Where records above `after` are to be looked for. None when there are none.
    pub(super) fn sources(&mut self, after: u64) -> Result<Option<Vec<Source>>, JournalError> {
        if after >= self.last {
            return Ok(None);
        }
        if self.broken.is_none() {
            self.write_buffer()?;
        }
        let at = self.marks.partition_point(|mark| mark.after <= after);
        let mark = at.checked_sub(1).map(|at| self.marks[at]);
        let current = self.rotated.len();
        let first = mark.map_or(0, |mark| mark.file);
        let sources = (first..=current).map(|number| Source {
            path: self.rotated.get(number).unwrap_or(&self.path).clone(),
            file: (number == current).then(|| self.file.clone()),
            start: mark.filter(|mark| mark.file == number).map(|mark| mark.offset),
            end: (number == current).then_some(self.length),
        });
        Ok(Some(sources.collect()))
    }

    /// Writes what is buffered and lets go of the lock. Nothing can be done about a failure but to say it.
    pub(super) fn close(&mut self) {
        if self.broken.is_none()
            && let Err(error) = self.flush()
        {
            tracing::error!(path = %self.path.display(), "lines are lost: {error}");
        }
        if !self.device {
            // Not only by closing: a child that is just being spawned may hold the file for a moment.
            let _ = self.file.unlock();
        }
    }

    /// The last number that was given.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Where the next line will begin.
    fn end(&self) -> u64 {
        self.length + self.buffer.len() as u64
    }

    /// Writes whole lines with, as a rule, one `write(2)`. When it fails, what was written of them is taken back.
    fn write(&mut self, lines: &[u8]) -> Result<(), JournalError> {
        if let Err(source) = (&*self.file).write_all(lines) {
            let cut = if self.device { Ok(()) } else { self.file.set_len(self.length) };
            if let Err(error) = cut {
                tracing::error!(path = %self.path.display(), "the journal may end in a torn line: {error}");
            }
            return Err(self.broken_by(source));
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    fn broken_by(&mut self, source: io::Error) -> JournalError {
        self.broken = Some(Broken { kind: source.kind(), words: source.to_string() });
        io_error("write", &self.path, source)
    }

    /// After a failure nothing is appended: a gap in a journal would be believed.
    fn refuse_when_broken(&self) -> Result<(), JournalError> {
        match &self.broken {
            None => Ok(()),
            Some(Broken { kind, words }) => {
                Err(io_error("write", &self.path, io::Error::new(*kind, words.clone())))
            }
        }
    }

    /// An append goes well on a file that has no name any more, or that somebody emptied: it has to be looked for.
    fn refuse_when_gone(&mut self) -> Result<(), JournalError> {
        let holds_all = |file: &File| file.metadata().is_ok_and(|file| file.len() >= self.length);
        if self.device || claim::is_at(&self.file, &self.path) && holds_all(&self.file) {
            return Ok(());
        }
        let why =
            "it was moved, replaced or truncated while it was written: what was written since is not there";
        Err(self.broken_by(io::Error::new(io::ErrorKind::NotFound, why)))
    }

    /// Puts the file aside and begins a new one. Where that cannot be (a file system without hard links, say), the
    /// run goes on in the old one, and it is tried again later.
    fn rotate(&mut self) -> Result<(), JournalError> {
        if self.device {
            return Ok(());
        }
        // Not another's file, should that have taken the name.
        self.flush()?;
        match replace(&self.path) {
            Ok((file, rotated)) => {
                self.file = Arc::new(file);
                self.rotated.push(rotated);
                self.length = 0;
                self.next_rotation = self.rotate_at;
            }
            Err(error) => {
                tracing::warn!(path = %self.path.display(), "the journal could not be rotated and grows on: {error}");
                self.next_rotation = self.length.saturating_add(self.rotate_at);
            }
        }
        Ok(())
    }
}

/// Makes and locks the new file under another name, gives the old one its second name, and renames the new one over
/// the first: at no moment is the name free, or its file unlocked.
fn replace(path: &Path) -> io::Result<(File, PathBuf)> {
    let new = family::beside(path, ".new");
    let aside = family::rotated(path, family::next_rotation(path)?);
    let file = claim::open(&new)?;
    let moved = (|| {
        file.try_lock()?;
        file.set_len(0)?;
        std::fs::hard_link(path, &aside)?;
        std::fs::rename(&new, path).inspect_err(|_| {
            let _ = std::fs::remove_file(&aside);
        })
    })();
    if moved.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    moved.map(|()| (file, aside))
}

fn size(file: &File, path: &Path) -> Result<u64, JournalError> {
    file.metadata().map(|file| file.len()).map_err(|source| io_error("read", path, source))
}

/// The last number in a rotated file.
fn last_number(path: &Path) -> Result<Option<u64>, JournalError> {
    let file = File::open(path).map_err(|source| io_error("read", path, source))?;
    let length = size(&file, path)?;
    Ok(inspect(&file, path, length)?.last)
}
