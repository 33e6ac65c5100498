//! Verifiers of servers' certificates: one for each way to name a server, and one that trusts
//! anybody.

use std::fmt::Write as _;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use sha1::{Digest, Sha1};

use super::roots::Roots;

/// The names by which servers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Their own.
    Hosts,
    /// Stand-in names: see [`stand_in`](crate::stand_in).
    StandIns,
}

/// Trusts certificates that lead to the roots.
#[derive(Debug)]
pub(super) struct HostCertificates {
    names: Names,
    roots: Arc<Roots>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl HostCertificates {
    pub(super) fn new(names: Names, roots: Arc<Roots>, provider: &CryptoProvider) -> Self {
        Self { names, roots, algorithms: provider.signature_verification_algorithms }
    }
}

/// Checks that a certificate has a wildcard for the domain of a stand-in: it must be valid for a
/// name that it cannot contain, as that name is derived from the certificate's own digest.
///
/// A certificate for only the stand-in, or for some names of the domain, proves nothing about the
/// host.
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

impl ServerCertVerifier for HostCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.names == Names::StandIns {
            check_wildcard(end_entity, server_name)?;
        }
        self.roots.check(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Trusts every server: anybody on the network path may answer in its name. As any certificate is
/// accepted, the signature proves nothing and is not checked, and servers with unreadable
/// certificates are crawled too.
/// checked, and servers with unreadable certificates are crawled too.
#[derive(Debug)]
pub(super) struct AcceptAnyCertificate {
    schemes: Vec<SignatureScheme>,
}

impl AcceptAnyCertificate {
    pub(super) fn new(provider: &CryptoProvider) -> Self {
        Self { schemes: provider.signature_verification_algorithms.supported_schemes() }
    }
}

impl ServerCertVerifier for AcceptAnyCertificate {
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
