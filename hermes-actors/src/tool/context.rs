//! The context of one call: what a tool may know beside its arguments.

/// What a tool may know about the call it serves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolContext {
    /// The call's id, `t<turn>.<index>`. A call that runs again after a crash has the same one,
    /// so it serves as an idempotency key together with the task.
    pub call_id: String,
}

impl ToolContext {
    /// The context of the call with this id.
    pub fn new(call_id: impl Into<String>) -> Self {
        Self { call_id: call_id.into() }
    }
}
