//! The root: the handle through which everything is opened, and its refusals in plain words.

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, ReadDir};
use hermes_actors::tool::ToolError;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The folder. Paths given to it are what a model wrote.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    /// Its absolute paths, as given and without symbolic links. Only for reading what a model wrote.
    paths: Vec<PathBuf>,
}

impl Root {
    /// Opens the folder at `path`, with all the rights of this process.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        let paths = [std::path::absolute(path), path.canonicalize()].into_iter().flatten().collect();
        Ok(Self { dir, paths })
    }

    /// The path to open: `.` for an empty one, relative for an absolute one that begins with the root's.
    pub fn relative(&self, path: &str) -> PathBuf {
        let path = Path::new(path.trim());
        let path = self.paths.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() }
    }

    /// What stands at `path`, the target of a symbolic link included.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, ToolError> {
        self.dir.metadata(path).map_err(|error| refusal(path, error))
    }

    /// The entries of the folder at `path`.
    pub fn entries(&self, path: &Path) -> Result<ReadDir, ToolError> {
        self.dir.read_dir(path).map_err(|error| refusal(path, error))
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
