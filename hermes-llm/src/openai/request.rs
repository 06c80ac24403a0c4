//! The bytes of a request.

use bytes::Bytes;

use super::asked::Asked;
use crate::render::render;
use crate::{ChatRequest, Endpoint, EndpointError, Settings};

/// What is the same in each request to an endpoint, rendered once.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// From the beginning to the messages.
    head: Bytes,
    /// The endpoint's further fields, each with its comma.
    tail: Bytes,
}

impl Frame {
    /// # Errors
    /// If the endpoint's further fields hold one that the client writes.
    pub(super) fn new(endpoint: &Endpoint) -> Result<Self, EndpointError> {
        let mut head = b"{\"model\":".to_vec();
        head.extend_from_slice(&render(endpoint.model()));
        head.extend_from_slice(b",\"messages\":[");
        let mut tail = Vec::new();
        add_fields(&mut tail, &render(endpoint.body_fields()?));
        Ok(Frame { head: head.into(), tail: tail.into() })
    }

    /// Puts the body together from what is already rendered: messages and tools are copied, not serialised again.
    pub(super) fn body(&self, request: &ChatRequest, asked: Asked) -> Bytes {
        let messages: usize = request.messages.iter().map(|message| message.len() + 1).sum();
        let fixed = self.head.len() + self.tail.len();
        let mut body = Vec::with_capacity(fixed + messages + request.tools.json().len() + 160);
        body.extend_from_slice(&self.head);
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
        add_fields(&mut body, &settings(request));
        body.extend_from_slice(asked.fields());
        body.extend_from_slice(&self.tail);
        body.push(b'}');
        body.into()
    }

    /// The same body that asks for something else of streaming.
    pub(super) fn change(&self, body: &[u8], from: Asked, to: Asked) -> Bytes {
        let (before, tail) = body.split_at(body.len() - self.tail.len() - 1);
        let before = before.strip_suffix(from.fields()).unwrap_or(before);
        [before, to.fields(), tail].concat().into()
    }
}

/// The settings as an object, without what makes no sense in this request.
fn settings(request: &ChatRequest) -> Bytes {
    let settings = &request.settings;
    match settings.tool_choice {
        // Servers refuse it where there are no tools.
        Some(_) if request.tools.is_empty() => render(&Settings { tool_choice: None, ..settings.clone() }),
        _ => render(settings),
    }
}

/// Adds the fields of a rendered object to one that is open and not empty.
fn add_fields(open: &mut Vec<u8>, object: &[u8]) {
    if let Some(fields) = object.get(1..object.len() - 1).filter(|fields| !fields.is_empty()) {
        open.push(b',');
        open.extend_from_slice(fields);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{ChatMessage, ToolChoice, ToolSpec};

    fn body(model: &str, request: &ChatRequest) -> Bytes {
        Frame::new(&Endpoint::new("http://h", model).unwrap()).unwrap().body(request, Asked::Whole)
    }

    #[test]
    fn the_body_is_put_together_from_rendered_bytes() {
        let mut request = ChatRequest::from_iter([&ChatMessage::system("s"), &ChatMessage::user("u")]);
        request.settings.tool_choice = Some(ToolChoice::Required);
        assert_eq!(
            body("m\"1", &request),
            r#"{"model":"m\"1","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"temperature":0.0}"#
        );
        let spec = ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({}) };
        request.tools = vec![spec].into();
        request.settings.max_tokens = Some(9);
        request.settings.temperature = None;
        assert_eq!(
            body("m", &request),
            r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{}}}],"max_tokens":9,"tool_choice":"required"}"#
        );
        request.settings = Settings { temperature: None, ..Settings::default() };
        request.tools = Default::default();
        assert!(body("m", &request).ends_with(br#""content":"u"}]}"#));
    }

    #[test]
    fn streaming_and_further_fields_stand_at_the_end() {
        let endpoint = Endpoint::new("http://h", "m").unwrap().body_field("top_p", json!(0.5));
        let mut request = ChatRequest::from_iter([&ChatMessage::user("u")]);
        request.settings.stop = vec!["。".into()];
        let frame = Frame::new(&endpoint).unwrap();
        let body = frame.body(&request, Asked::StreamWithUsage);
        assert_eq!(
            body,
            r#"{"model":"m","messages":[{"role":"user","content":"u"}],"temperature":0.0,"stop":["。"],"stream":true,"stream_options":{"include_usage":true},"top_p":0.5}"#
        );
        for less in [Asked::Stream, Asked::Whole] {
            assert_eq!(frame.change(&body, Asked::StreamWithUsage, less), frame.body(&request, less));
        }
    }
}
