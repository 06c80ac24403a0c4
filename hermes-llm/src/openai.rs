//! The client for OpenAI-compatible servers: it sends, waits, reads and repeats; what the bytes mean is decided in
//! `openai/`.

mod refusal;
mod retry;
mod tls;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use backon::Retryable;
use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, Url, redirect};
use tokio::time::timeout;

use self::refusal::Refusal;
use self::retry::Failure;
use crate::{ChatError, ChatModel, ChatReply, ChatRequest, Deltas, Endpoint, EndpointError};

/// Longest reply that is read, in bytes after decompression.
const MAX_REPLY: usize = 64 * 1024 * 1024;
/// How much is read of the body of a refusal, in bytes.
const MAX_REFUSAL: usize = 64 * 1024;
/// A host that does not even take the connection is not busy thinking.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A model behind an OpenAI-compatible [`Endpoint`], asked without streaming.
///
/// It connects to nothing but the endpoint (through the proxy of the usual variables, if one is set and the endpoint is
/// not this machine), follows no redirect, and sends the messages and tools as the bytes they were rendered to. What
/// passes by itself (no connection, a dropped one, HTTP 408, 409, 429, 5xx) is repeated as often as the endpoint says,
/// after a growing wait or the server's `Retry-After`, at most 60 s. Silence is not repeated: the server is
/// probably still at it, and asking again would only add work.
///
/// ```
/// use hermes_llm::{ChatModel, Endpoint, OpenAiModel};
///
/// let model = OpenAiModel::new(Endpoint::new("http://localhost:11434/v1", "qwen2.5:7b")?)?;
/// assert_eq!(model.name(), "qwen2.5:7b");
///
/// let endpoint = Endpoint::new("http://localhost:11434/v1", "qwen2.5:7b")?.api_key("two\nlines");
/// assert!(OpenAiModel::new(endpoint).unwrap_err().to_string().contains("LLM_API_KEY"));
/// # Ok::<(), hermes_llm::EndpointError>(())
/// ```
#[derive(Clone)]
pub struct OpenAiModel {
    endpoint: Endpoint,
    authorization: Option<HeaderValue>,
    client: Client,
}

impl OpenAiModel {
    /// A client for this endpoint. Nothing is sent yet.
    ///
    /// # Errors
    /// If a header cannot hold the key, or for https if this machine has no root certificates.
    pub fn new(endpoint: Endpoint) -> Result<Self, EndpointError> {
        let authorization = endpoint.authorization()?;
        let client = build_client(&endpoint)?;
        Ok(OpenAiModel { endpoint, authorization, client })
    }

    async fn attempt(&self, body: Bytes) -> Result<ChatReply, Failure> {
        let response = self.send(body).await?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let body = self.read(response, MAX_REPLY).await?;
        if body.len() > MAX_REPLY {
            let message =
                format!("it is longer than {} MiB (from {})", MAX_REPLY / 1024 / 1024, self.endpoint.url());
            return Err(Failure::lasting(ChatError::bad_reply(message)));
        }
        wire::read_reply(&body).map_err(|unread| self.unread(unread))
    }

