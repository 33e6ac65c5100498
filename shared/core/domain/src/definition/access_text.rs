//! The texts of rules for access that have a form of their own: names of header fields, languages
//! and proxies.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::stored_form::stored_as_text;
use crate::url::{CrawlUrl, Scheme, UrlRules};

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
stored_as_text!(FieldName, LanguagePriorities, ProxyUrl);

#[cfg(test)]
mod tests {
    use super::*;

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
}
