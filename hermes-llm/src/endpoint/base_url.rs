//! From a base URL as people write it to the address of chat completions.

use reqwest::Url;

use super::error::EndpointError;
use super::variables::API_KEY;

/// The full address of chat completions below a base URL.
pub(super) fn chat_url(base_url: &str) -> Result<Url, EndpointError> {
    let base_url = base_url.trim();
    let refuse = |reason: String| EndpointError::BaseUrl { given: without_secrets(base_url), reason };
    if !["http://", "https://"].iter().any(|scheme| starts_with_ignoring_case(base_url, scheme)) {
        return Err(refuse("it must begin with http:// or https://".into()));
    }
    let mut url = Url::parse(base_url).map_err(|error| refuse(error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse(format!("it holds a user name or password; put the key in {}", API_KEY.name)));
    }
    if url.fragment().is_some() {
        return Err(refuse(
            "it holds a fragment (`#` and what follows), which is never sent: leave it out".into(),
        ));
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
    let (shown, hidden) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    match shown.rsplit_once('@') {
        Some((_, host)) => format!("***@{host}"),
        // What looks like a host may be a password with such a sign in it.
        None if hidden.contains('@') => "***".to_owned(),
        None => shown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::Endpoint;

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
    fn a_fragment_is_refused_and_not_repeated() {
        for base in ["http://h/v1#s3cret", "http://h/v1?a=1#s3cret", "http://h#s3@cret", "http://h/#"] {
            let error = Endpoint::new(base, "m").unwrap_err().to_string();
            assert!(error.contains("a fragment (`#`"), "{error}");
            assert!(!error.contains("s3") && !error.contains("cret"), "{error}");
        }
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
            ("http://ann:s3cret#@h/v1", "port"),
        ] {
            let error = Endpoint::new(base, "m").unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("http://localhost:11434/v1"), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
