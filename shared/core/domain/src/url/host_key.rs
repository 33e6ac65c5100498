//! The host as the unit of politeness, and its registered domain.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::Origin;
use super::origin::registrable_domain;

/// The host of an origin, whatever its scheme and port. All crawls share one pace per host.
///
/// Loopback names and addresses keep their port, as each port there is a site of its own.
///
/// ```
/// use dragline_domain::url::{HostKey, Origin};
/// let key = |origin: &str| HostKey::from_origin(&origin.parse::<Origin>().expect("an origin"));
/// assert_eq!(key("http://example.org"), key("https://example.org:8443"));
/// assert_ne!(key("http://127.0.0.1:8080"), key("http://127.0.0.1:8081"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostKey(Arc<str>);

impl HostKey {
    /// Returns the host of an origin.
    #[must_use]
    pub fn from_origin(origin: &Origin) -> Self {
        let host = origin.host();
        if is_loopback(host) { Self(format!("{host}:{}", origin.port()).into()) } else { Self(host.into()) }
    }

    /// Returns its registered domain; `None` for addresses, for public suffixes and for single
    /// names such as `localhost`.
    #[must_use]
    pub fn domain(&self) -> Option<DomainKey> {
        let name = match self.0.rsplit_once(':') {
            Some((name, _port)) if !self.0.ends_with(']') => name,
            _ => &self.0,
        };
        registrable_domain(name).map(|domain| DomainKey(domain.into()))
    }

    /// Returns it as written and stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A registered domain, by the Public Suffix List: one server often serves all of its hosts.
///
/// ```
/// use dragline_domain::url::{DomainKey, HostKey, Origin};
/// let domain = |origin: &str| HostKey::from_origin(&origin.parse::<Origin>().expect("an origin")).domain();
/// assert_eq!(domain("https://de.example.org").as_ref().map(DomainKey::as_str), Some("example.org"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainKey(Arc<str>);

impl DomainKey {
    /// Returns it as written and stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a host is a loopback name or address: RFC 1122, 3.2.1.3, RFC 4291, 2.5.3, and RFC 6761,
/// 6.3.
fn is_loopback(host: &str) -> bool {
    let ipv6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
        || ipv6.and_then(|ip| ip.parse::<Ipv6Addr>().ok()).is_some_and(|ip| ip.is_loopback())
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostKey({})", self.0)
    }
}

impl fmt::Display for DomainKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DomainKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DomainKey({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_hosts_keep_their_port() {
        for (origin, host, why) in [
            ("http://example.org", "example.org", "plain"),
            ("https://example.org", "example.org", "another scheme"),
            ("https://example.org:8443", "example.org", "another port"),
            ("https://www.example.org", "www.example.org", "another host"),
            ("http://192.0.2.7:8080", "192.0.2.7", "an address"),
            ("http://[2001:db8::1]:8080", "[2001:db8::1]", "an address in brackets"),
            ("http://127.0.0.1:8080", "127.0.0.1:8080", "this machine"),
            ("http://127.9.9.9", "127.9.9.9:80", "this machine, with a port that is not written"),
            ("https://[::1]", "[::1]:443", "the same in IPv6"),
            ("http://localhost:3000", "localhost:3000", "by its name"),
            ("http://a.localhost:3000", "a.localhost:3000", "by a name below it"),
            ("http://notlocalhost:3000", "notlocalhost", "another name"),
        ] {
            assert_eq!(HostKey::from_origin(&origin.parse().unwrap()).as_str(), host, "{origin}: {why}");
        }
    }

    #[test]
    fn hosts_share_registered_domains_by_the_public_suffix_list() {
        for (origin, domain, why) in [
            ("https://example.org", Some("example.org"), "the domain itself"),
            ("https://www.example.org:8443", Some("example.org"), "a host below it, whatever the port"),
            ("http://a.b.example.co.uk", Some("example.co.uk"), "a suffix of two labels"),
            ("https://someone.github.io", Some("someone.github.io"), "each belongs to somebody else"),
            ("https://github.io", None, "nobody's"),
            ("http://192.0.2.7", None, "an address"),
            ("http://[2001:db8::1]:8080", None, "an address in brackets"),
            ("http://127.0.0.1:8080", None, "an address with its port"),
            ("https://[::1]", None, "the same in brackets"),
            ("http://localhost:3000", None, "a single name"),
            ("http://a.site.localhost:3000", Some("site.localhost"), "this machine, by names below one"),
        ] {
            let found = HostKey::from_origin(&origin.parse().unwrap()).domain();
            assert_eq!(found.as_ref().map(DomainKey::as_str), domain, "{origin}: {why}");
        }
    }
}
