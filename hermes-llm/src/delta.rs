//! The parts of a reply as they come, for whoever wants to show them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A part of a reply, told as it comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// Text of the answer.
    Text(String),
    /// Text of the reasoning before it.
    Reasoning(String),
    /// A part of a tool call.
    ToolCall {
        /// Which call of the reply, from 0.
        index: usize,
        /// The tool's name; empty, and left out of JSON, once it was told.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
        /// The next part of the arguments' text.
        arguments: String,
    },
    /// The stream broke and the model is asked again: all that was told of this reply is void.
    Again,
}

/// Where a model tells what comes. Cheap to clone.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use hermes_llm::{Delta, Deltas};
///
/// let told = Arc::new(Mutex::new(Vec::new()));
/// let deltas = Deltas::to({
///     let told = told.clone();
///     move |delta| told.lock().unwrap().push(delta)
/// });
/// deltas.tell(Delta::Text("你".into()));
/// assert_eq!(*told.lock().unwrap(), [Delta::Text("你".into())]);
/// assert!(!Deltas::none().are_wanted());
/// ```
#[derive(Clone, Default)]
pub struct Deltas(Option<Arc<dyn Fn(Delta) + Send + Sync>>);

impl Deltas {
    /// Nobody wants them.
    pub fn none() -> Self {
        Self::default()
    }

    /// Tells them to `listener`, which must not wait for anything.
    pub fn to(listener: impl Fn(Delta) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Tells one.
    pub fn tell(&self, delta: Delta) {
        if let Some(listener) = &self.0 {
            listener(delta);
        }
    }

    /// Whether anybody listens; else a delta need not be made.
    pub fn are_wanted(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Deltas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.are_wanted() { "Deltas(wanted)" } else { "Deltas(none)" })
    }
}
