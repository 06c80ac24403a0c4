//! The effect a tool declares: what a call may do to the world, and so whether it may run twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a call of a tool may do to the world. The words are MCP's tool annotations.
///
/// It decides what happens to a call that had begun when the process died: `ReadOnly` and `Idempotent` calls run
/// again under the same call id, any other ends as interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing.
    ReadOnly,
    /// May change something, but a second equal call changes nothing more.
    Idempotent,
    /// May change something each time it runs. What a tool has that declares nothing.
    #[default]
    MayChange,
    /// May destroy what cannot be brought back: wants a person's approval before each call. Approvals are not there yet, so
    /// every call is refused.
    Destructive,
}

impl Effect {
    /// Whether a call may run a second time without changing more than the first did.
    pub fn may_run_again(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Idempotent)
    }
}
