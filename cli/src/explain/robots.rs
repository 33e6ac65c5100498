//! Getting a site's robots.txt without a crawl.

use dragline_domain::url::{CrawlUrl, Origin, UrlRules};
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::robots::{BODY_BYTES_MAX, REDIRECTS_MAX, RobotsFetch, RobotsRecord};
use dragline_pipeline::ports::fetcher::{
    FetchFailureKind, FetchLimits, FetchRequest, FetchedResponse, Fetcher, Truncation,
};

/// What is known of a site's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SiteRobots {
    /// What it says, or that it does not say anything.
    Record(RobotsRecord),
    /// It would be got from an address that Dragline never talks to, as this says.
    PrivateAddress(String),
}

/// Fetches the origin's robots.txt, following redirects wherever they lead, as a crawl does.
pub(super) async fn fetch(fetcher: &impl Fetcher, limits: FetchLimits, origin: &Origin) -> SiteRobots {
    let failed = |detail: &str| SiteRobots::Record(RobotsRecord::of(&RobotsFetch::Failed { detail }));
    let Ok(mut url) = origin.url_at("/robots.txt") else { return failed("the origin has no URL") };
    let limits = FetchLimits { body_bytes_max: BODY_BYTES_MAX, decoded_bytes_max: BODY_BYTES_MAX as u64, ..limits };
    for _ in 0..=REDIRECTS_MAX {
        let request = FetchRequest { url: url.clone(), if_none_match: None, if_modified_since: None, limits };
        let response = match fetcher.fetch(request).await.result {
            Ok(response) => response,
            Err(failure) if failure.kind == FetchFailureKind::PrivateAddress => {
                return SiteRobots::PrivateAddress(failure.detail);
            }
            Err(failure) => return failed(&failure.detail),
        };
        match redirect_target(&url, &response) {
            Some(target) => url = target,
            None => return SiteRobots::Record(record(&response)),
        }
    }
    SiteRobots::Record(RobotsRecord::of(&RobotsFetch::TooManyRedirects))
}

fn redirect_target(url: &CrawlUrl, response: &FetchedResponse) -> Option<CrawlUrl> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let (_, location) = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
    url.join(std::str::from_utf8(location).ok()?, &UrlRules::keep_all()).ok()
}

fn record(response: &FetchedResponse) -> RobotsRecord {
    if matches!(response.truncated, Some(Truncation::Disconnect | Truncation::Time)) {
        return RobotsRecord::of(&RobotsFetch::Failed { detail: "its body broke off" });
    }
    let codings = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let Ok(codings) = ContentCodings::parse(codings.map(|(_, value)| value.as_slice())) else {
        return RobotsRecord::of(&RobotsFetch::Failed { detail: "its content coding is unknown" });
    };
    let body = decode_all(&codings, &response.body, BODY_BYTES_MAX as u64);
    RobotsRecord::of(&RobotsFetch::Answered { status: response.status, body: &body.bytes })
}
