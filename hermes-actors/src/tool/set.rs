//! Tool sets: methods of one value that are tools, and share it.

use std::sync::Arc;

use super::Tool;

/// A value some of whose methods are tools. [`#[tool]`](macro@crate::tool) above its `impl` block implements this; an agent
/// takes all of them with [`AgentBuilder::tools`](crate::AgentBuilder::tools).
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no methods that are tools",
    note = "write `#[tool]` above its `impl` block and above each method that a model may call"
)]
pub trait ToolSet: Send + Sync + 'static {
    /// The tools, in the order of their methods.
    fn tools(self: Arc<Self>) -> Vec<Box<dyn Tool>>;
}
