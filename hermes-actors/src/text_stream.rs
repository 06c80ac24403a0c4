//! What the model of one task says, as it says it.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{BoxStream, Stream, StreamExt, unfold};
use hermes_bus::{Address, Envelope, Id};
use hermes_llm::Delta;

use crate::protocol::{LlmDelta, LlmReplied, Purpose};
use crate::trace_stream::TraceStream;

/// Between the texts of two turns, and before a text that begins anew.
const GAP: &str = "\n\n";

/// The text that a task's model says, in pieces, as a person reads it: put together they are the texts of its turns with
/// an empty line between them. (Where a stream broke and the model was asked again, what it had said is followed
/// by an empty line and the whole text.) What sub-agents say is not in it.
///
/// It ends with the task. A slow reader hurts nobody; what it missed comes at once when the reply is complete, as does
/// the text of a model that does not stream. It is a [`Stream`] too.
pub struct TextStream(BoxStream<'static, String>);

impl TextStream {
    pub(crate) fn new(envelopes: TraceStream, llm: Address) -> Self {
        let saying = Saying { llm, chat: None, said: String::new(), gap: Gap::No };
        let next = async |(mut envelopes, mut saying): (TraceStream, Saying)| {
            // A journal that cannot be read any more has stopped its runtime: the outcome says so.
            while let Ok(Some(envelope)) = envelopes.next().await {
                if let Some(piece) = saying.on(&envelope).filter(|piece| !piece.is_empty()) {
                    return Some((piece, (envelopes, saying)));
                }
            }
            None
        };
        Self(unfold((envelopes, saying), next).boxed())
    }

    /// The next piece; `None` when the task has finished.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped.
    pub async fn next(&mut self) -> Option<String> {
        self.0.next().await
    }
}

impl Stream for TextStream {
    type Item = String;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<String>> {
        self.0.poll_next_unpin(cx)
    }
}

/// A fold over the envelopes of a trace: what of its model's text was given out.
struct Saying {
    llm: Address,
    /// The chat whose reply is being told.
    chat: Option<Id>,
    /// What was given out of that reply.
    said: String,
    gap: Gap,
}

/// Whether what comes next must be set off from what was given out.
#[derive(Clone, Copy, PartialEq)]
enum Gap {
    Yes,
    No,
}

impl Saying {
    fn on(&mut self, envelope: &Envelope) -> Option<String> {
        if envelope.sender != self.llm {
            return None;
        }
        if let Ok(delta) = envelope.get::<LlmDelta>() {
            return self.part(envelope.parent_id?, &delta);
        }
        let replied = envelope.get::<LlmReplied>().ok().filter(|replied| replied.purpose == Purpose::Turn)?;
        self.turn_to(envelope.in_reply_to?);
        let text = replied.message.text().unwrap_or_default();
        match text.strip_prefix(self.said.as_str()) {
            Some(rest) => self.say(rest),
            // The model was asked anew and that was missed.
            None => {
                self.begin_anew();
                self.say(&text)
            }
        }
    }

    fn part(&mut self, chat: Id, delta: &LlmDelta) -> Option<String> {
        if delta.purpose != Purpose::Turn {
            return None;
        }
        self.turn_to(chat);
        match &delta.delta {
            // After a piece that was missed the rest waits for the whole reply.
            Delta::Text(text) if delta.at == self.said.len() => self.say(text),
            Delta::Again => {
                self.begin_anew();
                None
            }
            Delta::Text(_) | Delta::Reasoning(_) | Delta::ToolCall { .. } => None,
        }
    }

    fn turn_to(&mut self, chat: Id) {
        if self.chat != Some(chat) {
            self.chat = Some(chat);
            self.begin_anew();
        }
    }

    fn begin_anew(&mut self) {
        if !self.said.is_empty() {
            self.gap = Gap::Yes;
            self.said.clear();
        }
    }

    fn say(&mut self, text: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        self.said.push_str(text);
        let gap = if std::mem::replace(&mut self.gap, Gap::No) == Gap::Yes { GAP } else { "" };
        Some(format!("{gap}{text}"))
    }
}
