//! Scheme, host and port: the unit of robots.txt, politeness and leasing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, UrlRules};

/// The two schemes that are crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// `http`, port 80 unless said otherwise.
    Http,
    /// `https`, port 443 unless said otherwise.
    Https,
}

/// Scheme, host and port, as `https://example.org` or `http://example.org:8080`: no path, no default port.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin(String);

/// Why a text is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no origin of http or https")]
pub struct OriginError(String);

impl Origin {
    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn of_normalised(url: &str, path_start: usize) -> Self {
        Self(url[..path_start].to_owned())
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let url = CrawlUrl::parse(text, &UrlRules::default()).map_err(|_| OriginError(text.to_owned()))?;
        if url.path_and_query() == "/" { Ok(url.origin()) } else { Err(OriginError(text.to_owned())) }
    }
}

impl TryFrom<String> for Origin {
    type Error = OriginError;

    fn try_from(text: String) -> Result<Self, OriginError> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
