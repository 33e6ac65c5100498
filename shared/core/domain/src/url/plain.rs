//! Joins plain references, as most links are, without parsing them.

use url::{Position, Url};

use super::{CrawlUrl, UrlRules};

/// The base of a page's links. Plain references are joined to it without a parser: `page/9.html`,
/// `/page/9.html`, `../a?b=c`, and whole URLs on the base's own origin.
///
/// Its results are normalised and agree with the parser's; references that it does not understand
/// are left to the parser.
///
/// ```
/// use dragline_domain::url::PlainBase;
/// let url = url::Url::parse("https://example.org/docs/guide.html").unwrap();
/// let base = PlainBase::from_url(&url).unwrap();
/// assert_eq!(base.join("../a?b=c").unwrap().as_str(), "https://example.org/a?b=c");
/// assert_eq!(base.join("?b=c"), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PlainBase<'u> {
    origin: &'u str,
    /// Its path up to and including the last slash.
    directory: &'u str,
}

impl<'u> PlainBase<'u> {
    /// Creates the base at this URL; `None` if its own origin or path is not normalised.
    #[must_use]
    pub fn from_url(url: &'u Url) -> Option<Self> {
        let (origin, path) = (&url[..Position::BeforePath], url.path());
        let normalised = CrawlUrl::from_url(url, &UrlRules::keep_all()).ok()?;
        let directory = path.get(..=path.rfind('/')?)?;
        (normalised.origin_str() == origin && normalised.path() == path).then_some(Self { origin, directory })
    }

    /// Joins a reference without a fragment, with the same result as the parser's; `None` if it is
    /// not plain. Strips no parameters.
    #[must_use]
    pub fn join(&self, reference: &str) -> Option<CrawlUrl> {
        let (directory, rest) = match reference.strip_prefix(self.origin) {
            // After an origin, several slashes are a path.
            Some(path) => ("", path.starts_with('/').then_some(path)?),
            None if reference.starts_with("//") => return None,
            None if reference.starts_with('/') => ("", reference),
            None => self.below(reference)?,
        };
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let is_plain_path = path.bytes().all(is_plain) && !path.starts_with('.') && !path.contains("/.");
        let is_plain_query =
            query.is_none_or(|query| !query.is_empty() && query.bytes().all(|b| is_plain(b) || b == b'?'));
        if path.is_empty() || !is_plain_path || !is_plain_query {
            return None;
        }
        let text = [self.origin, directory, rest].concat();
        CrawlUrl::from_normalised(text.into(), self.origin.len()).ok()
    }

    /// Returns the directory from which a relative reference starts, and the rest of the reference.
    fn below<'r>(&self, reference: &'r str) -> Option<(&'u str, &'r str)> {
        let (mut directory, mut rest) = (self.directory, reference);
        while rest.starts_with('.') {
            if let Some(after) = rest.strip_prefix("../") {
                directory = parent(directory);
                rest = after;
            } else {
                rest = rest.strip_prefix("./")?;
            }
        }
        // With a colon, its beginning may be a scheme.
        (!rest.starts_with('/') && !rest.contains(':')).then_some((directory, rest))
    }
}

/// Returns the parent of this directory; the root is its own parent.
fn parent(directory: &str) -> &str {
    let inner = directory.strip_suffix('/').unwrap_or(directory);
    inner.rfind('/').map_or(directory, |slash| &directory[..=slash])
}

/// Whether a character stands for itself, in a path and in a query. There are others, but they are
/// rare.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'(' | b')' | b'*' | b'+' | b',')
        || matches!(byte, b';' | b'=' | b':' | b'@' | b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_plain_references_agrees_with_the_parser() {
        const BASE: &str = "https://example.org/a/b/page?q=1";
        for (base, reference, expected, why) in [
            (BASE, "c.html", Some("https://example.org/a/b/c.html"), "in the same directory"),
            (BASE, "c/d", Some("https://example.org/a/b/c/d"), "below it"),
            (BASE, "/c", Some("https://example.org/c"), "on the same origin"),
            (BASE, "/", Some("https://example.org/"), "its root"),
            (BASE, "../c", Some("https://example.org/a/c"), "one up"),
            (BASE, "./../.././../c", Some("https://example.org/c"), "further up than the root"),
            (BASE, "../", None, "nothing behind it: rare"),
            (BASE, "/c:d", Some("https://example.org/c:d"), "a colon that ends no scheme"),
            (BASE, "c:d", None, "one that may"),
            (BASE, "c?d=e?f&g", Some("https://example.org/a/b/c?d=e?f&g"), "a query"),
            (BASE, "c?", None, "an empty one goes"),
            (BASE, "?d", None, "of the page itself"),
            (BASE, "", None, "the page itself"),
            (BASE, "//host/c", None, "another host"),
            (BASE, ".//c", None, "an empty segment at the beginning"),
            (BASE, "/c//d", Some("https://example.org/c//d"), "one further on"),
            (BASE, "/c/../d", None, "up in the middle"),
            (BASE, "/.c", None, "a hidden file: rare"),
            (BASE, "/%63", None, "an octet"),
            (BASE, "/ä", None, "not ASCII"),
            (BASE, "c d", None, "a space"),
            (BASE, "\\c", None, "a slash, for browsers"),
            (BASE, "https://example.org/c", Some("https://example.org/c"), "a whole URL on the origin"),
            (BASE, "https://example.org//c", Some("https://example.org//c"), "with an empty segment"),
            (BASE, "https://example.org", None, "without a path"),
            (BASE, "https://example.org.example/c", None, "on another"),
            (BASE, "https://example.org:443/c", None, "with a port that goes"),
            (BASE, "HTTPS://example.org/c", None, "in capitals"),
            ("http://user@example.org/", "c", None, "credentials"),
            ("http://example.org./", "c", None, "a host with a dot at its end"),
            ("http://example.org/%7e/", "c", None, "a base that is not normalised"),
            ("http://example.org:8080/%C3%A9/", "c", Some("http://example.org:8080/%C3%A9/c"), "one that is"),
            ("data:,", "/c", None, "a base without an origin"),
        ] {
            let base = Url::parse(base).unwrap();
            let joined = PlainBase::from_url(&base).and_then(|plain| plain.join(reference));
            assert_eq!(joined.as_ref().map(CrawlUrl::as_str), expected, "{why}: {reference}");
            if let Some(joined) = joined {
                assert_eq!(base.join(reference).unwrap().as_str(), joined.as_str(), "{why}: {reference}");
            }
        }
    }
}
