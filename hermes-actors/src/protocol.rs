//! The protocol: all payloads that Hermes' own actors speak. The names are a promise: they stand in journals.

mod llm;
mod schemas;
mod task;
mod tool;

pub use llm::{Append, LlmChat, LlmDelta, LlmFailed, LlmReplied, Purpose};
pub use schemas::{Published, published};
pub use task::{
    CancelTask, End, Failure, Gathered, History, Limits, MACHINE_VERSION, TaskCancelling, TaskFinished,
    TaskStart,
};
pub use tool::{
    AskedBy, CallTool, RejectReason, ToolFailed, ToolFailure, ToolFailureKind, ToolProgress, ToolRejected,
    ToolReturned, ToolStarted, call_id,
};

/// Says name, kind and role of a payload.
macro_rules! payload {
    ($type:ty, event $name:literal) => {
        impl hermes_bus::Payload for $type {
            const NAME: &'static str = $name;
            const KIND: hermes_bus::Kind = hermes_bus::Kind::Event;
        }
        impl hermes_bus::Event for $type {}
    };
    ($type:ty, command $name:literal, ends in $reply:ty, $failure:ty) => {
        impl hermes_bus::Payload for $type {
            const NAME: &'static str = $name;
            const KIND: hermes_bus::Kind = hermes_bus::Kind::Command;
        }
        impl hermes_bus::Ask for $type {
            type Reply = $reply;
            type Failure = $failure;
        }
    };
}
pub(crate) use payload;
