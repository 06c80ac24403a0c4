//! What an agent takes as a tool: a tool, or another agent.

use std::sync::Arc;

use super::{AsTool, Backing};
use crate::definition::{ToolDefinition, ToolKind};
use crate::tool::{Tool, ToolSet};

/// A tool in the hands of an agent's builder.
pub struct AgentTool(pub(super) (ToolDefinition, Backing));

/// What [`AgentBuilder::tool`](super::AgentBuilder::tool) takes: every [`Tool`], the name of a `#[tool]` function, and
/// an agent that [`as_tool`](super::Agent::as_tool) made a tool. The parameter only keeps the three apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool of an agent",
    note = "write `#[tool]` above a function, implement `Tool`, or make an agent one: `agent.as_tool(\"when to use it\")`",
    note = "several at once go in with `.tools(…)`: a value with `#[tool]` above its `impl` block, or a `Vec` of tools"
)]
pub trait IntoAgentTool<Form> {
    /// Makes it a tool of an agent.
    fn into_agent_tool(self) -> AgentTool;
}

/// A value.
pub struct ByValue;

/// A function that makes the value: the name of a `#[tool]` function.
pub struct ByName;

impl<T: Tool> IntoAgentTool<ByValue> for T {
    fn into_agent_tool(self) -> AgentTool {
        let definition = ToolDefinition { declaration: self.declaration(), kind: ToolKind::Function };
        AgentTool((definition, Backing::Function(Arc::new(self))))
    }
}

impl<T: Tool, F: FnOnce() -> T> IntoAgentTool<ByName> for F {
    fn into_agent_tool(self) -> AgentTool {
        self().into_agent_tool()
    }
}

impl IntoAgentTool<ByValue> for AsTool {
    fn into_agent_tool(self) -> AgentTool {
        let definition = ToolDefinition { declaration: self.declaration(), kind: ToolKind::Agent };
        AgentTool((definition, Backing::Agent(self)))
    }
}

/// What [`AgentBuilder::tools`](super::AgentBuilder::tools) takes: a [`ToolSet`], also in an `Arc`, and a list of tools. The
/// parameter only keeps the three apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no set of tools",
    note = "write `#[tool]` above an `impl` block and its methods, or give a `Vec` of tools",
    note = "a single tool goes in with `.tool(…)`"
)]
pub trait IntoAgentTools<Form> {
    /// Makes them tools of an agent.
    fn into_agent_tools(self) -> Vec<AgentTool>;
}

/// A value in an `Arc`.
pub struct Shared;

impl<S: ToolSet> IntoAgentTools<ByValue> for S {
    fn into_agent_tools(self) -> Vec<AgentTool> {
        Arc::new(self).into_agent_tools()
    }
}

impl<S: ToolSet> IntoAgentTools<Shared> for Arc<S> {
    fn into_agent_tools(self) -> Vec<AgentTool> {
        self.tools().into_agent_tools()
    }
}

impl<T: Tool> IntoAgentTools<Vec<T>> for Vec<T> {
    fn into_agent_tools(self) -> Vec<AgentTool> {
        self.into_iter().map(IntoAgentTool::into_agent_tool).collect()
    }
}
