//! What operations cost: their calls, and the units by AWS's rules.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_aws::{DynamoReader, Meter, ReadUnits, Usage, WriteUnits};
use dragline_aws_tests::{Fresh, Story, at, clients};
use dragline_domain::frontier::{Claim, HostRequest, HostWaiter, OriginKey, SegmentCommitted, TakeRefused, UrlHistory};
use dragline_domain::ids::{Iteration, LeaseToken, Turn};
use dragline_domain::politeness::Pace;
use dragline_domain::url::HostKey;
use dragline_ports::frontier::{Candidates, Hosts, Iterations as _, ParseCommitted, Turns};
use dragline_ports::reader::{Filter, Reader as _};
use dragline_testkit::conformance::reader::{crawl, crawl_again_and_again};

/// The usage since then.
fn since(meter: &Meter, before: &Usage) -> (BTreeMap<String, u64>, WriteUnits, ReadUnits) {
    let used = meter.usage().since(before);
    let (writes, reads) = (used.writes_of_all(), used.reads_of_all());
    (used.calls.into_iter().map(|(call, count)| (call.operation, count)).collect(), writes, reads)
}

fn calls<const N: usize>(calls: [(&str, u64); N]) -> BTreeMap<String, u64> {
    calls.into_iter().map(|(operation, count)| (operation.to_owned(), count)).collect()
}

#[tokio::test]
async fn a_segments_commit_is_one_call_and_its_rows_twice() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let story = Story::begin(&frontier).await;
    let lease = story.take(1).await.unwrap().unwrap();
    let commit = story.segment(&lease).await;
    let (meter, before) = (&fresh.clients().meter, fresh.clients().meter.usage());
    assert_eq!(frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
    // Segment, lease, chunk and counts, each below 1 KB and counted twice in a transaction. The
    // segment enters the index; the lease keeps its place.
    assert_eq!(since(meter, &before), (calls([("TransactWriteItems", 1)]), WriteUnits(8 + 1), ReadUnits::default()));
    let before = meter.usage();
    assert_eq!(story.parse(&commit.segment).await.unwrap(), ParseCommitted::Done);
    // Reads: lease, inbox, segment, iteration. Writes: segment, which leaves the index, inbox,
    // which keeps its place, and counts.
    let expected = calls([("BatchGetItem", 1), ("TransactWriteItems", 1)]);
    assert_eq!(since(meter, &before), (expected, WriteUnits(6 + 1), ReadUnits { halves: 8 }));
}

/// The iteration's row, and all rows of its counts at once.
#[tokio::test]
async fn the_progress_of_an_iteration_takes_two_requests_however_many_origins_it_has() {
    for origins in [1, 40] {
        let fresh = Fresh::new(clients().await);
        let frontier = fresh.frontier().await;
        for n in 0..origins {
            Story::begin_at(&frontier, &format!("https://{n}.example")).await;
        }
        let (meter, before) = (&fresh.clients().meter, fresh.clients().meter.usage());
        let progress = frontier.progress(&"docs".parse().unwrap(), Iteration::FIRST).await.unwrap();
        assert_eq!((progress.origins, progress.origins_open, progress.added), (origins, origins, origins));
        let expected = calls([("GetItem", 1), ("BatchGetItem", 1)]);
        assert_eq!(since(meter, &before).0, expected, "{origins} origins");
    }
}

/// While all places of a domain are taken and its queue is full, whoever looks again pays for its
/// reads alone.
#[tokio::test]
async fn a_host_that_finds_its_domains_queue_full_writes_nothing() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let story = Story::begin_at(&frontier, "https://last.site.example").await;
    let ask = |by: u128| HostRequest {
        waiter: HostWaiter {
            origin: OriginKey { origin: format!("https://{by}.site.example").parse().unwrap(), ..story.origin.clone() },
            iteration: Iteration::FIRST,
            turn: Turn(1),
            delay: Duration::from_secs(1),
        },
        token: LeaseToken::from_bits(by),
        until: at(600),
        alive: Vec::new(),
        hosts_per_domain: Some(4),
        pace: Pace::new(Duration::from_secs(1)),
        now: at(0),
    };
    for by in 100..120 {
        let host = HostKey::from_origin(&ask(by).waiter.origin.origin);
        let is_taken = frontier.take_host(&host, &ask(by)).await.unwrap().is_ok();
        assert_eq!(is_taken, by < 104, "four places, and sixteen wait");
    }
    let meter = &fresh.clients().meter;
    for second in [1, 121] {
        let before = meter.usage();
        let take = story.request_to_take(1, second);
        let taken = frontier.take_lease(&story.origin, Iteration::FIRST, &take).await.unwrap();
        assert!(matches!(taken, Err(TakeRefused::HostBusy { .. })), "{taken:?}");
        let (calls_made, writes, _) = since(meter, &before);
        assert_eq!((calls_made, writes), (calls([("BatchGetItem", 1)]), WriteUnits(0)), "after {second} s");
    }
}

