//! What a run leaves: the answer or one JSON object on stdout, how it ended on stderr.

use std::io::{self, ErrorKind, IsTerminal, Write, stdout};

use hermes_actors::protocol::{Failure, Gathered};
use hermes_actors::{End, Outcome, Stats};
use hermes_bus::TraceId;
use serde::Serialize;

use crate::printer::Show;
use crate::terminal::{harmless, harmless_json, say};

/// What goes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The answer.
    Text,
    /// The whole outcome.
    Json,
}

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    outcome: End,
    answer: Option<&'a str>,
    truncated: bool,
    failure: Option<&'a Failure>,
    gathered: &'a [Gathered],
    stats: &'a Stats,
    trace_id: TraceId,
    journal: &'a str,
}

/// Tells on stderr how the task ended.
pub fn tell(outcome: &Outcome, show: Show) {
    let summary = outcome.summary().to_string();
    match (show, outcome.end) {
        (Show::Trouble, End::Completed) => {}
        // Its first line says why; the rest is statistics.
        (Show::Trouble, _) => say(summary.lines().next().unwrap_or_default()),
        (Show::Flow | Show::Notes, _) => say(&summary),
    }
    if outcome.answer.is_none() && !outcome.gathered.is_empty() && show != Show::Trouble {
        let tools: Vec<&str> = outcome.gathered.iter().map(|gathered| &*gathered.tool).collect();
        say(&format!("Gathered before it ended (--json shows it): {}", tools.join(", ")));
    }
}

/// Writes the outcome to stdout. A reader who has gone away is no error.
///
/// # Errors
/// When stdout cannot be written.
pub fn give(outcome: &Outcome, form: Form, journal: &str) -> io::Result<()> {
    let text = match form {
        Form::Json => harmless_json(&serde_json::to_string(&report(outcome, journal))?),
        Form::Text => return unless_gone(outcome.answer.as_deref().map_or(Ok(()), write_text)),
    };
    write_line(&text)
}

/// Writes what a model said to stdout: as it is to a program, [`harmless()`] to a terminal.
///
/// # Errors
/// When stdout cannot be written: [`ErrorKind::BrokenPipe`] when its reader has gone away.
pub fn write_text(text: &str) -> io::Result<()> {
    if stdout().is_terminal() { write(&harmless(text)) } else { write(text) }
}

/// Writes a line to stdout. A reader who has gone away is no error.
///
/// # Errors
/// When stdout cannot be written.
pub fn write_line(text: &str) -> io::Result<()> {
    unless_gone(write(text))
}

fn write(line: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush())
}

fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn report<'a>(outcome: &'a Outcome, journal: &'a str) -> Report<'a> {
    Report {
        outcome: outcome.end,
        answer: outcome.answer.as_deref(),
        truncated: outcome.truncated,
        failure: outcome.failure.as_ref(),
        gathered: &outcome.gathered,
        stats: &outcome.stats,
        trace_id: outcome.trace_id,
        journal,
    }
}
