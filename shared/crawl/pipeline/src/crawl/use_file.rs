//! Fetching a file that says how an origin's pages may be used, and the meaning of failures:
//! `/.well-known/tdmrep.json`, and the licence that robots.txt names.

use dragline_domain::shown::one_line;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_domain::use_preferences::{FileAnswer, RslAnswer};
use dragline_formats::content_coding::DecodedBody;
use dragline_formats::robots::RobotsPolicy;
use dragline_formats::use_preferences::{RSL_FILE_BYTES_MAX, read_rsl_file};
use dragline_ports::fetcher::{FetchLimits, FetchedResponse, Fetcher, Truncation};

use super::site_file::{NoSiteFile, fetch_site_file};

/// The limit on the reason why a file cannot be read, in characters.
const REASON_CHARS_MAX: usize = 200;

/// Fetches a file of up to this size, following redirects as for robots.txt, and reads it.
///
/// The meaning of an answer is that of one for robots.txt (RFC 9309 section 2.3.1): with 4xx there
/// is no file, except for those that ask for a later request; what cannot be read, or is a wall,
/// may reserve everything.
pub(super) async fn fetch_use_file<R>(
    fetcher: &impl Fetcher,
    limits: FetchLimits,
    asked: &CrawlUrl,
    bytes_max: usize,
    read: impl Fn(&[u8]) -> FileAnswer<R>,
) -> FileAnswer<R> {
    let conclude = |response: &FetchedResponse, body: &DecodedBody<'_>| conclusion(response, &body.bytes, read);
    // One more than is read, to tell a file that is too large.
    match fetch_site_file(fetcher, limits, asked, bytes_max + 1, conclude).await {
        Ok(answer) => answer,
        Err(NoSiteFile::Failed(failure)) => unreadable(&failure.detail),
        Err(NoSiteFile::Walled(detail)) => unreadable(&detail),
        // Like a robots.txt that redirects in circles: the site has stated nothing.
        Err(NoSiteFile::TooManyRedirects) => FileAnswer::Missing,
    }
}

/// Fetches the licence of an origin at this URL, unless the origin's own robots.txt forbids that.
pub async fn fetch_licence(
    fetcher: &impl Fetcher,
    limits: FetchLimits,
    (origin, policy): (&Origin, &RobotsPolicy),
    url: &CrawlUrl,
) -> RslAnswer {
    if let Some(why) = forbidden(policy, origin, url) {
        return RslAnswer::Unreadable(why);
    }
    fetch_use_file(fetcher, limits, url, RSL_FILE_BYTES_MAX, |body| read_rsl_file(body, origin)).await
}

/// Returns how the robots.txt of an origin forbids to request a file; `None` if it does not, or the
/// file is elsewhere.
pub(super) fn forbidden(policy: &RobotsPolicy, origin: &Origin, url: &CrawlUrl) -> Option<String> {
    let verdict = policy.verdict(url.path_and_query());
    (url.origin() == *origin && !verdict.is_allowed()).then(|| verdict.to_string())
}

/// Returns the meaning of an answer that is neither a wall nor a redirect to follow.
fn conclusion<R>(response: &FetchedResponse, body: &[u8], read: impl Fn(&[u8]) -> FileAnswer<R>) -> FileAnswer<R> {
    match response.status {
        200..=299 if !matches!(response.truncated, None | Some(Truncation::Length)) => unreadable("its body broke off"),
        200..=299 => read(body),
        300..=419 | 421..=428 | 431..=499 => FileAnswer::Missing,
        status => unreadable(&format!("status {status}")),
    }
}

fn unreadable<R>(why: &str) -> FileAnswer<R> {
    FileAnswer::Unreadable(one_line(why, REASON_CHARS_MAX))
}
