//! Good and bad certificates, and servers that present them.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// A certificate authority that is unknown until its root is trusted.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
    root_pem: String,
}

/// What is wrong with a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    None,
    /// It expired in 2001.
    Expired,
    /// It is not valid before 2999.
    NotYetValid,
    /// The server signed it itself.
    SelfSigned,
    /// It is for another name.
    WrongName,
}

/// Who signed a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signer {
    /// The authority.
    Authority,
    /// The server itself.
    Itself,
    /// The server itself, with a certificate that claims to be an authority's, as `openssl req
    /// -x509` makes it.
    ItselfAsAuthority,
}

/// What a server offers in its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
    /// Both, of which the client chooses.
    Both,
}

impl Authority {
    /// Makes an authority. Two of the same name are taken for each other until their signatures are
    /// checked.
    ///
    /// # Panics
    /// If no key can be made.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap();
        Self { issuer: Issuer::new(params, key), root: root.der().clone(), root_pem: root.pem() }
    }

    /// The certificate to trust.
    #[must_use]
    pub fn root(&self) -> CertificateDer<'static> {
        self.root.clone()
    }

    /// The same in PEM, as in a file of certificates.
    #[must_use]
    pub fn root_pem(&self) -> &str {
        &self.root_pem
    }

    /// A server's certificate for a name, and its key, in PEM.
    ///
    /// # Panics
    /// If no certificate can be made.
    #[must_use]
    pub fn server_pems(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// The server's TLS configuration for a name.
    ///
    /// # Panics
    /// If no certificate can be made.
    #[must_use]
    pub fn acceptor(&self, name: &str, flaw: Flaw, version: Version) -> TlsAcceptor {
        let signer = if flaw == Flaw::SelfSigned { Signer::Itself } else { Signer::Authority };
        self.acceptor_signed_by(signer, name, flaw, version).0
    }

    /// The server's TLS configuration for a name, and the certificate that it presents.
    ///
    /// # Panics
    /// If no certificate can be made.
    #[must_use]
    pub fn acceptor_signed_by(
        &self,
        signer: Signer,
        name: &str,
        flaw: Flaw,
        version: Version,
    ) -> (TlsAcceptor, CertificateDer<'static>) {
        let key = KeyPair::generate().unwrap();
        let name = if flaw == Flaw::WrongName { "elsewhere.test" } else { name };
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        match flaw {
            Flaw::Expired => params.not_after = rcgen::date_time_ymd(2001, 1, 1),
            Flaw::NotYetValid => params.not_before = rcgen::date_time_ymd(2999, 1, 1),
            Flaw::None | Flaw::SelfSigned | Flaw::WrongName => {}
        }
        if signer == Signer::ItselfAsAuthority {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        let certificate = match signer {
            Signer::Authority => params.signed_by(&key, &self.issuer).unwrap(),
            Signer::Itself | Signer::ItselfAsAuthority => params.self_signed(&key).unwrap(),
        };
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        config.alpn_protocols = match version {
            Version::Http11 => vec![b"http/1.1".to_vec()],
            Version::Http2 => vec![b"h2".to_vec()],
            Version::Both => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        };
        (TlsAcceptor::from(Arc::new(config)), certificate.der().clone())
    }
}
