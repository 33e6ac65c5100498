//! Cookies of a definition: the value of a field, or a file of a browser.
//!
//! A file is read as browsers and `curl` write it: Netscape's format (seven fields in a line, by
//! tabs), or the `storage_state` of Playwright as JSON. Which of its cookies go with a request is
//! decided as RFC 6265, section 5.4, says: by host, path, scheme and time.

use dragline_domain::url::CrawlUrl;
use dragline_formats::cookie_jar::{CookieJar, KeptCookie};
use http::HeaderValue;
use jiff::Timestamp;
use serde::Deserialize;

/// Cookies, with where they may go.
#[derive(Clone, Debug)]
pub(super) enum Cookies {
    /// The pairs of a field, for each URL of the rule.
    Pairs(Vec<(String, String)>),
    /// Those of a file.
    Jar(Box<CookieJar>),
}

/// Why a text gives no cookies. Nothing of it is in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CookiesError {
    #[error("has neither cookies such as `a=1; b=2`, nor a file of them by Netscape or Playwright")]
    Form,
    #[error("has a line that is no cookie in Netscape's format: line {0}")]
    Line(usize),
    #[error("is JSON without the `cookies` of Playwright's `storage_state`")]
    Json,
}

/// A cookie of `storage_state`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StateCookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    /// Seconds since 1970; -1 for the session.
    #[serde(default = "session")]
    expires: f64,
    #[serde(default)]
    secure: bool,
}

const fn session() -> f64 {
    -1.0
}

#[derive(Deserialize)]
struct StorageState {
    cookies: Vec<StateCookie>,
}

impl Cookies {
    /// Reads cookies in any of the three forms.
    ///
    /// # Errors
    /// The text has none of them.
    pub(super) fn parse(text: &str) -> Result<Self, CookiesError> {
        if text.starts_with(['{', '[']) {
            let state: StorageState = serde_json::from_str(text).map_err(|_| CookiesError::Json)?;
            return Ok(Self::jar(state.cookies));
        }
        if text.starts_with('#') || text.contains('\t') {
            let lines = text.lines().enumerate().filter(|(_, line)| !is_comment(line));
            let cookies = lines.map(|(number, line)| netscape(line).ok_or(CookiesError::Line(number + 1)));
            return Ok(Self::jar(cookies.collect::<Result<_, _>>()?));
        }
        if text.is_empty() || text.contains('\n') || sensitive(text).is_none() {
            return Err(CookiesError::Form);
        }
        let pairs = text.trim_end_matches(';').split(';').map(|pair| {
            let (name, value) = pair.split_once('=').filter(|(name, _)| !name.trim().is_empty())?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        });
        pairs.collect::<Option<_>>().map(Self::Pairs).ok_or(CookiesError::Form)
    }

    fn jar(cookies: Vec<StateCookie>) -> Self {
        let mut jar = CookieJar::default();
        for cookie in cookies {
            let StateCookie { name, value, domain, path, expires, secure } = cookie;
            jar.take(KeptCookie { name, value, domain, path, expires: over_at(expires), is_secure: secure });
        }
        Self::Jar(Box::new(jar))
    }

    /// Returns the names and values of the cookies for a URL.
    pub(super) fn pairs_for(&self, url: &CrawlUrl) -> Vec<(String, String)> {
        match self {
            Self::Pairs(pairs) => pairs.clone(),
            Self::Jar(jar) => jar.pairs_for(url),
        }
    }
}

/// Returns the value of a field that is never shown.
pub(super) fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#') && !line.starts_with("#HttpOnly_")
}

