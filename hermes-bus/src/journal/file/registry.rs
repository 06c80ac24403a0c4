//! The file journals of this process: who opens one name twice gets one writer.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use super::{FileJournal, Options, WhenTaken, claim, family, io_error};
use crate::journal::JournalError;

/// How many processes may write under one name at once.
const SIBLINGS: u64 = 1_000;

/// The open journals by two names each.
#[derive(Debug, Default)]
struct Known {
    /// By the file they write.
    files: HashMap<PathBuf, Weak<FileJournal>>,
    /// By the name that was asked for, where a sibling would do.
    asked: HashMap<PathBuf, Weak<FileJournal>>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
/// Notified when a journal has let go of its file.
static CLOSED: Condvar = Condvar::new();

// While this is held no `Arc` of a journal may be dropped: it could be the last, and its `Drop` takes this lock.
type Lock = MutexGuard<'static, Known>;

fn known() -> Lock {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens `path`, or the first sibling that no other process holds.
pub(super) fn open(path: &Path, options: Options) -> Result<Arc<FileJournal>, JournalError> {
    let wanted = claim::resolve(path)?;
    if let Some(head) = family::rotated_from(&wanted) {
        let why = format!("it is a rotated part of {}: name that file", head.display());
        return Err(io_error("open", path, io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    let (mut known, mut asked) = (known(), None);
    if options.when_taken == WhenTaken::Sibling {
        (known, asked) = shared(known, |known| known.asked.get(&wanted));
    }
    let (mut known, journal) = match asked {
        Some(journal) => (known, journal),
        None => find(known, &wanted, options)?,
    };
    known.files.insert(journal.path.clone(), Arc::downgrade(&journal));
    if options.when_taken == WhenTaken::Sibling {
        known.asked.insert(wanted, Arc::downgrade(&journal));
    }
    drop(known);
    journal.writer().strengthen(options.durability)?;
    Ok(journal)
}

/// The journal that this process has open under the file or a sibling, or the first of them that can be had.
fn find(mut known: Lock, wanted: &Path, options: Options) -> Result<(Lock, Arc<FileJournal>), JournalError> {
    let siblings = (2..=SIBLINGS).map(|number| family::sibling(wanted, number));
    let last = if options.when_taken == WhenTaken::Sibling { usize::MAX } else { 1 };
    let mut in_the_way = None;
    for candidate in std::iter::once(wanted.to_owned()).chain(siblings).take(last) {
        let journal;
        (known, journal) = shared(known, |known| known.files.get(&candidate));
        if let Some(journal) = journal {
            return Ok((known, journal));
        }
        match begin(&candidate, wanted, options) {
            Ok(Some(journal)) => return Ok((known, journal)),
            Ok(None) => {}
            Err(error) if candidate == wanted => return Err(error),
            // Nobody asked for this name: what stands there need not be fit for us.
            Err(error) => in_the_way = in_the_way.or(Some(error)),
        }
    }
    Err(taken(wanted, options, in_the_way))
}

/// Takes over `candidate`. None when another process holds it.
fn begin(
    candidate: &Path,
    wanted: &Path,
    options: Options,
) -> Result<Option<Arc<FileJournal>>, JournalError> {
    let claimed = if candidate == wanted { claim::claim(candidate) } else { claim::claim_sibling(candidate) };
    claimed?.map(|claimed| FileJournal::start(candidate.to_owned(), claimed, options)).transpose()
}

/// The journal that `name` finds. One that is being closed is waited for: its file is still locked, and would look
/// like another process's.
fn shared(
    mut known: Lock,
    name: impl Fn(&Known) -> Option<&Weak<FileJournal>>,
) -> (Lock, Option<Arc<FileJournal>>) {
    loop {
        let Some(weak) = name(&known) else { return (known, None) };
        if let Some(journal) = weak.upgrade() {
            return (known, Some(journal));
        }
        known = CLOSED.wait(known).unwrap_or_else(PoisonError::into_inner);
    }
}

fn taken(wanted: &Path, options: Options, in_the_way: Option<JournalError>) -> JournalError {
    let location = wanted.display();
    if options.when_taken == WhenTaken::Refuse {
        return JournalError::Taken { location: location.to_string() };
    }
    let why = in_the_way.map_or("they are in use too".to_owned(), |error| error.to_string());
    let last = family::sibling(wanted, SIBLINGS);
    let why = format!(
        "{location} is in use by another process, and none of its siblings up to {} can be had: {why}",
        last.display()
    );
    io_error("lock", wanted, io::Error::other(why))
}

/// Writes out what is buffered, lets go of the file, and forgets the names. Called once, by `Drop`.
pub(super) fn close(journal: &FileJournal) {
    let mut known = known();
    journal.writer().close();
    let others = |_: &PathBuf, weak: &mut Weak<FileJournal>| !std::ptr::eq(weak.as_ptr(), journal);
    known.files.retain(others);
    known.asked.retain(others);
    CLOSED.notify_all();
}
