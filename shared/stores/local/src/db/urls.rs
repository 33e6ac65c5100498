//! URLs stored next to the origin that they usually belong to: within it only the path is stored.

use dragline_domain::frontier::Claimer;
use dragline_domain::url::{CrawlUrl, Origin};

use super::StoreError;

/// Returns the URL as stored in a row of this origin: its path and query, which start with `/`, if
/// it is within the origin; otherwise all of it.
pub(crate) fn shorten<'u>(origin: &Origin, url: &'u CrawlUrl) -> &'u str {
    url.as_str().strip_prefix(origin.as_str()).filter(|rest| rest.starts_with('/')).unwrap_or(url.as_str())
}

/// Returns a claimer as stored in a row of this origin: without the origin, if it is a segment of
/// that. Then it starts with `#`, as no other does.
pub(crate) fn shorten_claimer<'c>(origin: &Origin, claimer: &'c Claimer) -> &'c str {
    claimer.as_str().strip_prefix(origin.as_str()).filter(|rest| rest.starts_with('#')).unwrap_or(claimer.as_str())
}

/// Restores a claimer that [`shorten_claimer`] shortened.
pub(crate) fn restore_claimer(origin: &Origin, stored: String) -> Claimer {
    Claimer::from_stored(if stored.starts_with('#') { format!("{origin}{stored}") } else { stored })
}

/// Restores a URL that [`shorten`] shortened.
pub(crate) fn restore(origin: &Origin, stored: String) -> Result<CrawlUrl, StoreError> {
    let text = if stored.starts_with('/') { format!("{origin}{stored}") } else { stored };
    CrawlUrl::try_from(text).map_err(|e| StoreError::Damaged(format!("a stored URL is damaged: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_come_back_as_they_were() {
        let origin: Origin = "https://example.org".parse().unwrap();
        for (url, stored, why) in [
            ("https://example.org/a?b=c", "/a?b=c", "within the origin"),
            ("https://example.org/", "/", "its root"),
            (
                "https://example.org:8443/a",
                "https://example.org:8443/a",
                "another port, although the text starts the same",
            ),
            (
                "https://example.organic/a",
                "https://example.organic/a",
                "another host, although the text starts the same",
            ),
            ("http://example.org/a", "http://example.org/a", "another scheme"),
        ] {
            let url = CrawlUrl::try_from(url.to_owned()).unwrap();
            assert_eq!(shorten(&origin, &url), stored, "{why}");
            assert_eq!(restore(&origin, stored.to_owned()).unwrap(), url, "{why}");
        }
    }

    #[test]
    fn claimers_come_back_as_they_were() {
        let origin: Origin = "https://example.org".parse().unwrap();
        for (claimer, stored, why) in [
            ("https://example.org#1-2", "#1-2", "a segment of the origin"),
            ("https://example.org:8443#1-2", "https://example.org:8443#1-2", "of another port"),
            ("trigger#t", "trigger#t", "a trigger"),
            ("recrawl", "recrawl", "the recrawl"),
        ] {
            let claimer = Claimer::from_stored(claimer.to_owned());
            assert_eq!(shorten_claimer(&origin, &claimer), stored, "{why}");
            assert_eq!(restore_claimer(&origin, stored.to_owned()), claimer, "{why}");
        }
    }
}
