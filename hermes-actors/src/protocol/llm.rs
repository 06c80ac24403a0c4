//! `llm.*`: one model call.

use std::collections::BTreeMap;

use bytes::Bytes;
use hermes_bus::{Event, Id, Kind, Payload};
use hermes_llm::{ChatMessage, Delta, Finish, Messages, Settings, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::payload;
use crate::digest::Digest;

/// `llm.chat`: asks the model. In the journal it holds what entered the context since the task's last one, so that
/// the exact request of any turn can be rebuilt; to another process it carries the whole context.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LlmChat {
    /// Numbers every chat of the task, from 1.
    pub turn: u32,
    /// What the answer is for.
    #[serde(default, skip_serializing_if = "Purpose::is_turn")]
    pub purpose: Purpose,
    /// What entered the context since the task's last chat.
    pub append: Vec<Append>,
    /// The digest of the whole context.
    pub digest: Digest,
    /// The chat that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<Id>,
    /// Sampling, where it differs from the agent's definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// The whole context.
    #[serde(default, skip_serializing, deserialize_with = "messages")]
    #[schemars(with = "Vec<ChatMessage>")]
    pub messages: Messages,
}

/// What a chat is for. Each has its own context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A turn of the task.
    #[default]
    Turn,
    /// A summary of something long.
    Summary,
    /// The choice of a route.
    Route,
    /// An answer that did not fit, asked for again.
    Reask,
}

impl Purpose {
    fn is_turn(&self) -> bool {
        *self == Purpose::Turn
    }
}

/// One message that entered a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Append {
    /// An earlier envelope holds it.
    Of {
        /// That envelope: `task.start` (the user message), `llm.replied` (its message), a tool's end or note (the
        /// tool message, `shown`).
        of: Id,
    },
    /// It stands nowhere else.
    Message(ChatMessage),
}

/// `llm.replied`: the model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmReplied {
    /// As in the chat that it ends.
    #[serde(default, skip_serializing_if = "Purpose::is_turn")]
    pub purpose: Purpose,
    /// What it said. Its tool calls carry our ids, `t<turn>.<index>`.
    pub message: ChatMessage,
    /// Why it stopped.
    pub finish: Finish,
    /// What it used.
    pub usage: Usage,
    /// Milliseconds to the first token, where it was streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<u64>,
    /// The provider's own ids of the calls, by ours, where it gave any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provider_ids: BTreeMap<String, String>,
}

/// `llm.delta`: a part of a reply, as it comes. An interim note, caused by its `llm.chat`: it is only for showing, and
/// may be lost. What counts is the `llm.replied`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmDelta {
    /// As in the chat.
    pub turn: u32,
    /// As in the chat.
    #[serde(default, skip_serializing_if = "Purpose::is_turn")]
    pub purpose: Purpose,
    /// How many bytes of text were told of this reply before, so that a reader knows when it missed something.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at: usize,
    /// What came.
    pub delta: Delta,
}

/// `llm.failed`: the model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LlmFailed {
    /// As in the chat that it ends.
    #[serde(default, skip_serializing_if = "Purpose::is_turn")]
    pub purpose: Purpose,
    /// A stable word: a kind of [`ChatError`](hermes_llm::ChatError), or `cancelled`, `panicked`.
    pub kind: String,
    /// For a person.
    pub message: String,
    /// The endpoint could not be reached, or refused us.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub endpoint: bool,
}

fn is_zero(at: &usize) -> bool {
    *at == 0
}

impl LlmFailed {
    /// The end of a chat that its task does not want any more.
    pub(crate) fn cancelled(purpose: Purpose, why: &str) -> Self {
        Self { purpose, kind: "cancelled".to_owned(), message: why.to_owned(), endpoint: false }
    }
}

impl Payload for LlmChat {
    const NAME: &'static str = "llm.chat";
    const KIND: Kind = Kind::Command;

    fn wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.journal(out)?;
        out.pop();
        out.extend_from_slice(b",\"messages\":[");
        for (i, message) in self.messages.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            out.extend_from_slice(message);
        }
        out.extend_from_slice(b"]}");
        Ok(())
    }
}
impl hermes_bus::Ask for LlmChat {
    type Reply = LlmReplied;
    type Failure = LlmFailed;
}
impl Payload for LlmDelta {
    const NAME: &'static str = "llm.delta";
    const KIND: Kind = Kind::Event;
    const INTERIM: bool = true;
}
impl Event for LlmDelta {}
payload!(LlmReplied, event "llm.replied");
payload!(LlmFailed, event "llm.failed");

fn messages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Messages, D::Error> {
    let raw = Vec::<Box<RawValue>>::deserialize(deserializer)?;
    Ok(raw.into_iter().map(|message| Bytes::from(message.get().to_owned())).collect())
}
