//! What can go wrong when a model is asked, and what may help.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// What lies below a [`ChatError`] or an [`EndpointError`](crate::EndpointError); shared, so that errors can be cloned.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// How long a [`Retry::After`] waits where the server did not say.
const USUAL_WAIT: Duration = Duration::from_secs(1);

/// Why a model gave no usable reply. Every text is for a person: it names the address (never the key), the status,
/// the provider's own words, and what to do.
///
/// ```
/// use hermes_llm::{ChatError, Retry};
///
/// let error = ChatError::Server { status: 503, message: "loading model".into() };
/// assert_eq!(error.kind(), "server");
/// assert!(matches!(error.retry(), Retry::After(_)));
/// assert_eq!(error.to_string(), "the model server failed (HTTP 503): loading model");
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// No connection, or it broke before the reply was complete.
    #[error("cannot reach the model server at {url}: {message}")]
    Unreachable {
        /// The address asked.
        url: String,
        /// What happened, and what to look at.
        message: String,
        /// The error below.
        #[source]
        source: Option<Cause>,
    },
    /// The server took the request and was silent too long.
    #[error(
        "the model server at {url} was silent for {after:?}: it may be loading the model or be overloaded; \
         allow more time (Endpoint::timeout) or ask a smaller model"
    )]
    Timeout {
        /// The address asked.
        url: String,
        /// How long was waited.
        after: Duration,
    },
    /// The key is missing, wrong, or not good for this (HTTP 401, 403).
    #[error("the model server did not accept us (HTTP {status}): {message}")]
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// The provider's words and what to do.
        message: String,
    },
    /// Too many requests (HTTP 429).
    #[error("the model server asks us to slow down (HTTP 429): {message}")]
    RateLimited {
        /// How long the server wants us to wait, if it said so.
        retry_after: Option<Duration>,
        /// The provider's words.
        message: String,
    },
    /// The request is longer than the model's context window.
    #[error("the context is too long for the model: {message}")]
    ContextExceeded {
        /// The provider's words.
        message: String,
    },
    /// The server refused the request; the same request will be refused again.
    #[error("the model server refused the request (HTTP {status}): {message}")]
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// The provider's words and what to do.
        message: String,
    },
    /// The server failed (HTTP 408, 409, 5xx).
    #[error("the model server failed (HTTP {status}): {message}")]
    Server {
        /// The HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// A reply came that cannot be read as one.
    #[error("the model's reply cannot be used: {message}")]
    BadReply {
        /// What is wrong with it, and the beginning of what came.
        message: String,
        /// The error below.
        #[source]
        source: Option<Cause>,
    },
    /// A [`ScriptedModel`](crate::ScriptedModel) was asked something its script does not foresee.
    #[error("the scripted model was asked something else than its script says: {message}")]
    Script {
        /// What was expected, and what came.
        message: String,
    },
}

/// What may help after a [`ChatError`]. The client has already repeated what passes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Nothing: the same request fails again.
    Never,
    /// The same request, no sooner than this.
    After(Duration),
    /// The request with a shorter context.
    AfterTrim,
    /// Another sample, perhaps after telling the model what was wrong.
    AfterRepair,
}

impl ChatError {
    /// A [`BadReply`](ChatError::BadReply) with nothing below it.
    pub fn bad_reply(message: impl Into<String>) -> Self {
        ChatError::BadReply { message: message.into(), source: None }
    }

    /// A stable word for journals and statistics.
    pub fn kind(&self) -> &'static str {
        match self {
            ChatError::Unreachable { .. } => "unreachable",
            ChatError::Timeout { .. } => "timeout",
            ChatError::Unauthorized { .. } => "unauthorized",
            ChatError::RateLimited { .. } => "rate_limited",
            ChatError::ContextExceeded { .. } => "context_exceeded",
            ChatError::BadRequest { .. } => "bad_request",
            ChatError::Server { .. } => "server",
            ChatError::BadReply { .. } => "bad_reply",
            ChatError::Script { .. } => "script",
        }
    }

    /// What may help.
    pub fn retry(&self) -> Retry {
        match self {
            ChatError::Unreachable { .. } | ChatError::Timeout { .. } | ChatError::Server { .. } => {
                Retry::After(USUAL_WAIT)
            }
            ChatError::RateLimited { retry_after, .. } => Retry::After(retry_after.unwrap_or(USUAL_WAIT)),
            ChatError::ContextExceeded { .. } => Retry::AfterTrim,
            ChatError::BadReply { .. } => Retry::AfterRepair,
            ChatError::Unauthorized { .. } | ChatError::BadRequest { .. } | ChatError::Script { .. } => {
                Retry::Never
            }
        }
    }

    /// Whether the fault lies with the endpoint and not with this request: it could not be reached, was silent, or
    /// refuses whatever we ask (key, path, model, redirect, no credit).
    pub fn endpoint_fault(&self) -> bool {
        match self {
            ChatError::Unreachable { .. } | ChatError::Timeout { .. } | ChatError::Unauthorized { .. } => {
                true
            }
            ChatError::BadRequest { status, .. } => matches!(status, 300..=399 | 402 | 404 | 405 | 429),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_says_what_may_help() {
        let wait = Duration::from_secs(7);
        let message = String::new;
        let after = Retry::After(USUAL_WAIT);
        for (error, kind, retry, endpoint) in [
            (
                ChatError::Unreachable { url: message(), message: message(), source: None },
                "unreachable",
                after,
                true,
            ),
            (ChatError::Timeout { url: message(), after: wait }, "timeout", after, true),
            (ChatError::Unauthorized { status: 401, message: message() }, "unauthorized", Retry::Never, true),
            (
                ChatError::RateLimited { retry_after: Some(wait), message: message() },
                "rate_limited",
                Retry::After(wait),
                false,
            ),
            (ChatError::RateLimited { retry_after: None, message: message() }, "rate_limited", after, false),
            (ChatError::ContextExceeded { message: message() }, "context_exceeded", Retry::AfterTrim, false),
            (ChatError::BadRequest { status: 400, message: message() }, "bad_request", Retry::Never, false),
            (ChatError::BadRequest { status: 404, message: message() }, "bad_request", Retry::Never, true),
            (ChatError::Server { status: 500, message: message() }, "server", after, false),
            (ChatError::bad_reply(""), "bad_reply", Retry::AfterRepair, false),
            (ChatError::Script { message: message() }, "script", Retry::Never, false),
        ] {
            assert_eq!((error.kind(), error.retry(), error.endpoint_fault()), (kind, retry, endpoint));
        }
    }
}
