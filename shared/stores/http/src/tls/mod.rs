//! TLS settings and trusted certificates.

mod roots;
mod verifiers;

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

use self::roots::Roots;
use self::verifiers::{AcceptAnyCertificate, HostCertificates, Names};
use crate::config::{Certificate, CertificatePolicy, HttpConfigError};

/// The TLS settings of clients, for real and for stand-in names. They share nothing but roots: a
/// server's session must not be resumed under a stand-in name.
#[derive(Clone, Debug)]
pub(crate) struct TlsConfigs {
    /// For hosts under their own names: HTTP/2 before HTTP/1.1.
    pub(crate) hosts: ClientConfig,
    /// For [stand-in names](crate::stand_in): HTTP/1.1 only, as HTTP/2 would request the stand-in
    /// instead of the host.
    pub(crate) stand_ins: ClientConfig,
}

/// Returns the TLS settings: TLS 1.2 and 1.3 with ring, the platform's roots and the extra
/// certificates.
///
/// The certificate of the client itself is PEM, with its key.
pub(crate) fn client_configs(
    policy: CertificatePolicy,
    extra: &[Certificate],
    own: Option<&str>,
) -> Result<TlsConfigs, HttpConfigError> {
    let provider = Arc::new(ring::default_provider());
    // Built in any case, so that unusable certificates are reported whether needed or not.
    let roots = Arc::new(Roots::new(extra, &provider).map_err(HttpConfigError::Tls)?);
    let config = |names: Names, protocols: &[&[u8]]| {
        let verifier: Arc<dyn ServerCertVerifier> = match policy {
            CertificatePolicy::AcceptAny => Arc::new(AcceptAnyCertificate::new(&provider)),
            CertificatePolicy::Check => Arc::new(HostCertificates::new(names, Arc::clone(&roots), &provider)),
        };
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(HttpConfigError::Tls)?
            .dangerous() // which is rustls's word for any verifier that is handed in, the platform's too
            .with_custom_certificate_verifier(verifier);
        let mut config = match own {
            None => config.with_no_client_auth(),
            Some(own) => {
                let (chain, key) = certificate_and_key(own).ok_or(HttpConfigError::ClientCertificate)?;
                config.with_client_auth_cert(chain, key).map_err(|_| HttpConfigError::ClientCertificate)?
            }
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok::<_, HttpConfigError>(config)
    };
    Ok(TlsConfigs {
        hosts: config(Names::Hosts, &[b"h2", b"http/1.1"])?,
        stand_ins: config(Names::StandIns, &[b"http/1.1"])?,
    })
}

/// Returns the certificates and the key of a PEM text; `None` if one is missing.
fn certificate_and_key(pem: &str) -> Option<(Vec<Certificate>, PrivateKeyDer<'static>)> {
    let chain: Vec<Certificate> = Certificate::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().ok()?;
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()?;
    (!chain.is_empty()).then_some((chain, key))
}
