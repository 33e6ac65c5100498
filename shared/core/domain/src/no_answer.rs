//! The reasons why a request got no response, as far as people can act on them.

use serde::Serialize;

/// The reason why there was no response. The stored detail of a failure begins with these words, so
/// that the reason can be read back from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// The name does not resolve.
    HostNotFound,
    /// Nothing listens on the port.
    ConnectionRefused,
    /// The server's certificate is not trusted.
    CertificateNotTrusted,
    /// The TLS handshake failed; often the port does not speak TLS.
    NoTls,
    /// It took too long.
    TimedOut,
    /// Dragline never connects to this address.
    PrivateAddress,
}

impl NoAnswer {
    /// All reasons.
    pub const ALL: [Self; 6] = [
        Self::HostNotFound,
        Self::ConnectionRefused,
        Self::CertificateNotTrusted,
        Self::NoTls,
        Self::TimedOut,
        Self::PrivateAddress,
    ];

    /// Returns its words for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::HostNotFound => "host not found",
            Self::ConnectionRefused => "connection refused",
            Self::CertificateNotTrusted => "certificate not trusted",
            Self::NoTls => "no TLS connection",
            Self::TimedOut => "timed out",
            Self::PrivateAddress => "private address",
        }
    }

    /// Whether it seldom passes within seconds: no server is there, or none that can be trusted.
    #[must_use]
    pub const fn is_lasting(self) -> bool {
        matches!(self, Self::HostNotFound | Self::ConnectionRefused | Self::CertificateNotTrusted)
    }

    /// Returns the detail to store for such a failure.
    #[must_use]
    pub fn detail(self, what: &str) -> String {
        format!("{}: {what}", self.words())
    }

    /// Returns the reason in a stored detail; `None` if it has none.
    #[must_use]
    pub fn from_detail(detail: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| detail.strip_prefix(why.words()).is_some_and(|rest| rest.starts_with(": ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_details_are_read_back() {
        for why in NoAnswer::ALL {
            assert_eq!(NoAnswer::from_detail(&why.detail("`a.example` is away")), Some(why));
            assert_eq!(NoAnswer::from_detail(&format!("status 500 {}: no", why.words())), None, "the server's words");
            assert_eq!(NoAnswer::from_detail(why.words()), None, "not how it is written");
        }
    }
}
