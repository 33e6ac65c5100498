//! Names and numbers as identifiers.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::url::Origin;

/// The name of a crawl: 1 to 64 of `a-z 0-9 . _ -`, starting with a letter or digit.
///
/// It appears in keys, paths and messages, so its alphabet is small and excludes `#` and `/`.
///
/// ```
/// use dragline_domain::ids::CrawlId;
/// assert!("docs.example.org".parse::<CrawlId>().is_ok());
/// assert!("Docs".parse::<CrawlId>().is_err());
/// assert!("../up".parse::<CrawlId>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CrawlId(String);

/// The reason why a text is not a valid crawl name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid crawl name: use 1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit")]
pub struct CrawlIdError(String);

impl CrawlId {
    /// The limit on a crawl's name, in characters.
    pub const LEN_MAX: usize = 64;

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the default name of a crawl of this origin: its host, and its port unless that is
    /// the scheme's default, as another port is another site. Other characters become `-`.
    #[must_use]
    pub fn for_origin(origin: &Origin) -> Self {
        let is_of_alphabet = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let host = origin.host().to_ascii_lowercase();
        let host = host.chars().map(|c| if is_of_alphabet(c) { c } else { '-' });
        let before = if origin.host().starts_with(|c: char| c.is_ascii_alphanumeric()) { "" } else { "x" };
        let port = origin.written_port().map_or_else(String::new, |port| format!("-{port}"));
        let name: String = before.chars().chain(host).take(Self::LEN_MAX - port.len()).collect();
        Self(name + &port)
    }
}

impl Default for CrawlId {
    /// Returns the name of a crawl without seeds.
    fn default() -> Self {
        Self("crawl".to_owned())
    }
}

impl FromStr for CrawlId {
    type Err = CrawlIdError;

    fn from_str(text: &str) -> Result<Self, CrawlIdError> {
        let alphabet = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
        let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if starts_well && text.len() <= Self::LEN_MAX && text.chars().all(alphabet) {
            Ok(Self(text.to_owned()))
        } else {
            Err(CrawlIdError(text.chars().take(80).collect()))
        }
    }
}

impl TryFrom<String> for CrawlId {
    type Error = CrawlIdError;

    fn try_from(text: String) -> Result<Self, CrawlIdError> {
        text.parse()
    }
}

impl From<CrawlId> for String {
    fn from(id: CrawlId) -> Self {
        id.0
    }
}

impl fmt::Display for CrawlId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One run of a crawl, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Iteration(NonZeroU32);

impl Iteration {
    /// The first iteration.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// Returns the iteration with this number; `None` for 0.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Returns its number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// Returns the following iteration.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Iteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The number of a leased visit to an origin. Grows with each wake-up and never restarts, not even
/// in another iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Turn(pub u64);

impl Turn {
    /// Returns the following turn.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

macro_rules! tokens {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Creates a token from random bits.
            #[must_use]
            pub fn from_bits(bits: u128) -> Self {
                Self(format!("{bits:032x}"))
            }

            /// Restores a token that was stored as text.
            #[must_use]
            pub fn stored(text: String) -> Self {
                Self(text)
            }

            /// Returns it as stored.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

tokens! {
    /// The token of a holder of a lease: 128 random bits, in hexadecimal.
    ///
    /// It is part of the key of every object that its holder writes, so two workers that both
    /// believe they hold the lease never overwrite each other's objects.
    LeaseToken;

    /// The token of a begun parse, by which a worker recognises its own.
    ParseToken;
}

/// The trigger of an iteration: a schedule's time, or the id of a message. Each is handled once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TriggerId(pub String);

impl TriggerId {
    /// Returns the trigger for a schedule's time.
    #[must_use]
    pub fn schedule(at: jiff::Timestamp) -> Self {
        Self(format!("schedule-{at}"))
    }

    /// Returns the trigger for a URL that is added to an iteration which this trigger may have
    /// begun.
    #[must_use]
    pub fn for_url(&self) -> Self {
        Self(format!("{self}.url"))
    }
}

impl fmt::Display for TriggerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_is_named_after_host_and_port() {
        let long = format!("https://{}.example:8443", ["a".repeat(40), "b".repeat(40)].join("."));
        let cut = format!("{}.{}-8443", "a".repeat(40), "b".repeat(18));
        for (origin, expected, why) in [
            ("https://docs.example.org", "docs.example.org", "the scheme's default port is left out"),
            ("http://docs.example.org:80", "docs.example.org", "even if it is written"),
            ("http://127.0.0.1:8080", "127.0.0.1-8080", "a server on this machine"),
            ("http://127.0.0.1:8081", "127.0.0.1-8081", "another one"),
            ("https://docs.example.org:80", "docs.example.org-80", "the other scheme's port"),
            ("http://[::1]:8080", "x---1--8080", "an address in brackets"),
            (&*long, &*cut, "what is too long keeps its port"),
        ] {
            let name = CrawlId::for_origin(&origin.parse().unwrap());
            assert_eq!(name.as_str(), expected, "{why}");
            assert!(name.as_str().parse::<CrawlId>().is_ok(), "{why}: it is a valid name");
        }
    }
}
