//! The events of a stream, one after the other, until they are a reply.

use serde_json::Value;

use super::accumulate::Accumulator;
use super::completion::Completion;
use super::ending::Stage;
use super::patience::Came;
use super::sse::Event;
use super::surrogates::Halves;
use super::unread::Unread;
use crate::{ChatReply, Deltas};

/// Words that some servers send to keep a connection open (lower case).
const HEARTBEATS: [&str; 8] =
    ["ping", "pong", "keep-alive", "keepalive", "keep_alive", "heartbeat", "waiting", "null"];

/// What has come of a stream.
#[derive(Debug, Default)]
pub(super) struct Events {
    reply: Accumulator,
    halves: Halves,
    /// Plain text since the last data: nothing if the reply goes on, and why there is none if it does not.
    remark: Option<String>,
    has_data: bool,
    /// The server has said `[DONE]`.
    done: bool,
}

impl Events {
    /// Takes the next event and says whether it brings anything.
    ///
    /// # Errors
    /// If it is an error, or no chunk of a reply.
    pub(super) fn take(&mut self, event: Event<'_>, deltas: &Deltas) -> Result<Came, Unread> {
        let data = event.data.trim_ascii();
        if self.done || data.is_empty() {
            return Ok(Came::Heartbeat);
        }
        if data == b"[DONE]" {
            self.done = true;
            return Ok(Came::Data);
        }
        let text = std::str::from_utf8(data).map_err(|error| Unread::not_utf8(error, data))?;
        let came = match event.name {
            b"error" => return Err(error_alone(text)),
            name => match self.take_text(text, deltas) {
                // An event of the server's own kind is nothing to us, unless it is a chunk after all.
                Err(Unread::Unusable { .. }) if !is_usual(name) => Came::Heartbeat,
                taken => taken?,
            },
        };
        if came == Came::Data {
            (self.has_data, self.remark) = (true, None);
        } else if is_usual(event.name) && is_remark(text) {
            self.remark = Some(text.to_owned());
        }
        Ok(came)
    }

    fn take_text(&mut self, text: &str, deltas: &Deltas) -> Result<Came, Unread> {
        match text.as_bytes().first() {
            Some(b'{') => self.take_chunk(text, deltas),
            Some(b'[' | b'"') => Err(error_alone(text)),
            _ => Ok(Came::Heartbeat),
        }
    }

    fn take_chunk(&mut self, text: &str, deltas: &Deltas) -> Result<Came, Unread> {
        let no_chunk = |error| Unread::no_json("it holds what is no chunk of a chat completion", error, text);
        match serde_json::from_str::<Completion<'_>>(text) {
            Ok(chunk) if self.halves.is_empty() => self.reply.add(chunk, text, deltas),
            _ => {
                let joined = self.halves.join(text).map_err(no_chunk)?;
                let chunk = serde_json::from_str(&joined).map_err(no_chunk)?;
                self.reply.add(chunk, text, deltas)
            }
        }
    }

    pub(super) fn stage(&self) -> Stage {
        if self.done { Stage::Complete } else { self.reply.ending().stage() }
    }

    /// Whether the reply may be taken as it is if nothing more comes.
    pub(super) fn may_end(&self) -> bool {
        self.done || self.reply.ending().has_stopped()
    }

    /// Whether some text, thought or call has come.
    pub(super) fn has_content(&self) -> bool {
        self.reply.ending().has_content()
    }

    /// Whether something has come that belongs to a reply.
    pub(super) fn has_data(&self) -> bool {
        self.has_data
    }

    /// The reply; `end` is what came of the last event.
    ///
    /// # Errors
    /// If it is not complete, or is no reply.
    pub(super) fn finish(mut self, end: Result<(), Unread>, deltas: &Deltas) -> Result<ChatReply, Unread> {
        match (end, self.stage()) {
            // Half an event after the last word is nothing that we wait for.
            (Ok(()), _) | (Err(Unread::Broken), Stage::Finished | Stage::Complete) => {}
            (Err(unread), _) => return Err(unread),
        }
        match self.remark.take() {
            Some(remark) if !self.reply.ending().has_stopped() => return Err(error_alone(&remark)),
            _ if !self.may_end() => return Err(Unread::Broken),
            _ => {}
        }
        while let Some(rest) = self.halves.rest() {
            self.take_chunk(&rest, deltas)?;
        }
        self.reply.finish().ok_or_else(|| Unread::unusable("it holds no message", "only the end of a stream"))
    }
}

/// Whether events of this name are chunks.
fn is_usual(name: &[u8]) -> bool {
    matches!(name, b"" | b"message")
}

/// Whether this is plain text that may say why there is no reply.
fn is_remark(text: &str) -> bool {
    !text.starts_with('{') && !HEARTBEATS.contains(&text.to_ascii_lowercase().as_str())
}

/// An error where a chunk should be, in JSON or as plain text.
fn error_alone(text: &str) -> Unread {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    Unread::error_inside(json.get("error").unwrap_or(&json), text)
}
