//! Which crawls agents may begin.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use dragline_domain::definition::{Condition, Definition, Requisites, TextTest, Within};
use dragline_domain::url::{CrawlUrl, UrlRules};
use serde_json::{Value, json};

/// Whether agents may begin crawls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Crawling {
    /// They may not, and are not offered the tool.
    #[default]
    Refused,
    /// They may, within limits.
    Allowed(CrawlAllowance),
}

/// The limits of crawls that agents begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlAllowance {
    /// The hosts that may be crawled, at any port. Hosts below them are others.
    pub hosts: Vec<AllowedHost>,
    /// The most pages of an iteration.
    pub pages_max: u64,
}

/// A host that may be crawled, as it stands in URLs.
///
/// ```
/// use dragline_service::AllowedHost;
/// assert_eq!("Example.org".parse::<AllowedHost>().map(|host| host.to_string()), Ok("example.org".to_owned()));
/// assert!("*.example.org".parse::<AllowedHost>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(String);

/// The reason why a text is not a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host: write its name or address, without a scheme, a port or a path")]
pub struct AllowedHostError(String);

impl FromStr for AllowedHost {
    type Err = AllowedHostError;

    fn from_str(text: &str) -> Result<Self, AllowedHostError> {
        let error = || AllowedHostError(text.escape_debug().to_string());
        let is_address = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        if !is_address && text.contains([':', '/', '\\', '@', '?', '#', '*', '%']) {
            return Err(error());
        }
        let host = if is_address && text.contains(':') && !text.starts_with('[') {
            format!("[{text}]")
        } else {
            text.to_owned()
        };
        let url = CrawlUrl::parse(&format!("http://{host}/"), &UrlRules::default()).map_err(|_| error())?;
        Ok(Self(url.host().to_owned()))
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for CrawlAllowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.hosts.iter().map(ToString::to_string).collect();
        write!(f, "Allowed are {}, with at most {} pages in an iteration.", hosts.join(", "), self.pages_max)
    }
}

/// Why an iteration of a crawl may not be begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Breach {
    #[error("the host `{0}` is not allowed")]
    Host(String),
    #[error("its iterations may have more than {0} pages")]
    Pages(u64),
    #[error("it may lead to other hosts than those that are allowed")]
    Scope,
}

impl CrawlAllowance {
    /// Whether a URL may be crawled.
    pub(super) fn allows(&self, url: &CrawlUrl) -> bool {
        self.is_allowed(url.host())
    }

    fn is_allowed(&self, host: &str) -> bool {
        self.hosts.iter().any(|allowed| allowed.0 == host)
    }

    /// Returns the rule of a definition that keeps a crawl on the allowed hosts, wherever redirects
    /// and requisites lead.
    pub(super) fn rule(&self) -> Value {
        let hosts: Vec<_> = self.hosts.iter().map(|host| json!({ "host": { "equals": host.0 } })).collect();
        json!({ "when": { "not": { "any": hosts } }, "reason": "the owner does not allow agents to crawl this host" })
    }

    /// Checks that no iteration of a definition can leave the allowed hosts, or have too many
    /// pages.
    ///
    /// # Errors
    /// It could.
    pub(super) fn check(&self, definition: &Definition) -> Result<(), Breach> {
        if let Some(seed) = definition.seeds.iter().find(|seed| !self.allows(seed)) {
            return Err(Breach::Host(seed.host().to_owned()));
        }
        if definition.budget.pages.is_none_or(|pages| pages > self.pages_max) {
            return Err(Breach::Pages(self.pages_max));
        }
        let is_kept = definition.do_not_crawl.iter().any(|rule| self.keeps(&rule.when));
        // A seed may redirect to any host of its registered domain, which addresses do not have.
        let stays = definition.scope.within != Within::Domain
            && definition.requisites == Requisites::Ignore
            && definition.seeds.iter().all(|seed| has_no_domain(seed.host()));
        if is_kept || stays { Ok(()) } else { Err(Breach::Scope) }
    }

    /// Whether a condition holds for each URL of a host that is not allowed.
    fn keeps(&self, when: &Condition) -> bool {
        let Condition::Not(inner) = when else { return false };
        let is_host = |condition: &Condition| matches!(condition, Condition::Host(TextTest::Equals(host)) if self.is_allowed(host));
        match &**inner {
            Condition::Any(conditions) => conditions.iter().all(is_host),
            condition => is_host(condition),
        }
    }
}

