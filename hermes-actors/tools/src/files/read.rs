//! `read_file`: a page of a text file.

use super::root::{Root, refusal};
use cap_std::fs::File;
use hermes_actors::tool::{SHOWN_CHARACTERS, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

pub const NAME: &str = "read_file";
pub const DESCRIPTION: &str = "Reads a text file. A long one comes in pages: the first line of the answer then says \
                               which part this is and how to read on.";

/// How many characters one call returns: what a model is shown, less the notice.
const PAGE: usize = SHOWN_CHARACTERS - 200;
/// How many bytes that may be: no character has more than 4.
const PAGE_BYTES: u64 = 4 * PAGE as u64;
/// How far a call looks for a line by its number.
const SCANNED_BYTES: u64 = 64 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The file, relative to the top.
    path: String,
    /// The first line to read, counted from 1.
    first_line: Option<u64>,
    /// How many lines to read. Without it, or with 0: as many as fit.
    lines: Option<u64>,
    /// The byte to read on from, as an earlier answer said; instead of first_line.
    offset: Option<u64>,
}

/// A part of a file.
struct Part {
    text: String,
    /// Where it begins, in bytes.
    start: u64,
    /// The size of the file, in bytes.
    size: u64,
}

impl Part {
    fn end(&self) -> u64 {
        self.start + self.text.len() as u64
    }
}

pub fn read(root: &Root, arguments: Arguments) -> Result<String, ToolError> {
    let path = root.relative(&arguments.path);
    let (mut file, metadata) = root.open_file(&path)?;
    let start = match (arguments.first_line, arguments.offset) {
        (Some(_), Some(_)) => Err(ToolError::new("give first_line or offset, not both")),
        (_, Some(offset)) if offset > metadata.len() => Err(ToolError::new(format!(
            "offset {offset} is past the end: the file has {} bytes",
            metadata.len()
        ))),
        (_, Some(offset)) => Ok(offset),
        (Some(line), None) => start_of(line, &path, &mut file),
        (None, None) => Ok(0),
    }?;
    let mut part = read_page(&path, file, start, metadata.len())?;
    if let Some(lines) = arguments.lines {
        keep_lines(&mut part.text, lines);
    }
    Ok(with_notice(&part, arguments.first_line))
}

/// The byte at which a line begins.
fn start_of(line: u64, path: &Path, file: &mut File) -> Result<u64, ToolError> {
    let mut reader = BufReader::new(file.take(SCANNED_BYTES));
    let mut position = 0;
    for passed in 1..line {
        let length = reader.skip_until(b'\n').map_err(|error| refusal(path, error))? as u64;
        position += length;
        if position >= SCANNED_BYTES {
            return Err(ToolError::new(format!(
                "line {line} is not within the first {SCANNED_BYTES} bytes, where I look for lines: use offset"
            )));
        }
        if reader.fill_buf().map_err(|error| refusal(path, error))?.is_empty() {
            let lines = if length == 0 { 0 } else { passed };
            let plural = if lines == 1 { "" } else { "s" };
            return Err(ToolError::new(format!(
                "there is no line {line}: the file has {lines} line{plural}"
            )));
        }
    }
    Ok(position)
}

fn read_bytes(mut file: File, start: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(PAGE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// At most a page from `start` on, which ends with a line if it holds the end of one.
fn read_page(path: &Path, file: File, start: u64, size: u64) -> Result<Part, ToolError> {
    let mut bytes = read_bytes(file, start).map_err(|error| refusal(path, error))?;
    // What the system makes up has more or less in it than its size says, and any file may have changed by now: the
    // end is where reading ends, or a model would be told to read on for ever.
    let at_end = (bytes.len() as u64) < PAGE_BYTES;
    let read_to = start + bytes.len() as u64;
    let size = if at_end { read_to } else { size.max(read_to) };
    // An offset that a model made up may lie inside of a character.
    let skipped =
        if start == 0 { 0 } else { bytes.iter().take(3).take_while(|byte| is_inside(**byte)).count() };
    let start = start + skipped as u64;
    let mut text =
        decode(bytes.split_off(skipped), at_end).map_err(|valid| not_text(path, start + valid as u64))?;
    if let Some((border, _)) = text.char_indices().nth(PAGE) {
        text.truncate(border);
    }
    if start + (text.len() as u64) < size
        && let Some(end_of_line) = text.rfind('\n')
    {
        text.truncate(end_of_line + 1);
    }
    Ok(Part { text, start, size })
}

/// Whether the byte stands inside of a character, so that nothing can begin at it.
fn is_inside(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// The bytes as text, without a character that the page cuts in two; or the place of the first byte that is no text.
fn decode(bytes: Vec<u8>, at_end: bool) -> Result<String, usize> {
    let text = String::from_utf8(bytes).or_else(|error| {
        let fault = error.utf8_error();
        if fault.error_len().is_some() || at_end {
            return Err(fault.valid_up_to());
        }
        let mut bytes = error.into_bytes();
        bytes.truncate(fault.valid_up_to());
        String::from_utf8(bytes).map_err(|_| fault.valid_up_to())
    })?;
    text.find('\0').map_or(Ok(text), Err)
}

fn not_text(path: &Path, place: u64) -> ToolError {
    ToolError::new(format!(
        "`{}` is not a text in UTF-8 (see byte {place}): it is a binary file or has another encoding, and I cannot \
         read it",
        path.display()
    ))
}

fn keep_lines(text: &mut String, lines: u64) {
    let Some(last) = usize::try_from(lines).ok().and_then(|lines| lines.checked_sub(1)) else { return };
    if let Some((end_of_line, _)) = text.match_indices('\n').nth(last) {
        text.truncate(end_of_line + 1);
    }
}

/// The text, under a notice that says which part of the file it is, unless it is all of it.
fn with_notice(part: &Part, first_line: Option<u64>) -> String {
    let Part { text, start, size } = part;
    let end = part.end();
    if *start == 0 && end >= *size {
        return text.clone();
    }
    let first_line = if *start == 0 { Some(1) } else { first_line };
    let lines = match (first_line, text.lines().count() as u64) {
        (Some(first), count @ 1..) => format!("lines {first}-{}, ", first + count - 1),
        _ => String::new(),
    };
    let next = if end >= *size {
        "this is the end of the file".to_owned()
    } else {
        format!("to read on: offset = {end}")
    };
    format!("[{lines}bytes {start}-{end} of {size}; {next}]\n{text}")
}
