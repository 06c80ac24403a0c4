//! A request to an agent: the words of the task, and what goes with them.

use std::collections::BTreeMap;

use crate::protocol::History;
use crate::tool::States;

/// What an agent is asked to do. Most often just its words: `agent.run("…")`.
///
/// ```
/// use hermes_actors::{Agent, Runtime, TaskRequest};
/// use hermes_llm::{ScriptedModel, Step};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Step::text("Nice to meet you, Ana."),
///     Step::text("Your name is Ana.").expect_user("What is my name?"),
/// ]);
/// let agent = Agent::builder("friend").model(model).runtime(&Runtime::for_tests()).build()?;
/// let first = agent.run(TaskRequest::new("My name is Ana.").meta("user", "ana")).await?;
/// let second = agent.run(TaskRequest::new("What is my name?").after(first.history)).await?;
/// assert_eq!(second.answer.as_deref(), Some("Your name is Ana."));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TaskRequest {
    pub(crate) task: String,
    pub(crate) history: Option<History>,
    pub(crate) meta: BTreeMap<String, String>,
    pub(crate) states: States,
}

impl TaskRequest {
    /// Asks for this, in the user's words.
    pub fn new(task: impl Into<String>) -> Self {
        Self { task: task.into(), ..Self::default() }
    }

    /// Goes on from the context that an earlier task left: [`Outcome::history`](crate::Outcome::history). The model
    /// reads all that was said there, its system message too; limits and statistics begin anew. The task must run on the
    /// journal that holds the earlier one.
    pub fn after(self, history: impl Into<Option<History>>) -> Self {
        Self { history: history.into(), ..self }
    }

    /// A tag that stands in `meta` of every envelope of the task: a user's name, a session.
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.meta.insert(name.into(), value.into());
        self
    }

    /// A state for the tools of this task, sub-agents' tools included: it goes before one of the same type that was set on
    /// the agent ([`AgentBuilder::state`](crate::AgentBuilder::state)).
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(state);
        self
    }
}

impl From<&str> for TaskRequest {
    fn from(task: &str) -> Self {
        Self::new(task)
    }
}

impl From<String> for TaskRequest {
    fn from(task: String) -> Self {
        Self::new(task)
    }
}

impl From<&String> for TaskRequest {
    fn from(task: &String) -> Self {
        Self::new(task)
    }
}
