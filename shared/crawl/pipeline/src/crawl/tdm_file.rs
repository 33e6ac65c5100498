//! Fetching an origin's `/.well-known/tdmrep.json`, and the meaning of failures.

use dragline_domain::shown::one_line;
use dragline_domain::url::Origin;
use dragline_domain::use_preferences::TdmAnswer;
use dragline_formats::content_coding::DecodedBody;
use dragline_formats::use_preferences::{TDM_FILE_BYTES_MAX, TDM_PATH, read_tdm_file};
use dragline_ports::fetcher::{FetchLimits, FetchedResponse, Fetcher, Truncation};

use super::site_file::{NoSiteFile, fetch_site_file};

/// The limit on the reason why a file cannot be read, in characters.
const REASON_CHARS_MAX: usize = 200;

/// Fetches an origin's file, following redirects as for robots.txt.
///
/// The meaning of an answer is that of one for robots.txt (RFC 9309 section 2.3.1): with 4xx there
/// is no file, except for those that ask for a later request; what cannot be read, or is a wall,
/// may reserve everything.
pub async fn fetch_tdm_file(fetcher: &impl Fetcher, limits: FetchLimits, origin: &Origin) -> TdmAnswer {
    let Ok(asked) = origin.url_at(TDM_PATH) else { return unreadable("the origin has no URL") };
    // One more than is read, to tell a file that is too large.
    let bytes_max = TDM_FILE_BYTES_MAX + 1;
    let read = |response: &FetchedResponse, body: &DecodedBody<'_>| conclusion(response, &body.bytes);
    match fetch_site_file(fetcher, limits, &asked, bytes_max, read).await {
        Ok(answer) => answer,
        Err(NoSiteFile::Failed(failure)) => unreadable(&failure.detail),
        Err(NoSiteFile::Walled(detail)) => unreadable(&detail),
        // Like a robots.txt that redirects in circles: the site has stated nothing.
        Err(NoSiteFile::TooManyRedirects) => TdmAnswer::Missing,
    }
}

/// Returns the meaning of an answer that is neither a wall nor a redirect to follow.
fn conclusion(response: &FetchedResponse, body: &[u8]) -> TdmAnswer {
    match response.status {
        200..=299 if !matches!(response.truncated, None | Some(Truncation::Length)) => unreadable("its body broke off"),
        200..=299 => read_tdm_file(body),
        300..=419 | 421..=428 | 431..=499 => TdmAnswer::Missing,
        status => unreadable(&format!("status {status}")),
    }
}

fn unreadable(why: &str) -> TdmAnswer {
    TdmAnswer::Unreadable(one_line(why, REASON_CHARS_MAX))
}
