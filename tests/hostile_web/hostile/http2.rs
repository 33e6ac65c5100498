//! HTTP/2 connections that are aborted, and frames without end.

use std::time::Duration;

use dragline_domain::outcome::Outcome::{
    self, ConnectionFailed, DidNotUnderstandAnswer, ErrorReadingResponse, FileIngested, RateLimited, RequestTimeout,
};
use dragline_testkit::hostile::http2::{Http2Error, Http2Misdeed, Http2Site};
use dragline_testkit::hostile::{Authority, Flaw, HostileSite, Version};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::{tight, trusting};

const HOST: &str = "site.test";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_misdeed_costs_one_page_and_a_bounded_time() {
    let authority = Authority::named("known");
    let cases: [(Http2Misdeed, &[Outcome], &str); 8] = [
        (Http2Misdeed::ResetInBody, &[FileIngested], "a stream reset within the body: what came is kept"),
        (
            Http2Misdeed::EmptyData,
            &[FileIngested, ErrorReadingResponse],
            "a body of nothing, without end: cut, or given up",
        ),
        (Http2Misdeed::Continuations, &[DidNotUnderstandAnswer], "a header without end"),
        (Http2Misdeed::Pings, &[RequestTimeout, ConnectionFailed], "pings without end: too late, or hung up"),
        (Http2Misdeed::Settings, &[RequestTimeout, ConnectionFailed], "settings without end: too late, or hung up"),
        (Http2Misdeed::OversizedFrame, &[DidNotUnderstandAnswer], "a frame larger than the negotiated maximum"),
        (Http2Misdeed::EmptyFields(1_999), &[FileIngested], "as many fields as are archived, the type included"),
        (Http2Misdeed::EmptyFields(2_000), &[DidNotUnderstandAnswer], "one field more than that"),
    ];
    let good = HostileSite::beside_good_pages(Vec::new()).await;
    let mut seeds = vec![good.url("/")];
    let mut sites = Vec::new();
    for (misdeed, ..) in cases {
        let site = Http2Site::start(authority.acceptor(HOST, Flaw::None, Version::Http2), misdeed).await;
        seeds.push(site.named(HOST, "/"));
        sites.push(site);
    }
    let crawled = Crawled::over(trusting(vec![authority.root()]), &definition(&seeds, tight)).await;
    for ((site, seed), (_, outcomes, why)) in sites.iter().zip(&seeds[1..]).zip(cases) {
        let row = crawled.row(seed);
        assert!(outcomes.contains(&row.outcome), "{why}: {} ({:?}), not {outcomes:?}", row.outcome, row.detail);
        assert!(row.duration_ms < Some(4_000), "{why}: {:?}", row.duration_ms);
        assert!(site.requests().len() >= 2, "{why}: robots.txt and the page were requested");
    }
    assert_unharmed_seed(&crawled);
    assert!(!crawled.every_record().is_empty());
}

#[track_caller]
fn assert_unharmed_seed(crawled: &Crawled) {
    for target in ["/", "/good/before", "/good/after"] {
        assert_eq!(crawled.row(target).outcome, FileIngested, "{target}");
    }
}

/// The delay between requests; a busy machine delays some of them by half of it.
const DELAY: Duration = Duration::from_millis(200);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_fails_over_http_2_is_sent_again_only_where_that_may_help_and_at_the_pace() {
    use Http2Error::{Cancel, EnhanceYourCalm, Http11Required, Internal, Protocol, RefusedStream};
    use Http2Misdeed::{ConnectionField, GoAway, Reset};
    let authority = Authority::named("known");
    // What it does at each request for its page; whether it speaks HTTP/1.1, too; how the page
    // ends; how many requests it gets for it; why.
    type Case = (Http2Misdeed, Version, Outcome, usize, &'static str);
    let cases: [Case; 9] = [
        (Reset(Internal), Version::Both, ConnectionFailed, 3, "it may have been processed: three tries"),
        (Reset(Cancel), Version::Both, ConnectionFailed, 3, "three tries"),
        (Reset(Protocol), Version::Both, ConnectionFailed, 3, "three tries"),
        (Reset(RefusedStream), Version::Both, ConnectionFailed, 6, "not processed: each try once more"),
        (GoAway(Internal), Version::Both, ConnectionFailed, 6, "not processed: each try once more"),
        (Reset(EnhanceYourCalm), Version::Both, RateLimited, 3, "it is asked less, not more"),
        (GoAway(EnhanceYourCalm), Version::Both, RateLimited, 3, "the same for the whole connection"),
        (Reset(Http11Required), Version::Both, FileIngested, 2, "over HTTP/1.1, then"),
        (ConnectionField, Version::Both, FileIngested, 2, "the same: HTTP/2 allows no such answer"),
    ];
    let (mut seeds, mut sites) = (Vec::new(), Vec::new());
    for (n, (misdeed, version, ..)) in cases.into_iter().enumerate() {
        // A host of its own each, as hosts share their pace.
        let host = format!("site-{n}.test");
        let site = Http2Site::start(authority.acceptor(&host, Flaw::None, version), misdeed).await;
        seeds.push(site.named(&host, "/"));
        sites.push(site);
    }
    let definition = definition(&seeds, |draft| {
        tight(draft);
        draft.politeness.delay = DELAY;
        draft.politeness.concurrency = 1;
    });
    let crawled = Crawled::over(trusting(vec![authority.root()]), &definition).await;
    for (n, (site, (misdeed, _, outcome, expected, why))) in sites.iter().zip(cases).enumerate() {
        let url = if n == 0 { "/" } else { &seeds[n] };
        let row = crawled.row(url);
        assert_eq!(row.outcome, outcome, "{misdeed:?}: {why}: {:?}", row.detail);
        let requests = site.requests();
        // The first is for robots.txt.
        assert_eq!(requests.len() - 1, expected, "{misdeed:?}: {why}");
        let logged = crawled.requests_of(url);
        assert!(requests.len() as u64 - 1 <= logged, "{misdeed:?}: the log tells of {logged}");
        for pair in requests.windows(2) {
            assert!(pair[1] - pair[0] >= DELAY / 2, "{misdeed:?}: {why}: {:?}", pair[1] - pair[0]);
        }
    }
}
