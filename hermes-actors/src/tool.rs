//! The tool door: what a tool is, what it says of itself, and how its outcome reads to a model.
//!
//! A tool is written as a function or a method under [`#[tool]`](macro@crate::tool), as a closure ([`from_fn`]), or by hand as
//! an `impl Tool`. All come through the same trait, so nothing behind this door can tell them apart.
//!
//! ```
//! use hermes_actors::tool;
//! use hermes_actors::tool::{Tool, ToolContext, shown};
//!
//! /// The weather of a city, now.
//! ///
//! /// # Arguments
//! /// - `city`: the city's name, in any language
//! /// - `days`: how many days ahead; today when left out
//! #[tool(read_only, timeout = "5s")]
//! async fn get_weather(city: String, days: Option<u8>) -> Result<String, String> {
//!     match city.as_str() {
//!         "北京" => Ok(format!("晴，22°C (day {})", days.unwrap_or(0))),
//!         _ => Err(format!("no station in {city}")),
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! assert_eq!(get_weather().declaration().name, "get_weather");
//!
//! let arguments = serde_json::json!({"city": "北京"}).as_object().cloned().unwrap_or_default();
//! let outcome = get_weather().call(arguments, ToolContext::new("t1.0")).await;
//! assert_eq!(shown(&outcome), "OK: 晴，22°C (day 0)");
//!
//! // The function itself is still there:
//! assert_eq!(get_weather::direct("Rome".into(), None).await, Err("no station in Rome".into()));
//! # });
//! ```
#![doc = include_str!("tool/beside_arguments.md")]

mod arguments;
mod blocking;
mod clip;
mod context;
mod declaration;
mod effect;
mod error;
mod from_fn;
pub(crate) mod image;
mod message;
mod output;
mod places;
#[doc(hidden)]
pub mod private;
mod progress;
mod schema;
mod set;
mod states;

pub use arguments::arguments_as;
pub use blocking::off_the_event_loop;
pub use clip::clip;
pub use context::ToolContext;
pub use declaration::{Declaration, DeclarationError};
pub use effect::Effect;
pub use error::ToolError;
pub use from_fn::from_fn;
pub use image::Image;
pub(crate) use message::tool_message;
pub use output::{IntoToolOutput, SHOWN_CHARACTERS, ToolOutput, shown};
pub(crate) use places::places;
pub(crate) use progress::Reporter;
pub use schema::schema_for;
pub use set::ToolSet;
pub use states::{MissingState, State, StateNeed, States};

use async_trait::async_trait;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::sync::Arc;

/// Something a model may call.
///
/// An implementor can use [`schema_for`] and [`arguments_as`] with a struct of its arguments, and
/// [`off_the_event_loop`] for what blocks; `?` turns every error of the standard kind into a [`ToolError`].
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// What this tool says of itself. Must be the same at every call: it is read once, when an agent is built.
    fn declaration(&self) -> Declaration;

    /// The states without which it cannot work: a task that sets them nowhere does not start, and says what is missing.
    fn needs(&self) -> Vec<StateNeed> {
        Vec::new()
    }

    /// What it is, also inside a box: two tools of one type and name share the places that `max_concurrent` gives.
    #[doc(hidden)]
    fn identity(&self) -> TypeId {
        TypeId::of::<Self>()
    }

    /// Runs one call.
    ///
    /// `arguments` is the object the model sent, not yet checked against the declaration's schema.
    ///
    /// # Errors
    /// A [`ToolError`] is an outcome, not a fault: its message is what the model reads, and the conversation goes on.
    /// A panic ends this call only.
    ///
    /// # Cancel safety
    /// The future is dropped on cancel and on timeout. What it awaits must be safe to drop; blocking work that it
    /// handed to another thread runs on unheard, unless it looks at [`ToolContext::is_cancelled`].
    async fn call(
        &self,
        arguments: Map<String, Value>,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError>;
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn declaration(&self) -> Declaration {
        (**self).declaration()
    }

    fn needs(&self) -> Vec<StateNeed> {
        (**self).needs()
    }

    fn identity(&self) -> TypeId {
        (**self).identity()
    }

    async fn call(
        &self,
        arguments: Map<String, Value>,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        (**self).call(arguments, context).await
    }
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Box<T> {
    fn declaration(&self) -> Declaration {
        (**self).declaration()
    }

    fn needs(&self) -> Vec<StateNeed> {
        (**self).needs()
    }

    fn identity(&self) -> TypeId {
        (**self).identity()
    }

    async fn call(
        &self,
        arguments: Map<String, Value>,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        (**self).call(arguments, context).await
    }
}
