//! TLS to the database: rustls with ring, and the platform's roots.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Returns what encrypts connections. The server's certificate and its name are always verified: by
/// these authorities, or by the platform's if there are none.
///
/// # Errors
/// An authority's certificate is not valid, or there are no usable roots.
pub(crate) fn connector(authorities: &[CertificateDer<'static>]) -> Result<MakeRustlsConnect, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let by = |roots: RootCertStore| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(|error| rustls::Error::General(error.to_string()))
    };
    let verifier: Arc<dyn ServerCertVerifier> = if authorities.is_empty() {
        // A fresh machine or a small container has no roots at all.
        match Verifier::new(Arc::clone(&provider)) {
            Ok(platform) => Arc::new(platform),
            Err(_) => by(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })?,
        }
    } else {
        let mut roots = RootCertStore::empty();
        for authority in authorities {
            roots.add(authority.clone())?;
        }
        by(roots)?
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        // The verifier is the platform's or webpki's: nothing is let through.
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
