//! The file tools: `list_directory`, `read_file` and `search_files`, below one folder.

mod hidden;
mod list;
mod names;
mod read;
mod root;
mod search;

use async_trait::async_trait;
use hermes_actors::tool::{
    Declaration, Effect, Tool, ToolContext, ToolError, ToolOutput, arguments_as, off_the_event_loop,
    schema_for,
};
use root::Root;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that models may read, with three tools to do so.
///
/// Confinement comes from the handle of the folder, opened once, not from looking at paths: the operating system
/// resolves every path beneath it, so `..`, absolute paths and symbolic links lead nowhere else, not even when
/// somebody renames things in between. The one convenience: an absolute path that begins with the folder's own is
/// taken as relative to it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let files = hermes_tools::Files::below(folder)?;
/// let names: Vec<String> = files.tools().iter().map(|tool| tool.declaration().name).collect();
/// assert_eq!(names, ["list_directory", "read_file", "search_files"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    root: Arc<Root>,
}

impl Files {
    /// Opens the folder `root`, with the rights of this process. From here on only the handle counts.
    ///
    /// # Errors
    /// When there is no such folder or it cannot be opened.
    pub fn below(root: impl AsRef<Path>) -> Result<Self, FilesError> {
        let path = root.as_ref();
        let root = Root::open(path).map_err(|source| FilesError { path: path.to_owned(), source })?;
        Ok(Self { root: Arc::new(root) })
    }

    /// Hides a journal: what the files of an agent hold should not be its own words. Its siblings (`x-2.jsonl`), rotated
    /// files (`x.r1.jsonl`) and blobs are hidden with it: they are not listed, not searched and cannot be read, not
    /// even through a symbolic link. One that is not below the folder changes nothing.
    #[must_use]
    pub fn hiding(mut self, journal: impl AsRef<Path>) -> Self {
        Arc::make_mut(&mut self.root).hide(journal.as_ref());
        self
    }

    /// The three tools. All are read-only, and their blocking work runs off the event loop.
    ///
    /// What they return is text that fits what a model is shown; what is longer ends with how to read on.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(FileTool::new(&self.root, list::NAME, list::DESCRIPTION, list::list)),
            Arc::new(FileTool::new(&self.root, read::NAME, read::DESCRIPTION, read::read)),
            Arc::new(FileTool::new(&self.root, search::NAME, search::DESCRIPTION, search::search)),
        ]
    }
}

/// The folder for [`Files`] could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the folder {}", path.display())]
pub struct FilesError {
    /// The folder as given.
    pub path: PathBuf,
    /// What the operating system said.
    pub source: std::io::Error,
}

/// One of the tools: a function over the root and arguments of type `A`.
struct FileTool<A> {
    root: Arc<Root>,
    name: &'static str,
    description: &'static str,
    run: fn(&Root, A) -> Result<String, ToolError>,
    arguments: PhantomData<fn(A)>,
}

impl<A> FileTool<A> {
    fn new(
        root: &Arc<Root>,
        name: &'static str,
        description: &'static str,
        run: fn(&Root, A) -> Result<String, ToolError>,
    ) -> Self {
        Self { root: root.clone(), name, description, run, arguments: PhantomData }
    }
}

#[async_trait]
impl<A: DeserializeOwned + JsonSchema + Send + 'static> Tool for FileTool<A> {
    fn declaration(&self) -> Declaration {
        Declaration::new(self.name, self.description, schema_for::<A>()).effect(Effect::ReadOnly)
    }

    async fn call(
        &self,
        arguments: Map<String, Value>,
        _context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = arguments_as(arguments)?;
        let (root, run) = (self.root.clone(), self.run);
        off_the_event_loop(move || run(&root, arguments)).await?.map(ToolOutput::text)
    }
}
