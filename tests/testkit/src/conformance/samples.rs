//! Sample values.

use dragline_domain::frontier::{FieldsDigest, LastCapture, OriginKey, ReadAs, Sighting, TodoEntry};
use dragline_domain::ids::{CrawlId, LeaseToken, TriggerId};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, Origin};
use jiff::Timestamp;

/// The time this many seconds after the beginning of the suites' time.
pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + second).expect("in range")
}

pub(super) fn crawl() -> CrawlId {
    "docs".parse().expect("a name")
}

pub(super) fn trigger(text: &str) -> TriggerId {
    TriggerId(text.to_owned())
}

pub(super) fn token(number: u128) -> LeaseToken {
    LeaseToken::from_bits(number)
}

pub(super) fn origin(host: &str) -> Origin {
    format!("https://{host}").parse().expect("an origin")
}

pub(super) fn key(host: &str) -> OriginKey {
    OriginKey { crawl: crawl(), origin: origin(host) }
}

pub(super) fn url(text: &str) -> CrawlUrl {
    CrawlUrl::try_from(text.to_owned()).expect("a URL")
}

pub(super) fn sighting(depth: u32) -> Sighting {
    let (requisite_steps, read_as) = if depth > 0 { (1, ReadAs::Sitemap) } else { (0, ReadAs::Typed) };
    Sighting { depth, via: (depth > 0).then(|| url("https://a.example/")), requisite_steps, read_as }
}

pub(super) fn entry(path: &str) -> TodoEntry {
    TodoEntry::new(path)
}

pub(super) fn capture(etag: &str) -> LastCapture {
    LastCapture {
        etag: Some(etag.to_owned()),
        last_modified: None,
        payload_sha1: [1; 20],
        decoded_sha1: [2; 20],
        fetched_at: at(3),
        outcome: Outcome::FileIngested,
        read_by: Some(FieldsDigest(u32::MAX)),
    }
}
