//! The messages of a context, rendered once and shared.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::ChatMessage;

/// A row of messages, each the canonical JSON of one [`ChatMessage`].
///
/// Cloning is cheap and shares everything. Adding to a row that is shared copies the row of handles, never the
/// bytes; adding to one that is not copies nothing.
///
/// ```
/// use hermes_llm::{ChatMessage, Messages};
///
/// let mut context = Messages::new();
/// context.push(&ChatMessage::system("Be brief."));
/// let before = context.clone();
/// context.push(&ChatMessage::user("Hi"));
///
/// assert_eq!((before.len(), context.len()), (1, 2));
/// assert_eq!(context.decode()?[1], ChatMessage::user("Hi"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Messages(Arc<Vec<Bytes>>);

impl Messages {
    /// No messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Renders a message, adds it, and returns the bytes it shares with this row.
    pub fn push(&mut self, message: &ChatMessage) -> Bytes {
        let rendered = message.render();
        self.push_rendered(rendered.clone());
        rendered
    }

    /// Adds a message that [`push`](Self::push) or [`ChatMessage::render`] has rendered. The bytes are sent to the
    /// model as they are: they must be the JSON of one message.
    pub fn push_rendered(&mut self, rendered: Bytes) {
        Arc::make_mut(&mut self.0).push(rendered);
    }

    /// How many messages.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rendered messages in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Bytes> {
        self.0.iter()
    }

    /// The rendered message at `index`, counted from 0.
    pub fn get(&self, index: usize) -> Option<&Bytes> {
        self.0.get(index)
    }

    /// Keeps the first `len` messages.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            Arc::make_mut(&mut self.0).truncate(len);
        }
    }

    /// Reads the messages back.
    ///
    /// # Errors
    /// Only if something else than a rendered message was given to [`push_rendered`](Self::push_rendered).
    pub fn decode(&self) -> Result<Vec<ChatMessage>, serde_json::Error> {
        self.iter().map(|rendered| serde_json::from_slice(rendered)).collect()
    }
}

impl<'a> FromIterator<&'a ChatMessage> for Messages {
    fn from_iter<I: IntoIterator<Item = &'a ChatMessage>>(messages: I) -> Self {
        messages.into_iter().map(ChatMessage::render).collect()
    }
}

impl FromIterator<Bytes> for Messages {
    fn from_iter<I: IntoIterator<Item = Bytes>>(rendered: I) -> Self {
        Messages(Arc::new(rendered.into_iter().collect()))
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Bytes;
    type IntoIter = std::slice::Iter<'a, Bytes>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|rendered| Json(rendered))).finish()
    }
}

/// Shows rendered JSON as the text it is, not as escaped bytes.
struct Json<'a>(&'a [u8]);

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushing_to_a_row_nobody_shares_copies_nothing() {
        let mut context: Messages = [&ChatMessage::user("a")].into_iter().collect();
        Arc::make_mut(&mut context.0).reserve(8);
        let place = Arc::as_ptr(&context.0);
        let first = context.get(0).unwrap().as_ptr();
        context.push(&ChatMessage::assistant("b"));
        assert_eq!(Arc::as_ptr(&context.0), place);
        assert_eq!(context.get(0).unwrap().as_ptr(), first);
    }

    #[test]
    fn a_clone_shares_bytes_and_is_not_changed() {
        let mut context = Messages::new();
        let rendered = context.push(&ChatMessage::user("a"));
        let clone = context.clone();
        context.push(&ChatMessage::user("b"));
        context.truncate(1);
        assert_eq!(context, clone);
        assert_eq!(clone.get(0).unwrap().as_ptr(), rendered.as_ptr());
    }

    #[test]
    fn debug_prints_the_json() {
        let context: Messages = [&ChatMessage::user("早")].into_iter().collect();
        assert_eq!(format!("{context:?}"), r#"[{"role":"user","content":"早"}]"#);
    }
}
