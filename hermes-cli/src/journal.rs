//! Where the run is written, and what to tell about it.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use hermes_bus::journal::Journal;

/// An open journal.
pub struct Opened {
    /// The journal.
    pub journal: Arc<dyn Journal>,
    /// What a person should know of its place, when that is not what they expect.
    pub note: Option<String>,
}

/// Opens what is named, else the default.
pub fn open(named: Option<&OsStr>) -> Result<Opened> {
    let name = named.map_or_else(hermes_actors::default_journal_name, OsStr::to_owned);
    let journal = hermes_actors::open_journal(&name)?;
    let note = if name == "memory" { None } else { note(Path::new(&name), &*journal) };
    Ok(Opened { journal, note })
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
