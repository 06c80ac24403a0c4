//! The HTTP client of an endpoint: what it connects to, and what it does not.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Url, redirect};

use super::tls;
use crate::{Endpoint, EndpointError};

/// A host that does not even take the connection is not busy thinking.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// # Errors
/// For https, if this machine has no root certificates.
pub(super) fn build_client(endpoint: &Endpoint) -> Result<Client, EndpointError> {
    let url = endpoint.url();
    let tls = tls::config(endpoint.address()).map_err(|error| EndpointError::Client {
        url: url.clone(),
        message: format!("{error} (are the system's ca-certificates installed?)"),
        source: Arc::new(error),
    })?;
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("hermes-llm/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect could carry the key and the context to another host.
        .redirect(redirect::Policy::none());
    if is_this_machine(endpoint.address()) {
        // No proxy can reach our own loopback; a proxy variable for the rest of the world must not break Ollama.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| EndpointError::Client {
        url,
        message: innermost(&error),
        source: Arc::new(error),
    })
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// What the last error of a chain says: the outer ones only say that sending failed.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_this_machine() {
        for (url, expected) in [
            ("http://localhost:1", true),
            ("http://127.0.0.5", true),
            ("http://[::1]:8", true),
            ("http://10.0.0.1", false),
            ("https://localhost.example", false),
        ] {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