fn has_no_domain(host: &str) -> bool {
    host == "localhost" || host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowance(hosts: &[&str]) -> CrawlAllowance {
        let hosts = hosts.iter().map(|host| host.parse().expect("a host")).collect();
        CrawlAllowance { hosts, pages_max: 10 }
    }

    #[test]
    fn a_host_is_a_name_or_an_address() {
        for (text, expected, why) in [
            ("example.org", Some("example.org"), "a name"),
            ("EXAMPLE.org", Some("example.org"), "in any case"),
            ("bücher.example", Some("xn--bcher-kva.example"), "as it stands in URLs"),
            ("127.0.0.1", Some("127.0.0.1"), "an address"),
            ("::1", Some("[::1]"), "of the sixth version"),
            ("[::1]", Some("[::1]"), "as in URLs"),
            ("*.example.org", None, "hosts below it are not implied"),
            ("*", None, "nor are all"),
            ("", None, "nothing"),
            ("example.org:8080", None, "any port is meant"),
            ("https://example.org", None, "a URL"),
            ("example.org/docs", None, "a path"),
            ("user@example.org", None, "a user"),
        ] {
            let host = text.parse::<AllowedHost>().ok().map(|host| host.to_string());
            assert_eq!(host.as_deref(), expected, "{text}: {why}");
        }
    }

    #[test]
    fn a_crawl_that_could_leave_the_allowed_hosts_is_not_begun() {
        let allowance = allowance(&["example.org", "127.0.0.1"]);
        let rule = allowance.rule().to_string();
        let host = |text: &str| Err(Breach::Host(text.to_owned()));
        for (keys, expected, why) in [
            (format!("seeds: [https://example.org/], budget: {{pages: 10}}, do_not_crawl: [{rule}]"), Ok(()), "kept by its rule"),
            ("seeds: [http://127.0.0.1:8080/], budget: {pages: 10}".to_owned(), Ok(()), "an address has no domain"),
            (
                "seeds: [https://example.org/], budget: {pages: 10}".to_owned(),
                Err(Breach::Scope),
                "a seed may redirect to another host of its domain",
            ),
            (
                "seeds: [https://example.org/], budget: {pages: 10}, do_not_crawl: [{when: {not: {host: {equals: example.org}}}, reason: x}]".to_owned(),
                Ok(()),
                "a rule of the owner keeps it as well",
            ),
            (
                "seeds: [https://example.org/], budget: {pages: 10}, do_not_crawl: [{when: {not: {host: {suffix: example.org}}}, reason: x}]".to_owned(),
                Err(Breach::Scope),
                "subdomains are not implied",
            ),
            (
                "seeds: [https://example.org/], budget: {pages: 10}, do_not_crawl: [{when: {not: {any: [{host: {equals: a.example}}, {host: {equals: example.org}}]}}, reason: x}]".to_owned(),
                Err(Breach::Scope),
                "one of its hosts is not allowed",
            ),
            ("seeds: [http://127.0.0.1/], budget: {pages: 10}, requisites: fetch".to_owned(), Err(Breach::Scope), "requisites are anywhere"),
            (format!("seeds: [http://127.0.0.1/], budget: {{pages: 10}}, requisites: fetch, do_not_crawl: [{rule}]"), Ok(()), "unless the rule keeps them"),
            ("seeds: [https://www.example.org/], budget: {pages: 10}".to_owned(), host("www.example.org"), "a subdomain"),
            ("seeds: [http://127.0.0.1/, https://a.example/], budget: {pages: 10}".to_owned(), host("a.example"), "one of two seeds"),
            ("seeds: [http://127.0.0.1/], budget: {pages: 11}".to_owned(), Err(Breach::Pages(10)), "too many pages"),
            ("seeds: [http://127.0.0.1/]".to_owned(), Err(Breach::Pages(10)), "any number of pages"),
        ] {
            let definition = dragline_definition::parse(&format!("{{{keys}}}"), "test").expect("it is valid");
            assert_eq!(allowance.check(&definition), expected, "{keys}: {why}");
        }
    }
}
