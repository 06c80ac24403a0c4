//! The key of an endpoint, which nothing prints.

use std::fmt;

use reqwest::header::HeaderValue;

use crate::secret::Secret;

/// An API key. Shown as `***` by `Debug` and `Display`; it cannot be serialised or read out.
///
/// ```
/// let key = hermes_llm::ApiKey::from("sk-secret");
/// assert_eq!(format!("{key} {key:?}"), "*** ***");
/// ```
#[derive(Clone)]
pub struct ApiKey(Secret);

impl ApiKey {
    /// The key, or `None` if there is nothing but white space, which means no key.
    pub(crate) fn if_any(self) -> Option<Self> {
        (!self.0.is_empty()).then_some(self)
    }

    /// The `Authorization` header, marked as secret; `None` if a header cannot hold the key.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        self.0.header("Bearer ")
    }

    pub(crate) fn secret(&self) -> &Secret {
        &self.0
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self::from(key.as_str())
    }
}

impl From<&str> for ApiKey {
    /// White space around the key is dropped: it comes from files and pasting, never from a provider.
    fn from(key: &str) -> Self {
        ApiKey(Secret::new(key))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
