//! The verdicts of all laws on the sample journals, and law 9 on a real journal that was changed afterwards.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use expect_test::expect;
use hermes_actors::laws::{Ending, check, digests};
use hermes_actors::{Agent, Runtime, tool};
use hermes_bus::journal::{Batch, BlobHash, Journal, JournalError, MemoryJournal, Record};
use hermes_bus::read_all;
use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

/// The samples belong to the bus, which checks its own laws on them.
fn samples(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hermes-bus/tests/samples").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn lawful_samples_break_nothing() {
    let mut lawful = samples("lawful");
    // One family in two files.
    let at = lawful.iter().position(|(name, _)| name == "rotation.2").unwrap();
    let (_, second) = lawful.remove(at);
    lawful[at - 1].1.push_str(&second);
    assert_eq!(lawful.len(), 19);
    for (name, text) in lawful {
        assert_eq!(check(text.lines(), Ending::Whole), [], "{name}");
    }
}

/// The laws that each breaks, as the checker outside of this project says too.
#[test]
fn unlawful_samples_break_the_laws_that_they_were_made_for() {
    let verdict = |(name, text): &(String, String)| {
        let mut laws: Vec<u8> = check(text.lines(), Ending::Whole).iter().map(|broken| broken.law).collect();
        laws.sort_unstable();
        laws.dedup();
        format!("{name} {laws:?}\n")
    };
    expect![[r#"
        any_event_ends_a_call [6]
        append_by_reference_skips_the_result [7]
        cancel_without_ack [6]
        chat_without_append [7]
        destructive_call_without_approval [10]
        effect_after_finish [6]
        inside_without_parent [4]
        mended_by_newline [1]
        no_v [1]
        one_approval_two_calls [10]
        one_call_run_thrice [8]
        only_a_late_end [5, 6]
        open_when_finished [6]
        other_tool_than_asked [5, 8]
        resume_new_command [6]
        string_payload [1]
        user_between_call_result [7]
    "#]]
    .assert_eq(&samples("unlawful").iter().map(verdict).collect::<String>());
}

/// The time.
#[tool(read_only)]
fn now() -> &'static str {
    "零点"
}

/// What a whole run wrote: the user's words are long enough for a blob.
async fn written() -> (Arc<MemoryJournal>, Vec<Record>) {
    let journal = Arc::new(MemoryJournal::new());
    let runtime = Runtime::tests_builder(journal.clone()).start();
    let model = ScriptedModel::new([Step::call("now", json!({})), Step::text("零点")]);
    let agent =
        Agent::builder("timekeeper").system_prompt("Be exact.").model(model).tool(now).runtime(&runtime);
    agent.build().unwrap().run("几点？".repeat(8_000)).await.unwrap();
    let records = read_all(&*journal).unwrap();
    (journal, records)
}

fn verdict(journal: &dyn Journal, records: &[Record]) -> String {
    let broken: Vec<String> = digests(journal, records).iter().map(ToString::to_string).collect();
    broken.join("\n")
}

fn replaced(records: &[Record], from: &str, to: &str) -> Vec<Record> {
    let changed = |record: &Record| {
        let line = std::str::from_utf8(&record.line).unwrap().replace(from, to);
        Record { line: Bytes::from(line), ..record.clone() }
    };
    let changed: Vec<Record> = records.iter().map(changed).collect();
    assert_ne!(changed, records);
    changed
}

#[tokio::test]
async fn a_journal_as_it_was_written_has_the_digests_of_its_contexts() {
    let (journal, records) = written().await;
    assert_eq!(verdict(&*journal, &records), "");
}

#[tokio::test]
async fn one_changed_message_changes_every_digest_after_it() {
    let (journal, records) = written().await;
    let changed = replaced(&records, r#""shown":"OK: 零点""#, r#""shown":"OK: 正午""#);
    let verdict = verdict(&*journal, &changed);
    assert!(
        verdict.starts_with("law 9 broken at line 7 (seq 7): the digest says ")
            && verdict.lines().count() == 1,
        "{verdict}"
    );
}

#[tokio::test]
async fn a_changed_digest_is_not_that_of_the_context() {
    let (journal, records) = written().await;
    let changed =
        replaced(&records, r#""digest":""#, r#""digest":"00000000000000000000000000000000","was":""#);
    let verdict = verdict(&*journal, &changed);
    let digest = "the digest says 00000000000000000000000000000000, the context ";
    assert!(verdict.starts_with(&format!("law 9 broken at line 2 (seq 2): {digest}")), "{verdict}");
    assert_eq!(verdict.lines().count(), 2);
}

/// A journal of which somebody has changed the blobs that hold `from`.
struct OtherBlobs {
    inner: Arc<MemoryJournal>,
    from: &'static str,
    to: &'static str,
}

impl Journal for OtherBlobs {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        self.inner.append(batch)
    }
    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        self.inner.read(after, limit)
    }
    fn last(&self) -> Result<u64, JournalError> {
        self.inner.last()
    }
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        self.inner.put_blob(bytes)
    }
    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        let blob = self.inner.blob(hash)?;
        Ok(Bytes::from(std::str::from_utf8(&blob).unwrap().replace(self.from, self.to)))
    }
    fn flush(&self) -> Result<(), JournalError> {
        self.inner.flush()
    }
    fn location(&self) -> String {
        self.inner.location()
    }
}

#[tokio::test]
async fn a_changed_blob_is_noticed_be_it_the_definition_or_a_long_message() {
    let (inner, records) = written().await;
    for (from, to) in [("Be exact.", "Be vague."), ("几点？几点？", "几点？为何？")] {
        let changed = OtherBlobs { inner: inner.clone(), from, to };
        let verdict = verdict(&changed, &records);
        assert!(verdict.contains("law 9 broken at line 2 (seq 2): the digest says"), "{from}: {verdict}");
    }
}
