//! TLS of one client, without anything installed for the whole process.

use std::sync::Arc;

use reqwest::Url;
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// The TLS settings for this address: ring, and the certificates this machine trusts.
///
/// # Errors
/// For https, if this machine trusts no certificates at all.
pub(super) fn config(url: &Url) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    if url.scheme() == "https" {
        return Ok(builder.with_platform_verifier()?.with_no_client_auth());
    }
    // Plain http to a local server needs no certificates, and must work where none are installed.
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}
