//! URLs, and references on a page.

use ::url::Url;
use dragline_domain::url::{CrawlUrl, Origin, PlainBase, UrlError, UrlRules, web_reference};

use crate::shown::assert_one_line;

/// The most characters of a message: one line.
const MESSAGE_CHARS_MAX: usize = 250;

/// The page of references that come without one.
const PAGE: &str = "https://example.org/a/b?c=1";

/// Input: a URL, and after a NUL a reference on its page.
///
/// What parses is normalised: it is the same when parsed again, stored and read back, or rebuilt
/// from its origin and key.
///
/// # Panics
/// If it is not.
pub fn url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (address, reference) = text.split_once('\0').unwrap_or((&text, &text));
    for rules in [UrlRules::default(), UrlRules::keep_all(), UrlRules::new(["*"]).expect("a pattern")] {
        let parsed = CrawlUrl::parse(address, &rules);
        check(&parsed, &rules);
        let page = parsed.unwrap_or_else(|_| CrawlUrl::parse(PAGE, &rules).expect("a good URL"));
        let joined = page.join(reference, &rules);
        check(&joined, &rules);
        // What is refused quickly would be refused by the parser, too.
        let base = Url::parse(page.as_str()).expect("it was parsed before");
        let closely = base.join(&web_reference(reference)).ok().and_then(|url| CrawlUrl::from_url(&url, &rules).ok());
        if !matches!(joined, Err(UrlError::TooLong)) {
            assert_eq!(joined.ok(), closely, "{reference:?} on {page}");
        }
        // What is joined without the parser is what the parser makes of it.
        if let Some(plain) = PlainBase::from_url(&base).and_then(|base| base.join(reference)) {
            let parsed = base.join(&web_reference(reference)).expect("it was joined");
            assert_eq!(plain.as_str(), parsed.as_str(), "{reference:?} on {page}");
            assert_eq!(plain.stripped(&rules), CrawlUrl::spelled(&parsed, &rules), "{reference:?} on {page}");
        }
        // A stored key that is accepted is one that parsing leaves unchanged.
        let origin = page.origin();
        let parsed = CrawlUrl::parse(&format!("{origin}{reference}"), &UrlRules::keep_all());
        let as_written = parsed.ok().filter(|url| url.origin() == origin && url.path_and_query() == reference);
        assert_eq!(origin.url_at(reference).ok(), as_written, "{reference:?} of {origin}");
    }
    if let Err(error) = address.parse::<Origin>() {
        assert_one_line(&error.to_string(), MESSAGE_CHARS_MAX);
    }
}

fn check(parsed: &Result<CrawlUrl, UrlError>, rules: &UrlRules) {
    match parsed {
        Ok(url) => {
            assert_eq!(url.check_invariants(), Ok(()));
            assert_eq!(CrawlUrl::parse(url.as_str(), rules).as_ref(), Ok(url), "parsed again");
            assert_eq!(CrawlUrl::try_from(url.to_string()).as_ref(), Ok(url), "read back");
            assert!(url.origin().is_same_site(&url.origin()));
            assert!(url.query_pairs().count() <= url.as_str().len());
        }
        Err(error) => assert_one_line(&error.to_string(), MESSAGE_CHARS_MAX),
    }
}
