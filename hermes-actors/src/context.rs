//! The context of one task: the chat messages that the model reads, rendered once and only appended to.

use std::hash::{Hash, Hasher};

use hermes_bus::Id;
use hermes_llm::{ChatMessage, Messages};

use crate::digest::Digest;
use crate::protocol::Append;

/// Stands for the answer of a task that gave none.
const NO_ANSWER: &str = "(This was broken off before I answered.)";

/// Messages, their digest, and what entered since it was last sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    messages: Messages,
    digest: Digest,
    /// The digest when it was last sent.
    sent: Digest,
    unsent: Vec<Append>,
}

impl Context {
    /// Opened by the system message, which comes from the definition and is never journaled again.
    pub(crate) fn open(system_prompt: &str) -> Self {
        let (digest, sent) = (Digest::default(), Digest::default());
        let mut context = Self { messages: Messages::new(), digest, sent, unsent: Vec::new() };
        if !system_prompt.is_empty() {
            context.enter(&ChatMessage::system(system_prompt));
        }
        context
    }

    /// Adds a message that the envelope `of` holds.
    pub(crate) fn push_of(&mut self, of: Id, message: &ChatMessage) {
        self.enter(message);
        self.unsent.push(Append::Of { of });
    }

    /// Adds a message that stands nowhere else.
    pub(crate) fn push(&mut self, message: ChatMessage) {
        self.enter(&message);
        self.unsent.push(Append::Message(message));
    }

    fn enter(&mut self, message: &ChatMessage) {
        let rendered = self.messages.push(message);
        self.digest = self.digest.with(&rendered);
    }

    /// Goes on from what an earlier task left. One that ended without an answer leaves a question open, and servers
    /// refuse a conversation in which the user speaks twice.
    pub(crate) fn after(mut past: Self) -> Self {
        let waits = |last: &bytes::Bytes| {
            [&br#"{"role":"user""#[..], br#"{"role":"tool""#].iter().any(|role| last.starts_with(role))
        };
        if past.messages.iter().last().is_some_and(waits) {
            past.push(ChatMessage::assistant(NO_ANSWER));
        }
        past
    }

    /// What entered since the last time this was called.
    pub(crate) fn take_unsent(&mut self) -> Vec<Append> {
        self.sent = self.digest;
        std::mem::take(&mut self.unsent)
    }

    /// Its digest when it was last sent.
    pub(crate) fn sent(&self) -> Digest {
        self.sent
    }

    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }
}

/// The digest stands for the messages.
impl Hash for Context {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.digest, self.sent, self.messages.len(), self.unsent.len()).hash(state);
    }
}
