//! Why an endpoint, or a client for it, cannot be made.

use super::variables::{API_KEY, BASE_URL};
use crate::Cause;

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
    /// A further header cannot be sent.
    #[error("the header `{name}` cannot be sent: {reason}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A further field of the body is one that the client writes.
    #[error("the body field `{name}` is written by the client, from {from}: leave it out here")]
    BodyField {
        /// Its name.
        name: String,
        /// Where the client has it from.
        from: String,
    },
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
