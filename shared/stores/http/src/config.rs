//! The settings of an [`HttpFetcher`](crate::HttpFetcher).

use std::time::Duration;

use dragline_domain::address::AddressPolicy;
use dragline_formats::blob::Spool;
use dragline_ports::fetcher::ArrivingBytes;
use dragline_ports::secrets::SecretError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};

use crate::rate::ByteRate;
use crate::routes::Proxies;

/// An X.509 certificate, DER.
pub type Certificate = CertificateDer<'static>;

/// Whether servers must prove their identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CertificatePolicy {
    /// With a trusted certificate.
    #[default]
    Check,
    /// With any certificate: the identity of servers is unknown.
    AcceptAny,
}

/// The settings for every request of a fetcher. The limits of a request come with it.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Sent as `User-Agent`.
    pub user_agent: String,
    /// Certificates to trust in addition to the platform's roots, such as those of `--ca-file`: of
    /// authorities, and of servers themselves.
    pub extra_roots: Vec<Certificate>,
    /// Whether certificates are checked at all.
    pub certificates: CertificatePolicy,
    /// Which addresses may be connected to.
    pub address_policy: AddressPolicy,
    /// The proxies of the process; `None`: servers are connected to directly, unless a rule of the
    /// definition names a proxy.
    pub proxies: Option<Proxies>,
    /// Which addresses the proxies of rules may have. Those of the process may have any.
    pub rule_proxies: AddressPolicy,
    /// How many idle connections to one host are kept open.
    pub idle_connections_per_host_max: usize,
    /// How many connections are opened, over all hosts, before the idle ones among them are closed.
    /// At most this many are idle.
    pub idle_connections_max: usize,
    /// How long an idle connection is kept.
    pub idle_timeout: Duration,
    /// The maximum memory for bodies being received, for all requests together. See `budget.rs` for
    /// how it is shared.
    pub in_flight_bytes_max: usize,
    /// The storage of long bodies that are not parsed.
    pub spool: Spool,
    /// Counts the bytes of bodies being received, for whoever shows them.
    pub arriving: ArrivingBytes,
    /// How fast all bodies together are read; `None`: as fast as they come.
    pub rate: Option<ByteRate>,
    /// How many bytes of a body are read in a second; `None`: as they come.
    pub body_bytes_per_second: Option<u64>,
}

impl HttpConfig {
    /// Returns the defaults: public addresses only, certificates checked by the platform's roots, 2
    /// idle connections per host for 4 s and 256 in total, 64 MiB in flight, and long bodies where
    /// the machine has temporary files.
    #[must_use]
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self {
            user_agent: user_agent.into(),
            extra_roots: Vec::new(),
            certificates: CertificatePolicy::Check,
            address_policy: AddressPolicy::PublicOnly,
            proxies: None,
            rule_proxies: AddressPolicy::PublicOnly,
            idle_connections_per_host_max: 2,
            idle_connections_max: 256,
            // Servers close theirs after 5 s or more: a request on a connection that is just being
            // closed would be lost.
            idle_timeout: Duration::from_secs(4),
            in_flight_bytes_max: 64 << 20,
            spool: Spool::default(),
            arriving: ArrivingBytes::default(),
            rate: None,
            body_bytes_per_second: None,
        }
    }
}

/// Why a fetcher cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum HttpConfigError {
    /// The user agent has a character that is not allowed in a header field.
    #[error("the user agent `{}` cannot be sent: use visible ASCII characters and spaces", .0.escape_debug())]
    UserAgent(String),
    /// The text is not PEM.
    #[error("the certificates cannot be read: {0:?}; expected PEM, `-----BEGIN CERTIFICATE-----` and its lines")]
    Pem(pem::Error),
    /// The text contains no certificate.
    #[error("no certificate found: expected PEM, `-----BEGIN CERTIFICATE-----` and its lines")]
    NoCertificate,
    /// The roots or the TLS settings cannot be used.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// A certificate of the client's own cannot be used. Nothing of it is in the message.
    #[error("the client's certificate cannot be used: expected PEM with a certificate and its key")]
    ClientCertificate,
    /// A proxy cannot be used.
    #[error("the proxy `{0}` cannot be used: its URL begins with http, https, socks5 or socks5h")]
    Proxy(String),
    /// A text is no proxy. It is not shown, as it may have a password.
    #[error(
        "the proxy's URL cannot be read: write http, https, socks5 or socks5h, as in \
         `http://name:password@proxy.example:3128`, and escape what is special in the password"
    )]
    NoProxy,
    /// A rule names a proxy that its definition must not connect to.
    #[error("the proxy `{0}` of `access` has a private address, which no definition may name here")]
    PrivateProxy(String),
    /// A value that the settings name cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The client does not accept its settings.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// Reads the certificates in a PEM text, at least one.
///
/// # Errors
/// Returns [`HttpConfigError::Pem`] or [`HttpConfigError::NoCertificate`].
pub fn certificates_from_pem(text: &[u8]) -> Result<Vec<Certificate>, HttpConfigError> {
    let found = Certificate::pem_slice_iter(text).collect::<Result<Vec<_>, _>>().map_err(HttpConfigError::Pem)?;
    if found.is_empty() { Err(HttpConfigError::NoCertificate) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_texts() {
        let good = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let cases: [(&str, Result<usize, &str>, &str); 5] = [
            (good, Ok(1), "one certificate"),
            (&good.repeat(2), Ok(2), "a bundle"),
            (&format!("# a comment\n{good}"), Ok(1), "text around it is allowed, RFC 7468 section 2"),
            ("", Err("no certificate found"), "an empty file"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n", Err("cannot be read"), "cut off"),
        ];
        for (text, expected, why) in cases {
            match (certificates_from_pem(text.as_bytes()), expected) {
                (Ok(found), Ok(count)) => assert_eq!(found.len(), count, "{why}"),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{why}: {error}"),
                (found, expected) => panic!("{why}: {found:?} instead of {expected:?}"),
            }
        }
    }
}
