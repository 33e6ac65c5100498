//! Cookies that a site sets, or set in a browser, and which of them are sent back with a request
//! (RFC 6265).

use std::fmt;

use cookie_store::{CookieStore, RawCookie};
use dragline_domain::url::{CrawlUrl, UrlRules};
use jiff::Timestamp;
use url::Url;

/// A cookie as a browser keeps it. Never shown.
pub struct KeptCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its host, or with a leading dot its domain: then the hosts below get it, too.
    pub domain: String,
    /// Its path, below which it is sent.
    pub path: String,
    /// When it is over; `None` if it is as good as its session.
    pub expires: Option<Timestamp>,
    /// Whether it is sent over TLS alone.
    pub is_secure: bool,
}

impl fmt::Debug for KeptCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptCookie([redacted])")
    }
}

/// The cookies that one client has of some hosts. Never shown.
#[derive(Clone, Default)]
pub struct CookieJar(CookieStore);

impl fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieJar([redacted])")
    }
}

impl CookieJar {
    /// The limit on a cookie, in bytes: what browsers keep of one.
    const COOKIE_BYTES_MAX: usize = 4096;

    /// The limit on the cookies: more than browsers keep of a domain.
    const COOKIES_MAX: usize = 200;

    /// Keeps what the `Set-Cookie` fields of an answer set. What no browser would keep is left out:
    /// a cookie for another domain, or for all hosts below a public suffix.
    pub fn keep<'v>(&mut self, set: impl Iterator<Item = &'v [u8]>, url: &CrawlUrl) {
        let Ok(from) = Url::parse(url.as_str()) else { return };
        for field in set.filter_map(|field| std::str::from_utf8(field).ok()) {
            if field.len() > Self::COOKIE_BYTES_MAX {
                continue;
            }
            let Ok(mut cookie) = RawCookie::parse(field.to_owned()) else { continue };
            match cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase()) {
                Some(domain) if is_of_one_owner(&domain) => {}
                // A public suffix, or an address, means itself alone.
                Some(domain) if domain == url.host() => cookie.unset_domain(),
                Some(_) => continue,
                None => {}
            }
            if self.0.iter_any().count() < Self::COOKIES_MAX {
                // One for another domain is refused here.
                let _ = self.0.insert_raw(&cookie, &from);
            }
        }
    }

    /// Takes a cookie over from a browser. One that is over, or that no browser would keep, is left
    /// out.
    pub fn take(&mut self, cookie: KeptCookie) {
        let host = cookie.domain.trim_start_matches('.').to_owned();
        let scheme = if cookie.is_secure { "https" } else { "http" };
        let Ok(url) = Url::parse(&format!("{scheme}://{host}/")) else { return };
        let mut raw = RawCookie::build((cookie.name, cookie.value)).path(cookie.path).secure(cookie.is_secure);
        if cookie.domain.starts_with('.') {
            raw = raw.domain(host);
        }
        if let Some(expires) = cookie.expires.and_then(attribute_of).and_then(|parsed| parsed.expires()) {
            raw = raw.expires(expires);
        }
        let _ = self.0.insert_raw(&raw.build(), &url);
    }

    /// Returns the names and values of the cookies for a URL.
    #[must_use]
    pub fn pairs_for(&self, url: &CrawlUrl) -> Vec<(String, String)> {
        let Ok(url) = Url::parse(url.as_str()) else { return Vec::new() };
        self.0.get_request_values(&url).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Returns the attribute of a cookie that is over at some time.
fn attribute_of(expires: Timestamp) -> Option<RawCookie<'static>> {
    RawCookie::parse(format!("a=; Expires={}", expires.strftime("%a, %d %b %Y %H:%M:%S GMT"))).ok()
}

/// Whether the hosts below a domain belong to one owner.
fn is_of_one_owner(domain: &str) -> bool {
    let url = CrawlUrl::parse(&format!("http://{domain}/"), &UrlRules::default());
    url.is_ok_and(|url| url.origin().registrable_domain().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text, &UrlRules::default()).unwrap()
    }

    #[test]
    fn cookies_go_back_to_whom_a_browser_would_send_them() {
        let from = url("https://www.a.co.uk/in/form");
        for (set, target, sent, why) in [
            ("sid=1", "https://www.a.co.uk/in/x", true, "the same path"),
            ("sid=1; Path=/", "https://www.a.co.uk/", true, "all of the host"),
            ("sid=1", "https://www.a.co.uk/other", false, "another path"),
            ("sid=1; Path=/", "https://b.a.co.uk/", false, "another host"),
            ("sid=1; Path=/; Domain=.a.co.uk", "https://b.a.co.uk/", true, "hosts of the domain"),
            ("sid=1; Path=/; Domain=co.uk", "https://www.a.co.uk/", false, "a public suffix"),
            ("sid=1; Path=/; Domain=evil.example", "https://evil.example/", false, "another's domain"),
            ("sid=1; Path=/; Secure", "http://www.a.co.uk/", false, "not without TLS"),
            ("sid=1; Path=/; Max-Age=0", "https://www.a.co.uk/", false, "it is over"),
            ("=1; Path=/", "https://www.a.co.uk/", false, "no name"),
        ] {
            let mut jar = CookieJar::default();
            jar.keep([set.as_bytes()].into_iter(), &from);
            assert_eq!(!jar.pairs_for(&url(target)).is_empty(), sent, "{set}: {why}");
            assert!(!format!("{jar:?}").contains("sid"), "it is not shown");
        }
        let mut jar = CookieJar::default();
        jar.keep([&b"sid=1; Domain=127.0.0.1; Path=/"[..]].into_iter(), &url("http://127.0.0.1:1/"));
        assert_eq!(jar.pairs_for(&url("http://127.0.0.1:1/")).len(), 1, "an address names itself");
        let mut jar = CookieJar::default();
        jar.keep([&b"sid=1; Domain=a.example; Path=/"[..]].into_iter(), &url("https://a.example/login"));
        assert_eq!(jar.pairs_for(&url("https://www.a.example/")).len(), 1, "a domain names the hosts below it");
    }

    #[test]
    fn a_jar_is_limited_and_a_later_cookie_replaces_an_earlier_one() {
        let (from, mut jar) = (url("https://a.example/"), CookieJar::default());
        let long = format!("long={}", "x".repeat(CookieJar::COOKIE_BYTES_MAX));
        jar.keep(["a=1", "a=2", long.as_str()].into_iter().map(str::as_bytes), &from);
        assert_eq!(jar.pairs_for(&from), [("a".to_owned(), "2".to_owned())]);
        jar.keep([&b"a=; Max-Age=0"[..]].into_iter(), &from);
        assert_eq!(jar.pairs_for(&from), [], "deleted");
        let many: Vec<String> = (0..1_000).map(|n| format!("c{n}=1")).collect();
        jar.keep(many.iter().map(String::as_bytes), &from);
        assert!(jar.pairs_for(&from).len() <= CookieJar::COOKIES_MAX);
    }
}
