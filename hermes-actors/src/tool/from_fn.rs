//! A tool from a closure, for what is made while the program runs: one tool for each table, say.

use std::future::Future;
use std::marker::PhantomData;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::arguments::arguments_by;
use super::{Declaration, IntoToolOutput, Tool, ToolContext, ToolError, ToolOutput};

/// A tool that declares itself as `declaration` and runs `body` for each call.
///
/// The schema is `declaration`'s: given as JSON, or made from `T` by [`Declaration::of`]. `T` may be
/// `serde_json::Map<String, Value>` for arguments of any shape. A function whose shape is known is simpler under
/// [`#[tool]`](macro@crate::tool).
///
/// ```
/// use hermes_actors::tool::{self, Declaration, Effect, Tool, ToolContext, ToolError, shown};
/// use serde_json::{Map, Value, json};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let parameters = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
/// let declaration = Declaration::new("read_orders", "One order by its number.", parameters);
/// let table = "orders";
/// let read = tool::from_fn(
///     declaration.effect(Effect::ReadOnly),
///     move |row: Map<String, Value>, _context: ToolContext| async move {
///         let id = row.get("id").and_then(Value::as_u64).ok_or(ToolError::new("`id` must be a number"))?;
///         Ok(format!("{table}/{id}"))
///     },
/// );
///
/// let arguments = json!({"id": 7}).as_object().cloned().unwrap_or_default();
/// assert_eq!(shown(&read.call(arguments, ToolContext::new("t1.0")).await), "OK: orders/7");
/// # });
/// ```
pub fn from_fn<T, F, Running, R>(declaration: Declaration, body: F) -> impl Tool
where
    T: DeserializeOwned + Send + 'static,
    F: Fn(T, ToolContext) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: IntoToolOutput + 'static,
{
    FromFn { declaration, body, arguments: PhantomData::<fn(T)> }
}

struct FromFn<T, F> {
    declaration: Declaration,
    body: F,
    arguments: PhantomData<fn(T)>,
}

#[async_trait]
impl<T, F, Running, R> Tool for FromFn<T, F>
where
    T: DeserializeOwned + Send + 'static,
    F: Fn(T, ToolContext) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: IntoToolOutput + 'static,
{
    fn declaration(&self) -> Declaration {
        self.declaration.clone()
    }

    async fn call(
        &self,
        arguments: Map<String, Value>,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = arguments_by(arguments, || self.declaration.parameters.clone())?;
        (self.body)(arguments, context).await?.into_tool_output()
    }
}
