//! What an [`HttpFetcher`](crate::HttpFetcher) is made with.

use std::time::Duration;

use dragline_domain::address::AddressPolicy;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};

/// An X.509 certificate, DER.
pub type Certificate = CertificateDer<'static>;

/// Whether servers must prove who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CertificatePolicy {
    /// By a certificate that is believed.
    #[default]
    Check,
    /// Any certificate will do: nothing is known of who answers.
    AcceptAny,
}

/// What holds for every request of a fetcher. What one request may cost comes with the request.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Sent as `User-Agent`.
    pub user_agent: String,
    /// Certificates to trust besides the platform's roots, such as those of `--ca-file`: of authorities, and of servers themselves.
    pub extra_roots: Vec<Certificate>,
    /// Whether certificates are checked at all.
    pub certificates: CertificatePolicy,
    /// Which addresses may be talked to.
    pub address_policy: AddressPolicy,
    /// Connections kept open to one host while nothing is asked of it.
    pub idle_connections_per_host_max: usize,
    /// Connections that are opened before the idle ones among them close, over all hosts. So many are idle at most.
    pub idle_connections_max: usize,
    /// How long such a connection is kept.
    pub idle_timeout: Duration,
    /// Bodies being received, all requests together. See `budget.rs` for how it is shared out.
    pub in_flight_bytes_max: usize,
}

impl HttpConfig {
    /// The defaults: public addresses only, certificates checked by the platform's roots, 2 idle connections a host for 4 s and 256 over all,
    /// 64 MiB in flight.
    #[must_use]
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self {
            user_agent: user_agent.into(),
            extra_roots: Vec::new(),
            certificates: CertificatePolicy::Check,
            address_policy: AddressPolicy::PublicOnly,
            idle_connections_per_host_max: 2,
            idle_connections_max: 256,
            // Servers close theirs after 5 s and more: one that closes just now would be asked in vain.
            idle_timeout: Duration::from_secs(4),
            in_flight_bytes_max: 64 << 20,
        }
    }
}

/// Why a fetcher cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum HttpConfigError {
    /// The user agent has a character that a header field cannot hold.
    #[error("the user agent `{}` cannot be sent: use visible ASCII characters and spaces", .0.escape_debug())]
    UserAgent(String),
    /// The text is no PEM.
    #[error("the certificates cannot be read: {0:?}; expected PEM, `-----BEGIN CERTIFICATE-----` and its lines")]
    Pem(pem::Error),
    /// The text has no certificate in it.
    #[error("no certificate found: expected PEM, `-----BEGIN CERTIFICATE-----` and its lines")]
    NoCertificate,
    /// The roots or the TLS settings are not usable.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The client does not accept its settings.
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// The certificates in a PEM text, at least one.
///
/// # Errors
/// [`HttpConfigError::Pem`] and [`HttpConfigError::NoCertificate`].
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
