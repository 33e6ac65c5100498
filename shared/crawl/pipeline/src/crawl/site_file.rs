//! Fetching a file that speaks for a whole origin, wherever redirects lead.

use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::wall::{self, Head};
use dragline_formats::content_coding::{ContentCodings, DecodedBody, decode_all};
use dragline_formats::robots::REDIRECTS_MAX;
use dragline_ports::fetcher::{FetchFailure, FetchLimits, FetchRequest, FetchedResponse, Fetcher};

/// Why there is no answer for such a file.
#[derive(Debug)]
pub(super) enum NoSiteFile {
    /// A request got no answer.
    Failed(FetchFailure),
    /// A wall stands in its place, with its detail.
    Walled(String),
    /// Too many redirects follow one another.
    TooManyRedirects,
}

/// Requests a file, following redirects (RFC 9309 section 2.3.1.2), and reads its answer of
/// whatever status, with its body decoded as far as that can be, up to this size.
pub(super) async fn fetch_site_file<T>(
    fetcher: &impl Fetcher,
    limits: FetchLimits,
    asked: &CrawlUrl,
    bytes_max: usize,
    read: impl FnOnce(&FetchedResponse, &DecodedBody<'_>) -> T,
) -> Result<T, NoSiteFile> {
    let mut url = asked.clone();
    let limits = FetchLimits { body_bytes_max: bytes_max, decoded_bytes_max: bytes_max as u64, ..limits.reading_all() };
    for _ in 0..=REDIRECTS_MAX {
        let fetched = fetcher.fetch(FetchRequest::new(url.clone(), limits)).await;
        let response = fetched.result.map_err(NoSiteFile::Failed)?;
        let codings = ContentCodings::parse(response.headers.all("content-encoding"));
        let received = response.readable_body();
        let body = decode_all(&codings.unwrap_or(ContentCodings::IDENTITY), &received, bytes_max as u64);
        let head = Head { url: &url, status: response.status, headers: &response.headers };
        if let Some(wall) = wall::find_in_file(asked, &head, &body.bytes) {
            return Err(NoSiteFile::Walled(wall.detail_of_file()));
        }
        match response.redirect_target(&url, &UrlRules::keep_all()) {
            Some(target) => url = target,
            None => return Ok(read(&response, &body)),
        }
    }
    Err(NoSiteFile::TooManyRedirects)
}
