//! The agent: a definition that runs on a runtime.

use std::sync::Arc;

use hermes_bus::journal::{BlobHash, JournalError};
use hermes_bus::{Address, Directory, Draft, RegisterError, Runtime, Stopped, TraceId};
use hermes_llm::ChatModel;
use tokio::sync::OnceCell;

use crate::definition::Definition;
use crate::flow;
use crate::handle::{Beginning, Running, TaskHandle};
use crate::orchestrator::{OneTask, address_in};
use crate::outcome::Outcome;
use crate::protocol::{Limits, MACHINE_VERSION, TaskStart};
use crate::rebuild::{RebuildError, past};
use crate::run_states::RunStates;
use crate::task_request::TaskRequest;
use crate::tool::{MissingState, States, Tool};

pub use as_tool::AsTool;
pub use builder::{AgentBuilder, BuildError};
pub use into_tool::{IntoAgentTool, IntoAgentTools};

mod as_tool;
mod builder;
mod host;
mod into_tool;
mod states;

/// An agent. Cheap to clone; tasks of it may run at once and share nothing.
///
/// ```
/// use hermes_actors::{Agent, End, Runtime};
/// use hermes_llm::{ScriptedModel, Step};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("greeter")
///     .system_prompt("You greet.")
///     .model(ScriptedModel::new([Step::text("早上好！")]))
///     .runtime(&Runtime::for_tests())
///     .build()?;
/// let outcome = agent.run("Say good morning in Chinese.").await?;
/// assert_eq!(outcome.end, End::Completed);
/// assert_eq!(outcome.answer.as_deref(), Some("早上好！"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    definition: Arc<Definition>,
    limits: Limits,
    model: Arc<dyn ChatModel>,
    tools: Vec<Backing>,
    states: States,
    runtime: Option<Runtime>,
    hosted: OnceCell<Hosted>,
}

/// Whether somebody may want to watch the task.
#[derive(PartialEq)]
enum Watch {
    Yes,
    No,
}

/// What stands behind each tool of the definition, in its order.
enum Backing {
    Function(Arc<dyn Tool>),
    Agent(AsTool),
}

/// An agent whose actors are registered.
struct Hosted {
    runtime: Runtime,
    directory: Directory,
    definition: BlobHash,
    runs: RunStates,
}

impl Agent {
    /// Begins an agent. The name is its name in journals and, as a sub-agent, its tool name.
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.definition.name
    }

    /// What it is.
    pub fn definition(&self) -> &Definition {
        &self.0.definition
    }

    /// Runs one task and waits for its outcome.
    ///
    /// # Errors
    /// Only when the task could not be journaled. All else is an outcome.
    ///
    /// # Cancel safety
    /// When dropped, the task is cancelled lawfully and ends in the background.
    pub async fn run(&self, task: impl Into<TaskRequest>) -> Result<Outcome, RunError> {
        Ok(self.begin(task.into(), Watch::No).await?.outcome().await)
    }

    /// Starts one task. When this returns, the task is in the journal.
    ///
    /// # Errors
    /// When the task is empty, its history is not in this runtime's journal, a state is missing, or it could not be
    /// journaled.
    ///
    /// # Cancel safety
    /// When dropped, a task that was sent already is cancelled lawfully and ends in the background.
    pub async fn start(&self, task: impl Into<TaskRequest>) -> Result<TaskHandle, RunError> {
        self.begin(task.into(), Watch::Yes).await
    }

    async fn begin(&self, request: TaskRequest, watch: Watch) -> Result<TaskHandle, RunError> {
        let TaskRequest { task, history, meta, states } = request;
        if task.trim().is_empty() {
            return Err(RunError::EmptyTask);
        }
        if let Some(missing) = self.missing_state(&states) {
            return Err(missing.into());
        }
        let hosted = self.hosted().await?;
        let runtime = &hosted.runtime;
        let find = |history| past::find_in(&**runtime.journal(), history).map_err(RunError::History);
        let history = history.map(find).transpose()?;
        let permit = runtime.admit().await?;
        let (trace, orchestrator) = (TraceId::fresh(), address_in(""));
        let follower = flow::follow(runtime, trace);
        let first = if watch == Watch::Yes { Some(runtime.observe()) } else { None };
        let after = runtime.journal().last()?;
        let states = hosted.runs.enter(trace, states);
        runtime.bind(trace, &hosted.directory);
        let new = OneTask::new(trace, self.0.definition.clone());
        runtime.bus().place(new.place(), orchestrator.clone(), new)?;
        let payload = TaskStart {
            task,
            limits: self.0.limits,
            machine: MACHINE_VERSION,
            definition: hosted.definition,
            history,
        };
        let mut draft = Draft::from_user(trace, orchestrator, payload);
        if !meta.is_empty() {
            draft = draft.with_meta(meta);
        }
        let pending = runtime.bus().request(draft);
        // From here on there is a task: whoever drops this future drops its handle.
        let (beginning, running) =
            (Beginning { trace, after, first }, Running { pending, permit, states, follower });
        let mut handle = TaskHandle::new(self.clone(), runtime.clone(), beginning, running);
        handle.journaled().await?;
        Ok(handle)
    }

    /// The runtime that it runs on. Without one of its own it opens the default one: the journal that
    /// `HERMES_JOURNAL` names, else `hermes_trace.jsonl` in the working directory.
    ///
    /// # Errors
    /// When the journal cannot be opened.
    pub async fn runtime(&self) -> Result<&Runtime, RunError> {
        Ok(&self.hosted().await?.runtime)
    }

    async fn hosted(&self) -> Result<&Hosted, RunError> {
        self.0.hosted.get_or_try_init(|| host::host(self)).await
    }

    /// The address of the orchestrator of a task from outside.
    pub(crate) fn orchestrator() -> Address {
        address_in("")
    }
}

/// A task that could not be journaled.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is nothing to do.
    #[error("the task is empty: say what should be done")]
    EmptyTask,
    /// A tool needs a state that neither the agent nor the task has.
    #[error(transparent)]
    MissingState(#[from] MissingState),
    /// The journal cannot be opened or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The task cannot go on from there: the journal that it runs on does not hold that past.
    #[error("the task cannot go on from the history that it was given: {0}")]
    History(#[source] RebuildError),
    /// An actor could not be started.
    #[error(transparent)]
    Actor(#[from] RegisterError),
    /// The runtime has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}
