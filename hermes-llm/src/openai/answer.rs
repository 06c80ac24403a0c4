//! The body of an answer as it comes: a stream of events, or one JSON document. Which of them is told by the bytes: some
//! servers do not stream though they were asked to, some stream though they were not, and headers lie.

use super::accumulate::Accumulator;
use super::ending::Stage;
use super::events::Events;
use super::patience::Came;
use super::sse::{BYTE_ORDER_MARK, Sse};
use super::surrogates::replace_lone;
use super::unread::Unread;
use crate::{ChatReply, Deltas};

/// How much is kept of a stream in which no event has come, to show it if none ever does, in bytes.
const HEAD: usize = 64 * 1024;

/// What has come of an answer with a good status.
#[derive(Debug, Default)]
pub(super) struct Answer {
    body: Body,
    events: Events,
}

#[derive(Debug)]
enum Body {
    /// Nothing but white space yet, or the beginning of a byte order mark, which is kept.
    Blank(Vec<u8>),
    Document(Vec<u8>),
    Events {
        sse: Sse,
        /// The beginning of the stream, as long as there has been no event.
        head: Option<Vec<u8>>,
    },
}

impl Default for Body {
    fn default() -> Self {
        Body::Blank(Vec::new())
    }
}

impl Answer {
    /// Takes the next bytes and tells what they bring.
    ///
    /// # Errors
    /// If they hold an error, or what is no chunk of a reply.
    pub(super) fn push(&mut self, bytes: &[u8], deltas: &Deltas) -> Result<Came, Unread> {
        match &mut self.body {
            Body::Blank(begun) => {
                begun.extend_from_slice(bytes);
                let begun = std::mem::take(begun);
                self.begin(&begun, deltas)
            }
            Body::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(Came::Data)
            }
            Body::Events { sse, head } => {
                if let Some(head) = head {
                    head.extend(bytes.iter().take(HEAD.saturating_sub(head.len())));
                }
                let mut came = Came::Heartbeat;
                let events = &mut self.events;
                sse.push(bytes, |event| {
                    if !event.data.trim_ascii().is_empty() {
                        *head = None;
                    }
                    came = came.max(events.take(event, deltas)?);
                    Ok(())
                })?;
                Ok(came)
            }
        }
    }

    /// Decides what the body is, by its first byte that means something.
    fn begin(&mut self, bytes: &[u8], deltas: &Deltas) -> Result<Came, Unread> {
        let begun = without_blank_start(bytes);
        if BYTE_ORDER_MARK.starts_with(begun) {
            self.body = Body::Blank(begun.to_vec());
            return Ok(Came::Heartbeat);
        }
        self.body = match begun.first() {
            Some(b'{' | b'[' | b'<') => Body::Document(Vec::new()),
            _ => Body::Events { sse: Sse::default(), head: Some(Vec::new()) },
        };
        self.push(begun, deltas)
    }

    pub(super) fn stage(&self) -> Stage {
        self.events.stage()
    }

    /// Whether the reply may be taken as it is if nothing more comes.
    pub(super) fn may_end(&self) -> bool {
        self.events.may_end()
    }

    /// Whether something was told, or would have been if somebody had listened.
    pub(super) fn has_content(&self) -> bool {
        self.events.has_content()
    }

    /// Whether this is a stream that has brought data.
    pub(super) fn is_streaming(&self) -> bool {
        self.events.has_data()
    }

    /// The reply, when the body has ended or is not waited for any longer.
    ///
    /// # Errors
    /// If it is not complete, or is no reply.
    pub(super) fn finish(mut self, deltas: &Deltas) -> Result<ChatReply, Unread> {
        let (mut sse, head) = match std::mem::take(&mut self.body) {
            Body::Blank(_) => return Err(Unread::Broken),
            Body::Document(document) => return read_whole(&document),
            Body::Events { sse, head } => (sse, head),
        };
        let mut has_events = head.is_none();
        let end = sse.end(|event| {
            has_events = true;
            self.events.take(event, deltas).map(drop)
        });
        match (end, head) {
            (Ok(()), Some(head)) if !has_events => read_other(&head),
            (end, _) => self.events.finish(end, deltas),
        }
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

/// The bytes after white space and a whole byte order mark; a single byte of one begins many a character too.
fn without_blank_start(bytes: &[u8]) -> &[u8] {
    let begun = bytes.trim_ascii_start();
    begun.strip_prefix(BYTE_ORDER_MARK).map_or(begun, <[u8]>::trim_ascii_start)
}

/// Reads the reply of a server that does not stream.
///
/// # Errors
/// If it is cut off, no UTF-8, no JSON, holds an error, or no message.
pub(super) fn read_whole(body: &[u8]) -> Result<ChatReply, Unread> {
    let text = std::str::from_utf8(body).map_err(|error| Unread::not_utf8(error, body))?;
    let mended;
    let whole = match serde_json::from_str(text) {
        Err(error) if error.is_syntax() => {
            mended = replace_lone(text);
            serde_json::from_str(&mended)
        }
        read => read,
    };
    let whole = whole.map_err(|error| {
        Unread::no_json("it is no chat completion in JSON (is LLM_BASE_URL right?)", error, text)
    })?;
    let mut reply = Accumulator::default();
    reply.add_whole(whole, text)?;
    reply.finish().ok_or_else(|| Unread::unusable("it holds no message", text))
}

#[cfg(test)]
mod tests {
    mod cuts;
    mod ends;
    mod halves;
    mod streams;
    mod whole;
}
