//! Chat types, the [`ChatModel`] door, the OpenAI-compatible client and scripted models for tests.
//!
//! A context is a row of [`ChatMessage`]s. Each is rendered once, to canonical JSON bytes ([`Messages`]), and these
//! bytes are what is shared, stored and sent: nothing is serialised twice. A [`ChatModel`] answers a
//! [`ChatRequest`] with a [`ChatReply`] or a [`ChatError`] that says what may help. [`OpenAiModel`] asks any
//! OpenAI-compatible [`Endpoint`] (Ollama, llama.cpp, vLLM, a provider); [`ScriptedModel`] asks nobody and
//! answers from a script, so that tests and examples run offline. Both tell a reply as it comes to whoever gives them
//! [`Deltas`] to tell it to.
//!
//! This crate knows nothing of the bus or of actors.

mod api_key;
mod delta;
mod endpoint;
mod error;
mod from_env;
mod message;
mod messages;
mod model;
mod openai;
mod pieces;
mod render;
mod reply;
mod request;
mod schema;
mod scripted;
mod secret;
mod step;
mod tool_call;
mod tool_spec;

pub use api_key::ApiKey;
pub use delta::{Delta, Deltas};
pub use endpoint::{Endpoint, EndpointError, Streaming};
pub use error::{Cause, ChatError, Retry};
pub use from_env::from_env_or;
pub use message::{ChatMessage, Content, Role};
pub use messages::Messages;
pub use model::ChatModel;
pub use openai::OpenAiModel;
pub use reply::{ChatReply, Finish, Usage};
pub use request::{ChatRequest, Settings, ToolChoice};
pub use scripted::ScriptedModel;
pub use step::Step;
pub use tool_call::ToolCall;
pub use tool_spec::{ToolSpec, ToolSpecs};
