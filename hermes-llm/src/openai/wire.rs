//! The bytes of a request and the reading of a reply, without any I/O.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::refusal::{provider_message, shorten};
use crate::render::render;
use crate::{Cause, ChatMessage, ChatReply, ChatRequest, Finish, Settings, Usage};

/// Puts the body together from what is already rendered: messages and tools are copied, not serialised again.
pub(super) fn request_body(model: &str, request: &ChatRequest) -> Bytes {
    let messages: usize = request.messages.iter().map(|message| message.len() + 1).sum();
    let mut body = Vec::with_capacity(messages + request.tools.json().len() + model.len() + 160);
    body.extend_from_slice(b"{\"model\":");
    body.extend_from_slice(&render(model));
    body.extend_from_slice(b",\"messages\":[");
    for (index, message) in request.messages.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(message);
    }
    body.push(b']');
    if !request.tools.is_empty() {
        body.extend_from_slice(b",\"tools\":");
        body.extend_from_slice(request.tools.json());
    }
    add_settings(&mut body, request);
    body.push(b'}');
    body.into()
}

fn add_settings(body: &mut Vec<u8>, request: &ChatRequest) {
    let tool_choice = request.settings.tool_choice.filter(|_| !request.tools.is_empty());
    let object = render(&Settings { tool_choice, ..request.settings.clone() });
    // The object without its braces; nothing when nothing is set.
    if let Some(fields) = object.get(1..object.len() - 1).filter(|fields| !fields.is_empty()) {
        body.push(b',');
        body.extend_from_slice(fields);
    }
}

/// Why a body that came with a good status is no reply.
#[derive(Debug)]
pub(super) enum Unread {
    /// It holds an error that names the HTTP status it would have had.
    Refused { status: u16, body: String },
    /// It cannot be read.
    Unusable { message: String, source: Option<Cause> },
}

impl Unread {
    fn unusable(message: impl Into<String>, came: &str) -> Self {
        Unread::Unusable {
            message: format!("{}; what came: {}", message.into(), shorten(came)),
            source: None,
        }
    }

    fn from(self, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        match self {
            Unread::Unusable { message, .. } => Unread::Unusable { message, source: Some(Arc::new(error)) },
            refused => refused,
        }
    }
}

/// What we read of a reply; everything may be missing.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<Map<String, Value>>,
    #[serde(default)]
    finish_reason: Value,
}

/// Reads the reply of a server that does not stream.
///
/// # Errors
/// If it is no UTF-8, no JSON, holds an error, or no message.
pub(super) fn read_reply(body: &[u8]) -> Result<ChatReply, Unread> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Unread::unusable(format!("it is not UTF-8 ({error})"), &String::from_utf8_lossy(body))
    })?;
    let completion: Completion = serde_json::from_str(text).map_err(|error| {
        let message = format!("it is not a chat completion in JSON ({error}). Is LLM_BASE_URL right?");
        Unread::unusable(message, text).from(error)
    })?;
    if !is_blank(&completion.error) {
        return Err(error_inside(&completion.error, text));
    }
    let choice = completion.choices.unwrap_or_default().into_iter().next();
    let Some(Choice { message: Some(message), finish_reason }) = choice else {
        return Err(Unread::unusable("it holds no message", text));
    };
    Ok(ChatReply {
        message: read_message(message, text)?,
        finish: Finish::from(finish_reason.as_str().unwrap_or_default()),
        usage: read_usage(&completion.usage),
        time_to_first_token: None,
    })
}

