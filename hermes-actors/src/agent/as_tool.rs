//! An agent as a tool of another.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Agent;
use crate::protocol::CallTool;
use crate::sub_agent::ReadTask;
use crate::tool::{Declaration, arguments_as, schema_for};

/// An agent that another may call like a tool. The caller sees only what the arguments and the answer say.
#[derive(Clone)]
pub struct AsTool {
    pub(super) agent: Agent,
    description: String,
    parameters: Value,
    timeout: Option<Duration>,
    pub(super) read_task: ReadTask,
}

/// What a sub-agent is asked when nothing else is said.
#[derive(Deserialize, JsonSchema)]
struct Request {
    /// What the agent should do, in full: it knows nothing of this conversation.
    task: String,
}

impl Agent {
    /// Makes the agent a tool of another, called by its name. `description` says when to use it.
    /// The model gives it its task as text; [`AsTool::input`] makes that a type. It runs where its caller runs, whatever
    /// runtime it was given itself.
    pub fn as_tool(&self, description: impl Into<String>) -> AsTool {
        let read_task: ReadTask = Arc::new(|call| read::<Request>(call).map(|request| request.task));
        AsTool {
            agent: self.clone(),
            description: description.into(),
            parameters: schema_for::<Request>(),
            timeout: None,
            read_task,
        }
    }
}

impl AsTool {
    /// Lets the model give the agent a `T`, with its schema. The agent reads it as JSON.
    #[must_use]
    pub fn input<T: JsonSchema + DeserializeOwned + 'static>(self) -> Self {
        let read_task: ReadTask = Arc::new(|call| {
            read::<T>(call)?;
            Ok(Value::Object(call.arguments.clone()).to_string())
        });
        Self { parameters: schema_for::<T>(), read_task, ..self }
    }

    /// How long one call may take (what is left of the caller's deadline unless told).
    #[must_use]
    pub fn timeout(self, time: Duration) -> Self {
        Self { timeout: Some(time), ..self }
    }

    pub(super) fn declaration(&self) -> Declaration {
        let declaration =
            Declaration::new(self.agent.name(), self.description.as_str(), self.parameters.clone());
        match self.timeout {
            Some(time) => declaration.timeout(time),
            None => declaration,
        }
    }
}

fn read<T: DeserializeOwned + JsonSchema>(call: &CallTool) -> Result<T, String> {
    arguments_as(call.arguments.clone()).map_err(|why| why.to_string())
}
