//! The hosts that a rule is about.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::stored_form::stored_as_text;
use crate::url::{CrawlUrl, Origin, Scheme, UrlRules};

/// A host, or all hosts below a domain, with a port: `a.example`, `*.a.example`, `a.example:8443`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPattern {
    /// The host, or the domain, as URLs write it.
    host: String,
    /// Whether the hosts below it are meant, too.
    reach: HostReach,
    /// The port; `None`: that of the scheme.
    port: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HostReach {
    Itself,
    Below,
}

/// A text that names no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostPatternError {
    /// It has not the form of one.
    #[error("this is no host, such as `members.example.org`, `*.example.org` or `127.0.0.1:8080`")]
    Form,
    /// Everybody may have a name below it.
    #[error("the hosts below a public suffix belong to many: name a domain, such as `*.example.org`")]
    PublicSuffix,
}

impl HostPattern {
    /// Returns the pattern of a URL's host and port.
    #[must_use]
    pub fn for_url(url: &CrawlUrl) -> Self {
        let port = Some(url.port()).filter(|port| *port != url.scheme().default_port());
        Self { host: url.host().to_owned(), reach: HostReach::Itself, port }
    }

    /// Whether an origin is one of those that it names.
    #[must_use]
    pub fn includes(&self, origin: &Origin) -> bool {
        self.is_for(origin.host(), origin.port(), origin.scheme())
    }

    pub(super) fn matches(&self, url: &CrawlUrl) -> bool {
        self.is_for(url.host(), url.port(), url.scheme())
    }

    fn is_for(&self, host: &str, port: u16, scheme: Scheme) -> bool {
        let is_host = host == self.host
            || self.reach == HostReach::Below
                && host.strip_suffix(&self.host).is_some_and(|prefix| prefix.ends_with('.'));
        is_host && port == self.port.unwrap_or_else(|| scheme.default_port())
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        let (reach, rest) = match text.strip_prefix("*.") {
            Some(rest) => (HostReach::Below, rest),
            None => (HostReach::Itself, text),
        };
        if rest.is_empty() || rest.contains(['/', '@', '?', '#', '\\', '*', '%']) || rest.contains(char::is_whitespace)
        {
            return Err(HostPatternError::Form);
        }
        // The scheme whose port is not written tells whether one is.
        let parse = |scheme: &str| CrawlUrl::parse(&format!("{scheme}://{rest}/"), &UrlRules::default());
        let (Ok(plain), Ok(url)) = (parse("http"), parse("https")) else { return Err(HostPatternError::Form) };
        let port = (plain.port() == url.port()).then(|| url.port());
        if reach == HostReach::Below && url.origin().registrable_domain().is_none() {
            return Err(HostPatternError::PublicSuffix);
        }
        Ok(Self { host: url.host().to_owned(), reach, port })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = if self.reach == HostReach::Below { "*." } else { "" };
        write!(f, "{below}{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

stored_as_text!(HostPattern);

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text, &UrlRules::default()).unwrap()
    }

    #[test]
    fn a_pattern_is_of_a_host_and_no_other() {
        for (pattern, target, expected, why) in [
            ("a.example", "https://a.example/p", true, "itself"),
            ("A.Example", "https://a.example/", true, "in any case"),
            ("a.example", "http://a.example/", true, "with either scheme"),
            ("a.example", "https://a.example:8443/", false, "another port may be another's"),
            ("a.example:8443", "https://a.example:8443/", true, "unless it is named"),
            ("a.example:443", "http://a.example:443/", true, "also that of a scheme"),
            ("a.example", "https://b.a.example/", false, "a host below"),
            ("a.example", "https://a.example.evil.example/", false, "a host that begins so"),
            ("a.example", "https://evila.example/", false, "a host that ends so"),
            ("*.a.example", "https://b.a.example/", true, "below"),
            ("*.a.example", "https://c.b.a.example/", true, "further below"),
            ("*.a.example", "https://a.example/", true, "itself"),
            ("*.a.example", "https://evila.example/", false, "not what only ends so"),
            ("[::1]:8080", "http://[::1]:8080/", true, "an address"),
            ("bücher.example", "https://xn--bcher-kva.example/", true, "in its own letters"),
        ] {
            let pattern: HostPattern = pattern.parse().unwrap();
            assert_eq!(pattern.matches(&url(target)), expected, "{pattern} {target}: {why}");
            assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
        assert!(HostPattern::for_url(&url("http://a.example:8080/x")).matches(&url("http://a.example:8080/")));
        assert!(HostPattern::for_url(&url("https://a.example/x")).matches(&url("https://a.example/")));
    }

    #[test]
    fn what_names_no_host_is_refused() {
        for (text, error, why) in [
            ("", HostPatternError::Form, "nothing"),
            ("https://a.example/", HostPatternError::Form, "a URL"),
            ("a.example/p", HostPatternError::Form, "a path"),
            ("u:p@a.example", HostPatternError::Form, "credentials"),
            ("*", HostPatternError::Form, "everybody"),
            ("*.*.example", HostPatternError::Form, "two stars"),
            ("a.*.example", HostPatternError::Form, "one within"),
            ("a.example:99999", HostPatternError::Form, "no port"),
            ("*.com", HostPatternError::PublicSuffix, "hosts of many"),
            ("*.co.uk", HostPatternError::PublicSuffix, "the same"),
            ("*.127.0.0.1", HostPatternError::PublicSuffix, "nothing is below an address"),
        ] {
            assert_eq!(text.parse::<HostPattern>(), Err(error), "{text}: {why}");
        }
    }
}
