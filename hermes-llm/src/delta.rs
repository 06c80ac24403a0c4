//! A reply as it comes, in parts, and whoever wants to see them.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a reply, told as it comes.
///
/// Joined in their order, the texts since the last [`Again`](Delta::Again) are the text of the reply, and the names and
/// arguments of one index are those of the tool call at that place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// More of what the model says.
    Text(String),
    /// More of what it thinks first.
    Reasoning(String),
    /// A part of a tool call.
    ToolCall {
        /// Which call of the reply, counted from 0.
        index: usize,
        /// The tool's name; empty (and left out of JSON) once it is known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
        /// More of the text of the arguments.
        arguments: String,
    },
    /// The stream broke and the model is asked again: all that was told of this reply is void.
    Again,
}

/// Where a model tells what comes. Cheap to clone.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use hermes_llm::{ChatError, ChatMessage, ChatModel, ChatRequest, Delta, Deltas, ScriptedModel, Step};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ChatError> {
/// let shown = Arc::new(Mutex::new(String::new()));
/// let screen = shown.clone();
/// let deltas = Deltas::to(move |delta| match delta {
///     Delta::Text(text) => screen.lock().unwrap().push_str(&text),
///     Delta::Again => screen.lock().unwrap().clear(),
///     Delta::Reasoning(_) | Delta::ToolCall { .. } => {}
/// });
///
/// let model = ScriptedModel::new([Step::text("北京今天晴，适合出门。")]);
/// let reply = model.chat(ChatRequest::from_iter([&ChatMessage::user("天气？")]), deltas).await?;
/// assert_eq!(reply.message.text().as_deref(), Some(shown.lock().unwrap().as_str()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Deltas(Option<Arc<Listener>>);

type Listener = dyn Fn(Delta) + Send + Sync;

impl Deltas {
    /// Nobody listens.
    pub fn none() -> Self {
        Self::default()
    }

    /// Calls `listener` with each delta, between two reads of the reply: it must be quick and must not block.
    pub fn to(listener: impl Fn(Delta) + Send + Sync + 'static) -> Self {
        Deltas(Some(Arc::new(listener)))
    }

    /// Hands a delta to the listener, if there is one.
    pub fn tell(&self, delta: Delta) {
        if let Some(listener) = &self.0 {
            listener(delta);
        }
    }

    /// Whether somebody listens; a model may spare itself the making of deltas otherwise.
    pub fn are_wanted(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Deltas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.are_wanted() { "Deltas(wanted)" } else { "Deltas(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_known_is_left_out_of_the_json() {
        let call = |name: &str| Delta::ToolCall { index: 1, name: name.into(), arguments: "{".into() };
        for (delta, json) in [
            (Delta::Text("早".into()), r#"{"text":"早"}"#),
            (Delta::Reasoning("hm".into()), r#"{"reasoning":"hm"}"#),
            (call("f"), r#"{"tool_call":{"index":1,"name":"f","arguments":"{"}}"#),
            (call(""), r#"{"tool_call":{"index":1,"arguments":"{"}}"#),
            (Delta::Again, r#""again""#),
        ] {
            assert_eq!(serde_json::to_string(&delta).unwrap(), json);
            assert_eq!(serde_json::from_str::<Delta>(json).unwrap(), delta);
        }
    }
}
