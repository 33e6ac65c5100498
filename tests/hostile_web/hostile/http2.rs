//! HTTP/2 connections that are aborted, and frames without end.

use dragline_domain::outcome::Outcome::{
    self, ConnectionFailed, DidNotUnderstandAnswer, ErrorReadingResponse, FileIngested, RequestTimeout,
};
use dragline_testkit::hostile::http2::{Http2Misdeed, Http2Site};
use dragline_testkit::hostile::{Authority, Flaw, HostileSite, Version};
use dragline_whole_crawls::{Crawled, definition};

use crate::support::{tight, trusting};

const HOST: &str = "site.test";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_misdeed_costs_one_page_and_a_bounded_time() {
    let authority = Authority::named("known");
    let cases: [(Http2Misdeed, &[Outcome], &str); 10] = [
        (Http2Misdeed::ResetStream, &[ConnectionFailed], "a stream reset"),
        (Http2Misdeed::ResetInBody, &[FileIngested], "a stream reset within the body: what came is kept"),
        (Http2Misdeed::GoAway, &[ConnectionFailed], "a connection that goes away"),
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
        let names: Vec<_> = outcomes.iter().map(|outcome| outcome.name()).collect();
        assert!(
            names.contains(&row.outcome_name.as_str()),
            "{why}: {} ({:?}), not {names:?}",
            row.outcome_name,
            row.detail
        );
        assert!(row.duration_ms < Some(4_000), "{why}: {:?}", row.duration_ms);
        assert!(site.requests() >= 2, "{why}: robots.txt and the page were requested");
    }
    assert_unharmed_seed(&crawled);
    assert!(!crawled.every_record().is_empty());
}

#[track_caller]
fn assert_unharmed_seed(crawled: &Crawled) {
    for target in ["/", "/good/before", "/good/after"] {
        assert_eq!(crawled.row(target).outcome, FileIngested.code(), "{target}");
    }
}
