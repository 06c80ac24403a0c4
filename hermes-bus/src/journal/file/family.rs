//! The names of a family: a journal file, its rotated predecessors, its siblings, and its blobs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The files that hold the family of the journal at `path`, oldest first: `x.r1.jsonl`, `x.r2.jsonl`, …, `x.jsonl`.
/// Those that do not exist are left out.
///
/// # Errors
/// When the folder cannot be listed.
pub fn family(path: &Path) -> io::Result<Vec<PathBuf>> {
    let current = std::fs::metadata(path).ok();
    let mut files = numbered(path, ".r", 1)?;
    // A rotation that was cut short leaves the newest file under two names.
    let twice = |file: &PathBuf| match (&current, std::fs::metadata(file)) {
        (Some(current), Ok(file)) => current.ino() == file.ino() && current.dev() == file.dev(),
        _ => false,
    };
    files.retain(|file| !twice(file));
    files.extend(current.map(|_| path.to_owned()));
    Ok(files)
}

/// The journals that were written under the name `path`: itself if it is there, then the siblings `x-2.jsonl`,
/// `x-3.jsonl`, … of processes that found it taken. Each is the head of a [`family`] of its own.
///
/// # Errors
/// When the folder cannot be listed.
pub fn families(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut heads: Vec<PathBuf> = Some(path.to_owned()).into_iter().filter(|path| path.exists()).collect();
    heads.extend(numbered(path, "-", 2)?);
    Ok(heads)
}

/// The name of the `number`th rotated file: `x.jsonl` → `x.r1.jsonl`.
pub(super) fn rotated(path: &Path, number: u64) -> PathBuf {
    with_infix(path, ".r", number)
}

/// The name for the `number`th process at once: `x.jsonl` → `x-2.jsonl`.
pub(super) fn sibling(path: &Path, number: u64) -> PathBuf {
    with_infix(path, "-", number)
}

/// The number for the next rotated file.
///
/// # Errors
/// When the folder cannot be listed.
pub(super) fn next_rotation(path: &Path) -> io::Result<u64> {
    Ok(numbers(path, ".r", 1)?.last().map_or(1, |last| last + 1))
}

/// The journal of which `path` is a rotated file, if that is there.
pub(super) fn rotated_from(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem()?.as_bytes();
    let at = stem.windows(2).rposition(|two| two == b".r")?;
    std::str::from_utf8(&stem[at + 2..]).ok()?.parse::<u64>().ok()?;
    let mut name = OsStr::from_bytes(&stem[..at]).to_owned();
    push_extension(&mut name, path);
    Some(path.with_file_name(name)).filter(|head| head.exists())
}

/// The name of something that belongs to the journal: `x.jsonl` → `x.jsonl.blobs`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn with_infix(path: &Path, infix: &str, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("{infix}{number}"));
    push_extension(&mut name, path);
    path.with_file_name(name)
}

fn push_extension(name: &mut OsString, path: &Path) {
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
}

fn numbered(path: &Path, infix: &str, least: u64) -> io::Result<Vec<PathBuf>> {
    Ok(numbers(path, infix, least)?.into_iter().map(|number| with_infix(path, infix, number)).collect())
}

/// The numbers from `least` on for which `with_infix` is there, in order.
fn numbers(path: &Path, infix: &str, least: u64) -> io::Result<Vec<u64>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut start = path.file_stem().unwrap_or_default().to_owned();
    start.push(infix);
    let number_of = |name: &OsStr| -> Option<u64> {
        let rest = name.as_encoded_bytes().strip_prefix(start.as_encoded_bytes())?;
        let digits = rest.split(|b| *b == b'.').next()?;
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        // `x-02.jsonl` and `x-2.txt` are somebody else's.
        (with_infix(path, infix, number).file_name()? == name).then_some(number)
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        found.extend(number_of(&entry?.file_name()).filter(|number| *number >= least));
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[PathBuf]) -> Vec<&str> {
        paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn a_family_is_listed_oldest_first_and_siblings_apart() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["x.jsonl", "x.r2.jsonl", "x.r10.jsonl", "x.r1.jsonl", "x-3.jsonl", "x-2.jsonl", "x-3.r1.jsonl"]
                .into_iter()
                .chain(["x-1.jsonl", "x-02.jsonl", "x.r1.txt", "x.rest.jsonl", "xx.jsonl", "x.jsonl.new"])
        {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let x = folder.path().join("x.jsonl");
        assert_eq!(names(&family(&x).unwrap()), ["x.r1.jsonl", "x.r2.jsonl", "x.r10.jsonl", "x.jsonl"]);
        assert_eq!(names(&families(&x).unwrap()), ["x.jsonl", "x-2.jsonl", "x-3.jsonl"]);
        assert_eq!(names(&family(&folder.path().join("x-3.jsonl")).unwrap()), ["x-3.r1.jsonl", "x-3.jsonl"]);
        assert_eq!(next_rotation(&x).unwrap(), 11);
        assert_eq!(rotated_from(&folder.path().join("x.r7.jsonl")), Some(x));
        assert_eq!(rotated_from(&folder.path().join("y.r7.jsonl")), None);
    }

    #[test]
    fn names_with_and_without_extension() {
        assert_eq!(sibling(Path::new("a/trace.jsonl"), 2), Path::new("a/trace-2.jsonl"));
        assert_eq!(sibling(Path::new("trace"), 2), Path::new("trace-2"));
        assert_eq!(rotated(Path::new("a.b.jsonl"), 1), Path::new("a.b.r1.jsonl"));
        assert_eq!(beside(Path::new("a.jsonl"), ".blobs"), Path::new("a.jsonl.blobs"));
    }
}
