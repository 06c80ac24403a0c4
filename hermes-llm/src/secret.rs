//! A text that goes to the server and that nothing prints.

use std::fmt;

use reqwest::header::HeaderValue;

/// Secrets shorter than this are words such as `none`: hiding them in a text would only garble it.
const SHORTEST: usize = 4;

/// A text shown as `***` by `Debug` and `Display`.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// White space around the text is dropped: it comes from files and pasting, never from a provider.
    pub(crate) fn new(text: &str) -> Self {
        Secret(text.trim().to_owned())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A header of `prefix` and this, marked as secret; `None` if a header cannot hold it.
    pub(crate) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        // HTTP would let bytes above ASCII pass as opaque; no provider gives such secrets, copying does.
        let text = format!("{prefix}{}", self.0);
        let mut header = HeaderValue::from_str(&text).ok().filter(|_| text.is_ascii())?;
        header.set_sensitive(true);
        Some(header)
    }

    /// The text without the secret: providers repeat what they do not accept, whole or without a word such as `Bearer`
    /// before it.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        let last_word = self.0.split_whitespace().next_back().unwrap_or_default();
        [self.0.as_str(), last_word]
            .into_iter()
            .filter(|secret| secret.len() >= SHORTEST)
            .fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_what_a_provider_says() {
        let key = Secret::new(" sk-secret\n");
        assert_eq!(key.hide_in("Incorrect API key provided: sk-secret."), "Incorrect API key provided: ***.");
        assert_eq!(Secret::new("no").hide_in("none known"), "none known");
        assert_eq!(Secret::new("Token s3cret").hide_in("`Token s3cret`, s3cret"), "`***`, ***");
        assert_eq!(format!("{key} {key:?}"), "*** ***");
    }

    #[test]
    fn the_header_hides_itself() {
        let header = Secret::new("sk-secret").header("Bearer ").unwrap();
        assert_eq!(header.to_str().unwrap(), "Bearer sk-secret");
        assert!(!format!("{header:?}").contains("secret"));
        assert!(Secret::new("密钥").header("").is_none());
        assert!(Secret::new("two\nlines").header("").is_none());
        assert!(Secret::new("  ").is_empty());
    }
}
