//! What is hidden from models: the family of a journal, by its folder and its names.

use std::path::{Path, PathBuf};

/// What lies beside a file of the family, by what is added to that file's name.
const BESIDE: [&str; 2] = [".blobs", ".new"];

/// A journal with its siblings and rotated files, and what lies beside each of them.
#[derive(Clone, Debug)]
pub struct Family {
    /// Relative to the root, without symbolic links.
    folder: PathBuf,
    /// The journal's name up to its extension.
    stem: String,
    /// The rest of its name: `.jsonl`, or nothing.
    ending: String,
}

impl Family {
    /// The family of the journal at `journal`, if that is below `root`.
    pub fn below(root: &Path, journal: &Path) -> Option<Self> {
        let journal = std::path::absolute(journal).ok()?;
        let folder = journal.parent()?.canonicalize().ok()?;
        Some(Self {
            folder: folder.strip_prefix(root).ok()?.to_owned(),
            stem: journal.file_stem()?.to_string_lossy().into_owned(),
            ending: journal.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default(),
        })
    }

    /// Whether `path` is of the family or below what is. It is relative to the root and without symbolic links.
    pub fn holds(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.folder).ok().and_then(|below| below.components().next());
        below.is_some_and(|first| self.has(&first.as_os_str().to_string_lossy()))
    }

    /// Whether the name is `x.jsonl`, `x-2.jsonl`, `x.r1.jsonl` or `x-2.r1.jsonl`, or one of them and more.
    fn has(&self, name: &str) -> bool {
        let file = BESIDE.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let infix = file.strip_suffix(&self.ending).and_then(|file| file.strip_prefix(&self.stem));
        infix.is_some_and(|infix| {
            let (sibling, rotated) = infix.split_once(".r").map_or((infix, None), |(a, b)| (a, Some(b)));
            (sibling.is_empty() || sibling.strip_prefix('-').is_some_and(is_number))
                && rotated.is_none_or(is_number)
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_family_are_its_own_and_no_others() {
        let folder = PathBuf::from("a");
        let dotted = Family { folder: folder.clone(), stem: "x".into(), ending: ".jsonl".into() };
        let plain = Family { folder, stem: "x".into(), ending: String::new() };
        for name in ["x.jsonl", "x-2.jsonl", "x.r1.jsonl", "x-12.r34.jsonl", "x-2.jsonl.blobs/12ab"] {
            assert!(dotted.holds(&Path::new("a").join(name)), "{name}");
        }
        for name in ["a/x", "a/x-2", "a/x.r1", "a/x.blobs", "a/x.new"] {
            assert!(plain.holds(Path::new(name)), "{name}");
        }
        for name in
            ["a", "x.jsonl", "a/y.jsonl", "a/x-.jsonl", "a/x-b.jsonl", "a/x.rs.jsonl", "a/x.jsonl.bak"]
        {
            assert!(!dotted.holds(Path::new(name)), "{name}");
        }
    }
}
