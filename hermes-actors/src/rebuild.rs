//! The rebuild: a task made again from the journal, by the same fold that made it live.

use std::collections::HashSet;
use std::sync::Arc;

use hermes_bus::journal::{Entry, Journal, JournalError, Record};
use hermes_bus::{Address, Envelope, EnvelopeFailed, FailureKind, Id, Payload, TraceId};

use crate::context::Context;
use crate::definition::Definition;
use crate::protocol::TaskStart;
use crate::task::{Effects, Task};

pub(crate) mod past;

/// How many records are read at once.
const PAGE: usize = 4096;

/// A task made again, and everything that it asked for on the way.
#[derive(Debug)]
pub struct Rebuilt {
    /// The task, as it was after the last envelope.
    pub task: Task,
    /// After each envelope that was delivered to it: the envelope's number, the task's fingerprint, and its effects.
    pub steps: Vec<RebuiltStep>,
}

/// What one envelope made of the task.
#[derive(Debug)]
pub struct RebuiltStep {
    /// The number of the envelope.
    pub seq: u64,
    /// [`Task::fingerprint`] after it.
    pub fingerprint: u64,
    /// What it made the task want.
    pub effects: Effects,
}

/// A task that cannot be made again. Nothing is guessed: what is missing is named.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A payload that the machine needs does not have its shape.
    #[error("the record {seq} cannot be rebuilt: {why}")]
    Record {
        /// Which.
        seq: u64,
        /// What is wrong.
        why: String,
    },
    /// The context that the task goes on from cannot be made again.
    #[error("the past that ends at seq {seq} cannot be rebuilt: {why}")]
    History {
        /// The number of the `task.finished` that it ends with.
        seq: u64,
        /// What is wrong.
        why: String,
    },
    /// The journal has no such task.
    #[error("the journal holds no task {0}")]
    NoTask(Id),
}

/// All records of one trace.
///
/// # Errors
/// When the journal cannot be read.
pub fn records_of(journal: &dyn Journal, trace: TraceId) -> Result<Vec<Record>, JournalError> {
    records_after(journal, 0, trace)
}

/// The records of one trace above a number.
pub(crate) fn records_after(
    journal: &dyn Journal,
    mut after: u64,
    trace: TraceId,
) -> Result<Vec<Record>, JournalError> {
    let needle = format!("\"trace_id\":\"{trace}\"");
    let mut found = Vec::new();
    loop {
        let page = journal.read(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.seq;
        found.extend(page.into_iter().filter(|record| contains(&record.line, needle.as_bytes())));
    }
}

/// Makes the task `start` again from the records of its trace.
///
/// # Errors
/// When something that is needed is missing or cannot be read.
pub fn rebuild(journal: &dyn Journal, records: &[Record], start: Id) -> Result<Rebuilt, RebuildError> {
    let entries = parse(journal, records)?;
    let first = entries.iter().find(|entry| entry.id == start).ok_or(RebuildError::NoTask(start))?;
    rebuild_after(journal, records, start, past::of(journal, first)?)
}

/// As [`rebuild`], with the context that the task goes on from.
fn rebuild_after(
    journal: &dyn Journal,
    records: &[Record],
    start: Id,
    past: Option<Context>,
) -> Result<Rebuilt, RebuildError> {
    let entries = parse(journal, records)?;
    let first = entries.iter().find(|entry| entry.id == start).ok_or(RebuildError::NoTask(start))?;
    let envelope = first.envelope(journal)?;
    let bad = |why: String| RebuildError::Record { seq: first.seq, why };
    let payload = envelope.get::<TaskStart>().map_err(|why| bad(why.to_string()))?;
    let json = journal.blob(&payload.definition)?;
    let definition: Definition = serde_json::from_slice(&json).map_err(|why| bad(why.to_string()))?;
    let task = Task::new(first.receiver.clone(), Arc::new(definition));
    fold(journal, &entries, first, Beginning { task, past }, u64::MAX)
}

/// Makes the task at `me` again up to (and with) the envelope `seq`; gives what that last envelope made it want.
pub(crate) fn rebuild_at(
    journal: &dyn Journal,
    trace: TraceId,
    me: &Address,
    definition: Arc<Definition>,
    seq: u64,
) -> Result<(Task, Effects), RebuildError> {
    let records = records_of(journal, trace)?;
    let entries = parse(journal, &records)?;
    let is_start = |entry: &&Entry<'_>| entry.name == TaskStart::NAME && entry.receiver == *me;
    let Some(first) = entries.iter().rev().find(is_start) else {
        return Ok((Task::new(me.clone(), definition), Effects::default()));
    };
    let beginning = Beginning { task: Task::new(me.clone(), definition), past: past::of(journal, first)? };
    let mut rebuilt = fold(journal, &entries, first, beginning, seq)?;
    let last = rebuilt.steps.pop().filter(|step| step.seq == seq);
    Ok((rebuilt.task, last.map(|step| step.effects).unwrap_or_default()))
}

fn parse<'a>(journal: &dyn Journal, records: &'a [Record]) -> Result<Vec<Entry<'a>>, JournalError> {
    let broken = |source| JournalError::Entry { location: journal.location(), source };
    records.iter().map(|record| Entry::parse(record).map_err(broken)).collect()
}

/// A task that has taken nothing yet, and the context that it will go on from.
struct Beginning {
    task: Task,
    past: Option<Context>,
}

fn fold(
    journal: &dyn Journal,
    entries: &[Entry<'_>],
    first: &Entry<'_>,
    Beginning { mut task, mut past }: Beginning,
    upto: u64,
) -> Result<Rebuilt, RebuildError> {
    let never = never_delivered(entries);
    let mut steps = Vec::new();
    for entry in entries.iter().filter(|e| e.seq >= first.seq && e.seq <= upto) {
        if task.is_finished() {
            break;
        }
        if !delivered(entry, first) || never.contains(&entry.id) {
            continue;
        }
        let mut envelope: Envelope = entry.envelope(journal)?;
        if let Some(past) = past.take_if(|_| entry.id == first.id) {
            past::restore(&mut envelope, past);
        }
        let effects = task.on(&envelope);
        steps.push(RebuiltStep { seq: entry.seq, fingerprint: task.fingerprint(), effects });
    }
    Ok(Rebuilt { task, steps })
}

/// Whether the entry went into the mailbox of the task that `first` started.
fn delivered(entry: &Entry<'_>, first: &Entry<'_>) -> bool {
    let addressed = entry.trace_id == first.trace_id && entry.receiver == first.receiver;
    let another_task = entry.name == TaskStart::NAME && entry.id != first.id;
    addressed && !entry.late && !entry.is_note() && !another_task
}

/// The asks that no actor ever saw.
fn never_delivered(entries: &[Entry<'_>]) -> HashSet<Id> {
    let failed = entries.iter().filter(|entry| entry.name == EnvelopeFailed::NAME);
    failed
        .filter_map(|entry| {
            let failed: EnvelopeFailed = serde_json::from_str(entry.payload.get()).ok()?;
            let unseen = matches!(failed.kind, FailureKind::Undelivered | FailureKind::Rejected);
            entry.in_reply_to.filter(|_| unseen)
        })
        .collect()
}

fn contains(line: &[u8], needle: &[u8]) -> bool {
    line.windows(needle.len()).any(|window| window == needle)
}
