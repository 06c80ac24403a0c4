//! Where the run is written, and what to tell about it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use hermes_bus::journal::Journal;

/// An open journal.
pub struct Opened {
    /// The journal.
    pub journal: Arc<dyn Journal>,
    /// What a person should know of its place, when that is not what they expect.
    pub note: Option<String>,
    /// Its file, as asked for and as opened, which may be a sibling. None for `memory`.
    pub files: Vec<PathBuf>,
}

/// Opens it: a path, or `memory`.
///
/// # Errors
/// When it cannot be opened.
pub fn open(name: &OsStr) -> Result<Opened> {
    let journal = hermes_actors::open_journal(name)?;
    if name == "memory" {
        return Ok(Opened { journal, note: None, files: Vec::new() });
    }
    let asked = PathBuf::from(name);
    let note = note(&asked, &*journal);
    let files = vec![asked, journal.location().into()];
    Ok(Opened { journal, note, files })
}

fn note(asked: &Path, journal: &dyn Journal) -> Option<String> {
    let location = journal.location();
    let sibling = asked.canonicalize().is_ok_and(|asked| asked.display().to_string() != location);
    let new = journal.read(0, 1).is_ok_and(|records| records.is_empty());
    match (sibling, new) {
        (true, _) => Some(format!("Journal: {location} (another process is writing {})", asked.display())),
        (false, true) => Some(format!("Journal: {location} (new)")),
        (false, false) => None,
    }
}
