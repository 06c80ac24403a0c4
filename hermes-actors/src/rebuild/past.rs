//! The past of a conversation: the context that an earlier task left, made again from the journal.

use hermes_bus::journal::{Entry, Journal, Record};
use hermes_bus::{Body, Envelope, Id, Payload};

use super::{RebuildError, parse, rebuild_after, records_of};
use crate::context::Context;
use crate::protocol::{History, TaskFinished, TaskStart};

/// The context that the task of `start` goes on from.
pub(super) fn of(journal: &dyn Journal, start: &Entry<'_>) -> Result<Option<Context>, RebuildError> {
    match read(journal, start)?.history {
        Some(history) => left_by(journal, history).map(Some),
        None => Ok(None),
    }
}

/// The history with its context, if the journal holds what it refers to.
pub(crate) fn find_in(journal: &dyn Journal, history: History) -> Result<History, RebuildError> {
    if journal.keeps_lines() {
        let end = journal.read(history.seq.saturating_sub(1), 1)?;
        let is_there = parse(journal, &end)?.first().is_some_and(|end| {
            end.seq == history.seq && end.trace_id == history.trace && end.name == TaskFinished::NAME
        });
        if !is_there {
            return Err(lost(&history, format!("{} holds no such task", journal.location())));
        }
    }
    let context = match history.context.clone() {
        Some(context) if context.sent() == history.digest => context,
        Some(context) => return Err(lost(&history, format!("its digest is {}", context.sent()))),
        None => left_by(journal, history.clone())?,
    };
    Ok(History { context: Some(context), ..history })
}

/// Gives a `task.start` that came from the journal its past again.
pub(super) fn restore(envelope: &mut Envelope, past: Context) {
    let Ok(start) = envelope.get::<TaskStart>().map(|start| (*start).clone()) else { return };
    let history = start.history.map(|history| History { context: Some(past), ..history });
    envelope.body = Body::new(TaskStart { history, ..start });
}

/// An earlier task of the conversation.
struct Earlier {
    records: Vec<Record>,
    start: Id,
    history: History,
}

/// Back to the conversation's first task, then forward again; a long one must not need a deep stack.
fn left_by(journal: &dyn Journal, history: History) -> Result<Context, RebuildError> {
    let mut earlier = Vec::new();
    let mut next = Some(history);
    while let Some(history) = next {
        let records = records_of(journal, history.trace)?;
        let (start, before) = find(journal, &records, &history)?;
        earlier.push(Earlier { records, start, history });
        next = before;
    }
    let mut past = None;
    for Earlier { records, start, history } in earlier.into_iter().rev() {
        let task = rebuild_after(journal, &records, start, past)?.task;
        let context = task.context().clone();
        if context.sent() != history.digest {
            return Err(lost(&history, format!("its digest is {}", context.sent())));
        }
        past = Some(context);
    }
    past.ok_or_else(|| RebuildError::History { seq: 0, why: "it is empty".to_owned() })
}

/// The task that `history` refers to, and what that one went on from.
fn find(
    journal: &dyn Journal,
    records: &[Record],
    history: &History,
) -> Result<(Id, Option<History>), RebuildError> {
    let entries = parse(journal, records)?;
    let end = entries.iter().find(|entry| entry.seq == history.seq && entry.name == TaskFinished::NAME);
    let start = end.and_then(|end| entries.iter().find(|entry| Some(entry.id) == end.in_reply_to));
    let start = start.ok_or_else(|| lost(history, "there is no such task".to_owned()))?;
    Ok((start.id, read(journal, start)?.history))
}

fn read(journal: &dyn Journal, start: &Entry<'_>) -> Result<TaskStart, RebuildError> {
    let envelope = start.envelope(journal)?;
    let read = envelope.get::<TaskStart>().map(|start| (*start).clone());
    read.map_err(|why| RebuildError::Record { seq: start.seq, why: why.to_string() })
}

fn lost(history: &History, why: String) -> RebuildError {
    RebuildError::History { seq: history.seq, why }
}
