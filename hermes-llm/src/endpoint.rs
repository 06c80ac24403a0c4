//! Where and how a model is asked: address, key, model name and patience.

mod base_url;
mod error;
mod extras;
mod variables;

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use self::base_url::chat_url;
pub use self::error::EndpointError;
use self::extras::Extras;
use self::variables::{API_KEY, BASE_URL, MODEL, read_env};
use crate::ApiKey;
use crate::secret::Secret;

/// Whether replies are asked for piece by piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streaming {
    /// The server tells what comes as it comes.
    #[default]
    On,
    /// The server answers when it has the whole reply: for servers that cannot stream.
    Off,
}

/// An OpenAI-compatible endpoint.
///
/// The base URL is taken as people write it: with or without `/v1`, with or without slashes at the end. Any other
/// path stays, as does the full address of a chat-completions endpoint.
///
/// ```
/// use hermes_llm::Endpoint;
/// use std::time::Duration;
///
/// let endpoint = Endpoint::new("http://localhost:11434", "qwen2.5:7b")?.timeout(Duration::from_secs(120)).retries(1);
/// assert_eq!(endpoint.url(), "http://localhost:11434/v1/chat/completions");
///
/// let error = Endpoint::new("localhost:11434", "qwen2.5:7b").unwrap_err();
/// assert!(error.to_string().contains("http://localhost:11434/v1"));
/// # Ok::<(), hermes_llm::EndpointError>(())
/// ```
#[derive(Clone)]
pub struct Endpoint {
    url: Url,
    key: Option<ApiKey>,
    model: String,
    timeout: Duration,
    retries: u32,
    backoff: Duration,
    streaming: Streaming,
    extras: Extras,
}

impl Endpoint {
    /// An endpoint without a key, with 60 s of patience and 3 retries, that streams.
    ///
    /// # Errors
    /// If the address is no http or https URL, holds a user name, a password or a fragment, or the model has no name.
    pub fn new(base_url: impl AsRef<str>, model: impl Into<String>) -> Result<Self, EndpointError> {
        let model = model.into();
        if model.trim().is_empty() {
            return Err(EndpointError::Missing { variables: vec![MODEL.to_string()] });
        }
        Ok(Endpoint {
            url: chat_url(base_url.as_ref())?,
            key: None,
            model,
            timeout: Duration::from_secs(60),
            retries: 3,
            backoff: Duration::from_millis(500),
            streaming: Streaming::On,
            extras: Extras::default(),
        })
    }

    /// The endpoint that `LLM_BASE_URL`, `LLM_MODEL` and, if needed, `LLM_API_KEY` name. A variable that is empty
    /// counts as not set. This is the only place where the library reads the environment (the HTTP client heeds the
    /// usual proxy variables).
    ///
    /// # Errors
    /// Names each variable that is missing, with an example; else as [`Endpoint::new`], or if the key cannot be sent.
    pub fn from_env() -> Result<Self, EndpointError> {
        Self::from_variables(read_env)
    }

    /// Whether `LLM_BASE_URL` and `LLM_MODEL` are both set.
    pub fn env_is_set() -> bool {
        [BASE_URL, MODEL].iter().all(|variable| variable.read(read_env).is_some())
    }

    fn from_variables(lookup: impl Fn(&str) -> Option<String> + Copy) -> Result<Self, EndpointError> {
        let (Some(base_url), Some(model)) = (BASE_URL.read(lookup), MODEL.read(lookup)) else {
            let missing = [BASE_URL, MODEL].into_iter().filter(|variable| variable.read(lookup).is_none());
            return Err(EndpointError::Missing {
                variables: missing.map(|variable| variable.to_string()).collect(),
            });
        };
        let mut endpoint = Self::new(base_url, model)?;
        endpoint.key = API_KEY.read(lookup).map(ApiKey::from);
        endpoint.authorization()?;
        Ok(endpoint)
    }

    /// Sends this key; an empty one means none. Whether a header can hold it is checked when the client is made.
    pub fn api_key(self, key: impl Into<ApiKey>) -> Self {
        Endpoint { key: key.into().if_any(), ..self }
    }

    /// How long the server may be silent: from sending to the first byte, and between bytes. 60 s by default.
    /// A server that does not stream is silent while the model thinks. Heartbeats (comments, blank lines, events
    /// that bring nothing) count as bytes, but after five times this long with nothing else the server counts as silent.
    pub fn timeout(self, timeout: Duration) -> Self {
        Endpoint { timeout, ..self }
    }

    /// How often a request is repeated that failed for a passing reason. 3 by default.
    pub fn retries(self, retries: u32) -> Self {
        Endpoint { retries, ..self }
    }

    /// The wait before the first retry; doubled for each one more, plus up to as much again at random. 500 ms by
    /// default. Tests set it near zero.
    pub fn backoff(self, first: Duration) -> Self {
        Endpoint { backoff: first, ..self }
    }

    /// Whether replies are streamed. [`Streaming::On`] by default. Either way an answer is read as what it is: JSON
    /// from a server that does not stream though it was asked to, and events from one that does though it was not.
    pub fn streaming(self, streaming: Streaming) -> Self {
        Endpoint { streaming, ..self }
    }

