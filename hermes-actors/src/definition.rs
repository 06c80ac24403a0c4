//! An agent's definition: all that its tasks depend on, kept in the journal's blobs by its hash.

use std::time::Duration;

use hermes_llm::{Settings, ToolSpec, ToolSpecs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::Declaration;

/// How long a call of a function may take, counted from when it is sent, unless the tool says otherwise.
pub const TOOL_TIMEOUT: Duration = Duration::from_secs(30);

/// What an agent is. The task machine reads nothing else of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Definition {
    /// The agent's name.
    pub name: String,
    /// What the model is told before the task.
    pub system_prompt: String,
    /// The model's name.
    pub model: String,
    /// Sampling.
    pub settings: Settings,
    /// The tools, in the order in which the model sees them.
    pub tools: Vec<ToolDefinition>,
    /// What happens when the turns are used up.
    pub at_limit: AtLimit,
}

/// One tool of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDefinition {
    /// What the tool says of itself.
    #[serde(flatten)]
    pub declaration: Declaration,
    /// What stands behind it.
    #[serde(default)]
    pub kind: ToolKind,
}

/// What stands behind a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// A function. Whoever comes first ends its call: it, or its task.
    #[default]
    Function,
    /// An agent. Only it ends its call, when its own task has finished.
    Agent,
}

/// What happens when the turns are used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtLimit {
    /// The model is asked once more, tools off, to answer from what it has.
    #[default]
    Answer,
    /// The task stops.
    Stop,
}

impl Definition {
    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.tools.iter().find(|tool| tool.declaration.name == name)
    }

    /// The tools as the model sees them.
    pub fn specs(&self) -> ToolSpecs {
        let spec = |tool: &ToolDefinition| {
            let d = &tool.declaration;
            ToolSpec {
                name: d.name.clone(),
                description: d.description.clone(),
                parameters: d.parameters.clone(),
            }
        };
        self.tools.iter().map(spec).collect()
    }
}
