//! `search_files`: files by a part of their name, and lines by a text in them.

use super::names::{Entry, Kind, one_line, tidy};
use super::root::Root;
use hermes_actors::tool::{SHOWN_CHARACTERS, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};

pub const NAME: &str = "search_files";
pub const DESCRIPTION: &str = "Searches all folders below for files and folders whose name contains a keyword, or for \
                               lines that contain a text, or for such lines in such files. Upper and lower case are \
                               the same. Answers with sorted paths, and `path:line number: line` for lines.";

/// How much one call returns: what a model is shown, less the notices.
const PAGE: usize = SHOWN_CHARACTERS - 400;
/// How much of a line is shown, in characters.
const LINE: usize = 200;
/// Bounds to the work of one call.
const ENTRIES: usize = 100_000;
const BYTES: u64 = 256 << 20;
const BYTES_OF_FILE: u64 = 8 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// A part of the file's name.
    name: Option<String>,
    /// A part of a line in the file.
    text: Option<String>,
    /// The folder to search, relative to the top. Without it: everything.
    path: Option<String>,
}

pub fn search(root: &Root, arguments: Arguments) -> Result<String, ToolError> {
    let wanted = |part: Option<String>| part.filter(|part| !part.is_empty()).map(|part| part.to_lowercase());
    let (name, text) = (wanted(arguments.name), wanted(arguments.text));
    if name.is_none() && text.is_none() {
        return Err(ToolError::new("give name, a part of a file's name, or text, a part of a line, or both"));
    }
    let start = tidy(&root.relative(arguments.path.as_deref().unwrap_or_default()));
    let mut search =
        Search { root, name, text, hits: Vec::new(), room: PAGE, bytes: BYTES, unread: 0, cut: None };
    search.walk(start)?;
    Ok(search.answer())
}

/// A search under way.
struct Search<'a> {
    root: &'a Root,
    /// In lower case.
    name: Option<String>,
    /// In lower case.
    text: Option<String>,
    hits: Vec<String>,
    /// How many characters of hits may still be returned.
    room: usize,
    /// How many bytes may still be read.
    bytes: u64,
    /// Folders without permission and files that could not be searched for text.
    unread: usize,
    /// Why the search ended before its end.
    cut: Option<&'static str>,
}

impl Search<'_> {
    /// Looks at everything below `start` in the order of the paths, until a bound is met.
    fn walk(&mut self, start: PathBuf) -> Result<(), ToolError> {
        let top = if start.as_os_str().is_empty() { Path::new(".") } else { &start };
        if !self.root.metadata(top)?.is_dir() {
            let name = start.file_name().unwrap_or_default().to_owned();
            self.look_at(&start, &Entry { name, kind: Kind::Other });
            return Ok(());
        }
        let mut stack = self.below(&start)?;
        let mut seen = 0;
        while let Some((path, entry)) = stack.pop() {
            seen += 1;
            if seen > ENTRIES {
                self.cut = Some("there are too many files");
            }
            if self.cut.is_some() {
                break;
            }
            self.look_at(&path, &entry);
            if entry.kind == Kind::Folder && entry.name != ".git" {
                match self.below(&path) {
                    Ok(entries) => stack.extend(entries),
                    Err(_) => self.unread += 1,
                }
            }
        }
        Ok(())
    }

    /// The entries of a folder with their paths, the last first, as a stack wants them.
    fn below(&self, folder: &Path) -> Result<Vec<(PathBuf, Entry)>, ToolError> {
        let opened = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = self.root.entries(opened)?;
        Ok(entries.into_iter().rev().map(|entry| (folder.join(&entry.name), entry)).collect())
    }

    fn look_at(&mut self, path: &Path, entry: &Entry) {
        let name = entry.name.to_string_lossy().to_lowercase();
        if self.name.as_ref().is_some_and(|wanted| !name.contains(wanted)) {
            return;
        }
        match self.text.take() {
            None => self.hit(written(path, entry)),
            Some(text) => {
                // A link's target is found where it stands, if that is inside of the root.
                if entry.kind == Kind::Other {
                    self.search_lines(path, &text);
                }
                self.text = Some(text);
            }
        }
    }

    fn search_lines(&mut self, path: &Path, wanted: &str) {
        let Some(content) = self.content(path) else {
            self.unread += 1;
            return;
        };
        for (number, line) in content.lines().enumerate() {
            if line.to_lowercase().contains(wanted) {
                let path = path.to_string_lossy();
                self.hit(format!("{}:{}: {}", one_line(&path), number + 1, shortened(line.trim())));
            }
            if self.cut.is_some() {
                return;
            }
        }
    }

    /// The text of a file, if it is one and not too large.
    fn content(&mut self, path: &Path) -> Option<String> {
        let (file, metadata) = self.root.open_file(path).ok()?;
        if metadata.len() > BYTES_OF_FILE {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(BYTES_OF_FILE).read_to_end(&mut bytes).ok()?;
        self.bytes = self.bytes.saturating_sub(bytes.len() as u64);
        if self.bytes == 0 {
            self.cut = Some("there is too much to read");
        }
        String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
    }

    fn hit(&mut self, line: String) {
        let length = line.chars().count() + 1;
        if length > self.room && !self.hits.is_empty() {
            self.cut = Some("there are more hits than fit");
            return;
        }
        self.room = self.room.saturating_sub(length);
        self.hits.push(line);
    }

    fn answer(self) -> String {
        let mut lines = Vec::new();
        if let Some(reason) = self.cut {
            lines.push(format!("[Stopped early: {reason}. Search in one folder, or for something rarer.]"));
        }
        if self.unread > 0 {
            lines.push(format!(
                "[Not searched: {} that are no text in UTF-8, over {} MiB, or may not be read.]",
                self.unread,
                BYTES_OF_FILE >> 20
            ));
        }
        if self.hits.is_empty() {
            lines.push("Nothing found.".into());
        }
        lines.extend(self.hits);
        lines.join("\n")
    }
}

fn written(path: &Path, entry: &Entry) -> String {
    let slash = if entry.kind == Kind::Folder { "/" } else { "" };
    one_line(&format!("{}{slash}", path.to_string_lossy())).into_owned()
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((border, _)) => format!("{}…", &line[..border]),
        None => line.to_owned(),
    }
}
