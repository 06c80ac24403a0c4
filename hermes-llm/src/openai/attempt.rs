//! One request and its answer: sends, waits, reads. What the bytes mean is decided elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
use tokio::time::{Instant, timeout, timeout_at};

use super::OpenAiModel;
use super::answer::Answer;
use super::client::{CONNECT_TIMEOUT, innermost};
use super::ending::Stage;
use super::patience::{Came, Patience};
use super::refusal::Refusal;
use super::retry::{self, Failure};
use super::unread::Unread;
use crate::{ChatError, ChatReply, Delta, Deltas};

/// Longest reply that is read, in bytes after decompression.
const MAX_REPLY: usize = 64 * 1024 * 1024;
/// How much is read of the body of a refusal, in bytes.
const MAX_REFUSAL: usize = 64 * 1024;

/// The listener of one question, over all attempts to ask it.
pub(super) struct Telling {
    deltas: Deltas,
    has_told: AtomicBool,
}

impl Telling {
    pub(super) fn to(deltas: Deltas) -> Self {
        Telling { deltas, has_told: AtomicBool::new(false) }
    }

    /// The model is asked again: what was told is void.
    pub(super) fn begin_again(&self) {
        if self.has_told.swap(false, Ordering::Relaxed) {
            self.deltas.tell(Delta::Again);
        }
    }
}

/// One attempt to get a reply.
pub(super) struct Attempt<'a> {
    pub(super) model: &'a OpenAiModel,
    pub(super) telling: &'a Telling,
}

impl Attempt<'_> {
    pub(super) async fn run(&self, body: Bytes) -> Result<ChatReply, Failure> {
        let begun = Instant::now();
        let response = self.send(body).await?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        self.receive(response, begun).await
    }

    async fn send(&self, body: Bytes) -> Result<Response, Failure> {
        let endpoint = &self.model.endpoint;
        let request = self
            .model
            .client
            .post(endpoint.address().clone())
            .headers(self.model.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            // Also for a stream: it is what servers expect from clients, and some refuse anything else.
            .header(ACCEPT, "application/json")
            .body(body);
        let patience = endpoint.patience();
        let sent = timeout(patience, request.send()).await;
        sent.map_err(|_| Failure::lasting(self.silent(patience)))?.map_err(|error| self.unreachable(error))
    }

    /// Reads until the reply is complete, and then the end of the body if that comes at once.
    async fn receive(&self, mut response: Response, begun: Instant) -> Result<ChatReply, Failure> {
        let mut answer = Answer::default();
        let mut patience = Patience::new(self.model.endpoint.patience(), Instant::now());
        let mut first_token = None;
        let mut length = 0;
        loop {
            let (until, wait) = patience.end();
            let chunk = match timeout_at(until, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                // Nothing that is missing belongs to the reply.
                _ if matches!(answer.stage(), Stage::Finished | Stage::Complete) => break,
                Ok(Err(error)) => return Err(self.unreachable(error)),
                Err(_) if answer.may_end() => break,
                Err(_) => return Err(self.stalled(&answer, wait)),
            };
            length += chunk.len();
            if length > MAX_REPLY {
                return Err(self.too_long());
            }
            let came = self.push(&mut answer, &chunk)?;
            let now = Instant::now();
            patience.heard(came, answer.stage(), now);
            if answer.has_content() {
                first_token.get_or_insert(now - begun);
            }
        }
        let reply = answer.finish(&self.telling.deltas).map_err(|unread| self.unread(unread))?;
        Ok(ChatReply { time_to_first_token: first_token, ..reply })
    }

    fn push(&self, answer: &mut Answer, chunk: &[u8]) -> Result<Came, Failure> {
        let came = answer.push(chunk, &self.telling.deltas);
        if answer.has_content() {
            self.telling.has_told.store(true, Ordering::Relaxed);
        }
        came.map_err(|unread| self.unread(unread))
    }

    async fn refused(&self, response: Response) -> Failure {
        let endpoint = &self.model.endpoint;
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let retry_after = header(RETRY_AFTER).and_then(|value| retry::retry_after(value, chrono::Utc::now()));
        let location = header(LOCATION).map(|location| endpoint.hide_secrets(location));
        let body = self.beginning(response).await;
        let body = String::from_utf8_lossy(&body);
        Refusal { status, retry_after, location, body: &endpoint.hide_secrets(&body) }.judge(endpoint)
    }

    /// The beginning of a refusal's body; nothing of one that cannot be read, for the status says enough.
    async fn beginning(&self, mut response: Response) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() <= MAX_REFUSAL {
            match timeout(self.model.endpoint.patience(), response.chunk()).await {
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                Ok(Ok(None)) => break,
                Ok(Err(_)) | Err(_) => return Vec::new(),
            }
        }
        body
    }

    fn unread(&self, unread: Unread) -> Failure {
        let endpoint = &self.model.endpoint;
        match unread {
            Unread::Refused { status, body } => {
                let body = &endpoint.hide_secrets(&body);
                Refusal { status, retry_after: None, location: None, body }.judge(endpoint)
            }
            Unread::Unusable { message, source } => {
                let message = format!("{} (from {})", endpoint.hide_secrets(&message), endpoint.url());
                Failure::lasting(ChatError::BadReply { message, source })
            }
            Unread::Broken => Failure::passing(ChatError::Unreachable {
                url: endpoint.url(),
                message: "its answer ended before the reply was complete".into(),
                source: None,
            }),
        }
    }

    fn too_long(&self) -> Failure {
        let message =
            format!("it is longer than {} MiB (from {})", MAX_REPLY / 1024 / 1024, self.model.endpoint.url());
        Failure::lasting(ChatError::bad_reply(message))
    }

    /// Silence in the middle of a stream is a fault of the connection or of the server's worker, so it may help to ask
    /// anew; silence before it is thinking, or a queue that asking again would only lengthen.
    fn stalled(&self, answer: &Answer, waited: std::time::Duration) -> Failure {
        let error = self.silent(waited);
        if answer.is_streaming() { Failure::stalled(error) } else { Failure::lasting(error) }
    }

    fn silent(&self, waited: std::time::Duration) -> ChatError {
        ChatError::Timeout { url: self.model.endpoint.url(), after: waited }
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
        let url = self.model.endpoint.url();
        Failure::passing(ChatError::Unreachable { url, message, source: Some(Arc::new(error)) })
    }
}
