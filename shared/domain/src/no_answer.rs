//! Why a request brought no answer, as far as it tells a person what to do about it.

use serde::Serialize;

/// Why there was no answer. The details of failures begin with its words, wherever they are stored, so that it can be told from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// The name leads nowhere.
    HostNotFound,
    /// Nobody listens there.
    ConnectionRefused,
    /// The server's certificate is not believed.
    CertificateNotTrusted,
    /// TLS could not be agreed on; often there is none on the port.
    NoTls,
    /// It took too long.
    TimedOut,
    /// Dragline never talks to the address.
    PrivateAddress,
}

impl NoAnswer {
    /// Every one there is.
    pub const ALL: [Self; 6] = [
        Self::HostNotFound,
        Self::ConnectionRefused,
        Self::CertificateNotTrusted,
        Self::NoTls,
        Self::TimedOut,
        Self::PrivateAddress,
    ];

    /// As people read it.
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

    /// The detail of a failure that came of it.
    #[must_use]
    pub fn detail(self, what: &str) -> String {
        format!("{}: {what}", self.words())
    }

    /// What a stored detail tells; `None` if it says something else.
    #[must_use]
    pub fn of_detail(detail: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| detail.strip_prefix(why.words()).is_some_and(|rest| rest.starts_with(": ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_from_the_details_that_it_made_and_from_no_others() {
        for why in NoAnswer::ALL {
            assert_eq!(NoAnswer::of_detail(&why.detail("`a.example` is away")), Some(why));
            assert_eq!(NoAnswer::of_detail(&format!("status 500 {}: no", why.words())), None, "the server's words");
            assert_eq!(NoAnswer::of_detail(why.words()), None, "not how it is written");
        }
    }
}
