//! How the crawl answers sites that ask who calls, and by which network it reaches them.
//!
//! A rule is bound to hosts: what it names is sent to no other, wherever a page, a redirect or a
//! sitemap points. The values themselves are no part of a definition, which says only where they
//! are ([`SecretReference`]).

use serde::{Deserialize, Serialize};

use super::{Condition, FieldName, HostPattern, LanguagePriorities, LogIn, ProxyUrl, SecretReference, SetCookies};
use crate::url::{CrawlUrl, Origin};

/// What is sent to some hosts, and how they are reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AccessRule {
    /// The hosts.
    pub hosts: Vec<HostPattern>,
    /// Which of their URLs; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Whether values are sent over plain HTTP.
    #[serde(default)]
    pub plain: PlainHttp,
    /// Fields of each request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<SecretField>,
    /// Cookies: a header's value, a Netscape file or Playwright's `storage_state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookies: Option<SecretReference>,
    /// What becomes of the cookies that the hosts set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub set_cookies: SetCookies,
    /// The form by which the crawl logs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_in: Option<Box<LogIn>>,
    /// `Authorization`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<Authorization>,
    /// A certificate and its key, as PEM, by which TLS knows the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<SecretReference>,
    /// `Accept-Language`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_language: Option<LanguagePriorities>,
    /// `Referer`.
    #[serde(default)]
    pub referer: Referer,
    /// The proxy by which the hosts are reached; `None`: that of the process, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyRule>,
}

impl AccessRule {
    /// Returns a rule for hosts that does nothing yet.
    #[must_use]
    pub const fn for_hosts(hosts: Vec<HostPattern>) -> Self {
        Self {
            hosts,
            when: None,
            plain: PlainHttp::Refused,
            headers: Vec::new(),
            cookies: None,
            set_cookies: SetCookies::Ignored,
            log_in: None,
            authorization: None,
            client_certificate: None,
            accept_language: None,
            referer: Referer::None,
            proxy: None,
        }
    }

    /// Whether it is about a URL.
    #[must_use]
    pub fn matches(&self, url: &CrawlUrl) -> bool {
        self.hosts.iter().any(|host| host.matches(url)) && self.when.as_ref().is_none_or(|when| when.matches(url))
    }

    /// Whether it has values that nobody else may see.
    #[must_use]
    pub const fn has_secrets(&self) -> bool {
        !self.headers.is_empty() || self.authorization.is_some() || self.keeps_session()
    }

    /// Whether the cookies that its hosts set are sent back to them: also where it has cookies of
    /// its own, as the site may renew them.
    #[must_use]
    pub const fn keeps_session(&self) -> bool {
        matches!(self.set_cookies, SetCookies::Kept) || self.cookies.is_some() || self.log_in.is_some()
    }

    /// Whether it is about some URLs of an origin.
    #[must_use]
    pub fn is_for_origin(&self, origin: &Origin) -> bool {
        self.hosts.iter().any(|host| host.includes(origin))
    }

    /// Whether it does anything.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        *self == Self { when: self.when.clone(), plain: self.plain, ..Self::for_hosts(self.hosts.clone()) }
    }

    /// Returns the references to its values.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretReference> {
        let authorization = self.authorization.iter().map(Authorization::secret);
        let proxy = self.proxy.iter().filter_map(|proxy| proxy.login.as_ref());
        let headers = self.headers.iter().map(|field| &field.value);
        let form = self.log_in.iter().flat_map(|log_in| &log_in.fields).map(|field| &field.value);
        headers.chain(&self.cookies).chain(authorization).chain(&self.client_certificate).chain(proxy).chain(form)
    }
}

fn is_default(set_cookies: &SetCookies) -> bool {
    *set_cookies == SetCookies::default()
}

/// Whether a rule's values are sent over plain HTTP, where everybody on the way can read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlainHttp {
    /// They are not, and the URL is not requested at all.
    #[default]
    Refused,
    /// They are.
    Allowed,
}

/// A field of a request, whose value is a secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SecretField {
    /// Its name.
    pub name: FieldName,
    /// Where its value is.
    pub value: SecretReference,
}

/// How a rule fills `Authorization`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authorization {
    /// Basic (RFC 7617): a value of the form `name:password`.
    Basic(SecretReference),
    /// Bearer (RFC 6750): a token.
    Bearer(SecretReference),
}

impl Authorization {
    /// Returns where its value is.
    #[must_use]
    pub const fn secret(&self) -> &SecretReference {
        match self {
            Self::Basic(secret) | Self::Bearer(secret) => secret,
        }
    }
}

/// What a request says about where its URL was found (RFC 9110, section 10.1.3). Nothing of a page
/// with HTTPS is ever said over plain HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Referer {
    /// Nothing.
    #[default]
    None,
    /// The origin of the page.
    Origin,
    /// The page.
    Page,
}

impl Referer {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Origin => "origin",
            Self::Page => "page",
        }
    }
}

/// A proxy, and who we are to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProxyRule {
    /// Where it is.
    pub url: ProxyUrl,
    /// A value of the form `name:password`; `None`: it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<SecretReference>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_stored_without_what_it_leaves_out() {
        let rule = AccessRule::for_hosts(vec!["a.example".parse().unwrap()]);
        assert!(rule.is_idle() && !rule.has_secrets());
        let key = SecretField { name: "x-key".parse().unwrap(), value: "env:KEY".parse().unwrap() };
        let rule = AccessRule { headers: vec![key], ..rule };
        let stored = serde_json::to_string(&rule).unwrap();
        assert_eq!(
            stored,
            r#"{"hosts":["a.example"],"plain":"refused","headers":[{"name":"x-key","value":"env:KEY"}],"referer":"none"}"#
        );
        assert_eq!(serde_json::from_str::<AccessRule>(&stored).unwrap(), rule);
        assert_eq!(rule.secrets().map(ToString::to_string).collect::<Vec<_>>(), ["env:KEY"]);
    }
}
