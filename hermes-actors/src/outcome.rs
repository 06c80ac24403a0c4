//! The outcome of a task, for whoever ran it.

use std::fmt;

use hermes_bus::{Envelope, EnvelopeFailed, TraceId};

use crate::protocol::{End, Failure, Gathered, History, TaskFinished};
use crate::stats::Stats;

/// How a task ended, with what was gathered so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How.
    pub end: End,
    /// What the model answered, when it did.
    pub answer: Option<String>,
    /// The answer was cut off by the model's output limit.
    pub truncated: bool,
    /// What went wrong, when something did.
    pub failure: Option<Failure>,
    /// The results that its tools gave, as the model was shown them.
    pub gathered: Vec<Gathered>,
    /// What it used.
    pub stats: Stats,
    /// Where it can be looked up in the journal.
    pub trace_id: TraceId,
    /// What the next task goes on from, in a conversation ([`TaskRequest::after`](crate::TaskRequest::after)): however
    /// this one ended, as long as it is in the journal.
    pub history: Option<History>,
}

impl Outcome {
    /// Reads the end of a `task.start`.
    pub(crate) fn of(end: &Envelope) -> Self {
        let trace_id = end.trace_id;
        match end.get::<TaskFinished>() {
            Ok(finished) => Self {
                end: finished.outcome,
                answer: finished.answer.clone(),
                truncated: finished.truncated,
                failure: finished.failure.clone(),
                gathered: finished.gathered.clone(),
                stats: finished.stats.clone(),
                trace_id,
                history: history(end, &finished),
            },
            Err(why) => {
                let failed = end.get::<EnvelopeFailed>().map(|failed| failed.message.clone());
                Self::failed("undone", failed.unwrap_or_else(|_| why.to_string()), trace_id)
            }
        }
    }

    /// A task that could not go on; this is not in the journal.
    pub(crate) fn failed(kind: &str, message: String, trace_id: TraceId) -> Self {
        Self {
            end: End::Failed,
            answer: None,
            truncated: false,
            failure: Some(Failure { kind: kind.to_owned(), message, endpoint: false }),
            gathered: Vec::new(),
            stats: Stats::default(),
            trace_id,
            history: None,
        }
    }

    /// The answer of a task that was completed. This takes the outcome: clone what else is needed of it before, such as the
    /// `history` that the next task goes on from (which is cheap).
    ///
    /// # Errors
    /// When it was not, in words that say how it ended; what the model said all the same is in them.
    pub fn into_answer(self) -> Result<String, Unanswered> {
        match (self.end, self.answer) {
            (End::Completed, Some(answer)) => Ok(answer),
            (end, said) => Err(Unanswered { end, failure: self.failure.map(|f| f.message), said }),
        }
    }

    /// One line about how it ended, and the statistics under it.
    pub fn summary(&self) -> impl fmt::Display + '_ {
        Summary(self)
    }
}

/// The context that a task leaves; one that died leaves none.
fn history(end: &Envelope, finished: &TaskFinished) -> Option<History> {
    let context = finished.context.clone()?;
    Some(History { trace: end.trace_id, seq: end.seq, digest: context.sent(), context: Some(context) })
}

/// A task that was not completed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Unanswered {
    /// How it ended.
    pub end: End,
    /// What went wrong, when something did.
    pub failure: Option<String>,
    /// What the model said all the same.
    pub said: Option<String>,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task was not completed ({})", self.end.as_str())?;
        if let Some(failure) = &self.failure {
            write!(f, ": {failure}")?;
        }
        match &self.said {
            Some(said) => write!(f, "; the model said: {said}"),
            None => Ok(()),
        }
    }
}

struct Summary<'a>(&'a Outcome);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { end, failure, stats, .. } = self.0;
        let plural = if stats.iterations == 1 { "" } else { "s" };
        match end {
            End::Completed => write!(f, "Task completed in {} iteration{plural}", stats.iterations)?,
            other => {
                write!(f, "Task ended ({}) after {} iteration{plural}", other.as_str(), stats.iterations)?
            }
        }
        if self.0.truncated {
            write!(f, ", its answer cut off by the output limit")?;
        }
        match failure {
            Some(failure) => writeln!(f, ": {}", failure.message)?,
            None => writeln!(f, ".")?,
        }
        stats.fmt(f)
    }
}
