//! The default journal: where records go when nobody says where.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use hermes_bus::journal::{Durability, FileJournal, Journal, JournalError, MemoryJournal};

/// Opens the journal of the [default name](name).
///
/// # Errors
/// When it cannot be opened.
pub fn open() -> Result<Arc<dyn Journal>, JournalError> {
    open_named(name())
}

/// The default name: what `HERMES_JOURNAL` says (a path, or `memory`), else `hermes_trace.jsonl` in the working
/// directory.
pub fn name() -> OsString {
    let named = std::env::var_os("HERMES_JOURNAL").filter(|name| !name.is_empty());
    named.unwrap_or_else(|| "hermes_trace.jsonl".into())
}

/// Opens the journal at a path, or for `memory` one that leaves nothing behind.
///
/// # Errors
/// When it cannot be opened.
pub fn open_named(name: impl AsRef<OsStr>) -> Result<Arc<dyn Journal>, JournalError> {
    let name = name.as_ref();
    if name == "memory" {
        return Ok(Arc::new(MemoryJournal::default()));
    }
    Ok(FileJournal::open(name, Durability::Process)?)
}
