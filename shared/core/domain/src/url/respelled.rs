//! Other spellings of a URL, which its server may distinguish although they are one URL here.

use url::{Position, Url};

use super::error::{refuse_at_sight, unparsable};
use super::{CrawlUrl, UrlError, UrlRules, web_reference};

impl CrawlUrl {
    /// Returns path and query of a reference at this URL as a browser would send them, if it leads
    /// to this URL under the rules; `None` if it leads elsewhere, or is too long.
    ///
    /// ```
    /// use dragline_domain::url::{CrawlUrl, UrlRules};
    /// let rules = UrlRules::default();
    /// let url = CrawlUrl::parse("https://example.org/~b", &rules)?;
    /// assert_eq!(url.respelled("/%7Eb?utm_source=mail", &rules).as_deref(), Some("/%7Eb?utm_source=mail"));
    /// assert_eq!(url.respelled("/c", &rules), None);
    /// # Ok::<(), dragline_domain::url::UrlError>(())
    /// ```
    #[must_use]
    pub fn respelled(&self, reference: &str, rules: &UrlRules) -> Option<String> {
        let url = self.join_unchanged(reference).ok()?;
        let sent = &url[Position::BeforePath..Position::AfterQuery];
        let is_same = Self::from_url(&url, rules).is_ok_and(|key| key == *self);
        (is_same && sent.len() <= Self::LEN_MAX).then(|| sent.to_owned())
    }

    /// Parses a reference found at this URL, without normalising it.
    pub(super) fn join_unchanged(&self, reference: &str) -> Result<Url, UrlError> {
        refuse_at_sight(reference)?;
        let base = Url::parse(self.as_str()).map_err(UrlError::Invalid)?;
        base.join(&web_reference(reference)).map_err(|error| unparsable(reference, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_url_are_sent_as_written() {
        const CAFE: &str = "https://example.org/caf%C3%A9";
        for (url, reference, expected, why) in [
            (CAFE, "/caf%c3%a9", Some("/caf%c3%a9"), "hexadecimal digits in lower case"),
            (CAFE, "/caf\u{e9}", Some("/caf%C3%A9"), "not encoded: a browser encodes it"),
            (CAFE, "https://EXAMPLE.org:443/caf%C3%A9#x", Some("/caf%C3%A9"), "exactly itself"),
            (CAFE, "", Some("/caf%C3%A9"), "an empty reference"),
            (CAFE, "/x/../caf%C3%A9", Some("/caf%C3%A9"), "dots are resolved before anything is sent"),
            (CAFE, "?", Some("/caf%C3%A9?"), "an empty query"),
            (CAFE, "?utm_source=x", Some("/caf%C3%A9?utm_source=x"), "a parameter that is stripped"),
            (CAFE, "?a=1", None, "one that is not"),
            (CAFE, "/caf%C3%A9/", None, "another path"),
            (CAFE, "http://example.org/caf%C3%A9", None, "another scheme"),
            (CAFE, "https://user@example.org/caf%C3%A9", None, "credentials, which are never sent"),
            (CAFE, "javascript:1", None, "no URL"),
            ("https://example.org/~a-b", "/%7Ea%2Db", Some("/%7Ea%2Db"), "what needs no encoding"),
            ("https://example.org/", "/?PHPSESSID=ab12", Some("/?PHPSESSID=ab12"), "a session id"),
            ("https://example.org/a", "/a;jsessionid=AB12", Some("/a;jsessionid=AB12"), "in the path"),
            ("https://example.org/a?b=1", "?utm_id=2&b=1", Some("/a?utm_id=2&b=1"), "among parameters that stay"),
            ("https://example.org/a?b=1&c=2", "?c=2&b=1", None, "another order, which matters"),
        ] {
            let rules = UrlRules::default();
            let url = CrawlUrl::parse(url, &rules).unwrap();
            assert_eq!(url.respelled(reference, &rules).as_deref(), expected, "{reference}: {why}");
        }
        let rules = UrlRules::default();
        let url = CrawlUrl::parse(CAFE, &rules).unwrap();
        assert_eq!(url.respelled("?utm_source=x", &UrlRules::keep_all()), None, "nothing is stripped");
        let long = format!("?utm_source={}", "x".repeat(CrawlUrl::LEN_MAX));
        assert_eq!(url.respelled(&long, &rules), None, "too long to be kept");
    }
}