/// Some servers say that there is no error.
fn is_blank(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn error_inside(error: &Value, text: &str) -> Unread {
    let too_long = error.to_string().contains("context_length_exceeded");
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    match code.filter(|code| (400..600).contains(code)).or(too_long.then_some(400)) {
        Some(status) => Unread::Refused { status, body: text.to_owned() },
        None => Unread::unusable(format!("it holds an error: {}", provider_message(text)), text),
    }
}

fn read_message(mut message: Map<String, Value>, text: &str) -> Result<ChatMessage, Unread> {
    // Whatever the server calls it, or forgets to: this is what the model said.
    message.insert("role".into(), "assistant".into());
    serde_json::from_value(Value::Object(message)).map_err(|error| {
        Unread::unusable(format!("its message has an unknown shape ({error})"), text).from(error)
    })
}

fn read_usage(usage: &Value) -> Usage {
    let count = |value: Option<&Value>| value.and_then(Value::as_u64);
    let either = |one: &str, other: &str| count(usage.get(one)).or_else(|| count(usage.get(other)));
    let details = usage.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
    Usage {
        input_tokens: either("prompt_tokens", "input_tokens").unwrap_or_default(),
        output_tokens: either("completion_tokens", "output_tokens").unwrap_or_default(),
        cached_tokens: count(details)
            .or_else(|| count(usage.get("prompt_cache_hit_tokens")))
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{ToolCall, ToolChoice, ToolSpec};

    fn read(body: Value) -> Result<ChatReply, Unread> {
        read_reply(body.to_string().as_bytes())
    }

    fn message(message: Value) -> ChatMessage {
        read(json!({"choices": [{"message": message}]})).unwrap().message
    }

    #[test]
    fn the_body_is_put_together_from_rendered_bytes() {
        let mut request = ChatRequest::from_iter([&ChatMessage::system("s"), &ChatMessage::user("u")]);
        request.settings.tool_choice = Some(ToolChoice::Required);
        assert_eq!(
            request_body("m\"1", &request),
            r#"{"model":"m\"1","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"temperature":0.0}"#
        );
        let spec = ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({}) };
        request.tools = vec![spec].into();
        request.settings.max_tokens = Some(9);
        request.settings.temperature = None;
        assert_eq!(
            request_body("m", &request),
            r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{}}}],"max_tokens":9,"tool_choice":"required"}"#
        );
        request.settings = Settings { temperature: None, max_tokens: None, tool_choice: None };
        request.tools = Default::default();
        assert!(request_body("m", &request).ends_with(br#""content":"u"}]}"#));
    }

    #[test]
    fn reads_a_full_reply() {
        let reply = read(json!({
            "id": "x", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null, "refusal": null,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
        }))
        .unwrap();
        assert_eq!(reply.message.tool_calls, [ToolCall::new("c1", "f", "{}")]);
        assert_eq!(reply.message.text(), None);
        assert_eq!(reply.message.extra["refusal"], Value::Null);
        assert_eq!(reply.finish, Finish::ToolCalls);
        assert_eq!(reply.usage, Usage { input_tokens: 12, output_tokens: 3, cached_tokens: 8 });
    }

    #[test]
    fn reads_what_is_missing_null_or_odd() {
        let bare = read(json!({"choices": [{"message": {"content": "hi"}}], "usage": null})).unwrap();
        assert_eq!(bare.message, ChatMessage::assistant("hi"));
        assert_eq!((bare.finish, bare.usage), (Finish::Unknown(String::new()), Usage::default()));

        assert!(read(json!({"error": "", "choices": [{"message": {}}]})).is_ok());

        assert_eq!(message(json!({"role": "model", "tool_calls": null})).tool_calls, []);
        let parts = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        assert_eq!(message(parts).text().as_deref(), Some("ab"));
        let object = json!({"tool_calls": [{"function": {"name": "f", "arguments": {"city": "北京"}}}]});
        assert_eq!(message(object).tool_calls, [ToolCall::new("", "f", r#"{"city":"北京"}"#)]);
    }

    #[test]
    fn what_is_no_reply_is_shown() {
        for (body, says) in [
            (&b"<html>hello</html>"[..], "<html>hello</html>"),
            (b"", "not a chat completion"),
            (b"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}", "not UTF-8"),
            (b"{\"ignored\":\"\xff\"}", "not UTF-8"),
            (br#"{"choices":[]}"#, r#"no message; what came: {"choices":[]}"#),
            (br#"{"choices":[{}]}"#, "no message"),
            (br#"{"choices":[{"message":{"content":7}}]}"#, "unknown shape"),
            (br#"{"error":{"message":"out of memory","code":"x"}}"#, "it holds an error: out of memory"),
            (br#"{"error":"boom"}"#, "it holds an error: boom"),
        ] {
            match read_reply(body).unwrap_err() {
                Unread::Unusable { message, .. } => assert!(message.contains(says), "{message}"),
                refused => panic!("{refused:?}"),
            }
        }
    }

    #[test]
    fn an_error_inside_that_names_a_status_counts_as_that_status() {
        for (error, expected) in [
            (json!({"error": {"message": "busy", "code": 429}}), 429),
            (json!({"error": {"message": "long", "code": "context_length_exceeded"}}), 400),
        ] {
            assert!(matches!(read(error), Err(Unread::Refused { status, .. }) if status == expected));
        }
    }
}