#[tokio::test]
async fn known_links_cost_a_read_and_new_ones_a_write_too() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let story = Story::begin(&frontier).await;
    let paths: Vec<String> = (0..60).map(|n| format!("/{n}")).collect();
    let claim = story.claim(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let meter = &fresh.clients().meter;
    let before = meter.usage();
    assert_eq!(frontier.claim(&claim).await.unwrap(), vec![Claim::Own { known: UrlHistory::default() }; 60]);
    let expected = calls([("BatchGetItem", 1), ("BatchExecuteStatement", 3)]);
    assert_eq!(since(meter, &before), (expected, WriteUnits(60), ReadUnits { halves: 60 }), "all are new");
    let before = meter.usage();
    frontier.claim(&claim).await.unwrap();
    let expected = calls([("BatchGetItem", 1)]);
    assert_eq!(since(meter, &before), (expected, WriteUnits(0), ReadUnits { halves: 60 }), "all are known");
}

/// The graph needs pages and links; the index and the report need documents.
#[tokio::test]
async fn what_a_publication_reads_several_times_costs_once() {
    let fresh = Fresh::new(clients().await);
    let (frontier, documents) = (fresh.frontier().await, fresh.documents());
    crawl_again_and_again(&frontier, &documents, &["a.example"], 3).await;
    let reader = DynamoReader::new(frontier, documents.with_cache(1 << 20), crawl());
    let (all, meter) = (&Filter::default(), &fresh.clients().meter);
    let before = meter.usage();
    assert_eq!(reader.pages(all, None, 100).await.unwrap().rows.len(), 1);
    let (first, ..) = since(meter, &before);
    assert_eq!(first["GetObject"], 1, "its documents");
    let before = meter.usage();
    reader.links(all, None, 100).await.unwrap();
    for _of in ["the index", "the report"] {
        assert_eq!(reader.shown_documents(all, None, 100).await.unwrap().rows.len(), 1);
    }
    let (rest, ..) = since(meter, &before);
    // Its origins, its candidates, and the row of the segment; no candidate by itself, and no
    // object.
    let expected = calls([("Query", 3 * (first["Query"])), ("BatchGetItem", 3)]);
    assert_eq!((first["BatchGetItem"], rest), (1, expected));
}

#[tokio::test]
async fn urls_of_many_small_sites_are_read_with_the_list_of_all() {
    let fresh = Fresh::new(clients().await);
    let (frontier, documents) = (fresh.frontier().await, fresh.documents());
    let hosts = ["a.example", "b.example", "c.example"];
    crawl_again_and_again(&frontier, &documents, &hosts, 1).await;
    let reader = DynamoReader::new(frontier, documents.with_cache(1 << 20), crawl());
    let meter = &fresh.clients().meter;
    let before = meter.usage();
    assert_eq!(reader.pages(&Filter::default(), None, 100).await.unwrap().rows.len(), hosts.len());
    // The row of each segment, and no candidate by itself.
    assert_eq!(since(meter, &before).0["BatchGetItem"], 3, "the sites' pages are of one batch");
}

#[tokio::test]
async fn what_a_site_shows_costs_the_same_however_often_it_was_crawled() {
    let read = async |iterations: u32| {
        let fresh = Fresh::new(clients().await);
        let (frontier, documents) = (fresh.frontier().await, fresh.documents());
        crawl_again_and_again(&frontier, &documents, &["a.example"], iterations).await;
        let reader = DynamoReader::new(frontier, documents, crawl());
        let (all, meter) = (&Filter::default(), &fresh.clients().meter);
        let before = meter.usage();
        let (pages, links) = (reader.pages(all, None, 100).await.unwrap(), reader.links(all, None, 100).await.unwrap());
        let documents = reader.shown_documents(all, None, 100).await.unwrap();
        assert_eq!((pages.rows.len(), links.rows.len(), documents.rows.len()), (1, 0, 1));
        since(meter, &before)
    };
    assert_eq!(read(2).await, read(12).await);
}
