//! `tool.*`: one tool call, from its intent to its one end.

use hermes_bus::{Event, Id, Kind, Payload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::payload;
use crate::stats::Spent;
use crate::tool::{Effect, Image, image};

/// Our id of a call, which every llm actor gives: `t<turn>.<index>`, by the `turn` of the `llm.chat` and the call's
/// place in the reply.
pub fn call_id(turn: u32, index: usize) -> String {
    format!("t{turn}.{index}")
}

/// `tool.call`: the intent. Sent once under its id, which is also the key under which it may run again after a crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallTool {
    /// Our id of the call, `t<turn>.<index>`.
    pub call_id: String,
    /// The tool's name.
    pub tool: String,
    /// The parsed arguments.
    pub arguments: Map<String, Value>,
    /// What the tool says it does to the world.
    pub effect: Effect,
    /// The `approval.granted` that allows it, where one is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Id>,
    /// Who asked, when it was not the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<AskedBy>,
}

/// Who asked for a call, when it was not the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskedBy {
    /// A step of the program.
    Step,
}

/// `tool.started`: a place is held and the body begins. A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStarted {
    /// Which call.
    pub call_id: String,
}

/// `tool.progress`: what a tool is doing. An interim note: it stands in no journal, and only observers may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolProgress {
    /// Which call.
    pub call_id: String,
    /// For a person.
    pub text: String,
    /// How much of the work is done, where the tool counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// Out of how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// `tool.returned`: the tool did its work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolReturned {
    /// Which call.
    pub call_id: String,
    /// What it gave, whole.
    pub result: Value,
    /// What the model reads: `OK: …`.
    pub shown: String,
    /// What the model sees after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "image::journaled")]
    #[schemars(with = "Vec<image::journaled::Form>")]
    pub images: Vec<Image>,
    /// What the call cost, when an agent stands behind the tool.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
}

/// `tool.failed`: it did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFailed {
    /// Which call.
    pub call_id: String,
    /// How.
    pub error: ToolFailure,
    /// What the model reads: `ERROR: …`.
    pub shown: String,
    /// What the call cost, when an agent stands behind the tool.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
}

/// How a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFailure {
    /// In which of the known ways.
    pub kind: ToolFailureKind,
    /// For a person.
    pub message: String,
}

/// The ways in which a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolFailureKind {
    /// Its time ran out.
    Timeout,
    /// Its body panicked.
    Panicked,
    /// Its task ended first.
    Cancelled,
    /// Its process died.
    Interrupted,
    /// It said so itself.
    Error,
}

impl ToolFailed {
    /// A failure with words for a person, shown to the model as `ERROR: …`.
    pub fn new(call_id: impl Into<String>, kind: ToolFailureKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let shown = crate::tool::shown(&Err(crate::tool::ToolError::new(message.clone())));
        Self { call_id: call_id.into(), error: ToolFailure { kind, message }, shown, spent: Spent::default() }
    }
}

/// `tool.rejected`: the model asked for a call that is not made. A note; no tool ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRejected {
    /// Which call.
    pub call_id: String,
    /// The name that the model gave.
    pub tool: String,
    /// Why.
    pub reason: RejectReason,
    /// What the model reads: `ERROR: …`.
    pub shown: String,
}

/// Why a call is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectReason {
    /// No tool has that name.
    Unknown,
    /// It needs an approval that nobody can give.
    Denied,
    /// The arguments are no JSON object.
    UnusableArguments,
    /// The model's output limit cut them off.
    CutOff,
    /// The task ended while the call waited for a place.
    Cancelled,
}

payload!(CallTool, command "tool.call", ends in ToolReturned, ToolFailed);
payload!(ToolStarted, event "tool.started");
payload!(ToolReturned, event "tool.returned");
payload!(ToolFailed, event "tool.failed");
payload!(ToolRejected, event "tool.rejected");

impl Payload for ToolProgress {
    const NAME: &'static str = "tool.progress";
    const KIND: Kind = Kind::Event;
    const INTERIM: bool = true;
}
impl Event for ToolProgress {}
