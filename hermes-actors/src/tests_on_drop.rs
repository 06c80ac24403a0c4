//! What runtimes for tests check when they are dropped: all laws, and that every task rebuilt from the journal equals
//! the live one after every envelope.

use std::collections::{HashMap, HashSet};

use hermes_bus::journal::{Entry, Journal, Record};
use hermes_bus::{Id, Payload, Runtime, TestLog, TraceId};

use crate::laws::{Ending, check, digests};
use crate::protocol::TaskStart;
use crate::rebuild::{Rebuilt, rebuild};

/// Adds the checks to a runtime for tests; does nothing to another.
pub(crate) fn add(runtime: &Runtime) {
    if let Some(tests) = runtime.bus().test_log() {
        tests.add_check("laws", |_, _, records| laws(records));
        tests.add_check("digests", |_, journal, records| {
            digests(journal, records).iter().map(ToString::to_string).collect()
        });
        tests.add_check("rebuild", rebuilds);
    }
}

fn laws(records: &[Record]) -> Vec<String> {
    check(records.iter().map(|record| &record.line[..]), Ending::Crashed)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Every task of the journal, rebuilt and compared.
fn rebuilds(tests: &TestLog, journal: &dyn Journal, records: &[Record]) -> Vec<String> {
    let mut live: HashMap<Id, HashMap<u64, u64>> = HashMap::new();
    for mark in tests.marks() {
        live.entry(mark.machine).or_default().insert(mark.seq, mark.fingerprint);
    }
    let mut traces: HashMap<TraceId, Vec<Record>> = HashMap::new();
    let mut starts = Vec::new();
    for record in records {
        let Ok(entry) = Entry::parse(record) else { continue };
        traces.entry(entry.trace_id).or_default().push(record.clone());
        if entry.name == TaskStart::NAME {
            starts.push((entry.trace_id, entry.id));
        }
    }
    let mut wrong = Vec::new();
    for (trace, start) in starts {
        let records = traces.get(&trace).map(Vec::as_slice).unwrap_or_default();
        match rebuild(journal, records, start) {
            Ok(rebuilt) => wrong.extend(compare(start, &rebuilt, live.get(&start), records)),
            Err(error) => wrong.push(format!("task {start}: {error}")),
        }
    }
    wrong
}

fn compare(
    start: Id,
    rebuilt: &Rebuilt,
    live: Option<&HashMap<u64, u64>>,
    records: &[Record],
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (seq, fingerprint) in live.into_iter().flatten() {
        match rebuilt.steps.iter().find(|step| step.seq == *seq) {
            Some(step) if step.fingerprint == *fingerprint => {}
            Some(_) => wrong.push(format!("task {start}: rebuilt and live state differ after seq {seq}")),
            None => wrong.push(format!("task {start}: seq {seq} was delivered live, but not in the rebuild")),
        }
    }
    wrong.extend(compare_effects(start, rebuilt, records));
    wrong
}

/// Every effect of the fold stands in the journal under its id, unless the task has not finished (then a resume sends
/// it); and everything that the task sent is an effect of the fold.
fn compare_effects(start: Id, rebuilt: &Rebuilt, records: &[Record]) -> Vec<String> {
    let entries: Vec<Entry<'_>> = records.iter().filter_map(|record| Entry::parse(record).ok()).collect();
    let Some(first) = entries.iter().find(|entry| entry.id == start) else { return Vec::new() };
    let journaled: HashSet<Id> = entries.iter().map(|entry| entry.id).collect();
    let wanted = || rebuilt.steps.iter().flat_map(|step| &step.effects.sends);
    let effects: HashSet<Id> = wanted().map(hermes_bus::Draft::id).collect();
    let mut wrong = Vec::new();
    // An end that is none of its effects was written by the bus, for an orchestrator that died.
    let ended = entries.iter().any(|entry| entry.in_reply_to == Some(start) && effects.contains(&entry.id));
    if ended && rebuilt.task.is_finished() {
        let missing = wanted().filter(|draft| !journaled.contains(&draft.id()));
        wrong.extend(
            missing
                .map(|d| format!("task {start}: its {} {} is not in the journal", d.body().name(), d.id())),
        );
    }
    let by_bus = |entry: &Entry<'_>| matches!(&*entry.name, hermes_bus::EnvelopeFailed::NAME);
    let sent = entries.iter().filter(|e| e.sender == first.receiver && e.seq > first.seq && !by_bus(e));
    let until = entries.iter().find(|e| e.in_reply_to == Some(start)).map_or(u64::MAX, |end| end.seq);
    let unknown = sent.filter(|e| e.seq <= until && !effects.contains(&e.id) && e.in_reply_to != Some(start));
    wrong.extend(
        unknown.map(|e| format!("task {start}: {} at seq {} is no effect of the fold", e.name, e.seq)),
    );
    wrong
}
