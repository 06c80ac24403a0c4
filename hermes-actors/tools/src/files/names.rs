//! Names: the entries of a folder, in order, and how they are written for a model.

use cap_std::fs::ReadDir;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// One entry of a folder.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// Its name, as the system has it.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
}

/// What an entry is, symbolic links not followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A symbolic link to anything.
    Link,
    /// A file, or something rarer.
    Other,
}

/// The entries in the order of their [written](Entry::written) names.
pub fn sorted(entries: ReadDir) -> std::io::Result<Vec<Entry>> {
    let mut sorted = Vec::new();
    for entry in entries {
        let entry = entry?;
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_dir() => Kind::Folder,
            Ok(kind) if kind.is_symlink() => Kind::Link,
            // One that vanished in between is not worth an error.
            _ => Kind::Other,
        };
        sorted.push(Entry { name: entry.file_name(), kind });
    }
    sorted.sort_by_cached_key(Entry::written);
    Ok(sorted)
}

impl Entry {
    /// The name with a slash after it for a folder. In this order a walk through all folders yields sorted paths.
    pub fn written(&self) -> String {
        let slash = if self.kind == Kind::Folder { "/" } else { "" };
        format!("{}{slash}", self.name.to_string_lossy())
    }
}

/// Without `./`, so that the paths found are those that a model would write.
pub fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|component| *component != Component::CurDir).collect()
}

/// A path or name on a line of its own: as a JSON string if it would break the line.
pub fn one_line(name: &str) -> Cow<'_, str> {
    if name.contains(char::is_control) {
        serde_json::Value::from(name).to_string().into()
    } else {
        name.into()
    }
}
