//! How the crawl answers sites that ask who calls, and by which network it reaches them.
//!
//! A rule is bound to hosts: what it names is sent to no other, wherever a page, a redirect or a
//! sitemap points. The values themselves are no part of a definition, which says only where they
//! are ([`SecretReference`]).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Condition, LogIn, SecretReference, SetCookies};
use crate::url::{CrawlUrl, Origin, Scheme, UrlRules};

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

    fn matches(&self, url: &CrawlUrl) -> bool {
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

/// The name of a field that a rule may set (RFC 9110, section 5.1), in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FieldName(String);

/// A text that is no such name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldNameError {
    /// It has a character that no name has.
    #[error("`{0}` is no name of a header field")]
    Form(String),
    /// What the client itself says of a request and its connection.
    #[error("`{name}` is not set by a rule{instead}", instead = instead(name))]
    Reserved {
        /// The name.
        name: String,
    },
}

/// Fields that say how a message is sent, or that another key or the crawl itself sets.
const RESERVED: [&str; 22] = [
    "accept-encoding",
    "accept-language",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

fn instead(name: &str) -> &'static str {
    match name {
        "authorization" => ": use `basic` or `bearer`",
        "cookie" => ": use `cookies`",
        "accept-language" => ": use `accept_language`",
        "referer" => ": use `referer`",
        "user-agent" => ": use `user_agent` of the definition",
        "proxy-authorization" => ": use `proxy_login`",
        _ => "",
    }
}

impl FieldName {
    const LEN_MAX: usize = 100;

    /// Returns it as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for FieldName {
    type Err = FieldNameError;

    fn from_str(text: &str) -> Result<Self, FieldNameError> {
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if text.is_empty() || text.len() > Self::LEN_MAX || !text.bytes().all(is_token) {
            return Err(FieldNameError::Form(text.chars().take(40).collect()));
        }
        let name = text.to_ascii_lowercase();
        if RESERVED.contains(&name.as_str()) {
            return Err(FieldNameError::Reserved { name });
        }
        Ok(Self(name))
    }
}

/// The languages in which pages are wanted, as `Accept-Language` lists them (RFC 9110, section
/// 12.5.4): `de, en;q=0.5`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LanguagePriorities(String);

/// A text that is no such list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no list of languages, such as `de` or `de-AT, en;q=0.5`")]
pub struct LanguagePrioritiesError;

impl LanguagePriorities {
    const LEN_MAX: usize = 200;

    /// Returns it as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LanguagePriorities {
    type Err = LanguagePrioritiesError;

    fn from_str(text: &str) -> Result<Self, LanguagePrioritiesError> {
        let is_range = |range: &str| {
            range == "*"
                || range.split('-').enumerate().all(|(place, part)| {
                    let is_sound = |b: u8| if place == 0 { b.is_ascii_alphabetic() } else { b.is_ascii_alphanumeric() };
                    (1..=8).contains(&part.len()) && part.bytes().all(is_sound)
                })
        };
        let is_weight = |weight: &str| {
            let number = weight.trim().strip_prefix("q=").filter(|number| number.len() <= 5);
            let number = number.filter(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
            number.and_then(|number| number.parse::<f32>().ok()).is_some_and(|number| number <= 1.0)
        };
        let is_language = |entry: &str| match entry.trim().split_once(';') {
            Some((range, weight)) => is_range(range.trim()) && is_weight(weight),
            None => is_range(entry.trim()),
        };
        match text.len() <= Self::LEN_MAX && text.split(',').all(is_language) {
            true => Ok(Self(text.trim().to_owned())),
            false => Err(LanguagePrioritiesError),
        }
    }
}

/// The URL of a proxy, without credentials: `http`, `https`, `socks5` or `socks5h` (by which the
/// proxy resolves names), a host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProxyUrl(String);

/// A text that is no such URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyUrlError {
    /// It has not the form of one.
    #[error("this is no proxy, such as `http://proxy.example:3128` or `socks5h://127.0.0.1:1080`")]
    Form,
    /// It contains a password.
    #[error("the log-in of a proxy is named, not written: use `proxy_login`")]
    Login,
}

