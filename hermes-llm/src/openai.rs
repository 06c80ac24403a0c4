//! The client for OpenAI-compatible servers: it asks, and asks again. What the bytes mean is decided in `openai/`.

mod accumulate;
mod again;
mod answer;
mod asked;
mod attempt;
mod calls;
mod client;
mod completion;
mod content;
mod ending;
mod events;
mod extra;
mod loose;
mod patience;
mod refusal;
mod request;
mod retry;
mod sse;
mod surrogates;
mod tls;
mod unread;
mod usage;

use std::fmt;

use async_trait::async_trait;
use backon::Retryable;
use bytes::Bytes;
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, HeaderMap};

use self::again::Again;
use self::asked::Accepted;
use self::attempt::{Attempt, Telling};
use self::request::Frame;
use self::retry::Failure;
use crate::{ChatError, ChatModel, ChatReply, ChatRequest, Deltas, Endpoint, EndpointError};

/// A model behind an OpenAI-compatible [`Endpoint`]. Replies are streamed unless the endpoint says
/// [`Streaming::Off`](crate::Streaming::Off).
///
/// It connects to nothing but the endpoint (through the proxy of the usual variables, if one is set and the endpoint is
/// not this machine), follows no redirect, and sends the messages and tools as the bytes they were rendered to. What
/// passes by itself (no connection, a dropped one, a stream that breaks, HTTP 408, 409, 429, 5xx) is repeated as often
/// as the endpoint says, after a growing wait or the server's `Retry-After`, at most 60 s. A reply is never put together
/// from two attempts: when something was told of the one that failed, [`Delta::Again`](crate::Delta::Again) follows.
///
/// A server that refuses `stream_options` or `stream` by name is asked once more without, and so from then on.
///
/// Silence before the reply has begun is not repeated: the server is probably still at it, and asking again would only
/// add work. Silence in the middle of a stream is repeated once: the worker behind it is probably lost, but if the next
/// one falls silent too the wait has been long enough. After the model has stopped, at most 5 s are waited for the usage,
/// and next to nothing for the end of the body. Where the server says with each part that the model has stopped, that
/// means nothing: all is read until `[DONE]`, the end of the body or silence, 10 s of it after a first such part.
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
    /// The key and the endpoint's further headers, each marked as secret.
    headers: HeaderMap,
    frame: Frame,
    accepted: Accepted,
    client: Client,
}

impl OpenAiModel {
    /// A client for this endpoint. Nothing is sent yet.
    ///
    /// # Errors
    /// If a header cannot hold the key, a further header or field of the endpoint cannot be sent, or for https if this
    /// machine has no root certificates.
    pub fn new(endpoint: Endpoint) -> Result<Self, EndpointError> {
        let mut headers = endpoint.header_map()?;
        headers.extend(endpoint.authorization()?.map(|key| (AUTHORIZATION, key)));
        let frame = Frame::new(&endpoint)?;
        let client = client::build_client(&endpoint)?;
        let accepted = Accepted::by(&endpoint);
        Ok(OpenAiModel { endpoint, headers, frame, accepted, client })
    }

    /// Asks until there is a reply, or a failure that does not pass.
    async fn ask(&self, body: &Bytes, telling: &Telling) -> Result<ChatReply, Failure> {
        let attempt = Attempt { model: self, telling };
        let (mut stalls, mut again) = (0, Again::of(&self.endpoint));
        (|| attempt.run(body.clone()))
            .retry(retry::plan(&self.endpoint))
            .when(|failure: &Failure| failure.passes(&mut stalls))
            .adjust(Failure::wait)
            .notify(|failure, wait| {
                tracing::warn!("{}", again.words(wait, &failure.error));
                telling.begin_again();
            })
            .await
    }
}

#[async_trait]
impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        self.endpoint.model()
    }

    async fn chat(&self, request: ChatRequest, deltas: Deltas) -> Result<ChatReply, ChatError> {
        let mut asked = self.accepted.get();
        let mut body = self.frame.body(&request, asked);
        // Whoever owns the context may add to it without a copy once this clone is gone.
        drop(request);
        let telling = Telling::to(deltas);
        loop {
            let failure = match self.ask(&body, &telling).await {
                Ok(reply) => {
                    if self.accepted.lower(asked) {
                        tracing::warn!(?asked, "the server refuses more of streaming: asking for no more");
                    }
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            let Some(less) = failure.instead.and_then(|less| asked.lessened_to(less)) else {
                return Err(failure.error);
            };
            tracing::debug!(?less, "asking again without what was refused: {}", failure.error);
            telling.begin_again();
            body = self.frame.change(&body, asked, less);
            asked = less;
        }
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_https_client_is_built_or_says_what_is_missing() {
        match OpenAiModel::new(Endpoint::new("https://api.example", "m").unwrap()) {
            Ok(model) => assert_eq!(model.name(), "m"),
            Err(error) => assert!(error.to_string().contains("ca-certificates"), "{error}"),
        }
    }

    #[test]
    fn debug_hides_the_key() {
        let endpoint = Endpoint::new("http://localhost", "m")
            .unwrap()
            .api_key("sk-s3cret")
            .header("x-token", "t0p-s3cret");
        let model = OpenAiModel::new(endpoint).unwrap();
        assert!(!format!("{model:?} {:?}", model.headers).contains("s3cret"));
    }
}
