//! The body of an answer as it comes: a stream of events, or one JSON document. Which of them is told by the bytes: some
//! servers do not stream though they were asked to, some stream though they were not, and headers lie.

use serde_json::Value;

use super::accumulate::Accumulator;
use super::sse::{Event, Sse};
use super::unread::Unread;
use crate::{ChatReply, Deltas};

/// How much is kept of a stream in which no event has come, to show it if none ever does, in bytes.
const HEAD: usize = 64 * 1024;

/// How far the reading of an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// More must come.
    Open,
    /// The model has stopped; at most the usage is to come.
    Finished,
    /// Nothing more is to come but the end of the body.
    Complete,
}

/// What some bytes brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// A sign of life: comments, blank lines.
    Heartbeat,
    /// A part of the reply.
    Data,
}

/// What has come of an answer with a good status.
#[derive(Debug, Default)]
pub(super) struct Answer {
    body: Body,
    reply: Accumulator,
    /// The server has said `[DONE]`.
    done: bool,
}

#[derive(Debug, Default)]
enum Body {
    /// Nothing but white space yet.
    #[default]
    Blank,
    Document(Vec<u8>),
    Events {
        sse: Sse,
        /// The beginning of the stream, as long as there has been no event.
        head: Option<Vec<u8>>,
    },
}

impl Answer {
    /// Takes the next bytes and tells what they bring.
    ///
    /// # Errors
    /// If they hold an error, or what is no chunk of a reply.
    pub(super) fn push(&mut self, bytes: &[u8], deltas: &Deltas) -> Result<Came, Unread> {
        match &mut self.body {
            Body::Blank => self.begin(bytes, deltas),
            Body::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(Came::Data)
            }
            Body::Events { sse, head } => {
                if let Some(head) = head {
                    head.extend(bytes.iter().take(HEAD.saturating_sub(head.len())));
                }
                let mut came = Came::Heartbeat;
                let (reply, done) = (&mut self.reply, &mut self.done);
                sse.push(bytes, |event| {
                    if !event.data.trim_ascii().is_empty() {
                        (came, *head) = (Came::Data, None);
                    }
                    take_event(event, reply, done, deltas)
                })?;
                Ok(came)
            }
        }
    }

    /// Decides what the body is, by its first byte that means something.
    fn begin(&mut self, bytes: &[u8], deltas: &Deltas) -> Result<Came, Unread> {
        let begun = without_blank_start(bytes);
        self.body = match begun.first() {
            None => return Ok(Came::Heartbeat),
            Some(b'{' | b'[' | b'<') => Body::Document(Vec::new()),
            Some(_) => Body::Events { sse: Sse::default(), head: Some(Vec::new()) },
        };
        self.push(begun, deltas)
    }

    pub(super) fn stage(&self) -> Stage {
        match (self.done, self.reply.is_finished(), self.reply.has_usage()) {
            (true, ..) | (false, true, true) => Stage::Complete,
            (false, true, false) => Stage::Finished,
            (false, false, _) => Stage::Open,
        }
    }

    /// Whether something was told, or would have been if somebody had listened.
    pub(super) fn has_content(&self) -> bool {
        self.reply.has_content()
    }

    /// Whether this is a stream that has brought data.
    pub(super) fn is_streaming(&self) -> bool {
        matches!(self.body, Body::Events { head: None, .. })
    }

    /// The reply, when the body has ended or is not waited for any longer.
    ///
    /// # Errors
    /// If it is not complete, or is no reply.
    pub(super) fn finish(mut self, deltas: &Deltas) -> Result<ChatReply, Unread> {
        let (mut sse, head) = match std::mem::take(&mut self.body) {
            Body::Blank => return Err(Unread::Broken),
            Body::Document(document) => return read_whole(&document),
            Body::Events { sse, head } => (sse, head),
        };
        let mut has_events = head.is_none();
        let end = sse.end(|event| {
            has_events = true;
            take_event(event, &mut self.reply, &mut self.done, deltas)
        });
        match (end, head, self.stage()) {
            (Ok(()), Some(head), _) if !has_events => return read_other(&head),
            (Ok(()), _, Stage::Open) => return Err(Unread::Broken),
            // Half an event after the last word is nothing that we wait for.
            (Ok(()), ..) | (Err(Unread::Broken), _, Stage::Finished | Stage::Complete) => {}
            (Err(unread), ..) => return Err(unread),
        }
        self.reply.finish().ok_or_else(|| Unread::unusable("it holds no message", "only the end of a stream"))
    }
}

/// What came instead of events: some other text, or comments and then the end.
fn read_other(body: &[u8]) -> Result<ChatReply, Unread> {
    let mut lines = body.split(|byte| matches!(byte, b'\n' | b'\r'));
    if lines.all(|line| line.is_empty() || line.starts_with(b":")) {
        return Err(Unread::Broken);
    }
    read_whole(body)
}

/// The bytes from the first that is no white space and not of a byte order mark.
fn without_blank_start(bytes: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xEF | 0xBB | 0xBF);
    let blank = bytes.iter().take_while(|byte| is_blank(byte)).count();
    &bytes[blank..]
}

fn take_event(
    event: Event<'_>,
    reply: &mut Accumulator,
    done: &mut bool,
    deltas: &Deltas,
) -> Result<(), Unread> {
    let data = event.data.trim_ascii();
    if *done || data.is_empty() {
        return Ok(());
    }
    if data == b"[DONE]" {
        *done = true;
        return Ok(());
    }
    let text = std::str::from_utf8(data).map_err(|error| Unread::not_utf8(error, data))?;
    match event.name {
        b"error" => Err(error_alone(text)),
        // An event of the server's own kind is nothing to us, unless it is a chunk after all.
        name => match take_chunk(text, reply, deltas) {
            Err(Unread::Unusable { .. }) if !matches!(name, b"" | b"message") => Ok(()),
            taken => taken,
        },
    }
}

fn take_chunk(text: &str, reply: &mut Accumulator, deltas: &Deltas) -> Result<(), Unread> {
    if !text.starts_with('{') {
        return Err(error_alone(text));
    }
    let chunk = serde_json::from_str(text)
        .map_err(|error| Unread::no_json("it holds what is no chunk of a chat completion", error, text))?;
    reply.add(chunk, text, deltas)
}

/// An error where a chunk should be, in JSON or as plain text.
fn error_alone(text: &str) -> Unread {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    Unread::error_inside(json.get("error").unwrap_or(&json), text)
}

/// Reads the reply of a server that does not stream.
///
/// # Errors
/// If it is cut off, no UTF-8, no JSON, holds an error, or no message.
pub(super) fn read_whole(body: &[u8]) -> Result<ChatReply, Unread> {
    let text = std::str::from_utf8(body).map_err(|error| Unread::not_utf8(error, body))?;
    let whole = serde_json::from_str(text).map_err(|error| {
        Unread::no_json("it is no chat completion in JSON (is LLM_BASE_URL right?)", error, text)
    })?;
    let mut reply = Accumulator::default();
    reply.add_whole(whole, text)?;
    reply.finish().ok_or_else(|| Unread::unusable("it holds no message", text))
}

#[cfg(test)]
mod tests {
    mod cuts;
    mod streams;
    mod whole;
}
