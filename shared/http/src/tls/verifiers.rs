//! Verifiers for certificates that the platform does not check: those given for a server, and any at all, if the user asked for that.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::by_webpki;
use crate::config::Certificate;

/// Trusts a server whose certificate is, byte for byte, one of the given ones, whoever signed it; checks every other against the roots.
///
/// What people have of their own server is usually its self-signed certificate. Adding it to the roots would not work: `openssl req -x509` and
/// similar tools mark it as an authority's, and such a certificate is refused as a server's; and one signed by a company's authority does not lead
/// to a root that we have. Its name and its validity period are checked all the same.
#[derive(Debug)]
pub(super) struct GivenCertificates {
    by_roots: Arc<dyn ServerCertVerifier>,
    given: Vec<Given>,
}

/// A certificate, and the verifier of its form and its time: webpki with only the certificate itself to trust, which is the same on every platform.
#[derive(Debug)]
struct Given {
    certificate: Certificate,
    judge: Arc<WebPkiServerVerifier>,
}

impl GivenCertificates {
    pub(super) fn new(
        by_roots: Arc<dyn ServerCertVerifier>,
        certificates: &[Certificate],
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let given = |certificate: &Certificate| {
            let mut roots = RootCertStore::empty();
            roots.add(certificate.clone())?;
            Ok(Given { certificate: certificate.clone(), judge: by_webpki(roots, provider)? })
        };
        let given = certificates.iter().map(given).collect::<Result<_, Error>>()?;
        Ok(Self { by_roots, given })
    }
}

impl Given {
    /// Whether it is valid for the name now.
    fn check(&self, name: &ServerName<'_>, now: UnixTime) -> Result<ServerCertVerified, Error> {
        match self.judge.verify_server_cert(&self.certificate, &[], name, &[], now) {
            // Who signed it does not matter. webpki checks the time before the signer, and the name after.
            Err(Error::InvalidCertificate(why)) if is_about_the_signer(&why) => {
                verify_server_name(&ParsedCertificate::try_from(&self.certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }
}

/// Whether an error can only occur after the certificate was parsed and its time found valid. Parsing it again shows what is wrong with its form.
const fn is_about_the_signer(why: &CertificateError) -> bool {
    matches!(
        why,
        CertificateError::UnknownIssuer
            | CertificateError::BadSignature
            | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
            // That it is an authority's, for which rustls has no variant.
            | CertificateError::Other(_)
    )
}

impl ServerCertVerifier for GivenCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.given.iter().find(|given| given.certificate == *end_entity) {
            Some(given) => given.check(server_name, now),
            None => self.by_roots.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_roots.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_roots.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_roots.supported_verify_schemes()
    }
}

/// Trusts every server: anybody on the network path may answer in its name. As any certificate will do, the signature proves nothing and is not
/// checked, and servers with unreadable certificates are crawled too.
#[derive(Debug)]
pub(super) struct Unchecked {
    schemes: Vec<SignatureScheme>,
}

impl Unchecked {
    pub(super) fn new(provider: &CryptoProvider) -> Self {
        Self { schemes: provider.signature_verification_algorithms.supported_schemes() }
    }
}

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