/// Reads a line of Netscape's format.
fn netscape(line: &str) -> Option<StateCookie> {
    let line = line.trim_end_matches('\r');
    let mut fields = line.strip_prefix("#HttpOnly_").unwrap_or(line).split('\t');
    let (domain, with_subdomains) = (fields.next()?, fields.next()?);
    let (path, secure, expires, name) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let value = fields.next().unwrap_or_default();
    let host = domain.trim_start_matches('.');
    let domain = if with_subdomains.eq_ignore_ascii_case("true") { format!(".{host}") } else { host.to_owned() };
    let expires: f64 = expires.parse().ok()?;
    Some(StateCookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain,
        path: path.to_owned(),
        // Zero is a session's.
        expires: if expires > 0.0 { expires } else { session() },
        secure: secure.eq_ignore_ascii_case("true"),
    })
}

/// Returns when a cookie is over; `None` if it lasts as long as a session.
fn over_at(seconds: f64) -> Option<Timestamp> {
    // No cookie lasts longer than such a number of seconds.
    #[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest number")]
    Timestamp::from_second(seconds as i64).ok().filter(|_| seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::UrlRules;
    use http::HeaderMap;
    use http::header::COOKIE;

    use super::super::add_cookies;
    use super::*;

    fn sent(text: &str, url: &str) -> Option<String> {
        let url = CrawlUrl::parse(url, &UrlRules::default()).unwrap();
        let mut fields = HeaderMap::new();
        add_cookies(&mut fields, &Cookies::parse(text).unwrap().pairs_for(&url));
        let value = fields.get(COOKIE)?;
        assert!(value.is_sensitive() && !format!("{value:?}").contains('='), "it is not shown");
        Some(value.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_file_gives_what_a_browser_would_send() {
        let netscape = "# Netscape HTTP Cookie File\n\
            .a.example\tTRUE\t/\tFALSE\t4102444800\tall\t1\n\
            a.example\tFALSE\t/docs\tFALSE\t0\tdocs\t2\n\
            #HttpOnly_a.example\tFALSE\t/\tTRUE\t0\tsafe\t3\r\n\
            a.example\tFALSE\t/\tFALSE\t1\told\t4\n";
        let state = r#"{"cookies": [
            {"name": "all", "value": "1", "domain": ".a.example", "path": "/", "expires": 4102444800.5, "httpOnly": false, "secure": false, "sameSite": "Lax"},
            {"name": "docs", "value": "2", "domain": "a.example", "path": "/docs", "expires": -1},
            {"name": "safe", "value": "3", "domain": "a.example", "path": "/", "expires": -1, "secure": true},
            {"name": "old", "value": "4", "domain": "a.example", "path": "/", "expires": 1}
        ], "origins": []}"#;
        for (form, text) in [("Netscape's", netscape), ("Playwright's", state)] {
            for (url, expected, why) in [
                ("https://a.example/docs/x", &["all=1", "docs=2", "safe=3"][..], "all that are not over"),
                ("https://a.example/other", &["all=1", "safe=3"], "another path"),
                ("http://a.example/docs", &["all=1", "docs=2"], "without TLS"),
                ("https://b.a.example/docs", &["all=1"], "a host below"),
                ("https://evila.example/", &[], "another host"),
            ] {
                let value = sent(text, url).unwrap_or_default();
                let mut pairs: Vec<&str> = value.split("; ").filter(|pair| !pair.is_empty()).collect();
                pairs.sort_unstable();
                assert_eq!(pairs, expected, "{form} {url}: {why}");
            }
        }
    }

    #[test]
    fn a_value_is_sent_as_it_is_and_nonsense_is_refused() {
        assert_eq!(sent("a=1; b=2", "https://a.example/").as_deref(), Some("a=1; b=2"));
        for (text, said) in [
            ("", "neither"),
            ("password", "neither"),
            ("a=1\nb=2", "neither"),
            ("{\"a\": 1}", "storage_state"),
            ("a.example\tTRUE\t/", "line 1"),
            ("# Netscape\na.example\tTRUE\t/\tTRUE\tsoon\tn\tv", "line 2"),
        ] {
            let error = Cookies::parse(text).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("password"), "{text:?}: {error}");
        }
    }
}
