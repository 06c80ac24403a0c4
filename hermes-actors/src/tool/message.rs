//! The tool message: what the model reads of a call that has its end. Live runs and laws make it here, so it is one.

use hermes_llm::{ChatMessage, Content};
use serde_json::json;

use super::Image;

/// A text; where there are images, parts: the text, then the images.
pub(crate) fn tool_message(call_id: String, shown: String, images: &[Image]) -> ChatMessage {
    if images.is_empty() {
        return ChatMessage::tool(call_id, shown);
    }
    let text = json!({"type": "text", "text": shown});
    let image = |image: &Image| json!({"type": "image_url", "image_url": {"url": image.url()}});
    let parts = std::iter::once(text).chain(images.iter().map(image)).collect();
    ChatMessage::tool(call_id, Content::Parts(parts))
}
