//! `list_directory`: what is in a folder.

use super::names::{Entry, Kind, one_line};
use super::root::Root;
use hermes_actors::tool::{SHOWN_CHARACTERS, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

pub const NAME: &str = "list_directory";
pub const DESCRIPTION: &str =
    "Lists what is in a folder, one entry on each line, sorted. The names of folders end with a slash.";

/// How much of a listing one call returns: what a model is shown, less the notice.
const PAGE: usize = SHOWN_CHARACTERS - 300;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The folder, relative to the top. Without it: the top.
    path: Option<String>,
    /// List only what comes after this entry, to read on in a long listing.
    after: Option<String>,
}

pub fn list(root: &Root, arguments: Arguments) -> Result<String, ToolError> {
    let path = root.relative(arguments.path.as_deref().unwrap_or_default());
    let entries = root.entries(&path)?;
    let total = entries.len();
    let mut names: Vec<String> = entries.iter().map(|entry| written(root, &path, entry)).collect();
    names.sort();
    names.retain(|name| arguments.after.as_ref().is_none_or(|after| name > after));
    if names.is_empty() {
        let place = if total == 0 { "The folder is empty." } else { "Nothing comes after that entry." };
        return Ok(place.into());
    }
    let page = page(&names);
    let lines: Vec<_> = names[..page].iter().map(|name| one_line(name)).collect();
    let lines = lines.join("\n");
    if page == names.len() {
        return Ok(lines);
    }
    let last = serde_json::Value::from(names[page - 1].as_str());
    Ok(format!(
        "[{page} of {total} entries; {} follow. To read on: after = {last}]\n{lines}",
        names.len() - page
    ))
}

/// A link to a folder inside of the root is written as a folder, because it can be listed like one.
fn written(root: &Root, folder: &Path, entry: &Entry) -> String {
    let name = entry.written();
    let leads_to_folder = || root.metadata(&folder.join(&entry.name)).is_ok_and(|target| target.is_dir());
    if entry.kind == Kind::Link && leads_to_folder() { name + "/" } else { name }
}

/// How many of the names fit on a page, at least one.
fn page(names: &[String]) -> usize {
    let mut room = PAGE;
    let fitting = names.iter().take_while(|name| {
        let length = one_line(name).chars().count() + 1;
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    fitting.count().max(1)
}
