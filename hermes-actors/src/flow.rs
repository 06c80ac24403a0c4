//! The live flow: each ask and end of a trace as one line, emitted as `tracing` events of the target `hermes::flow`.
//!
//! Whoever wants to see it installs a `tracing` subscriber; nothing reads it back. Asks and ends are numbered and come
//! at level INFO, notes at DEBUG.

use hermes_bus::journal::{Entry, Record};
use hermes_bus::{Observer, Runtime, TraceId};
use tokio::task::JoinHandle;

use lines::Lines;

mod lines;
mod words;

/// The `tracing` target of the flow.
pub const TARGET: &str = "hermes::flow";

/// Follows one trace until its first task has finished, if anyone listens.
pub(crate) fn follow(runtime: &Runtime, trace: TraceId) -> Option<JoinHandle<()>> {
    if !tracing::enabled!(target: "hermes::flow", tracing::Level::INFO) {
        return None;
    }
    let observer = runtime.observe();
    Some(tokio::spawn(print(observer, trace)))
}

async fn print(mut observer: Observer, trace: TraceId) {
    let mut lines = Lines::default();
    while let Ok(Some(record)) = observer.next().await {
        if let Some(Over) = emit(&record, trace, &mut lines) {
            return;
        }
    }
}

/// The trace's first task has finished.
struct Over;

fn emit(record: &Record, trace: TraceId, lines: &mut Lines) -> Option<Over> {
    let entry = Entry::parse(record).ok().filter(|entry| entry.trace_id == trace)?;
    match lines.line(&entry) {
        lines::Line::Numbered(text) | lines::Line::Remark(text) => {
            tracing::info!(target: "hermes::flow", "{text}");
        }
        lines::Line::Note(text) => tracing::debug!(target: "hermes::flow", "{text}"),
    }
    lines.is_over(&entry).then_some(Over)
}
