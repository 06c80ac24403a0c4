//! The agent: orchestrator, model, tool and sub-agent actors, the task machine that drives them, and the laws of what
//! they write.
//!
//! Start at [`Agent`]: a builder, `run` and `start`. Tools are functions under [`macro@tool`] or an `impl`
//! [`Tool`](tool::Tool); an agent becomes a tool of another with [`Agent::as_tool`]. A task ends as an [`Outcome`]; while
//! it runs it has a [`TaskHandle`]. In tests, [`Runtime::for_tests`] and `hermes_llm::ScriptedModel` make runs that check
//! themselves. [`Task`] is the machine inside, [`rebuild`] makes it again from a journal, [`laws`] checks one.

mod agent;
mod context;
mod default_journal;
mod definition;
mod digest;
mod flow;
mod handle;
pub mod laws;
mod llm;
mod orchestrator;
mod outcome;
pub mod protocol;
mod rebuild;
mod run_states;
mod stats;
mod sub_agent;
mod task;
mod task_request;
mod tests_on_drop;
mod text_stream;
pub mod tool;
mod tool_actor;
mod trace_stream;

pub use agent::{Agent, AgentBuilder, AsTool, BuildError, IntoAgentTool, IntoAgentTools, RunError};
pub use context::Context as TaskContext;
pub use default_journal::{
    name as default_journal_name, open as open_default_journal, open_named as open_journal,
};
pub use definition::{AtLimit, Definition, TOOL_TIMEOUT, ToolDefinition, ToolKind};
pub use digest::Digest;
pub use flow::TARGET as FLOW_TARGET;
pub use handle::{Canceller, TaskHandle};
pub use hermes_bus::Runtime;
pub use hermes_macros::tool;
pub use outcome::{Outcome, Unanswered};
pub use protocol::{End, History};
pub use rebuild::{RebuildError, Rebuilt, RebuiltStep, rebuild, records_of};
pub use stats::{Spent, Stats, StepTime};
pub use task::{Arm, Effects, Task};
pub use task_request::TaskRequest;
pub use text_stream::TextStream;
pub use trace_stream::TraceStream;

/// The README's agent compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