    async fn send(&self, body: Bytes) -> Result<Response, Failure> {
        let mut request = self
            .client
            .post(self.endpoint.address().clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let sent = timeout(self.endpoint.patience(), request.send()).await.map_err(|_| self.silent())?;
        sent.map_err(|error| self.unreachable(error))
    }

    /// Reads until the body ends or is longer than `limit`.
    async fn read(&self, mut response: Response, limit: usize) -> Result<Bytes, Failure> {
        let mut body = BytesMut::new();
        while body.len() <= limit {
            let chunk =
                timeout(self.endpoint.patience(), response.chunk()).await.map_err(|_| self.silent())?;
            let Some(chunk) = chunk.map_err(|error| self.unreachable(error))? else { break };
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    async fn refused(&self, response: Response) -> Failure {
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let retry_after = header(RETRY_AFTER).and_then(|value| retry::retry_after(value, chrono::Utc::now()));
        let location = header(LOCATION).map(|location| self.hide_key(location));
        // The status says enough when the body cannot be read.
        let body = self.read(response, MAX_REFUSAL).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        Refusal { status, retry_after, location, body: &self.hide_key(&body) }.judge(&self.endpoint)
    }

    fn unread(&self, unread: wire::Unread) -> Failure {
        match unread {
            wire::Unread::Refused { status, body } => {
                Refusal { status, retry_after: None, location: None, body: &self.hide_key(&body) }
                    .judge(&self.endpoint)
            }
            wire::Unread::Unusable { message, source } => {
                let message = format!("{} (from {})", self.hide_key(&message), self.endpoint.url());
                Failure::lasting(ChatError::BadReply { message, source })
            }
        }
    }

    fn silent(&self) -> Failure {
        let after = self.endpoint.patience();
        Failure::lasting(ChatError::Timeout { url: self.endpoint.url(), after })
    }

    fn unreachable(&self, error: reqwest::Error) -> Failure {
        let connecting = error.is_connect();
        // Our own text names the address; the error's may hold the query.
        let error = error.without_url();
        let cause = innermost(&error);
        let message = match connecting {
            true if error.is_timeout() => {
                format!("no connection within {CONNECT_TIMEOUT:?}. Is the address right?")
            }
            true => format!("{cause}. Is the server running, and the address right?"),
            false => format!("the connection broke before the reply was complete ({cause})"),
        };
        let url = self.endpoint.url();
        Failure::passing(ChatError::Unreachable { url, message, source: Some(Arc::new(error)) })
    }

    fn hide_key(&self, text: &str) -> String {
        self.endpoint.key().map_or_else(|| text.to_owned(), |key| key.hide_in(text))
    }
}

#[async_trait]
impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        self.endpoint.model()
    }

    async fn chat(&self, request: ChatRequest, _: Deltas) -> Result<ChatReply, ChatError> {
        let body = wire::request_body(self.endpoint.model(), &request);
        // Whoever owns the context may add to it without a copy once this clone is gone.
        drop(request);
        (|| self.attempt(body.clone()))
            .retry(retry::plan(&self.endpoint))
            .when(Failure::passes)
            .adjust(Failure::wait)
            .notify(|failure, wait| {
                tracing::warn!(
                    kind = failure.error.kind(),
                    ?wait,
                    "asking the model again: {}",
                    failure.error
                );
            })
            .await
            .map_err(|failure| failure.error)
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

fn build_client(endpoint: &Endpoint) -> Result<Client, EndpointError> {
    let url = endpoint.url();
    let tls = tls::config(endpoint.address()).map_err(|error| EndpointError::Client {
        url: url.clone(),
        message: format!("{error} (are the system's ca-certificates installed?)"),
        source: Arc::new(error),
    })?;
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("hermes-llm/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect could carry the key and the context to another host.
        .redirect(redirect::Policy::none());
    if is_this_machine(endpoint.address()) {
        // No proxy can reach our own loopback; a proxy variable for the rest of the world must not break Ollama.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| EndpointError::Client {
        url,
        message: innermost(&error),
        source: Arc::new(error),
    })
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// What the last error of a chain says: the outer ones only say that sending failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_this_machine() {
        for (url, expected) in [
            ("http://localhost:1", true),
            ("http://127.0.0.5", true),
            ("http://[::1]:8", true),
            ("http://10.0.0.1", false),
            ("https://localhost.example", false),
        ] {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn an_https_client_is_built_or_says_what_is_missing() {
        match OpenAiModel::new(Endpoint::new("https://api.example", "m").unwrap()) {
            Ok(model) => assert_eq!(model.name(), "m"),
            Err(error) => assert!(error.to_string().contains("ca-certificates"), "{error}"),
        }
    }

    #[test]
    fn debug_hides_the_key() {
        let endpoint = Endpoint::new("http://localhost", "m").unwrap().api_key("sk-s3cret");
        let model = OpenAiModel::new(endpoint).unwrap();
        assert!(!format!("{model:?} {:?}", model.authorization).contains("s3cret"));
    }
}
