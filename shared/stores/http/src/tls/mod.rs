//! Which certificates are trusted.

mod roots;
mod verifiers;

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;

use self::roots::Roots;
use self::verifiers::{HostCertificates, Names, Unchecked};
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
    // They are made in any case: unusable certificates are reported, needed or not.
    let roots = Arc::new(Roots::new(extra, &provider).map_err(HttpConfigError::Tls)?);
    let config = |names: Names, protocols: &[&[u8]]| {
        let verifier: Arc<dyn ServerCertVerifier> = match policy {
            CertificatePolicy::AcceptAny => Arc::new(Unchecked::new(&provider)),
            CertificatePolicy::Check => Arc::new(HostCertificates::new(names, Arc::clone(&roots), &provider)),
        };
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(HttpConfigError::Tls)?
            .dangerous() // which is rustls's word for any verifier that is handed in, the platform's too
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(config)
    };
    Ok(TlsConfigs {
        hosts: config(Names::Hosts, &[b"h2", b"http/1.1"])?,
        stand_ins: config(Names::StandIns, &[b"http/1.1"])?,
    })
}
