//! The verifier for names that stand in for hosts: see [`stand_in`](crate::stand_in).

use std::fmt::Write as _;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use sha1::{Digest, Sha1};

/// Trusts what another verifier trusts, if the certificate is for every name of the domain.
///
/// A certificate that is only for the name that stands in, or for some names of the domain, says nothing about the host.
#[derive(Debug)]
pub(super) struct StandIns(pub(super) Arc<dyn ServerCertVerifier>);

/// Checks that a certificate has a wildcard for the domain: it is valid for a name that it cannot contain, as the name is
/// made of the certificate's own digest.
fn check_wildcard(certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> Result<(), Error> {
    let not_valid = || Error::InvalidCertificate(CertificateError::NotValidForName);
    let ServerName::DnsName(name) = name else { return Err(not_valid()) };
    let (_, domain) = name.as_ref().split_once('.').ok_or_else(not_valid)?;
    let mut probe = String::new();
    for byte in Sha1::digest(certificate) {
        write!(probe, "{byte:02x}").map_err(|_| not_valid())?;
    }
    let probe = ServerName::try_from(format!("{probe}.{domain}")).map_err(|_| not_valid())?;
    verify_server_name(&ParsedCertificate::try_from(certificate)?, &probe).map_err(|_| not_valid())
}

impl ServerCertVerifier for StandIns {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        check_wildcard(end_entity, server_name)?;
        self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
