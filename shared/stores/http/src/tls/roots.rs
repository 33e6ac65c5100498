//! Trust anchors: the platform's roots, and the configured certificates.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::config::Certificate;

/// Trusts a server whose certificate is, byte for byte, a configured one, whoever signed it; checks
/// any other against the roots.
///
/// People usually have their own server's self-signed certificate. Adding it to the roots would not
/// work: `openssl req -x509` and similar tools mark it as an authority's, and such a certificate is
/// refused for a server; and one signed by a company's authority does not lead to a known root. Its
/// name and its validity period are checked all the same.
#[derive(Debug)]
pub(super) struct Roots {
    provider: Arc<CryptoProvider>,
    given: Vec<ConfiguredCertificate>,
    /// Built for the first server: reading the platform's roots takes longer than everything else
    /// in a crawl of one page.
    verifier: OnceLock<Result<Arc<dyn ServerCertVerifier>, Error>>,
}

/// A configured certificate, with a verifier for its format and validity period: webpki, with only
/// the certificate itself to trust, behaves the same on every platform.
#[derive(Debug)]
struct ConfiguredCertificate {
    certificate: Certificate,
    judge: Arc<WebPkiServerVerifier>,
}

impl Roots {
    /// Returns the platform's roots and the configured certificates.
    ///
    /// # Errors
    /// Returns rustls's error if a configured certificate cannot be used.
    pub(super) fn new(given: &[Certificate], provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let is_any = !given.is_empty();
        let given = given
            .iter()
            .map(|certificate| ConfiguredCertificate::new(certificate, provider))
            .collect::<Result<_, Error>>()?;
        let roots = Self { provider: Arc::clone(provider), given, verifier: OnceLock::new() };
        if is_any {
            roots.verifier()?;
        }
        Ok(roots)
    }

    /// Checks a server's certificate.
    pub(super) fn check(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.given.iter().find(|given| given.certificate == *end_entity) {
            Some(given) => given.check(name, now),
            None => self.verifier()?.verify_server_cert(end_entity, intermediates, name, ocsp_response, now),
        }
    }

    fn verifier(&self) -> Result<&dyn ServerCertVerifier, Error> {
        let verifier = self.verifier.get_or_init(|| by_roots(&self.given, &self.provider));
        verifier.as_deref().map_err(Clone::clone)
    }
}

impl ConfiguredCertificate {
    fn new(certificate: &Certificate, provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone())?;
        Ok(Self { certificate: certificate.clone(), judge: by_webpki(roots, provider)? })
    }

    /// Whether it is valid for the name now.
    fn check(&self, name: &ServerName<'_>, now: UnixTime) -> Result<ServerCertVerified, Error> {
        match self.judge.verify_server_cert(&self.certificate, &[], name, &[], now) {
            // Its signer does not matter. webpki checks the time before the signer, and the name
            // after.
            Err(Error::InvalidCertificate(why)) if is_about_the_signer(&why) => {
                verify_server_name(&ParsedCertificate::try_from(&self.certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }
}

/// Whether an error can only occur after the certificate was parsed and found valid in time.
/// Parsing it again reveals errors of its format.
const fn is_about_the_signer(why: &CertificateError) -> bool {
    matches!(
        why,
        CertificateError::UnknownIssuer
            | CertificateError::BadSignature
            | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
            // Its mark as an authority's, for which rustls has no variant.
            | CertificateError::Other(_)
    )
}

/// Builds a verifier that trusts the platform's roots and the configured certificates.
fn by_roots(
    given: &[ConfiguredCertificate],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let certificates = given.iter().map(|given| given.certificate.clone());
    // A fresh machine or a small container has no roots at all. This is checked without the
    // configured ones: with them the platform's verifier would work, but trust nothing else.
    match Verifier::new(Arc::clone(provider)) {
        Ok(platform) if given.is_empty() => Ok(Arc::new(platform)),
        Ok(_) => Ok(Arc::new(Verifier::new_with_extra_roots(certificates, Arc::clone(provider))?)),
        Err(error) => {
            tracing::info!(%error, "no root certificates on this machine: using Mozilla's, as of this build");
            Ok(built_in(certificates, provider)?)
        }
    }
}

/// Builds a verifier that trusts Mozilla's roots, as of this build, and the configured
/// certificates.
fn built_in(
    given: impl Iterator<Item = Certificate>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in given {
        roots.add(certificate)?;
    }
    by_webpki(roots, provider)
}

fn by_webpki(roots: RootCertStore, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, Error> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| Error::General(error.to_string()))
}

#[cfg(test)]
mod tests {
    use rustls::crypto::ring;

    use super::*;

    #[test]
    fn the_built_in_roots_are_usable_alone() {
        assert!(built_in(std::iter::empty(), &Arc::new(ring::default_provider())).is_ok());
    }

    #[test]
    fn an_extra_root_that_is_not_a_certificate_is_an_error_before_any_server_is_asked() {
        let nonsense = Certificate::from(vec![1, 2, 3]);
        assert!(Roots::new(&[nonsense], &Arc::new(ring::default_provider())).is_err());
    }
}
