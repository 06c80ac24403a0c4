//! `hermes trace verify`: the ten laws on a journal as it stands on disk.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hermes_actors::laws::{self, Ending};
use hermes_bus::journal::{Entry, Family, Journal, ReadOnlyJournal, Record, Torn, family, read_family};
use hermes_bus::laws::{Broken, OpenEntry};

use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::report::write_line;
use crate::terminal::{drain, harmless, wait_for};

/// Whether law 9 is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digests {
    /// It is.
    Check,
    /// It is left out.
    Skip,
}

/// One file of the family.
struct Part {
    path: PathBuf,
    lines: usize,
    torn: Option<Torn>,
}

/// The family, read.
struct Found {
    parts: Vec<Part>,
    records: Vec<Record>,
}

/// Checks the laws and prints what breaks them.
///
/// # Errors
/// When something cannot be read.
pub fn verify(args: &VerifyArgs) -> Result<Exit> {
    let files = files(&args.files)?;
    wait_for(Some("reading the journal".to_owned()));
    let found = Found::read(&files)?;
    let ending = args.ending();
    wait_for(Some(format!("checking the laws on {} lines", found.records.len())));
    let mut broken = laws::check(found.records.iter().map(|record| &record.line[..]), ending);
    broken.extend(found.torn(ending));
    if args.digests() == Digests::Check {
        wait_for(Some("checking the digests".to_owned()));
        broken.extend(digests(&found)?);
    }
    wait_for(None);
    drain();
    broken.sort_by_key(|broken| broken.line);
    print(&found, &broken, args.digests())?;
    Ok(if broken.is_empty() { Exit::Good } else { Exit::Failed })
}

/// What to read: the files as named, or the whole family of a single one.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    for path in named {
        let kind = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        // A pipe has no length: nothing of it would be read, and nothing would be wrong with it.
        ensure!(kind.is_file(), "cannot read {}: it is no regular file", path.display());
    }
    let [head] = named else { return Ok(named.to_vec()) };
    family(head).with_context(|| format!("cannot list the folder of {}", head.display()))
}

impl Found {
    fn read(files: &[PathBuf]) -> Result<Self> {
        let mut found = Self { parts: Vec::new(), records: Vec::new() };
        for path in files {
            let read = read_family(std::slice::from_ref(path))?;
            ensure!(
                is_journal(path, &read).with_context(|| format!("cannot read {}", path.display()))?,
                "{} is no Hermes journal: no line of it is an envelope",
                path.display()
            );
            found.parts.push(Part { path: path.clone(), lines: read.records.len(), torn: read.torn });
            found.records.extend(read.records);
        }
        Ok(found)
    }

    /// A torn line breaks law 1, unless it is the last one after a crash.
    fn torn(&self, ending: Ending) -> Vec<Broken> {
        let last = self.parts.len().saturating_sub(1);
        let mut line = 0;
        let mut broken = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            line += part.lines;
            let Some(torn) = part.torn.as_ref().filter(|_| number < last || ending == Ending::Whole) else {
                continue;
            };
            broken.push(Broken { law: 1, line, seq: None, text: format!("after it: {torn}") });
        }
        broken
    }

    /// The file and the line in it where the `line`th line of the family stands.
    fn place(&self, line: usize) -> (&Path, usize) {
        let mut left = line;
        for part in &self.parts {
            if left <= part.lines {
                return (&part.path, left);
            }
            left -= part.lines;
        }
        (Path::new("?"), line)
    }

    fn head(&self) -> &Path {
        self.parts.last().map_or(Path::new("?"), |part| &part.path)
    }
}

/// Whether the file can be taken for a journal. A bad line, even the first, breaks a law; if all are bad, it is none.
fn is_journal(path: &Path, read: &Family) -> Result<bool> {
    if read.records.is_empty() && read.torn.is_some() {
        // Only the beginning of a line: a writer that was killed at once leaves that, and it has begun an object.
        let mut first = [0];
        File::open(path)?.read_exact(&mut first)?;
        return Ok(first == *b"{");
    }
    // One that lacks a field is a bad envelope, but it is one.
    let is_envelope =
        |record: &Record| OpenEntry::parse(&record.line).map_or_else(|wrong| wrong.seq.is_some(), |_| true);
    Ok(read.records.is_empty() || read.records.iter().any(is_envelope))
}

/// Law 9, with the blobs beside the family's current file.
fn digests(found: &Found) -> Result<Vec<Broken>> {
    let journal = ReadOnlyJournal::open(found.head())?;
    let blobs = PathBuf::from(format!("{}.blobs", journal.location()));
    let starts = |record: &Record| Entry::parse(record).is_ok_and(|entry| entry.name == "task.start");
    if !blobs.is_dir() && found.records.iter().any(starts) {
        bail!(
            "the folder {} is not there, and the digests (law 9) cannot be checked without it: put it beside the \
             journal, name the journal's newest file last, or leave the digests out with --no-digests",
            blobs.display()
        );
    }
    Ok(laws::digests(&journal, &found.records))
}

fn print(found: &Found, broken: &[Broken], digests: Digests) -> Result<()> {
    for breach in broken {
        let (path, line) = found.place(breach.line);
        print_line(&format!("{}:{line}: {}", path.display(), written(breach)))?;
    }
    let checked = match digests {
        Digests::Check => "laws 1 to 10",
        Digests::Skip => "laws 1 to 8 and 10",
    };
    let verdict = match broken.len() {
        0 if found.records.is_empty() => "nothing to check".to_owned(),
        0 => format!("{checked} hold"),
        1 => format!("{checked} checked, broken once"),
        times => format!("{checked} checked, broken {times} times"),
    };
    let lines = found.records.len();
    let plural = if lines == 1 { "" } else { "s" };
    print_line(&format!("{}: {lines} line{plural}; {verdict}", found.head().display()))
}

/// The breach without its line in the family: the line in its file is said already.
fn written(breach: &Broken) -> String {
    let seq = breach.seq.map(|seq| format!(" (seq {seq})")).unwrap_or_default();
    format!("law {} broken{seq}: {}", breach.law, breach.text)
}

/// A line to stdout; names of files and what a journal holds may be anybody's.
fn print_line(line: &str) -> Result<()> {
    write_line(&harmless(line)).context("cannot write to stdout")
}
