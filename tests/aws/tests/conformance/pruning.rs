//! What pruning costs, and that it may go on anywhere.

use dragline_aws::{DynamoFrontier, DynamoRetained};
use dragline_aws_tests::{Fresh, clients};
use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::frontier::Origins;
use dragline_ports::retention::{PruneMode, Pruning};
use dragline_testkit::conformance::reader::{crawl, crawl_again_and_again};

/// How many segments are decided on at a time.
const BATCH: usize = 2;

async fn crawled(iterations: u32) -> (Fresh, DynamoFrontier) {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    crawl_again_and_again(&frontier, &fresh.documents(), &["a.example"], iterations).await;
    (fresh, frontier)
}

fn retained(fresh: &Fresh, frontier: &DynamoFrontier) -> DynamoRetained {
    DynamoRetained::new(frontier.clone(), fresh.documents()).with_batch_size(BATCH)
}

async fn only_origin(frontier: &DynamoFrontier, crawl: &CrawlId) -> OriginKey {
    let origins = frontier.list_origins(crawl, None, 2).await.unwrap();
    let [origin] = origins.try_into().unwrap();
    OriginKey { crawl: crawl.clone(), origin }
}

/// Drops all iterations but the newest, batch by batch; each with what `of_batch` returns. Returns
/// the segments that went.
async fn prune(origin: &OriginKey, iterations: u32, of_batch: impl Fn() -> DynamoRetained) -> (Vec<SegmentId>, usize) {
    let cut = Iteration::new(iterations - 1).unwrap();
    let (mut gone, mut after, mut batches) = (Vec::new(), None, 0);
    loop {
        let retained = of_batch();
        let pruned = retained.prune_segments(origin, cut, after.as_ref(), PruneMode::Delete).await.unwrap();
        let unused: Vec<_> = pruned.unused.into_iter().map(|unused| unused.segment).collect();
        retained.forget_objects(&unused).await.unwrap();
        gone.extend(unused);
        batches += 1;
        after = pruned.after;
        if after.is_none() {
            return (gone, batches);
        }
    }
}

#[tokio::test]
async fn twice_as_many_segments_take_twice_as_many_requests() {
    let mut requests = Vec::new();
    for iterations in [5, 9, 17] {
        let (fresh, frontier) = crawled(iterations).await;
        let origin = only_origin(&frontier, &crawl()).await;
        let (meter, before) = (&fresh.clients().meter, fresh.clients().meter.usage());
        let one = retained(&fresh, &frontier);
        let (gone, _) = prune(&origin, iterations, || one.clone()).await;
        assert_eq!(gone.len(), iterations as usize - 2, "all but the kept one and the one with the page's body");
        requests.push(meter.usage().since(&before).calls.into_values().sum::<u64>());
    }
    let [few, more, most] = requests[..] else { panic!("three walks") };
    assert!(most - more <= 2 * (more - few) + 1, "for 4, 8 and 16 dropped segments: {requests:?}");
}

#[tokio::test]
async fn a_walk_that_goes_on_elsewhere_drops_the_same() {
    const ITERATIONS: u32 = 7;
    let mut gone_at_once = None;
    for processes in ["one", "one for each batch"] {
        let (fresh, frontier) = crawled(ITERATIONS).await;
        let origin = only_origin(&frontier, &crawl()).await;
        let one = retained(&fresh, &frontier);
        let (mut gone, batches) = match processes {
            "one" => prune(&origin, ITERATIONS, || one.clone()).await,
            _ => prune(&origin, ITERATIONS, || retained(&fresh, &frontier)).await,
        };
        assert!(batches >= 3, "{batches} batches");
        gone.sort_by_key(|id| (id.turn, id.n));
        assert_eq!(*gone_at_once.get_or_insert_with(|| gone.clone()), gone, "{processes}");
    }
}