    /// Sends a further header, such as `api-key` or `HTTP-Referer`. Its value is kept secret like the key. What cannot
    /// be sent, and a header that the client sets itself, is refused when the client is made.
    ///
    /// ```
    /// use hermes_llm::{Endpoint, OpenAiModel};
    ///
    /// let endpoint = Endpoint::new("http://localhost:8000", "qwen")?.header("api-key", "s3cret");
    /// assert!(!format!("{endpoint:?}").contains("s3cret"));
    /// assert!(OpenAiModel::new(endpoint.header("Host", "other")).is_err());
    /// # Ok::<(), hermes_llm::EndpointError>(())
    /// ```
    pub fn header(mut self, name: impl Into<String>, value: impl AsRef<str>) -> Self {
        self.extras.headers.push((name.into(), Secret::new(value.as_ref())));
        self
    }

    /// Adds a parameter to the address, such as `api-version`; it is encoded as needed and not shown with the address.
    pub fn query(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.url.query_pairs_mut().append_pair(name.as_ref(), value.as_ref());
        self
    }

    /// Sends a further field in the body, such as `top_p` or `reasoning_effort`; given twice, the last one holds. A
    /// field that the client writes itself (`model`, `messages`, what is in [`Settings`](crate::Settings), …) is
    /// refused when the client is made.
    ///
    /// ```
    /// use hermes_llm::{Endpoint, OpenAiModel};
    ///
    /// let endpoint = Endpoint::new("http://localhost:8000", "qwen")?.body_field("top_p", 0.9.into());
    /// assert!(OpenAiModel::new(endpoint.clone()).is_ok());
    /// let error = OpenAiModel::new(endpoint.body_field("stream", true.into())).unwrap_err();
    /// assert!(error.to_string().contains("from the setting for streaming"));
    /// # Ok::<(), hermes_llm::EndpointError>(())
    /// ```
    pub fn body_field(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extras.fields.insert(name.into(), value);
        self
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The address that is asked, for people: without its query, which may hold secrets.
    pub fn url(&self) -> String {
        let mut shown = self.url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        shown.into()
    }

    pub(crate) fn address(&self) -> &Url {
        &self.url
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    pub(crate) fn authorization(&self) -> Result<Option<HeaderValue>, EndpointError> {
        self.key.as_ref().map(|key| key.header().ok_or(EndpointError::ApiKey)).transpose()
    }

    /// The further headers.
    pub(crate) fn header_map(&self) -> Result<HeaderMap, EndpointError> {
        self.extras.header_map(self.key.is_some())
    }

    /// The further fields of the body.
    pub(crate) fn body_fields(&self) -> Result<&Map<String, Value>, EndpointError> {
        self.extras.body_fields()
    }

    pub(crate) fn streams(&self) -> bool {
        self.streaming == Streaming::On
    }

    /// The text without key and header values.
    pub(crate) fn hide_secrets(&self, text: &str) -> String {
        let headers = self.extras.headers.iter().map(|(_, value)| value);
        let secrets = self.key.as_ref().map(ApiKey::secret).into_iter().chain(headers);
        secrets.fold(text.to_owned(), |text, secret| secret.hide_in(&text))
    }

    pub(crate) fn patience(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn retry_plan(&self) -> (u32, Duration) {
        (self.retries, self.backoff)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url())
            .field("key", &self.key)
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("backoff", &self.backoff)
            .field("streaming", &self.streaming)
            .field("headers", &self.extras.headers)
            .field("body_fields", &self.extras.fields)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_variable_is_named_with_an_example() {
        let error = Endpoint::from_variables(|_| None).unwrap_err().to_string();
        assert_eq!(
            error,
            "no model to ask: set LLM_BASE_URL (for example LLM_BASE_URL=http://localhost:11434/v1) \
             and LLM_MODEL (for example LLM_MODEL=qwen2.5:7b)"
        );
        let only_url = |name: &str| match name {
            "LLM_BASE_URL" => Some("http://h".to_owned()),
            _ => Some("  ".to_owned()),
        };
        let error = Endpoint::from_variables(only_url).unwrap_err().to_string();
        assert_eq!(error, "no model to ask: set LLM_MODEL (for example LLM_MODEL=qwen2.5:7b)");
    }

    #[test]
    fn variables_give_an_endpoint_that_hides_its_key() {
        let set = |name: &str| match name {
            "LLM_BASE_URL" => Some("http://h/v1/".to_owned()),
            "LLM_MODEL" => Some("qwen".to_owned()),
            "LLM_API_KEY" => Some("sk-s3cret".to_owned()),
            _ => None,
        };
        let endpoint = Endpoint::from_variables(set).unwrap();
        assert_eq!(endpoint.authorization().unwrap().unwrap().to_str().unwrap(), "Bearer sk-s3cret");
        let shown = format!("{endpoint:?}");
        assert!(shown.contains("***") && !shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn a_key_that_no_header_can_hold_is_refused_without_showing_it() {
        let endpoint = Endpoint::new("http://h", "m").unwrap().api_key("s3cret\nkey");
        let error = endpoint.authorization().unwrap_err().to_string();
        assert!(error.contains("LLM_API_KEY") && !error.contains("s3cret"), "{error}");
        assert!(Endpoint::new("http://h", "m").unwrap().api_key(" ").authorization().unwrap().is_none());
    }
}
