//! The root: the handle through which everything is opened, and its refusals in plain words.

use super::hidden::Family;
use super::names::{Entry, sorted, tidy};
use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use hermes_actors::tool::ToolError;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder. Paths given to it are what a model wrote.
#[derive(Clone, Debug)]
pub struct Root {
    dir: Arc<Dir>,
    /// Its absolute paths, as given and without symbolic links. Only for reading what a model wrote.
    paths: Vec<PathBuf>,
    /// What is treated as if it were not there.
    hidden: Vec<Family>,
}

impl Root {
    /// Opens the folder at `path`, with all the rights of this process.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        let paths = [std::path::absolute(path), path.canonicalize()].into_iter().flatten().collect();
        Ok(Self { dir: Arc::new(dir), paths, hidden: Vec::new() })
    }

    /// Hides a journal under this name and, where that is a symbolic link, under its own.
    pub fn hide(&mut self, journal: &Path) {
        for name in [Some(journal.to_owned()), journal.canonicalize().ok()].into_iter().flatten() {
            self.hidden.extend(self.paths.iter().find_map(|root| Family::below(root, &name)));
        }
    }

    /// The path to open: `.` for an empty one, relative for an absolute one that begins with the root's.
    pub fn relative(&self, path: &str) -> PathBuf {
        let path = Path::new(path);
        let path = self.paths.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() }
    }

    /// What stands at `path`, the target of a symbolic link included.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, ToolError> {
        let metadata = self.dir.metadata(path).map_err(|error| refusal(path, error))?;
        self.place(path, &metadata)?;
        Ok(metadata)
    }

    /// The entries of the folder at `path`, in order.
    pub fn entries(&self, path: &Path) -> Result<Vec<Entry>, ToolError> {
        let metadata = self.dir.metadata(path).map_err(|error| refusal(path, error))?;
        let place = self.place(path, &metadata)?;
        let entries = self.dir.read_dir(path).and_then(sorted);
        let mut entries = entries.map_err(|error| refusal(path, error))?;
        entries.retain(|entry| !self.hides(&place.join(&entry.name)));
        Ok(entries)
    }

    /// Where the file or folder at `path` stands, without symbolic links. At what is hidden there is nothing.
    fn place(&self, path: &Path, metadata: &Metadata) -> Result<PathBuf, ToolError> {
        // No pipe is hidden, and to resolve its path could mean to open it.
        if self.hidden.is_empty() || !(metadata.is_file() || metadata.is_dir()) {
            return Ok(PathBuf::new());
        }
        let place = self.dir.canonicalize(path).map_err(|error| refusal(path, error))?;
        let place = tidy(&place);
        if self.hides(&place) { Err(refusal(path, ErrorKind::NotFound.into())) } else { Ok(place) }
    }

    fn hides(&self, place: &Path) -> bool {
        self.hidden.iter().any(|family| family.holds(place))
    }

    /// Opens the file at `path`, if it is one.
    ///
    /// A pipe would hold the thread until somebody writes, and opening a device can do anything. So the kind is
    /// looked at first; and in case somebody swaps the two in between, the opening does not wait.
    pub fn open_file(&self, path: &Path) -> Result<(File, Metadata), ToolError> {
        check_is_file(path, &self.metadata(path)?)?;
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true);
        let file = self.dir.open_with(path, &options).map_err(|error| refusal(path, error))?;
        let metadata = file.metadata().map_err(|error| refusal(path, error))?;
        check_is_file(path, &metadata)?;
        Ok((file, metadata))
    }
}

fn check_is_file(path: &Path, metadata: &Metadata) -> Result<(), ToolError> {
    let path = path.display();
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(ToolError::new(format!("`{path}` is a folder: list_directory shows what is in it")))
    } else {
        Err(ToolError::new(format!("`{path}` is not a file with a text in it, but a pipe, device or socket")))
    }
}

/// An error of the operating system, for the model.
pub fn refusal(path: &Path, error: Error) -> ToolError {
    let shown = path.display();
    let message = match error.kind() {
        // cap-std's own refusal is the only one of its kind without an error number.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            format!("`{shown}`: that path is outside of the folder I may read")
        }
        ErrorKind::PermissionDenied => format!("I have no permission to read `{shown}`"),
        ErrorKind::NotFound => {
            format!("there is nothing at `{shown}`: search_files finds a file by a part of its name")
        }
        ErrorKind::NotADirectory => format!("`{shown}` is not a folder, or one of the folders in it is none"),
        _ => format!("cannot read `{shown}`: {error}"),
    };
    ToolError::new(message).caused_by(error)
}
