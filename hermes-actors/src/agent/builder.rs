//! The builder of agents: what is unlawful is said at build time.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hermes_bus::Runtime;
use hermes_llm::{ChatModel, Settings};
use tokio::sync::OnceCell;

use super::{Agent, Backing, Inner, IntoAgentTool, IntoAgentTools};
use crate::definition::{AtLimit, Definition, ToolDefinition};
use crate::protocol::Limits;
use crate::tool::{DeclarationError, States};

/// Makes an [`Agent`].
#[must_use]
pub struct AgentBuilder {
    name: String,
    system_prompt: String,
    model: Option<Arc<dyn ChatModel>>,
    settings: Settings,
    tools: Vec<(ToolDefinition, Backing)>,
    states: States,
    limits: Limits,
    at_limit: AtLimit,
    runtime: Option<Runtime>,
}

/// An agent that cannot be.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum BuildError {
    /// Without a model nothing answers.
    #[error("the agent `{0}` has no model: give it one with `.model(…)`")]
    NoModel(String),
    /// The name must be one segment of an address.
    #[error("{}", name_fault(.0))]
    Name(String),
    /// Two tools of one name.
    #[error("the agent `{agent}` has two tools named `{tool}`: rename one")]
    TwoTools {
        /// The agent.
        agent: String,
        /// The name.
        tool: String,
    },
    /// A tool that providers would refuse.
    #[error("the agent `{agent}` has an unlawful tool: {source}")]
    Tool {
        /// The agent.
        agent: String,
        /// What is wrong with it.
        source: DeclarationError,
    },
    /// An agent that may do nothing.
    #[error("the agent `{0}` may take no turn: set max_iterations to 1 or more")]
    NoTurns(String),
}

impl AgentBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            system_prompt: String::new(),
            model: None,
            settings: Settings::default(),
            tools: Vec::new(),
            states: States::default(),
            limits: Limits::default(),
            at_limit: AtLimit::default(),
            runtime: None,
        }
    }

    /// What the model is told before the task.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = prompt.into();
        self
    }

    /// The model that thinks for it.
    pub fn model(mut self, model: impl ChatModel) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Sampling (temperature 0 unless told).
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Gives it a tool: a `#[tool]` function, an `impl Tool`, or another agent ([`Agent::as_tool`]).
    pub fn tool<Form>(mut self, tool: impl IntoAgentTool<Form>) -> Self {
        self.tools.push(tool.into_agent_tool().0);
        self
    }

    /// Gives it several tools: a value whose methods are tools (`#[tool]` above its `impl` block), or a list of one kind.
    pub fn tools<Form>(mut self, tools: impl IntoAgentTools<Form>) -> Self {
        self.tools.extend(tools.into_agent_tools().into_iter().map(|tool| tool.0));
        self
    }

    /// Sets a value that its tools, and those of its sub-agents, may take as `State<T>`: a pool, a client. One for each
    /// type; a state of the same type that a task brings goes before it.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// How many turns a task may take (8 unless told).
    pub fn max_iterations(mut self, turns: u32) -> Self {
        self.limits.max_iterations = turns;
        self
    }

    /// How many tool calls of a task may be under way at once (4 unless told).
    pub fn tools_at_once(mut self, calls: u32) -> Self {
        self.limits.tools_at_once = calls.max(1);
        self
    }

    /// How long a task may take (no limit unless told).
    pub fn deadline(mut self, time: Duration) -> Self {
        self.limits.deadline_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// What happens when the turns are used up.
    pub fn at_limit(mut self, at_limit: AtLimit) -> Self {
        self.at_limit = at_limit;
        self
    }

    /// Where it runs. Without this it opens the default journal at its first task.
    pub fn runtime(mut self, runtime: &Runtime) -> Self {
        self.runtime = Some(runtime.clone());
        self
    }

    /// Checks everything and makes the agent.
    ///
    /// # Errors
    /// When something is missing or unlawful; the message says what to do.
    pub fn build(self) -> Result<Agent, BuildError> {
        if !is_name(&self.name) {
            return Err(BuildError::Name(self.name));
        }
        let Some(model) = self.model else { return Err(BuildError::NoModel(self.name)) };
        if self.limits.max_iterations == 0 {
            return Err(BuildError::NoTurns(self.name));
        }
        let (definitions, backings): (Vec<_>, Vec<_>) = self.tools.into_iter().unzip();
        check_tools(&self.name, &definitions)?;
        let definition = Definition {
            name: self.name,
            system_prompt: self.system_prompt,
            model: model.name().to_owned(),
            settings: self.settings,
            tools: definitions,
            at_limit: self.at_limit,
        };
        Ok(Agent(Arc::new(Inner {
            definition: Arc::new(definition),
            limits: self.limits,
            model,
            tools: backings,
            states: self.states,
            runtime: self.runtime,
            hosted: OnceCell::new(),
        })))
    }
}

/// Names that mean something in addresses already; the look-up of addresses skips `step`.
const TAKEN: [&str; 8] = ["user", "final", "clock", "step", "orchestrator", "llm", "memory", "approver"];

/// What is wrong with a name that cannot be.
fn name_fault(name: &str) -> String {
    let fault = if TAKEN.contains(&name) {
        format!("in addresses that word means something else; take another, such as `{name}_agent`")
    } else {
        "use the letters a-z and A-Z, digits, `_` and `-`".to_owned()
    };
    format!("`{name}` is no name for an agent: {fault}")
}

/// Whether it can be a scope: one segment that means nothing else.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.chars().all(plain) && !TAKEN.contains(&name)
}

fn check_tools(agent: &str, tools: &[ToolDefinition]) -> Result<(), BuildError> {
    let mut names = HashSet::new();
    for tool in tools {
        let source = tool.declaration.check();
        source.map_err(|source| BuildError::Tool { agent: agent.to_owned(), source })?;
        if !names.insert(&tool.declaration.name) {
            return Err(BuildError::TwoTools {
                agent: agent.to_owned(),
                tool: tool.declaration.name.clone(),
            });
        }
    }
    Ok(())
}
