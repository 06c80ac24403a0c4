//! `task.*`: a task from its start to its outcome.

use std::time::Duration;

use hermes_bus::journal::BlobHash;
use hermes_bus::{EnvelopeFailed, Event, Id, Kind, Payload, TraceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::payload;
use crate::context::Context;
use crate::digest::Digest;
use crate::stats::Stats;

/// The version of the task machine, which stands in `task.start`: a record is rebuilt by the machine that made it.
pub const MACHINE_VERSION: u32 = 1;

/// `task.start`: one request to one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStart {
    /// What is wanted, in the user's words: the user message of the context.
    pub task: String,
    /// What the task may use.
    pub limits: Limits,
    /// [`MACHINE_VERSION`].
    pub machine: u32,
    /// The agent's definition, in the journal's blobs.
    pub definition: BlobHash,
    /// The earlier task whose context this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
}

/// The context that an earlier task left, by reference: what a conversation goes on from.
///
/// It is the context that the last `llm.chat` of that task sent, and what entered it after that, which the first
/// `llm.chat` of the new task repeats by reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// The trace of that task.
    pub trace: TraceId,
    /// The number of its `task.finished`.
    pub seq: u64,
    /// The digest of its last `llm.chat`.
    pub digest: Digest,
    /// The context itself. Only in the process; else it is rebuilt from the journal.
    #[serde(skip)]
    pub context: Option<Context>,
}

/// What a task may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Turns: model calls that may ask for tools.
    pub max_iterations: u32,
    /// Tool calls under way at once.
    pub tools_at_once: u32,
    /// How long it may take, in milliseconds, while a process runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
}

impl Default for Limits {
    /// 8 turns, 4 tool calls at once, no deadline.
    fn default() -> Self {
        Self { max_iterations: 8, tools_at_once: 4, deadline_ms: None }
    }
}

impl Limits {
    /// How long it may take.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline_ms.map(Duration::from_millis)
    }
}

/// `task.cancel`: end it soon and lawfully.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelTask {}

/// `task.cancelling`: the task is ending; `task.finished` follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancelling {}

/// `task.finished`: the outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskFinished {
    /// How it ended.
    pub outcome: End,
    /// The answer's text was cut off by the model's output limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What the model said to the user, when it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What went wrong, when something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The tool results that were gathered. In the journal only by reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gathered: Vec<Gathered>,
    /// What it used.
    pub stats: Stats,
    /// The context that it leaves. Only in the process.
    #[serde(skip)]
    pub context: Option<Context>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The model answered.
    Completed,
    /// It used all its turns.
    MaxIterations,
    /// It used all its tokens or money.
    Budget,
    /// Its time was over.
    Deadline,
    /// It was cancelled.
    Cancelled,
    /// It went in circles.
    Stuck,
    /// Its context no longer fitted the model.
    ContextExceeded,
    /// The model, or its provider's filter, refused.
    Refused,
    /// Something broke.
    Failed,
}

impl End {
    /// The word in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            End::Completed => "completed",
            End::MaxIterations => "max_iterations",
            End::Budget => "budget",
            End::Deadline => "deadline",
            End::Cancelled => "cancelled",
            End::Stuck => "stuck",
            End::ContextExceeded => "context_exceeded",
            End::Refused => "refused",
            End::Failed => "failed",
        }
    }
}

/// What went wrong in a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// A stable word: a kind of `llm.failed`, or `empty_reply`, `cut_off`, `died`, `journal`.
    pub kind: String,
    /// For a person.
    pub message: String,
    /// The model's endpoint could not be reached, or refused us.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub endpoint: bool,
}

/// One tool result that a task gathered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Gathered {
    /// Which call.
    pub call_id: String,
    /// Of which tool.
    pub tool: String,
    /// The `tool.returned` that holds it.
    pub of: Id,
    /// What the model was shown. Left out in the journal, which has it under `of`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
}

payload!(TaskStart, command "task.start", ends in TaskFinished, EnvelopeFailed);
payload!(CancelTask, command "task.cancel", ends in TaskCancelling, EnvelopeFailed);
payload!(TaskCancelling, event "task.cancelling");

impl Payload for TaskFinished {
    const NAME: &'static str = "task.finished";
    const KIND: Kind = Kind::Event;

    fn journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        if self.gathered.is_empty() {
            return serde_json::to_writer(out, self);
        }
        let by_reference = |g: &Gathered| Gathered { shown: String::new(), ..g.clone() };
        let gathered = self.gathered.iter().map(by_reference).collect();
        // The context is not written, and whoever shares it would have it copied.
        let (answer, failure, stats) = (self.answer.clone(), self.failure.clone(), self.stats.clone());
        let Self { outcome, truncated, .. } = *self;
        let written = Self { outcome, truncated, answer, failure, gathered, stats, context: None };
        serde_json::to_writer(out, &written)
    }

    fn wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(out, self)
    }
}
impl Event for TaskFinished {}
