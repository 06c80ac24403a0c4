//! The key of an endpoint, which nothing prints.

use std::fmt;

use reqwest::header::HeaderValue;

/// Keys shorter than this are words such as `none`: hiding them in a text would only garble it.
const SHORTEST_SECRET: usize = 4;

/// An API key. Shown as `***` by `Debug` and `Display`; it cannot be serialised or read out.
///
/// ```
/// let key = hermes_llm::ApiKey::from("sk-secret");
/// assert_eq!(format!("{key} {key:?}"), "*** ***");
/// ```
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key, or `None` if there is nothing but white space, which means no key.
    pub(crate) fn if_any(self) -> Option<Self> {
        (!self.0.is_empty()).then_some(self)
    }

    /// The `Authorization` header, marked as secret; `None` if a header cannot hold the key.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        // HTTP would let bytes above ASCII pass as opaque; no provider gives such keys, copying does.
        let text = format!("Bearer {}", self.0);
        let mut header = HeaderValue::from_str(&text).ok().filter(|_| text.is_ascii())?;
        header.set_sensitive(true);
        Some(header)
    }

    /// The text without the key: providers repeat a key that they do not accept.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET { text.to_owned() } else { text.replace(&self.0, "***") }
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
        ApiKey(key.trim().to_owned())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_hidden_in_what_a_provider_says() {
        let key = ApiKey::from(" sk-secret\n");
        assert_eq!(key.hide_in("Incorrect API key provided: sk-secret."), "Incorrect API key provided: ***.");
        assert_eq!(ApiKey::from("no").hide_in("none known"), "none known");
    }

    #[test]
    fn the_header_hides_itself() {
        let header = ApiKey::from("sk-secret").header().unwrap();
        assert_eq!(header.to_str().unwrap(), "Bearer sk-secret");
        assert!(!format!("{header:?}").contains("secret"));
        assert!(ApiKey::from("密钥").header().is_none());
        assert!(ApiKey::from("two\nlines").header().is_none());
        assert!(ApiKey::from("  ").if_any().is_none());
    }
}
