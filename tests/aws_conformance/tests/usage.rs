//! What operations cost: their calls, and the units by AWS's rules.

use std::collections::BTreeMap;

use dragline_aws::{Meter, ReadUnits, Usage, WriteUnits};
use dragline_aws_conformance::{Fresh, Story, clients};
use dragline_domain::frontier::{Claim, Committed, Known};
use dragline_ports::frontier::{Candidates, ParseCommitted, Turns};

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
    assert_eq!(frontier.commit_segment(&commit).await.unwrap(), Committed::Done);
    // Segment, lease and chunk, each below 1 KB and counted twice in a transaction. The segment enters the index; the lease keeps its place.
    assert_eq!(since(meter, &before), (calls([("TransactWriteItems", 1)]), WriteUnits(6 + 1), ReadUnits::default()));
    let before = meter.usage();
    assert_eq!(story.parse(&commit.segment).await.unwrap(), ParseCommitted::Done);
    // Reads: lease, inbox, segment, iteration. Writes: segment, which leaves the index, and inbox, which keeps its place.
    let expected = calls([("BatchGetItem", 1), ("TransactWriteItems", 1)]);
    assert_eq!(since(meter, &before), (expected, WriteUnits(4 + 1), ReadUnits { halves: 8 }));
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
    assert_eq!(frontier.claim(&claim).await.unwrap(), vec![Claim::Own { known: Known::default() }; 60]);
    let expected = calls([("BatchGetItem", 1), ("BatchExecuteStatement", 3)]);
    assert_eq!(since(meter, &before), (expected, WriteUnits(60), ReadUnits { halves: 60 }), "all are new");
    let before = meter.usage();
    frontier.claim(&claim).await.unwrap();
    let expected = calls([("BatchGetItem", 1)]);
    assert_eq!(since(meter, &before), (expected, WriteUnits(0), ReadUnits { halves: 60 }), "all are known");
}
