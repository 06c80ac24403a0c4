//! The published formats: the committed schemas are those of the types, and change by addition only.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod additive;

use std::path::{Path, PathBuf};

use additive::breaches;
use hermes_actors::protocol::published;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

fn current() -> Vec<(String, Value)> {
    let formats = published().into_iter();
    formats.map(|format| (format!("{}.json", format.name), format.schema.to_value())).collect()
}

fn committed(name: &str) -> Option<Value> {
    Some(serde_json::from_slice(&std::fs::read(folder().join(name)).ok()?).unwrap())
}

/// `UPDATE_EXPECT=1` writes additions, and nothing else.
#[test]
fn the_committed_schemas_are_those_of_the_types_and_only_grow() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut faults = Vec::new();
    for (name, schema) in current() {
        let before = committed(&name);
        let broken = before.as_ref().map(|before| breaches(before, &schema)).unwrap_or_default();
        if !broken.is_empty() {
            faults.push(format!(
                "{name} would break readers of older journals, or old readers:\n  {}",
                broken.join("\n  ")
            ));
        } else if before.as_ref() != Some(&schema) {
            if update {
                let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
                std::fs::write(folder().join(&name), text).unwrap();
            } else {
                faults.push(format!(
                    "{name} has additions or other words: write it with UPDATE_EXPECT=1 and look at the difference"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn nothing_that_was_published_is_gone() {
    let names: Vec<String> = current().into_iter().map(|(name, _)| name).collect();
    for file in std::fs::read_dir(folder()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&name), "{name} is published, and no type has that name any more");
    }
}

/// The protocol's sources, searched for payloads: none is forgotten.
#[test]
fn every_payload_is_published() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol");
    let names: Vec<&str> = published().iter().map(|format| format.name).collect();
    let mut found = 0;
    for file in std::fs::read_dir(sources).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines().filter(|line| line.contains("payload!(") || line.contains("const NAME")) {
            let name = line.split('"').nth(1).unwrap();
            assert!(names.contains(&name), "`{name}` is a payload without a published schema");
            found += 1;
        }
    }
    // Two formats are no payloads, three payloads are the bus's own.
    assert_eq!(found, names.len() - 5, "the search misses some");
}
