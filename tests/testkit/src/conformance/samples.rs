//! Sample values.

use dragline_domain::frontier::{FieldsDigest, LastCapture, OriginKey, ReadAs, Sighting, TodoEntry};
use dragline_domain::ids::{CrawlId, LeaseToken, TriggerId};
use dragline_domain::markup::Markup;
use dragline_domain::outcome::Outcome;
use dragline_domain::rendering::{PageMethod, PageRefusal, PageRequest, PageRequestEnd};
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_domain::use_preferences::{Purpose, UseSource, UseStand, UseStands, UseStatement};
use dragline_ports::reader::Uses;
use jiff::Timestamp;

/// What a page requested: an answer, a refusal and a failure.
pub(super) fn page_requests() -> Vec<PageRequest> {
    let request = |path: &str, end| PageRequest {
        url: url(&format!("https://a.example{path}")),
        method: PageMethod::Get,
        at: at(1),
        end,
    };
    let failed = "timed out: after 30 s".to_owned();
    let posted = request("/graphql", PageRequestEnd::Refused { refused: PageRefusal::Definition });
    vec![
        request("/list.json", PageRequestEnd::Answered { status: 200, body_bytes: 20, elapsed_ms: 12 }),
        PageRequest { method: PageMethod::Post, ..posted },
        request("/slow.json", PageRequestEnd::Failed { failed }),
    ]
}

/// A statement about use.
pub(super) fn uses() -> Uses {
    let says = UseStands::NOTHING.with(Purpose::AiTrain, UseStand::Reserved);
    Uses(vec![UseStatement::new(UseSource::Header, "content-usage: train-ai=n", says)])
}

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

/// What the markup of a page tells.
pub(super) fn markup() -> Markup {
    let json = r#"{
        "h1": 2, "undescribed": 3, "undescribed_links": [0], "anchors": "0000000afffffff0", "languages": [{"link": 1, "code": "x-default"}],
        "malformed": [{"kind": "a", "written": "htp://\u0000\"x\"", "why": "scheme_mistyped", "text": "x"}],
        "uses": [{"link": 0, "fragment": "\u00fc", "part": "nav", "rel": "nofollow", "alt": "", "text": "x"}, {}], "is_cut": true
    }"#;
    serde_json::from_str(json).expect("it is markup")
}
