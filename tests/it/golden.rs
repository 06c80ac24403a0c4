//! Golden journals: what an earlier version wrote is read, found lawful, fits the published schemas, and is rebuilt.
//!
//! Beside each journal stands what a person reads of it. Those of a version are written once, when it is made
//! (`UPDATE_GOLDEN=1`), and never again: a later version that cannot read them has broken its promise.

mod runs;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hermes_actors::laws::{Ending, check, digests};
use hermes_actors::protocol::published;
use hermes_actors::{rebuild, records_of};
use hermes_bus::journal::{Entry, Journal, ReadOnlyJournal, Record};
use hermes_bus::read_all;
use jsonschema::Validator;
use serde_json::Value;

use crate::script;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// All golden journals of all versions.
fn journals() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for version in std::fs::read_dir(folder()).unwrap() {
        let files = std::fs::read_dir(version.unwrap().path()).unwrap().map(|file| file.unwrap().path());
        found.extend(files.filter(|file| file.extension().is_some_and(|end| end == "jsonl")));
    }
    found.sort();
    found
}

fn open(path: &Path) -> (ReadOnlyJournal, Vec<Record>) {
    let journal = ReadOnlyJournal::open(path).unwrap();
    let records = read_all(&journal).unwrap();
    (journal, records)
}

#[test]
fn they_read_as_they_did_and_are_lawful() {
    let journals = journals();
    assert!(journals.len() >= 8, "{journals:?}");
    for path in journals {
        let (journal, records) = open(&path);
        let broken = check(records.iter().map(|record| &record.line[..]), Ending::Whole);
        assert!(broken.is_empty(), "{}: {broken:?}", path.display());
        assert!(digests(&journal, &records).is_empty(), "{}", path.display());
        let expected = std::fs::read_to_string(path.with_extension("txt")).unwrap();
        assert_eq!(read(&journal, &records), expected, "{}", path.display());
    }
}

/// The journal as a person reads it, and what the models of its tasks read in the end.
fn read(journal: &dyn Journal, records: &[Record]) -> String {
    let mut text = script::text(records);
    for start in records.iter().map(|record| Entry::parse(record).unwrap()) {
        if start.name == "task.start" {
            text += &context(journal, &start);
        }
    }
    text
}

/// The context of one task, rebuilt; on the way everything that the task wants must stand in the journal.
fn context(journal: &dyn Journal, start: &Entry<'_>) -> String {
    let records = records_of(journal, start.trace_id).unwrap();
    let ids: HashSet<_> = records.iter().map(|record| Entry::parse(record).unwrap().id).collect();
    let rebuilt = rebuild(journal, &records, start.id).unwrap();
    assert!(rebuilt.task.is_finished());
    for draft in rebuilt.steps.iter().flat_map(|step| &step.effects.sends) {
        assert!(ids.contains(&draft.id()), "{} is not in the journal under its id", draft.body().name());
    }
    let messages = rebuilt.task.messages();
    let lines = messages.iter().map(|message| format!("  {}\n", String::from_utf8_lossy(message)));
    format!("context of {}:\n{}", start.receiver, lines.collect::<String>())
}

#[test]
fn they_fit_the_published_schemas() {
    let formats = published();
    let validator = |name: &str| -> Validator {
        let format = formats.iter().find(|format| format.name == name);
        jsonschema::validator_for(
            format.unwrap_or_else(|| panic!("{name} is not published")).schema.as_value(),
        )
        .unwrap()
    };
    let envelope = validator("envelope");
    let mut seen = HashSet::new();
    for path in journals() {
        for record in open(&path).1 {
            let line: Value = serde_json::from_slice(&record.line).unwrap();
            assert!(envelope.is_valid(&line), "{line}");
            let name = line["name"].as_str().unwrap();
            if let Err(error) = validator(name).validate(&line["payload"]) {
                panic!("{}: {name}: {error} in {}", path.display(), line["payload"]);
            }
            seen.insert(name.to_owned());
        }
    }
    // Interim envelopes stand in no journal.
    let never: Vec<_> = formats.iter().filter(|f| f.kind.is_some() && !seen.contains(f.name)).collect();
    let never: Vec<&str> = never.iter().map(|format| format.name).filter(|name| !is_interim(name)).collect();
    assert!(never.is_empty(), "no golden journal holds {never:?}");
}

fn is_interim(name: &str) -> bool {
    matches!(name, "llm.delta" | "tool.progress" | "ask.abort")
}

/// Writes what is not there yet.
#[test]
fn each_kind_of_run_has_one() {
    let version = folder().join("v1");
    let missing: Vec<&str> =
        runs::NAMES.into_iter().filter(|name| !version.join(name).with_extension("jsonl").exists()).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(&version).unwrap();
        for name in missing {
            let path = version.join(name).with_extension("jsonl");
            runs::write(name, &path);
            let (journal, records) = open(&path);
            std::fs::write(path.with_extension("txt"), read(&journal, &records)).unwrap();
        }
    } else {
        assert!(missing.is_empty(), "write the missing ones with UPDATE_GOLDEN=1: {missing:?}");
    }
}
