//! Kill points: the process dies after record 1, 2, 3, …; every task is rebuilt from what is on disk.
//!
//! The same loop with a resume in it waits for the resume.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hermes_actors::laws::{Ending, check, digests};
use hermes_actors::protocol::TaskStart;
use hermes_actors::{Agent, Rebuilt, Runtime, rebuild, tool};
use hermes_bus::journal::{
    Batch, Durability, Entry, Family, FileJournal, Journal, ReadOnlyJournal, family, read_family,
};
use hermes_bus::{EnvelopeFailed, Id, Payload};
use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

use crate::child;
use crate::double::Double;

/// Where the child journals, and after which record it dies: `25 /tmp/x.jsonl`.
const ORDER: &str = "HERMES_TEST_KILL";

/// How many processes are killed at once.
const AT_ONCE: usize = 4;

/// A journal in a file that takes its process with it as soon as so many records are on disk.
fn deadly(path: &str, after: usize) -> Arc<dyn Journal> {
    let left = AtomicUsize::new(after);
    Double::of(FileJournal::open(path, Durability::Process).unwrap(), move |inner, batch| {
        let left = left.fetch_sub(batch.len(), Ordering::Relaxed);
        if batch.len() < left {
            return inner.append(batch);
        }
        let mut last = Batch::new(batch.timestamp());
        batch.lines().iter().take(left).for_each(|line| last.push(line.clone()));
        inner.append(&mut last)?;
        std::process::abort()
    })
}

/// Adds two numbers.
///
/// # Arguments
/// - a: one
/// - b: the other
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    tokio::time::sleep(Duration::from_millis(2)).await;
    a + b
}

/// Takes an hour.
#[tool(timeout = "10ms")]
async fn dig() -> String {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "done".to_owned()
}

/// Parallel tools, a slow one that times out, a call that is rejected, two sub-agents at once and a third later.
async fn scenario(journal: Arc<dyn Journal>) {
    let runtime = Runtime::tests_builder(journal).start();
    let wait = Duration::from_millis(1);
    let thinker = [Step::call("add", json!({"a": 3, "b": 4})).after(wait), Step::text("七").after(wait)];
    let researcher = Agent::builder("researcher").model(ScriptedModel::conversation(thinker)).tool(add);
    let research = |task| ("researcher", json!({"task": task}));
    let all_at_once = [
        ("add", json!({"a": 1, "b": 2})),
        ("dig", json!({})),
        ("fly", json!({})),
        research("one"),
        research("two"),
        ("add", json!({"a": "x"})),
    ];
    let steps = [Step::calls(all_at_once), Step::calls([research("three")]), Step::text("3 和 7")];
    let agent = Agent::builder("planner")
        .system_prompt("Plan.")
        .model(ScriptedModel::new(steps))
        .tool(add)
        .tool(dig)
        .tool(researcher.build().unwrap().as_tool("finds things out"))
        .runtime(&runtime)
        .build()
        .unwrap();
    assert_eq!(agent.run("1 + 2, 3 + 4?").await.unwrap().answer.as_deref(), Some("3 和 7"));
    runtime.shutdown(Duration::from_secs(5)).await;
}

/// What the child does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let (after, path) = order.split_once(' ').unwrap();
    scenario(deadly(path, after.parse().unwrap())).await;
}

/// Lets a child die after record `after` and says how it ended.
fn killed(folder: &Path, after: usize) -> (PathBuf, ExitStatus) {
    let path = folder.join(format!("{after}.jsonl"));
    let mut child = child::running("kill::child", ORDER, format!("{after} {}", path.display()));
    let ended = child.current_dir(folder).status().unwrap();
    (path, ended)
}

fn on_disk(path: &Path) -> Family {
    read_family(&family(path).unwrap()).unwrap()
}

#[test]
fn after_every_record_each_task_is_rebuilt_from_what_is_on_disk() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    for first in (1..).step_by(AT_ONCE) {
        let of_this_round = first..first + AT_ONCE;
        let ended: Vec<_> = std::thread::scope(|scope| {
            let children: Vec<_> =
                of_this_round.map(|n| (n, scope.spawn(move || killed(folder, n)))).collect();
            children.into_iter().map(|(n, child)| (n, child.join().unwrap())).collect()
        });
        for (after, (path, status)) in &ended {
            let found = on_disk(path);
            if status.success() {
                assert!(found.records.len() < *after, "it should have died after {after}");
            } else {
                assert_eq!(found.records.len(), *after, "{status}");
            }
            verify(path, &format!("killed after {after}"));
            tear(path, *after);
            verify(path, &format!("killed in the middle of {after}"));
        }
        if let Some((after, _)) = ended.iter().find(|(_, (_, status))| status.success()) {
            assert!(*after > 50, "the whole scenario has only {after} records");
            return;
        }
    }
}

/// Cuts bytes off the last line, as a loss of power does: at its end, at its beginning, or in the middle.
fn tear(path: &Path, seed: usize) {
    let found = on_disk(path);
    let length = found.records.last().map_or(0, |record| record.line.len() as u64 + 1);
    let cut = match seed % 3 {
        0 => 1,
        1 => length / 2,
        _ => length - 1,
    };
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() - cut).unwrap();
    let torn = on_disk(path);
    assert_eq!(torn.records.len(), found.records.len() - 1);
    assert_eq!(torn.torn.map(|torn| torn.bytes), Some(length - cut));
}

/// All laws, and for each task: it can be rebuilt, and the journal is what its fold wanted, up to some point.
fn verify(path: &Path, when: &str) {
    let Family { records, .. } = on_disk(path);
    let broken = check(records.iter().map(|record| &record.line[..]), Ending::Crashed);
    assert!(broken.is_empty(), "{when}: {broken:#?}");
    let journal = ReadOnlyJournal::open(path).unwrap();
    let broken = digests(&journal, &records);
    assert!(broken.is_empty(), "{when}: {broken:#?}");
    let entries: Vec<Entry<'_>> = records.iter().map(|record| Entry::parse(record).unwrap()).collect();
    for start in entries.iter().filter(|entry| entry.name == TaskStart::NAME) {
        let rebuilt = rebuild(&journal, &records, start.id).unwrap_or_else(|error| panic!("{when}: {error}"));
        compare(start, &rebuilt, &entries, when);
    }
}

fn compare(start: &Entry<'_>, rebuilt: &Rebuilt, entries: &[Entry<'_>], when: &str) {
    let on_disk: HashSet<Id> = entries.iter().map(|entry| entry.id).collect();
    let wanted: Vec<_> = rebuilt.steps.iter().flat_map(|step| &step.effects.sends).collect();
    let effects: HashSet<Id> = wanted.iter().map(|draft| draft.id()).collect();
    let by_task = |entry: &&Entry<'_>| entry.sender == start.receiver && entry.name != EnvelopeFailed::NAME;
    for sent in entries.iter().filter(by_task) {
        assert!(effects.contains(&sent.id), "{when}: {} {} is no effect of the fold", sent.seq, sent.name);
    }
    // What is missing is the end of all that it wanted: this a resume still has to send.
    let mut rest = wanted.iter().skip_while(|draft| on_disk.contains(&draft.id()));
    let later = rest.find(|draft| on_disk.contains(&draft.id()));
    assert!(later.is_none(), "{when}: {later:?} is on disk, something before it is not");
    let ended = entries.iter().any(|entry| entry.in_reply_to == Some(start.id));
    assert_eq!(
        ended,
        rebuilt.task.is_finished() && wanted.iter().all(|draft| on_disk.contains(&draft.id())),
        "{when}"
    );
}
