//! The llm actor: asks the model what a task wants to know.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hermes_bus::{Actor, Body, Bus, Context, Draft, Envelope, Fault};
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Delta, Deltas, Role, Settings, ToolSpecs,
};

use crate::definition::Definition;
use crate::protocol::{LlmChat, LlmDelta, LlmFailed, LlmReplied, Purpose, call_id};

/// The model of one agent.
pub(crate) struct Llm {
    model: Arc<dyn ChatModel>,
    tools: ToolSpecs,
    settings: Settings,
}

impl Llm {
    pub(crate) fn new(model: Arc<dyn ChatModel>, definition: &Definition) -> Self {
        Self { model, tools: definition.specs(), settings: definition.settings.clone() }
    }

    fn request(&self, chat: &LlmChat) -> ChatRequest {
        let settings = chat.settings.clone().unwrap_or_else(|| self.settings.clone());
        ChatRequest { messages: chat.messages.clone(), tools: self.tools.clone(), settings }
    }
}

impl Actor for Llm {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        let (turn, purpose, request) = match envelope.get::<LlmChat>() {
            Ok(chat) => (chat.turn, chat.purpose, self.request(&chat)),
            Err(why) => {
                context.unacceptable(&envelope, &why.to_string());
                return Ok(());
            }
        };
        let (model, ask) = (self.model.clone(), envelope.clone());
        let deltas = shown(context.bus().clone(), envelope.clone(), turn, purpose);
        context.run(&envelope, move |words| panicked(purpose, words), async move {
            // Not through the `Arc`: that would box the request's future a second time.
            match (*model).chat(request, deltas).await {
                Ok(reply) => Draft::ending(&ask, replied(turn, purpose, reply)),
                Err(error) => Draft::ending(&ask, failed(purpose, &error)),
            }
        });
        Ok(())
    }
}

/// Shows what comes of a reply to whoever observes.
fn shown(bus: Bus, chat: Arc<Envelope>, turn: u32, purpose: Purpose) -> Deltas {
    let told = AtomicUsize::new(0);
    Deltas::to(move |delta| {
        // One body tells them, one after another.
        let at = match &delta {
            Delta::Text(text) => told.fetch_add(text.len(), Ordering::Relaxed),
            Delta::Again => told.swap(0, Ordering::Relaxed),
            Delta::Reasoning(_) | Delta::ToolCall { .. } => told.load(Ordering::Relaxed),
        };
        if bus.is_observed() {
            let me = chat.receiver.clone();
            bus.send(Draft::caused_by(&chat, me.clone(), me, LlmDelta { turn, purpose, at, delta }));
        }
    })
}

/// The reply with our own call ids: the provider's may be missing, repeated or foreign, and are kept beside.
fn replied(turn: u32, purpose: Purpose, reply: ChatReply) -> LlmReplied {
    let mut message: ChatMessage = reply.message;
    message.role = Role::Assistant;
    message.tool_call_id = None;
    let mut provider_ids = BTreeMap::new();
    for (index, call) in message.tool_calls.iter_mut().enumerate() {
        let theirs = std::mem::replace(&mut call.id, call_id(turn, index));
        if !theirs.is_empty() && theirs != call.id {
            provider_ids.insert(call.id.clone(), theirs);
        }
    }
    let time_to_first_token_ms =
        reply.time_to_first_token.map(|t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX));
    LlmReplied {
        purpose,
        message,
        finish: reply.finish,
        usage: reply.usage,
        time_to_first_token_ms,
        provider_ids,
    }
}

fn failed(purpose: Purpose, error: &ChatError) -> LlmFailed {
    LlmFailed {
        purpose,
        kind: error.kind().to_owned(),
        message: error.to_string(),
        endpoint: error.endpoint_fault(),
    }
}

fn panicked(purpose: Purpose, words: &str) -> Body {
    let message = format!("the model's client panicked, which is a bug in it: {words}");
    Body::new(LlmFailed { purpose, kind: "panicked".to_owned(), message, endpoint: false })
}
