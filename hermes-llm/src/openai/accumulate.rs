//! A reply put together from its parts; one that comes whole is a single part.

use serde_json::{Map, Value};

use super::calls::Calls;
use super::completion::{Choice, Completion, Part};
use super::content::Said;
use super::ending::{Ending, Signs};
use super::extra::merge;
use super::patience::Came;
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
    ending: Ending,
    has_message: bool,
}

impl Accumulator {
    /// Adds a chunk, tells what it brings, and returns whether it brings anything. `text` is its JSON, for what is said
    /// when it is none.
    ///
    /// # Errors
    /// If the chunk is an error, or its message has a shape that nobody knows.
    pub(super) fn add(&mut self, chunk: Completion<'_>, text: &str, deltas: &Deltas) -> Result<Came, Unread> {
        self.refuse_error(&chunk, text)?;
        let before = (self.usage, self.has_message);
        usage::update(&mut self.usage, &chunk.usage);
        let finish = finish_of(chunk.choice.as_ref());
        let has_unknown = chunk.choice.as_ref().is_some_and(Choice::says_what_we_do_not_know);
        let content = self.add_choice(chunk.choice, text, deltas)?;
        let signs = Signs { content, finish: finish.is_some(), usage: chunk.usage.is_object() };
        let finish_holds = self.ending.hear(signs);
        if finish_holds {
            self.finish = finish;
        }
        let is_new = before != (self.usage, self.has_message);
        Ok(if content || has_unknown || finish_holds || is_new { Came::Data } else { Came::Heartbeat })
    }

    /// Adds what a chunk says, and returns whether it says something.
    fn add_choice(
        &mut self,
        choice: Option<Choice<'_>>,
        text: &str,
        deltas: &Deltas,
    ) -> Result<bool, Unread> {
        let Some(Choice { message, delta, .. }) = choice else { return Ok(false) };
        let Some(mut part) = delta.or(message) else { return Ok(false) };
        let has_calls = !part.tool_calls.is_empty();
        for call in std::mem::take(&mut part.tool_calls) {
            self.calls.add(call, deltas);
        }
        Ok(self.add_message(part, text, deltas)? || has_calls)
    }

    /// Adds a completion that came whole.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if it holds no message.
    pub(super) fn add_whole(&mut self, whole: Completion<'_>, text: &str) -> Result<(), Unread> {
        self.refuse_error(&whole, text)?;
        self.finish = finish_of(whole.choice.as_ref());
        usage::update(&mut self.usage, &whole.usage);
        let Some(Choice { message, delta, .. }) = whole.choice else { return Ok(()) };
        let Some(mut part) = message.or(delta) else { return Ok(()) };
        for call in std::mem::take(&mut part.tool_calls) {
            self.calls.push(call);
        }
        self.add_message(part, text, &Deltas::none()).map(drop)
    }

    fn refuse_error(&self, completion: &Completion<'_>, text: &str) -> Result<(), Unread> {
        match completion.error() {
            Some(error) => Err(Unread::error_inside(error, text)),
            None if completion.is_error() => Err(Unread::error_inside(&Value::Null, text)),
            None => Ok(()),
        }
    }

    fn add_message(&mut self, part: Part<'_>, text: &str, deltas: &Deltas) -> Result<bool, Unread> {
        self.has_message = true;
        let thought = reasoning(&part);
        let has_thought = thought.is_some();
        if let Some(thought) = thought {
            tell(deltas, Delta::Reasoning, thought);
        }
        let has_text = self.said.add(part.content, deltas).map_err(|shape| {
            Unread::unusable(format!("its message has an unknown shape (content: {shape})"), text)
        })?;
        merge(&mut self.extra, part.unknown);
        Ok(has_text || has_thought)
    }

    /// What was said of the end.
    pub(super) fn ending(&self) -> &Ending {
        &self.ending
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

fn finish_of(choice: Option<&Choice<'_>>) -> Option<Finish> {
    choice?.finish_reason.as_text().map(Finish::from)
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
