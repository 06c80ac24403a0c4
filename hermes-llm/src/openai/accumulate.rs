//! A reply put together from its parts; one that comes whole is a single part.

use serde_json::{Map, Value};

use super::calls::Calls;
use super::completion::{Choice, Completion, Part};
use super::content::Said;
use super::extra::merge;
use super::unread::Unread;
use super::usage;
use crate::{ChatMessage, ChatReply, Delta, Deltas, Finish, Usage};

/// The reply so far.
#[derive(Debug, Default)]
pub(super) struct Accumulator {
    said: Said,
    calls: Calls,
    extra: Map<String, Value>,
    finish: Option<Finish>,
    usage: Usage,
    has_usage: bool,
    has_message: bool,
    has_content: bool,
}

impl Accumulator {
    /// Adds a chunk and tells what it brings. `text` is its JSON, for what is said when it is none.
    ///
    /// # Errors
    /// If the chunk is an error, or its message has a shape that nobody knows.
    pub(super) fn add(&mut self, chunk: Completion<'_>, text: &str, deltas: &Deltas) -> Result<(), Unread> {
        self.refuse_error(&chunk, text)?;
        self.stop(chunk.choice.as_ref());
        self.count(&chunk.usage);
        let Some(Choice { message, delta, .. }) = chunk.choice else { return Ok(()) };
        let Some(mut part) = delta.or(message) else { return Ok(()) };
        for call in std::mem::take(&mut part.tool_calls) {
            self.has_content = true;
            self.calls.add(call, deltas);
        }
        self.add_message(part, text, deltas)
    }

    /// Adds a completion that came whole.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if it holds no message.
    pub(super) fn add_whole(&mut self, whole: Completion<'_>, text: &str) -> Result<(), Unread> {
        self.refuse_error(&whole, text)?;
        self.stop(whole.choice.as_ref());
        self.count(&whole.usage);
        let Some(Choice { message, delta, .. }) = whole.choice else { return Ok(()) };
        let Some(mut part) = message.or(delta) else { return Ok(()) };
        for call in std::mem::take(&mut part.tool_calls) {
            self.calls.push(call);
        }
        self.add_message(part, text, &Deltas::none())
    }

    fn refuse_error(&self, completion: &Completion<'_>, text: &str) -> Result<(), Unread> {
        match completion.error() {
            Some(error) => Err(Unread::error_inside(error, text)),
            None if completion.is_error() => Err(Unread::error_inside(&Value::Null, text)),
            None => Ok(()),
        }
    }

    fn stop(&mut self, choice: Option<&Choice<'_>>) {
        // The first word stands: some add a second chunk that says `stop` after `tool_calls`.
        if self.finish.is_none() {
            self.finish = choice.and_then(|choice| choice.finish_reason.as_text()).map(Finish::from);
        }
    }

    fn count(&mut self, said: &Value) {
        usage::update(&mut self.usage, said);
        // What is said before the end is not yet the whole.
        self.has_usage |= said.is_object() && self.is_finished();
    }

    fn add_message(&mut self, part: Part<'_>, text: &str, deltas: &Deltas) -> Result<(), Unread> {
        self.has_message = true;
        if let Some(thought) = reasoning(&part) {
            self.has_content = true;
            tell(deltas, Delta::Reasoning, thought);
        }
        self.has_content |= self.said.add(part.content, deltas).map_err(|shape| {
            Unread::unusable(format!("its message has an unknown shape (content: {shape})"), text)
        })?;
        merge(&mut self.extra, part.unknown);
        Ok(())
    }

    /// Whether the model has said why it stopped: nothing but the usage is missing.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether the usage of the whole reply has come.
    pub(super) fn has_usage(&self) -> bool {
        self.has_usage
    }

    /// Whether some text, thought or call has come.
    pub(super) fn has_content(&self) -> bool {
        self.has_content
    }

    /// The reply; `None` if there was no message at all.
    pub(super) fn finish(self) -> Option<ChatReply> {
        let content = self.said.finish(!self.calls.is_empty());
        let message = ChatMessage {
            content,
            tool_calls: self.calls.finish(),
            extra: self.extra,
            ..ChatMessage::assistant("")
        };
        self.has_message.then_some(ChatReply {
            message,
            finish: self.finish.unwrap_or_default(),
            usage: self.usage,
            time_to_first_token: None,
        })
    }
}

/// What a part thinks aloud. Some servers say it under both names.
fn reasoning<'p>(part: &'p Part<'_>) -> Option<&'p str> {
    let named = |name: &str| part.unknown.iter().find(|(key, _)| key == name)?.1.as_text();
    named("reasoning_content").or_else(|| named("reasoning"))
}

/// Tells a text if somebody listens.
pub(super) fn tell(deltas: &Deltas, delta: fn(String) -> Delta, text: &str) {
    if deltas.are_wanted() {
        deltas.tell(delta(text.to_owned()));
    }
}
