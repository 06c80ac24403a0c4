//! What a reply says: a text, or parts of several kinds, put together as they come.

use serde_json::{Value, json};

use super::accumulate::tell;
use super::loose::Loose;
use crate::{Content, Delta, Deltas};

/// What is said so far.
#[derive(Debug, Default)]
pub(super) struct Said(Option<Content>);

impl Said {
    /// Adds what a part of the message says, tells its text, and returns whether it says something.
    ///
    /// # Errors
    /// The value, if it is no content.
    pub(super) fn add(&mut self, content: Loose<'_>, deltas: &Deltas) -> Result<bool, Value> {
        match content {
            Loose::Null => Ok(false),
            Loose::Text(text) if text.is_empty() => {
                self.0.get_or_insert_with(|| Content::Text(String::new()));
                Ok(false)
            }
            Loose::Text(text) => {
                tell(deltas, Delta::Text, &text);
                self.add_text(&text);
                Ok(true)
            }
            Loose::Other(Value::Array(parts)) => Ok(self.add_parts(parts, deltas)),
            Loose::Other(value) => Err(value),
        }
    }

    fn add_text(&mut self, more: &str) {
        match &mut self.0 {
            None => self.0 = Some(Content::Text(more.to_owned())),
            Some(Content::Text(text)) => text.push_str(more),
            Some(Content::Parts(parts)) => match parts.last_mut() {
                Some(Value::Object(last)) if last.get("type").is_some_and(|kind| kind == "text") => {
                    if let Some(Value::String(text)) = last.get_mut("text") {
                        text.push_str(more);
                    }
                }
                _ => parts.push(text_part(more)),
            },
        }
    }

    fn add_parts(&mut self, more: Vec<Value>, deltas: &Deltas) -> bool {
        let said = !more.is_empty();
        for text in more.iter().filter_map(|part| part.get("text").and_then(Value::as_str)) {
            tell(deltas, Delta::Text, text);
        }
        match &mut self.0 {
            Some(Content::Parts(parts)) => parts.extend(more),
            Some(Content::Text(text)) if !text.is_empty() => {
                let before = text_part(text);
                self.0 = Some(Content::Parts([before].into_iter().chain(more).collect()));
            }
            _ => self.0 = Some(Content::Parts(more)),
        }
        said
    }

    /// The content. Servers that stream say an empty text where they would say null beside tool calls.
    pub(super) fn finish(self, calls_tools: bool) -> Option<Content> {
        self.0.filter(|content| !calls_tools || !matches!(content, Content::Text(text) if text.is_empty()))
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
