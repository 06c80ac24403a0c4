//! What a server means when it refuses: from a status and a body to an error that speaks to a person.

use std::time::Duration;

use serde_json::Value;

use super::asked::Asked;
use super::retry::Failure;
use crate::{ChatError, Endpoint};

/// How much of a provider's text is shown, in characters.
const SHOWN: usize = 500;

/// What servers say when a request is longer than the context window (lower case).
const TOO_LONG: [&str; 11] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "maximum model length",
    "context length exceeded",
    "exceeds the context",
    "exceeds the available context",
    "exceeds the model's context",
    "exceeds the maximum number of tokens",
    "prompt is too long",
    "input token count",
];

/// An answer of a server that is no reply.
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) location: Option<String>,
    /// The body, from which the secrets have been taken out.
    pub(super) body: &'a str,
}

impl Refusal<'_> {
    /// What went wrong, and whether it passes.
    pub(super) fn judge(&self, endpoint: &Endpoint) -> Failure {
        let status = self.status;
        let message = format!("{} (from {})", provider_message(self.body), endpoint.url());
        match status {
            401 | 403 => Failure::lasting(self.unauthorized(message, endpoint)),
            429 if self.body.contains("insufficient_quota") => {
                let message = format!("{message}. The account has no credit left");
                Failure::lasting(ChatError::BadRequest { status, message })
            }
            429 => Failure::passing(ChatError::RateLimited { retry_after: self.retry_after, message }),
            413 => Failure::lasting(ChatError::ContextExceeded { message }),
            _ if self.says_too_long() => Failure::lasting(ChatError::ContextExceeded { message }),
            408 | 409 | 500.. => Failure::passing(ChatError::Server { status, message }),
            400 | 422 => {
                Failure::lasting(self.bad_request(message, endpoint)).instead(Asked::after(self.body))
            }
            _ => Failure::lasting(self.bad_request(message, endpoint)),
        }
        .retry_after(self.retry_after)
    }

    fn says_too_long(&self) -> bool {
        let body = self.body.to_lowercase();
        TOO_LONG.iter().any(|phrase| body.contains(phrase))
    }

    fn unauthorized(&self, message: String, endpoint: &Endpoint) -> ChatError {
        let advice = match (self.status, endpoint.key()) {
            (401, None) => "No key was sent: set LLM_API_KEY",
            (401, Some(_)) => "Is LLM_API_KEY the key of this server?",
            _ => "May this key use this model?",
        };
        ChatError::Unauthorized { status: self.status, message: format!("{message}. {advice}") }
    }

    fn bad_request(&self, message: String, endpoint: &Endpoint) -> ChatError {
        let advice = match self.status {
            300..=399 => {
                let target = self.location.as_deref().unwrap_or("somewhere it does not name");
                format!(
                    ". It redirects to {target}, which is not followed: set LLM_BASE_URL to where it leads"
                )
            }
            404 | 405 => {
                let model = endpoint.model();
                format!(". Are LLM_BASE_URL and LLM_MODEL right? The server may not know the model `{model}`")
            }
            _ => String::new(),
        };
        ChatError::BadRequest { status: self.status, message: message + &advice }
    }
}

/// The sentence in the body of a refusal, wherever this provider puts it; else the beginning of the body.
pub(super) fn provider_message(body: &str) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    // Some wrap the object in an array.
    let json = json.get(0).unwrap_or(&json);
    let nested = ["/error/message", "/choices/0/error/message"].map(|place| json.pointer(place));
    let places = nested.into_iter().chain(["error", "message", "detail"].map(|name| json.get(name)));
    match places.flatten().find_map(Value::as_str) {
        Some(message) => shorten(message),
        None if body.trim().is_empty() => "it gave no reason".to_owned(),
        None => shorten(body),
    }
}

/// The beginning of a text, in one line.
pub(super) fn shorten(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(status: u16, body: &str) -> (&'static str, bool, String) {
        let endpoint = Endpoint::new("http://h/v1", "qwen").unwrap();
        let failure = Refusal { status, retry_after: None, location: None, body }.judge(&endpoint);
        (failure.error.kind(), failure.passes(&mut 0), failure.error.to_string())
    }

    #[test]
    fn the_status_decides_what_is_repeated() {
        for (status, kind, passes) in [
            (302, "bad_request", false),
            (400, "bad_request", false),
            (401, "unauthorized", false),
            (403, "unauthorized", false),
            (404, "bad_request", false),
            (408, "server", true),
            (409, "server", true),
            (413, "context_exceeded", false),
            (422, "bad_request", false),
            (429, "rate_limited", true),
            (500, "server", true),
            (529, "server", true),
        ] {
            let (got, got_passes, text) = judge(status, "{}");
            assert_eq!((got, got_passes), (kind, passes), "{status}");
            assert!(text.contains("http://h/v1/chat/completions"), "{text}");
        }
    }

    #[test]
    fn a_too_long_context_is_known_by_what_providers_say() {
        for body in [
            r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, …"}"#,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        ] {
            assert_eq!(judge(400, body).0, "context_exceeded", "{body}");
        }
        assert_eq!(judge(429, "maximum context length").0, "rate_limited");
    }

    #[test]
    fn no_credit_is_not_asked_again() {
        let (kind, passes, text) = judge(429, r#"{"error":{"message":"Pay.","code":"insufficient_quota"}}"#);
        assert_eq!((kind, passes), ("bad_request", false));
        assert!(text.contains("no credit"), "{text}");
    }

    #[test]
    fn the_providers_sentence_is_found_where_it_is() {
        for (body, message) in [
            (r#"{"error":{"message":"a"}}"#, "a"),
            (r#"[{"error":{"message":"b"}}]"#, "b"),
            (r#"{"error":"c"}"#, "c"),
            (r#"{"object":"error","message":"d"}"#, "d"),
            (r#"{"detail":"e"}"#, "e"),
            (r#"{"choices":[{"error":{"message":"f"}}]}"#, "f"),
            ("<html>\n  <b>Bad\tGateway</b>", "<html> <b>Bad Gateway</b>"),
            ("", "it gave no reason"),
        ] {
            assert_eq!(provider_message(body), message);
        }
        assert_eq!(provider_message(&"字".repeat(SHOWN + 1)).chars().count(), SHOWN + 1);
    }
}