impl ProxyUrl {
    const SCHEMES: [&'static str; 4] = ["http", "https", "socks5", "socks5h"];

    /// Returns it as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its host, and its port.
    #[must_use]
    pub fn host_and_port(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, rest)| rest)
    }
}

impl FromStr for ProxyUrl {
    type Err = ProxyUrlError;

    fn from_str(text: &str) -> Result<Self, ProxyUrlError> {
        let (scheme, rest) = text.trim_end_matches('/').split_once("://").ok_or(ProxyUrlError::Form)?;
        let scheme = scheme.to_ascii_lowercase();
        if rest.contains('@') {
            return Err(ProxyUrlError::Login);
        }
        if !Self::SCHEMES.contains(&scheme.as_str()) || rest.contains(['/', '?', '#', '\\']) {
            return Err(ProxyUrlError::Form);
        }
        let url = CrawlUrl::parse(&format!("http://{rest}/"), &UrlRules::default()).map_err(|_| ProxyUrlError::Form)?;
        let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = match (has_port, scheme.as_str()) {
            (true, _) => url.port(),
            (false, "http") => Scheme::Http.default_port(),
            (false, "https") => Scheme::Https.default_port(),
            // RFC 1928, section 3.
            (false, _) => 1080,
        };
        Ok(Self(format!("{scheme}://{}:{port}", url.host())))
    }
}

/// Implements the conversions of texts with a form of their own.
macro_rules! stored_as_text {
    ($($type:ty, $error:ty;)+) => {$(
        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    )+};
}

macro_rules! shown_as_text {
    ($($type:ty),+) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

shown_as_text!(FieldName, LanguagePriorities, ProxyUrl);
stored_as_text! {
    FieldName, FieldNameError;
    HostPattern, HostPatternError;
    LanguagePriorities, LanguagePrioritiesError;
    ProxyUrl, ProxyUrlError;
}

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

    #[test]
    fn fields_that_others_set_are_reserved() {
        assert_eq!("X-Api-Key".parse::<FieldName>().unwrap().as_str(), "x-api-key");
        for (name, said) in [
            ("Authorization", "`basic` or `bearer`"),
            ("cookie", "`cookies`"),
            ("Host", "not set by a rule"),
            ("transfer-encoding", "not set by a rule"),
            ("", "no name"),
            ("a b", "no name"),
            ("a\r\nb", "no name"),
            (":path", "no name"),
        ] {
            let error = name.parse::<FieldName>().unwrap_err().to_string();
            assert!(error.contains(said), "{name:?}: {error}");
        }
    }

    #[test]
    fn languages_and_proxies_have_a_form() {
        for text in ["de", "de-AT, en;q=0.5", "*", "zh-Hant-TW,en-GB;q=0.8"] {
            assert_eq!(text.parse::<LanguagePriorities>().unwrap().as_str(), text);
        }
        for text in ["", "de_AT", "de;q=2", "de\r\nx: y", "de;x=1", "1a"] {
            assert!(text.parse::<LanguagePriorities>().is_err(), "{text:?}");
        }
        for (text, stored) in [
            ("http://proxy.example:3128", Ok("http://proxy.example:3128")),
            ("HTTP://Proxy.example/", Ok("http://proxy.example:80")),
            ("socks5h://127.0.0.1", Ok("socks5h://127.0.0.1:1080")),
            ("https://[::1]:8443", Ok("https://[::1]:8443")),
            ("proxy.example:3128", Err(ProxyUrlError::Form)),
            ("ftp://proxy.example", Err(ProxyUrlError::Form)),
            ("http://u:p@proxy.example:1", Err(ProxyUrlError::Login)),
            ("http://proxy.example/path", Err(ProxyUrlError::Form)),
        ] {
            let read = text.parse::<ProxyUrl>();
            assert_eq!(read.as_ref().map(ProxyUrl::as_str), stored.as_ref().copied(), "{text}");
        }
    }

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
