//! What a server wants beside the usual: further headers, and further fields of the body.

use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use super::error::EndpointError;
use crate::secret::Secret;

/// Headers that the client writes itself.
const OUR_HEADERS: [&str; 7] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
];

/// Fields that the client writes itself, and where they come from.
const OUR_FIELDS: [(&str, &str); 10] = [
    ("model", "the model's name"),
    ("messages", "the conversation"),
    ("tools", "the tools of the request"),
    ("stream", "the setting for streaming"),
    ("stream_options", "the setting for streaming"),
    ("temperature", "the setting `temperature`"),
    ("max_tokens", "the setting `max_tokens`"),
    ("tool_choice", "the setting `tool_choice`"),
    ("stop", "the setting `stop`"),
    ("seed", "the setting `seed`"),
];

/// As given; what is wrong with them is said when the client is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) fields: Map<String, Value>,
}

impl Extras {
    /// The headers as they are sent.
    ///
    /// # Errors
    /// For a name that is none, that is ours, or that comes twice, and for a value that a header cannot hold.
    pub(super) fn header_map(&self, key_is_sent: bool) -> Result<HeaderMap, EndpointError> {
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let refuse = |reason: &str| EndpointError::Header { name: name.clone(), reason: reason.into() };
            let known = HeaderName::from_bytes(name.trim().as_bytes())
                .map_err(|_| refuse("that is no name of a header"))?;
            if OUR_HEADERS.contains(&known.as_str()) {
                return Err(refuse("the client sets it itself"));
            }
            if known == "authorization" && key_is_sent {
                return Err(refuse("the API key is sent in it; leave out one of the two"));
            }
            let value = value
                .header("")
                .ok_or_else(|| refuse("its value holds a line break or a letter outside ASCII"))?;
            if map.insert(known, value).is_some() {
                return Err(refuse("it is given twice"));
            }
        }
        Ok(map)
    }

    /// The fields as they stand in the body.
    ///
    /// # Errors
    /// For a field that is ours.
    pub(super) fn body_fields(&self) -> Result<&Map<String, Value>, EndpointError> {
        let ours = OUR_FIELDS.iter().find(|(name, _)| self.fields.contains_key(*name));
        match ours {
            Some((name, from)) => {
                Err(EndpointError::BodyField { name: (*name).into(), from: (*from).into() })
            }
            None => Ok(&self.fields),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Endpoint;

    fn endpoint() -> Endpoint {
        Endpoint::new("http://h", "m").unwrap()
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
        for (name, value, reason) in [
            ("two words", "s3cret", "no name"),
            ("Content-Type", "s3cret", "sets it itself"),
            ("Authorization", "s3cret", "the API key"),
            ("x-trace", "s3cret\n1", "line break"),
            ("X-Team", "s3cret", "twice"),
        ] {
            let endpoint = endpoint().api_key("sk").header("x-team", "a").header(name, value);
            let error = endpoint.header_map().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(name) && !error.contains("s3cret"), "{error}");
        }
        let token = endpoint().header("Authorization", "Token s3cret");
        assert_eq!(token.header_map().unwrap()["authorization"], "Token s3cret");
        assert!(!format!("{token:?}").contains("s3cret"), "{token:?}");
    }

    #[test]
    fn a_field_that_we_write_ourselves_is_refused() {
        for name in ["messages", "stream", "model", "seed"] {
            let error = endpoint().body_field(name, json!(1)).body_fields().unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
        let endpoint = endpoint().body_field("top_p", json!(0.5)).body_field("top_p", json!(0.9));
        assert_eq!(json!(endpoint.body_fields().unwrap()), json!({"top_p": 0.9}));
    }

    #[test]
    fn a_query_is_added_to_the_address_and_not_shown() {
        let endpoint = Endpoint::new("https://h/chat/completions?a=1", "m").unwrap().query("sig", "s3 cret&");
        assert_eq!(endpoint.address().query(), Some("a=1&sig=s3+cret%26"));
        assert!(!format!("{endpoint:?} {}", endpoint.url()).contains("cret"));
    }
}
