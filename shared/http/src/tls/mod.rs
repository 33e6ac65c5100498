//! Which certificates are trusted.

mod stand_ins;
mod verifiers;

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use self::stand_ins::StandIns;
use self::verifiers::{GivenCertificates, Unchecked};
use crate::config::{Certificate, CertificatePolicy, HttpConfigError};

/// The TLS settings of clients, by the names of their servers. They share nothing but roots: a session of a server must
/// not be resumed with a name that only stands in.
#[derive(Clone, Debug)]
pub(crate) struct TlsConfigs {
    /// For hosts under their own names: HTTP/2 before HTTP/1.1.
    pub(crate) hosts: ClientConfig,
    /// For [names that stand in](crate::stand_in): HTTP/1.1 alone, as HTTP/2 would ask for the name instead of the host.
    pub(crate) stand_ins: ClientConfig,
}

/// Returns the TLS settings: TLS 1.2 and 1.3 with ring, the platform's roots and the extra certificates.
pub(crate) fn client_configs(policy: CertificatePolicy, extra: &[Certificate]) -> Result<TlsConfigs, HttpConfigError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(policy, extra, &provider).map_err(HttpConfigError::Tls)?;
    let config = |verifier: Arc<dyn ServerCertVerifier>, protocols: &[&[u8]]| {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(HttpConfigError::Tls)?
            .dangerous() // which is rustls's word for any verifier that is handed in, the platform's too
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(config)
    };
    let of_stand_ins: Arc<dyn ServerCertVerifier> = match policy {
        CertificatePolicy::Check => Arc::new(StandIns(Arc::clone(&verifier))),
        CertificatePolicy::AcceptAny => Arc::clone(&verifier),
    };
    Ok(TlsConfigs { hosts: config(verifier, &[b"h2", b"http/1.1"])?, stand_ins: config(of_stand_ins, &[b"http/1.1"])? })
}

fn verifier(
    policy: CertificatePolicy,
    extra: &[Certificate],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    // The other one is made in any case: unusable certificates are reported, needed or not.
    let by_roots = by_roots(extra, provider)?;
    match policy {
        CertificatePolicy::AcceptAny => Ok(Arc::new(Unchecked::new(provider))),
        CertificatePolicy::Check if extra.is_empty() => Ok(by_roots),
        CertificatePolicy::Check => Ok(Arc::new(GivenCertificates::new(by_roots, extra, provider)?)),
    }
}

/// Trusts what the platform's roots and the extra ones vouch for.
fn by_roots(
    extra: &[Certificate],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    // A fresh machine or a small container has no roots at all. It is checked without the extra roots first: with them the platform's verifier
    // would work, and trust nobody else.
    match Verifier::new(Arc::clone(provider)) {
        Ok(platform) if extra.is_empty() => Ok(Arc::new(platform)),
        Ok(_) => Ok(Arc::new(Verifier::new_with_extra_roots(extra.iter().cloned(), Arc::clone(provider))?)),
        Err(error) => {
            tracing::info!(%error, "no root certificates on this machine: using Mozilla's, as of this build");
            built_in(extra, provider)
        }
    }
}

fn built_in(
    extra: &[Certificate],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in extra {
        roots.add(certificate.clone())?;
    }
    Ok(by_webpki(roots, provider)?)
}

fn by_webpki(roots: RootCertStore, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, rustls::Error> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| rustls::Error::General(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_roots_are_usable_alone() {
        assert!(built_in(&[], &Arc::new(ring::default_provider())).is_ok());
    }

    #[test]
    fn an_extra_root_that_is_not_a_certificate_is_an_error_on_any_machine() {
        let nonsense = [Certificate::from(vec![1, 2, 3])];
        assert!(built_in(&nonsense, &Arc::new(ring::default_provider())).is_err(), "without the platform's roots");
        for policy in [CertificatePolicy::Check, CertificatePolicy::AcceptAny] {
            assert!(client_configs(policy, &nonsense).is_err(), "{policy:?}: with whatever this machine has");
        }
    }
}
