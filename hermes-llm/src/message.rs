//! A chat message: what a model reads, and its canonical rendering.

use std::borrow::Cow;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    ToolCall,
    render::{Sorted, render, sorted_entries},
};

/// Who speaks in a [`ChatMessage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions; `developer` is read as this too.
    #[serde(alias = "developer")]
    System,
    /// The person, or whoever gave the task.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// What a message says: a text, or the parts a provider or caller gave (text, images, …), kept as they came.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Content parts in the OpenAI shape; those we do not understand go back as they came.
    Parts(Vec<Value>),
}

impl Content {
    /// The text; of parts, every `text` joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Content::Text(text) => Cow::Borrowed(text),
            Content::Parts(parts) => Cow::Owned(parts.iter().filter_map(part_text).collect()),
        }
    }
}

fn part_text(part: &Value) -> Option<&str> {
    part.get("text").and_then(Value::as_str)
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Text(text) => serializer.serialize_str(text),
            Content::Parts(parts) => serializer.collect_seq(parts.iter().map(Sorted)),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.to_owned())
    }
}

/// One message of a context, in the shape of the OpenAI chat API.
///
/// What we do not understand is kept in `extra` and given back as it came. Serialising a message gives its
/// *canonical rendering*: the keys `role`, `content`, `tool_calls`, `tool_call_id` in this order, then `extra`; empty
/// and absent ones are left out, but an assistant message without text says `"content":null`. Keys of what we do not
/// understand are sorted, at every depth.
///
/// ```
/// use hermes_llm::ChatMessage;
///
/// let message = ChatMessage::user("北京今天天气怎么样？");
/// assert_eq!(message.render(), r#"{"role":"user","content":"北京今天天气怎么样？"}"#);
///
/// let kept: ChatMessage = serde_json::from_str(r#"{"role":"assistant","content":"Hi","reasoning":"short"}"#)?;
/// assert_eq!(kept.text().as_deref(), Some("Hi"));
/// assert_eq!(kept.extra["reasoning"], "short");
///
/// assert!(serde_json::from_str::<ChatMessage>(r#"{"role":"narrator","content":"?"}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said; `None` for an assistant that only calls tools.
    #[serde(default)]
    pub content: Option<Content>,
    /// The tool calls an assistant asks for, in its order.
    #[serde(default, deserialize_with = "null_as_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Which call a tool message answers.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// Every other key, given back as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ChatMessage {
    /// The instructions of an agent.
    pub fn system(text: impl Into<Content>) -> Self {
        Self::new(Role::System, text)
    }

    /// What the person says.
    pub fn user(text: impl Into<Content>) -> Self {
        Self::new(Role::User, text)
    }

    /// What the model says.
    pub fn assistant(text: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, text)
    }

    /// A model's request to run tools, without text.
    pub fn assistant_calls(calls: Vec<ToolCall>) -> Self {
        ChatMessage { content: None, tool_calls: calls, ..Self::new(Role::Assistant, "") }
    }

    /// The result of the tool call `call_id`.
    pub fn tool(call_id: impl Into<String>, text: impl Into<Content>) -> Self {
        ChatMessage { tool_call_id: Some(call_id.into()), ..Self::new(Role::Tool, text) }
    }

    fn new(role: Role, content: impl Into<Content>) -> Self {
        ChatMessage {
            role,
            content: Some(content.into()),
            tool_calls: Vec::new(),
            tool_call_id: None,
            extra: Map::new(),
        }
    }

    /// The text said, `None` when there is no content at all.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        self.content.as_ref().map(Content::text)
    }

    /// The canonical rendering: equal messages give equal bytes.
    pub fn render(&self) -> Bytes {
        render(self)
    }
}

impl Serialize for ChatMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        // Chat templates of local servers read `content` of every assistant message, so it is there even if null.
        if self.content.is_some() || self.role == Role::Assistant {
            map.serialize_entry("content", &self.content)?;
        }
        if !self.tool_calls.is_empty() {
            map.serialize_entry("tool_calls", &self.tool_calls)?;
        }
        if let Some(id) = &self.tool_call_id {
            map.serialize_entry("tool_call_id", id)?;
        }
        // `extra` is public: a key set by hand must not make a second `role`.
        for (key, value) in sorted_entries(&self.extra, is_own_key) {
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

fn is_own_key(key: &str) -> bool {
    matches!(key, "role" | "content" | "tool_calls" | "tool_call_id")
}

fn null_as_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ToolCall>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(message: &ChatMessage) -> String {
        String::from_utf8(message.render().to_vec()).unwrap()
    }

    #[test]
    fn renders_only_what_is_there() {
        assert_eq!(rendered(&ChatMessage::system("Be kind.")), r#"{"role":"system","content":"Be kind."}"#);
        assert_eq!(
            rendered(&ChatMessage::tool("t1.0", "晴，22°C 🌞")),
            r#"{"role":"tool","content":"晴，22°C 🌞","tool_call_id":"t1.0"}"#
        );
    }

    #[test]
    fn an_assistant_that_only_calls_has_null_content() {
        let message =
            ChatMessage::assistant_calls(vec![ToolCall::new("c1", "get_weather", r#"{"city":"北京"}"#)]);
        assert_eq!(
            rendered(&message),
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"北京\"}"}}]}"#
        );
    }

    #[test]
    fn unknown_fields_come_back() {
        let text = r#"{"role":"user","content":[{"text":"a","type":"text"},{"image_url":{"url":"x"},"type":"image_url"},{"text":"b","type":"text"}],"name":"ann","z":null}"#;
        let message: ChatMessage = serde_json::from_str(text).unwrap();
        assert_eq!(message.text().as_deref(), Some("ab"));
        assert_eq!(rendered(&message), text);
    }

    #[test]
    fn reads_null_calls_null_content_and_developer() {
        let message: ChatMessage =
            serde_json::from_value(json!({"role": "developer", "content": null, "tool_calls": null}))
                .unwrap();
        assert_eq!((message.role, message.text(), message.tool_calls.len()), (Role::System, None, 0));
        assert_eq!(rendered(&message), r#"{"role":"system"}"#);
    }

    #[test]
    fn extra_cannot_repeat_an_own_key() {
        let mut message = ChatMessage::user("hi");
        message.extra.insert("role".into(), json!("system"));
        assert_eq!(rendered(&message), r#"{"role":"user","content":"hi"}"#);
    }
}
