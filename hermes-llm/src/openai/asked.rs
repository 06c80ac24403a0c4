//! How a server is asked to stream: as it can, or less once it has refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::Value;

use crate::Endpoint;

/// What of streaming is asked for, each less than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    StreamWithUsage,
    Stream,
    Whole,
}

impl Asked {
    /// The fields of a request, each with its comma.
    pub(super) fn fields(self) -> &'static [u8] {
        match self {
            Asked::StreamWithUsage => b",\"stream\":true,\"stream_options\":{\"include_usage\":true}",
            Asked::Stream => b",\"stream\":true",
            Asked::Whole => b"",
        }
    }

    /// What to ask for instead after a refusal that proposes `less`. Some name `stream_options` though only `stream` was
    /// sent.
    pub(super) fn lessened_to(self, less: Asked) -> Option<Self> {
        match self {
            Asked::StreamWithUsage => Some(less),
            Asked::Stream => Some(Asked::Whole),
            Asked::Whole => None,
        }
    }

    /// What may be asked for of a server that refuses with this body, if it names one of the fields.
    pub(super) fn after(refusal: &str) -> Option<Self> {
        if refusal.contains("stream_options") || refusal.contains("include_usage") {
            return Some(Asked::Stream);
        }
        let json: Value = serde_json::from_str(refusal).unwrap_or_default();
        let named = json.pointer("/error/param").or_else(|| json.get("param"));
        let quoted = ['"', '\'', '`'].map(|quote| format!("{quote}stream{quote}"));
        let names_it = named.is_some_and(|name| name == "stream")
            // Validators of the FastAPI kind: {"loc": ["body", "stream"]}.
            || quoted.iter().any(|word| refusal.contains(word))
            || refusal.contains("\\\"stream\\\"")
            || refusal.to_lowercase().contains("streaming is not supported");
        names_it.then_some(Asked::Whole)
    }
}

/// What a server has not refused so far; clones share it.
#[derive(Clone, Debug)]
pub(super) struct Accepted(Arc<AtomicU8>);

impl Accepted {
    pub(super) fn by(endpoint: &Endpoint) -> Self {
        let asked = if endpoint.streams() { Asked::StreamWithUsage } else { Asked::Whole };
        Accepted(Arc::new(AtomicU8::new(asked as u8)))
    }

    pub(super) fn get(&self) -> Asked {
        let all = [Asked::StreamWithUsage, Asked::Stream];
        let known = self.0.load(Ordering::Relaxed);
        all.into_iter().find(|asked| *asked as u8 == known).unwrap_or(Asked::Whole)
    }

    /// Asks for no more than this from now on, and returns whether that is new.
    pub(super) fn lower(&self, asked: Asked) -> bool {
        self.0.fetch_max(asked as u8, Ordering::Relaxed) < asked as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_streaming_names_it() {
        for (refusal, expected) in [
            (r#"{"error":{"message":"Unknown parameter: stream_options"}}"#, Some(Asked::Stream)),
            (
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}"#,
                Some(Asked::Stream),
            ),
            (
                r#"{"error":{"message":"Your organization must be verified.","param":"stream"}}"#,
                Some(Asked::Whole),
            ),
            (r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream"]}]}"#, Some(Asked::Whole)),
            (r#"{"error":"Unsupported value: \"stream\""}"#, Some(Asked::Whole)),
            ("Streaming is not supported by this model", Some(Asked::Whole)),
            (r#"{"error":{"message":"upstream error","param":"messages"}}"#, None),
            (r#"{"error":{"message":"the stream of tokens was cut"}}"#, None),
            ("", None),
        ] {
            assert_eq!(Asked::after(refusal), expected, "{refusal}");
        }
    }

    #[test]
    fn what_was_refused_is_never_asked_for_again() {
        let accepted = Accepted::by(&Endpoint::new("http://h", "m").unwrap());
        assert_eq!(accepted.get(), Asked::StreamWithUsage);
        let news = [Asked::StreamWithUsage, Asked::Whole, Asked::Whole, Asked::Stream];
        assert_eq!(news.map(|asked| accepted.clone().lower(asked)), [false, true, false, false]);
        assert_eq!(accepted.get(), Asked::Whole);
    }
}
