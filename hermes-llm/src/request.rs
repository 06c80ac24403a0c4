//! What a model is asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ChatMessage, Messages, ToolSpecs};

/// Whether the model may, must or must not call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// It must answer in text.
    None,
    /// It must call some tool.
    Required,
}

/// How the model samples. What is `None` or empty is not sent, so the server's own default holds.
///
/// ```
/// use hermes_llm::Settings;
///
/// let settings = Settings { seed: Some(7), stop: vec!["\n\n".into()], ..Settings::default() };
/// assert_eq!(serde_json::to_string(&settings)?, r#"{"temperature":0.0,"stop":["\n\n"],"seed":7}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// Sampling temperature; 0 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Most tokens the reply may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Sent only when there are tools: servers refuse it without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Texts at which the model stops; the reply does not hold them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Makes sampling repeatable where the server can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { temperature: Some(0.0), max_tokens: None, tool_choice: None, stop: Vec::new(), seed: None }
    }
}

/// One request to a [`ChatModel`](crate::ChatModel). Cloning is cheap.
///
/// ```
/// use hermes_llm::{ChatMessage, ChatRequest};
///
/// let request = ChatRequest::from_iter([&ChatMessage::user("Hi")]);
/// assert!(request.tools.is_empty());
/// assert_eq!(request.settings.temperature, Some(0.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The context.
    pub messages: Messages,
    /// The tools the model may call.
    pub tools: ToolSpecs,
    /// How it samples.
    pub settings: Settings,
}

impl<'a> FromIterator<&'a ChatMessage> for ChatRequest {
    fn from_iter<I: IntoIterator<Item = &'a ChatMessage>>(messages: I) -> Self {
        ChatRequest { messages: messages.into_iter().collect(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_only_what_is_set_and_read_back_equal() {
        let unset = Settings { temperature: None, ..Settings::default() };
        for (settings, json) in [
            (Settings::default(), r#"{"temperature":0.0}"#),
            (
                Settings { tool_choice: Some(ToolChoice::Required), ..unset.clone() },
                r#"{"tool_choice":"required"}"#,
            ),
            (
                Settings { stop: vec!["。".into()], seed: Some(-1), ..unset.clone() },
                r#"{"stop":["。"],"seed":-1}"#,
            ),
            (unset, "{}"),
        ] {
            assert_eq!(serde_json::to_string(&settings).unwrap(), json);
            assert_eq!(serde_json::from_str::<Settings>(json).unwrap(), settings);
        }
    }
}
