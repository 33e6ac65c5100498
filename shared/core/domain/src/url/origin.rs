//! Scheme, host and port: the unit of robots.txt, politeness and leasing.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::{CrawlUrl, UrlError, UrlRules, key};

/// A scheme that is crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// `http`, port 80 by default.
    Http,
    /// `https`, port 443 by default.
    Https,
}

impl Scheme {
    /// Returns it as written, without the colon.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Returns the scheme's default port.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// Returns the scheme with this name, in lower case; `None` if it is not crawled.
    pub(super) fn from_name(text: &str) -> Option<Self> {
        [Self::Http, Self::Https].into_iter().find(|scheme| scheme.as_str() == text)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The parts of a normalised origin's text.
#[derive(Clone, Copy)]
pub(super) struct OriginParts<'a> {
    pub(super) scheme: Scheme,
    pub(super) host: &'a str,
    /// `None` if it is the scheme's default.
    pub(super) port: Option<u16>,
}

impl<'a> OriginParts<'a> {
    /// Splits `scheme://host:port`, which is known to be normalised.
    pub(super) fn from_normalised(origin: &'a str) -> Self {
        let (scheme, authority) = match origin.strip_prefix("https://") {
            Some(authority) => (Scheme::Https, authority),
            None => (Scheme::Http, origin.strip_prefix("http://").unwrap_or(origin)),
        };
        // A colon within brackets is part of an IPv6 address.
        match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => Self { scheme, host, port: port.parse().ok() },
            _ => Self { scheme, host: authority, port: None },
        }
    }

    pub(super) fn effective_port(self) -> u16 {
        self.port.unwrap_or(self.scheme.default_port())
    }
}

/// Scheme, host and port, as `https://example.org` or `http://example.org:8080`: no path, no
/// default port.
///
/// Cheap to clone, since it is in every row, ticket and queue. Stored as its text.
///
/// ```
/// use dragline_domain::url::Origin;
/// let origin: Origin = "HTTPS://www.Example.org:443/".parse()?;
/// assert_eq!(origin.as_str(), "https://www.example.org");
/// assert_eq!(origin.registrable_domain(), Some("example.org"));
/// # Ok::<(), dragline_domain::url::OriginError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Origin(Arc<str>);

/// The reason why a text is not a valid origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// It is not a URL that can be crawled.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// It has a path or a query.
    #[error("an origin is scheme, host and port only, such as `https://example.org`")]
    PathOrQuery,
}

impl Origin {
    /// Returns it as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.parts().scheme
    }

    /// Returns its host in lower case: a domain name without trailing dot, in ASCII (Punycode); an
    /// IPv4 address as four decimal numbers; or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.parts().host
    }

    /// Returns the port to connect to; the scheme's default if none is written.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.parts().effective_port()
    }

    /// Returns the URL at a stored path and query of this origin, in the form of
    /// [`CrawlUrl::path_and_query`].
    ///
    /// Joins and checks, but parses nothing.
    ///
    /// # Errors
    /// [`UrlError::Key`] if it is not in that form, [`UrlError::TooLong`] if both together are too
    /// long.
    pub fn url_at(&self, path_and_query: &str) -> Result<CrawlUrl, UrlError> {
        if self.0.len() + path_and_query.len() > CrawlUrl::LEN_MAX {
            return Err(UrlError::TooLong);
        }
        if !key::is_normalised(path_and_query) {
            return Err(UrlError::Key);
        }
        let mut text = String::with_capacity(self.0.len() + path_and_query.len());
        text.push_str(&self.0);
        text.push_str(path_and_query);
        CrawlUrl::from_normalised(text.into(), self.0.len())
    }

    /// Returns the port; `None` if it is the scheme's default.
    #[must_use]
    pub fn written_port(&self) -> Option<u16> {
        self.parts().port
    }

    /// Returns the registrable domain, by the Public Suffix List: `example.co.uk` for
    /// `www.example.co.uk`.
    ///
    /// `None` for IP addresses, and for hosts that are a public suffix themselves or a single name
    /// such as `localhost`.
    #[must_use]
    pub fn registrable_domain(&self) -> Option<&str> {
        registrable_domain(self.host())
    }

    /// Whether both belong to one site: the same host, or the same registrable domain. Scheme and
    /// port do not matter.
    #[must_use]
    pub fn is_same_site(&self, other: &Self) -> bool {
        self.host() == other.host()
            || self.registrable_domain().is_some_and(|domain| other.registrable_domain() == Some(domain))
    }

    /// Returns the name that the origins of one site share, whether they are reached by http or
    /// https, with or without `www.`: `example.org`, or `example.org:8080` if a port is written.
    #[must_use]
    pub fn site_name(&self) -> &str {
        site_name(&self.0)
    }

    /// Whether `other` is an alias of this origin: the host with or without `www.`, https instead
    /// of http, or both. If the scheme is the same, so is the port.
    #[must_use]
    pub fn has_alias(&self, other: &Self) -> bool {
        let bare = |origin: &Self| origin.host().strip_prefix("www.").unwrap_or(origin.host()).to_owned();
        let is_called_so = match (self.scheme(), other.scheme()) {
            (Scheme::Http, Scheme::Https) => true,
            (own, its) => own == its && self.port() == other.port(),
        };
        self.is_same_site(other) && bare(self) == bare(other) && is_called_so
    }

    pub(super) fn from_normalised(origin: &str) -> Self {
        Self(origin.into())
    }

    fn parts(&self) -> OriginParts<'_> {
        OriginParts::from_normalised(&self.0)
    }
}

/// Returns the name of a normalised origin's site.
pub(super) fn site_name(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority);
    authority.strip_prefix("www.").filter(|bare| bare.contains('.')).unwrap_or(authority)
}

/// Returns the registrable domain of a host's name; `None` for addresses, including those in
/// brackets.
pub(super) fn registrable_domain(host: &str) -> Option<&str> {
    let is_address = host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok();
    if is_address { None } else { dragline_public_suffix::registrable_domain(host) }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let url = CrawlUrl::parse(text, &UrlRules::keep_all())?;
        if url.path_and_query() == "/" { Ok(url.origin()) } else { Err(OriginError::PathOrQuery) }
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
        origin.as_str().to_owned()
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({})", self.0)
    }
}
