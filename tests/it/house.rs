//! The house: which crate may know which, and what every source file keeps to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The longest that a source file may be, in lines.
const LONGEST: usize = 400;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the repository that is not ignored.
fn files() -> Vec<PathBuf> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = git.output().expect("git lists the files");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).unwrap();
    let there = |path: &PathBuf| root().join(path).is_file();
    names.split_terminator('\0').map(PathBuf::from).filter(there).collect()
}

fn sources() -> impl Iterator<Item = (PathBuf, String)> {
    let rust = files().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| (path.clone(), std::fs::read_to_string(root().join(path)).unwrap()))
}

/// The names under `dependencies`, `dev-dependencies` and their like in the manifest of each crate, by the crate's name.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let manifests = files().into_iter().filter(|path| path.ends_with("Cargo.toml"));
    manifests.map(|path| named(&std::fs::read_to_string(root().join(path)).unwrap())).collect()
}

fn named(manifest: &str) -> (String, BTreeSet<String>) {
    let (mut section, mut name, mut found) = ("", String::new(), BTreeSet::new());
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = header;
            // `[dependencies.ractor]`
            found.extend(section.split_once("dependencies.").map(|(_, name)| name.to_owned()));
        } else if section.ends_with("dependencies") && !section.starts_with("workspace") {
            let key = line.split(['.', '=', ' ']).next().unwrap_or_default();
            found.extend(
                Some(key.trim_matches('"').to_owned()).filter(|key| !key.is_empty() && !key.starts_with('#')),
            );
        } else if section == "package" {
            let value = line.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"'));
            name.extend(value);
        }
    }
    (name, found)
}

#[test]
fn imports_run_one_way() {
    let all = dependencies();
    let knows = |name: &str, other: &str| all[name].contains(other);
    assert!(all.len() >= 7, "{:?}", all.keys());
    for (below, above) in [
        ("hermes-bus", "hermes-llm"),
        ("hermes-bus", "hermes-actors"),
        ("hermes-llm", "hermes-bus"),
        ("hermes-llm", "hermes-actors"),
    ] {
        assert!(!knows(below, above), "{below} must not know {above}");
    }
    assert!(knows("hermes-actors", "hermes-bus") && knows("hermes-actors", "hermes-llm"));
    assert!(knows("hermes-cli", "hermes-actors"));
    assert!(!all.values().any(|known| known.contains("hermes-cli")), "nothing knows the command line");
    let naming = |name: &str| -> Vec<&str> {
        all.iter().filter(|(_, of)| of.contains(name)).map(|(of, _)| &**of).collect()
    };
    assert_eq!(naming("ractor"), ["hermes-bus"]);
    assert_eq!(naming("clap"), ["hermes-cli"]);
}

#[test]
fn every_source_file_says_what_it_is_and_is_short() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let in_src = path.components().any(|part| part.as_os_str() == "src");
        if in_src && !text.starts_with("//!") {
            wrong.push(format!("{} does not open with `//!`", path.display()));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            wrong.push(format!("{} has {lines} lines", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the project was made is nobody's business, and is not there elsewhere.
#[test]
fn no_file_names_the_place_where_it_was_written() {
    let places = [concat!("/wo", "rk/"), concat!("../", "shared")];
    let mut wrong = Vec::new();
    for path in files() {
        let text = String::from_utf8_lossy(&std::fs::read(root().join(&path)).unwrap()).into_owned();
        wrong.extend(
            places
                .iter()
                .filter(|place| text.contains(**place))
                .map(|place| format!("{}: {place}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
