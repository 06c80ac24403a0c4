//! Where a model is asked: address, key, model name and patience.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;

use crate::{ApiKey, Cause};

const BASE_URL: Variable = Variable { name: "LLM_BASE_URL", example: "http://localhost:11434/v1" };
const API_KEY: Variable = Variable { name: "LLM_API_KEY", example: "sk-..." };
const MODEL: Variable = Variable { name: "LLM_MODEL", example: "qwen2.5:7b" };

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
}

impl Endpoint {
    /// An endpoint without a key, with 60 s of patience and 3 retries.
    ///
    /// # Errors
    /// If the address is no http or https URL, holds a user name or password, or the model has no name.
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
    /// A server that does not stream is silent while the model thinks.
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
            .finish()
    }
}

/// The full address of chat completions below a base URL.
fn chat_url(base_url: &str) -> Result<Url, EndpointError> {
    let base_url = base_url.trim();
    let refuse = |reason: String| EndpointError::BaseUrl { given: without_secrets(base_url), reason };
    if !["http://", "https://"].iter().any(|scheme| starts_with_ignoring_case(base_url, scheme)) {
        return Err(refuse("it must begin with http:// or https://".into()));
    }
    let mut url = Url::parse(base_url).map_err(|error| refuse(error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse(format!("it holds a user name or password; put the key in {}", API_KEY.name)));
    }
    let path = url.path().trim_end_matches('/');
    let path = match path {
        "" => "/v1/chat/completions".to_owned(),
        full if full.ends_with("/chat/completions") => full.to_owned(),
        base => format!("{base}/chat/completions"),
    };
    url.set_path(&path);
    Ok(url)
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// What may be shown of a URL that we could not or would not read.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.rsplit_once('@') {
        Some((_, host)) => format!("***@{host}"),
        None => url.to_owned(),
    }
}

fn read_env(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// One of the environment variables; shown with an example of its value.
#[derive(Clone, Copy)]
struct Variable {
    name: &'static str,
    example: &'static str,
}

impl Variable {
    fn read(self, lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
        lookup(self.name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (for example {}={})", self.name, self.name, self.example)
    }
}

/// Why an endpoint, or a client for it, cannot be made.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// It is not said where or what to ask.
    #[error("no model to ask: set {}", variables.join(" and "))]
    Missing {
        /// The variables that are not set, each with an example.
        variables: Vec<String>,
    },
    /// The base URL cannot be used.
    #[error("`{given}` is no usable base URL: {reason}; write it like {}", BASE_URL.example)]
    BaseUrl {
        /// What was given, without secrets.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A header cannot hold the key.
    #[error(
        "the API key holds a character that no key has (a line break or a letter outside ASCII): \
         look at {} for a slip in copying",
        API_KEY.name
    )]
    ApiKey,
    /// TLS, or the HTTP client, cannot be set up.
    #[error("cannot set up the connection to {url}: {message}")]
    Client {
        /// The address.
        url: String,
        /// What is wrong, and what to do.
        message: String,
        /// The error below.
        #[source]
        source: Cause,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_taken_as_people_write_them() {
        for (base, url) in [
            ("http://h:1", "http://h:1/v1/chat/completions"),
            ("http://h:1/", "http://h:1/v1/chat/completions"),
            (" http://h:1/v1\n", "http://h:1/v1/chat/completions"),
            ("http://h:1/v1//", "http://h:1/v1/chat/completions"),
            ("HTTPS://h/api/v3", "https://h/api/v3/chat/completions"),
            ("https://h/openai/v1/chat/completions/", "https://h/openai/v1/chat/completions"),
        ] {
            assert_eq!(Endpoint::new(base, "m").unwrap().url(), url, "{base}");
        }
        let azure = Endpoint::new("https://h/d/chat/completions?api-version=1&sig=s3cret", "m").unwrap();
        assert_eq!(azure.address().query(), Some("api-version=1&sig=s3cret"));
        assert_eq!(azure.url(), "https://h/d/chat/completions");
        assert!(!format!("{azure:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_no_base_url_is_said_without_its_secrets() {
        for (base, reason) in [
            ("localhost:11434", "must begin with http"),
            ("ftp://h", "must begin with http"),
            ("", "must begin with http"),
            ("http://", "empty host"),
            ("https://ann:s3cret@h/v1", "user name or password"),
            ("http://ann:s3cret@h:port/v1", "port"),
        ] {
            let error = Endpoint::new(base, "m").unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("http://localhost:11434/v1"), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

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
