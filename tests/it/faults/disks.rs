//! Journals that cannot be opened or written: nothing is delivered that is not journaled, and the outcome says why.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hermes_actors::tool::{Declaration, Tool, ToolContext, ToolError, ToolOutput};
use hermes_actors::{Agent, End, RunError, Runtime};
use hermes_bus::journal::{Durability, FileJournal, Journal, JournalError, MemoryJournal};
use hermes_llm::{ScriptedModel, Step};
use serde_json::{Map, Value, json};

use super::{payloads, scripted};
use crate::child;
use crate::double::Double;

/// A journal whose `n`th append, counted from 1, fails, and every one after it.
fn full_at(n: usize) -> Arc<dyn Journal> {
    let appended = AtomicUsize::new(0);
    Double::of(Arc::new(MemoryJournal::new()), move |inner, batch| {
        if appended.fetch_add(1, Ordering::Relaxed) + 1 < n {
            return inner.append(batch);
        }
        let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
        Err(JournalError::Io { action: "write", location: inner.location(), source })
    })
}

/// Counts the bodies that ran.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

#[async_trait::async_trait]
impl Tool for Counting {
    fn declaration(&self) -> Declaration {
        Declaration::new("count", "Counts.", json!({"type": "object"}))
    }
    async fn call(&self, _: Map<String, Value>, _: ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self.0.fetch_add(1, Ordering::Relaxed).to_string()))
    }
}

/// Runs two calls at once, then one, on a journal that is full at the `n`th append; says whether it got through.
async fn run_until_full(n: usize) -> bool {
    let runtime = Runtime::tests_builder(full_at(n)).start();
    let ran = Counting::default();
    let call = || ("count", json!({}));
    let model = ScriptedModel::new([Step::calls([call(), call()]), Step::calls([call()]), Step::text("3")]);
    let agent = Agent::builder("counter").model(model).tool(ran.clone()).runtime(&runtime).build().unwrap();
    let outcome = agent.run("count").await;

    let started = payloads(&runtime, "tool.started").len();
    assert!(ran.0.load(Ordering::Relaxed) <= started, "full at {n}: a body ran that is not journaled");
    assert_eq!(outcome.is_err(), payloads(&runtime, "task.start").is_empty(), "full at {n}: {outcome:?}");
    let why = "the runtime has stopped: cannot write the journal memory: no storage space";
    match outcome {
        Err(error) => assert_eq!(error.to_string(), why),
        Ok(outcome) if outcome.end == End::Completed => return true,
        Ok(outcome) => {
            let (returned, gathered) = (payloads(&runtime, "tool.returned").len(), outcome.gathered.len());
            assert_eq!(gathered, returned, "full at {n}: what was gathered so far is told");
            let replied = payloads(&runtime, "llm.replied").len();
            assert_eq!(outcome.stats.llm_calls as usize, replied, "full at {n}: and what it cost");
            let failure = outcome.failure.unwrap();
            assert_eq!(
                (outcome.end, failure.kind.as_str(), failure.message.as_str()),
                (End::Failed, "journal", why)
            );
        }
    }
    let again = agent.run("count").await.unwrap_err();
    assert!(matches!(again, RunError::Stopped(_)) && again.to_string() == why, "{again}");
    false
}

#[tokio::test]
async fn a_disk_that_is_full_at_any_moment_stops_the_run_there() {
    let mut n = 1;
    while !run_until_full(n).await {
        n += 1;
    }
    assert!(n > 8, "the whole run has only {n} appends");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_device_that_is_full_is_an_error_before_anything_runs() {
    let runtime = Runtime::builder(FileJournal::open("/dev/full", Durability::Process).unwrap()).start();
    let error = scripted(&runtime, []).build().unwrap().run("go").await.unwrap_err();
    let why =
        "the runtime has stopped: cannot write the journal /dev/full: No space left on device (os error 28)";
    assert_eq!(error.to_string(), why);
}

#[tokio::test]
async fn blobs_that_cannot_be_kept_are_an_error_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    std::fs::write(folder.path().join("x.jsonl.blobs"), "in the way").unwrap();
    let runtime = Runtime::builder(FileJournal::open(&path, Durability::Process).unwrap()).start();
    let error = scripted(&runtime, []).build().unwrap().run("go").await.unwrap_err();
    assert!(matches!(error, RunError::Journal(_)) && error.to_string().contains("x.jsonl.blobs"), "{error}");
}

/// What a child does whose `HERMES_JOURNAL` is of no use: it says what it is told.
#[tokio::test]
async fn child() {
    if std::env::var_os("HERMES_TEST_DISK").is_none() {
        return;
    }
    let agent = Agent::builder("assistant").model(ScriptedModel::new([])).build().unwrap();
    println!("\ntold: {}", agent.run("go").await.unwrap_err());
}

#[test]
fn a_path_that_is_a_folder_or_leads_nowhere_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no/such/folder/x.jsonl");
    for (path, why) in
        [(folder.path(), "it is a folder: name a file in it"), (&nowhere, "make it, or name another place")]
    {
        let mut child = child::running("faults::disks::child", "HERMES_TEST_DISK", "1");
        let output = child.env("HERMES_JOURNAL", path).stdout(std::process::Stdio::piped()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let told = said.lines().find_map(|line| line.strip_prefix("told: ")).expect(&said);
        assert!(told.starts_with("cannot open the journal") && told.contains(why), "{told}");
        assert!(told.contains(path.to_str().unwrap()), "{told}");
    }
}
