//! Faults between the SDK and DynamoDB: transient ones are retried, completed work is recognised,
//! and refusals are not retried.

use std::time::Duration;

use dragline_aws::{ATTEMPTS_MAX, Call, DynamoFrontier, http_client};
use dragline_aws_tests::faults::{Fault, Faults};
use dragline_aws_tests::{Fresh, Story, at, clients_over};
use dragline_domain::frontier::{
    Claim, Holder, HostRequest, HostWaiter, LeaseState, OriginKey, Release, ReleaseRefused, SegmentCommitted,
    TakeRefused, UrlHistory,
};
use dragline_domain::ids::{Iteration, LeaseToken, Turn};
use dragline_domain::politeness::Pace;
use dragline_domain::url::{HostKey, Origin};
use dragline_ports::error::PortErrorKind;
use dragline_ports::frontier::{
    Candidates, Endings, GiveBackHost, Hosts, Iterations as _, Overdue, OverdueKinds, OverdueWork, ParseCommitted,
    Parses, ReleaseLease, SeedResult, SettleResult, Turns,
};
use futures_util::future::join;

/// A frontier that faults strike, and the meter of its calls.
struct Faulty {
    faults: Faults,
    fresh: Fresh,
    frontier: DynamoFrontier,
}

impl Faulty {
    async fn new() -> Self {
        let faults = Faults::default();
        let fresh = Fresh::new(clients_over(faults.over(http_client())).await);
        let frontier = fresh.frontier().await;
        Self { faults, fresh, frontier }
    }

    fn calls(&self, operation: &str) -> u64 {
        let call = Call { service: "DynamoDB".to_owned(), operation: operation.to_owned() };
        self.fresh.clients().meter.usage().calls.get(&call).copied().unwrap_or(0)
    }
}

#[tokio::test]
async fn a_conflict_of_transactions_passes() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    let lease = story.take(1).await.unwrap().unwrap();
    let commit = story.segment(&lease).await;
    faulty.faults.plan("TransactWriteItems", &[Fault::Conflict; 3]);
    assert_eq!(faulty.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
    assert!(faulty.faults.are_over(), "it was tried four times");
    assert_eq!(story.rows().await.lease.segments, 1, "but done once");
}

#[tokio::test]
async fn a_conflict_that_does_not_pass_is_an_error() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    faulty.faults.plan("TransactWriteItems", &[Fault::Conflict; 100]);
    let error = story.take(1).await.unwrap_err();
    assert_eq!((error.kind, error.operation), (PortErrorKind::Unavailable, "take lease"), "{error}");
}

#[tokio::test]
async fn throttling_passes() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    for operation in ["BatchGetItem", "TransactWriteItems"] {
        faulty.faults.plan(operation, &[Fault::Throttled; 2]);
    }
    assert!(story.take(1).await.unwrap().is_ok(), "the lease is given");
    assert!(faulty.faults.are_over());
}

#[tokio::test]
async fn what_a_batch_puts_off_is_asked_for_again() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    faulty.faults.plan("BatchGetItem", &[Fault::PutOff; 2]);
    faulty.faults.plan("BatchExecuteStatement", &[Fault::PutOff; 2]);
    let claims = faulty.frontier.claim(&story.claim(&["/a", "/b"])).await.unwrap();
    assert_eq!(claims, [Claim::Own { known: UrlHistory::default() }, Claim::Own { known: UrlHistory::default() }]);
    assert!(faulty.faults.are_over());
    faulty.faults.plan("BatchGetItem", &[Fault::PutOff; 100]);
    let error = faulty.frontier.claim(&story.claim(&["/a"])).await.unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Unavailable, "retries are limited: {error}");
}

#[tokio::test]
async fn a_write_whose_answer_got_lost_is_done_once() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    let lose = || faulty.faults.plan("TransactWriteItems", &[Fault::AnswerLost]);
    lose();
    let lease = story.take(1).await.unwrap().expect("the lease is ours");
    let commit = story.segment(&lease).await;
    lose();
    assert_eq!(faulty.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
    lose();
    assert_eq!(story.parse(&commit.segment).await.unwrap(), ParseCommitted::Done);
    assert!(faulty.faults.are_over());
    let rows = story.rows().await;
    assert_eq!((rows.lease.segments, rows.inbox.parsed, rows.inbox.counters.processed), (1, 1, 1), "each once");
    let progress = faulty.frontier.progress(&story.origin.crawl, Iteration::FIRST).await.unwrap();
    let counted = (progress.added, progress.taken, progress.segments, progress.parsed, progress.parser.processed);
    assert_eq!(counted, (1, 1, 1, 1, 1), "and counted once");
}

#[tokio::test]
async fn whoever_lost_all_answers_may_try_again() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    let lose_all = || faulty.faults.plan("TransactWriteItems", &[Fault::AnswerLost; ATTEMPTS_MAX as usize]);
    lose_all();
    assert_eq!(story.take(1).await.unwrap_err().kind, PortErrorKind::Unavailable);
    let lease = story.take(1).await.unwrap().expect("the same token holds it");
    assert_eq!(story.take(2).await.unwrap(), Err(TakeRefused::Held), "another token does not");
    let commit = story.segment(&lease).await;
    lose_all();
    assert_eq!(faulty.frontier.commit_segment(&commit).await.unwrap_err().kind, PortErrorKind::Unavailable);
    assert_eq!(faulty.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
    assert_eq!(story.seed().await.unwrap(), SeedResult::Already);
    assert_eq!(story.rows().await.lease.segments, 1);
}

#[tokio::test]
async fn a_failed_condition_is_not_repeated() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    let lease = story.take(1).await.unwrap().unwrap();
    let mut commit = story.segment(&lease).await;
    commit.segment.token = LeaseToken::from_bits(2);
    let before = faulty.calls("TransactWriteItems");
    assert_eq!(faulty.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Fenced);
    assert_eq!(faulty.calls("TransactWriteItems") - before, 1);
}

#[tokio::test]
async fn a_conflict_of_a_single_write_passes() {
    let faulty = Faulty::new().await;
    // An address has no domain, so only its own row is written.
    let origin: Origin = "http://192.0.2.7".parse().unwrap();
    let (host, token, pace) =
        (HostKey::from_origin(&origin), LeaseToken::from_bits(1), Pace::new(Duration::from_secs(1)));
    let origin = OriginKey { crawl: "c".parse().unwrap(), origin };
    let waiter = HostWaiter { origin, iteration: Iteration::FIRST, turn: Turn(1), delay: pace.delay() };
    let (until, now, alive) = (at(60), at(0), Vec::new());
    let ask = HostRequest { waiter, token: token.clone(), until, alive, hosts_per_domain: None, pace, now };
    faulty.faults.plan("PutItem", &[Fault::Conflict; 2]);
    assert!(faulty.frontier.take_host(&host, &ask).await.unwrap().is_ok());
    assert!(faulty.faults.are_over());
    faulty.faults.plan("PutItem", &[Fault::Conflict; 2]);
    let back = GiveBackHost { host: host.clone(), token, free_from: at(9), pace, now: at(9) };
    faulty.frontier.give_back_host(&back).await.unwrap();
    assert!(faulty.faults.are_over());
    assert_eq!(faulty.frontier.load_host(&host).await.unwrap().unwrap().holder, None);
}

#[tokio::test]
async fn a_conflict_beside_a_refusal_passes_before_anything_is_decided() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    let lease = story.take(1).await.unwrap().unwrap();
    let commit = story.segment(&lease).await;
    faulty.faults.plan("TransactWriteItems", &[Fault::ConflictBesideRefusal; 2]);
    assert_eq!(faulty.frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
    assert!(faulty.faults.are_over());
}

#[tokio::test]
async fn a_release_whose_answer_got_lost_is_our_own() {
    for how in [Release::Wake { not_before: at(9) }, Release::Idle] {
        let faulty = Faulty::new().await;
        let story = Story::begin(&faulty.frontier).await;
        let commit = story.commit().await;
        let release = ReleaseLease {
            origin: story.origin.clone(),
            token: commit.segment.token,
            lease: commit.lease,
            seen: story.rows().await.inbox,
            how,
            free_from: at(9),
            now: at(9),
        };
        for operation in ["PutItem", "TransactWriteItems"] {
            faulty.faults.plan(operation, &[Fault::AnswerLost]);
        }
        assert_eq!(faulty.frontier.release(&release).await.unwrap(), Ok(()), "{how:?}: the SDK retries");
        assert_eq!(faulty.frontier.release(&release).await.unwrap(), Ok(()), "{how:?}: so may the caller");
        let other = ReleaseLease { token: LeaseToken::from_bits(9), how: Release::Close, ..release };
        assert_eq!(
            faulty.frontier.release(&other).await.unwrap(),
            Err(ReleaseRefused::Fenced),
            "a release by another token is not"
        );
    }
}

#[tokio::test]
async fn a_takeover_does_not_undo_a_commit_that_came_first() {
    let faulty = Faulty::new().await;
    let frontier = faulty.fresh.frontier_over(&clients_over(http_client()).await);
    let story = Story::begin(&frontier).await;
    let lease = story.take(1).await.unwrap().unwrap();
    let mut commit = story.segment(&lease).await;
    commit.lease.state = LeaseState::Leased(Holder { until: at(620), ..lease.holder().unwrap().clone() });
    faulty.faults.plan("TransactWriteItems", &[Fault::Held]);
    let request = story.request_to_take(2, 500);
    let take_over = faulty.frontier.take_lease(&story.origin, Iteration::FIRST, &request);
    let commit_late = async {
        faulty.faults.until_held().await;
        assert_eq!(
            frontier.commit_segment(&commit).await.unwrap(),
            SegmentCommitted::Done,
            "it has not been taken over yet"
        );
        faulty.faults.let_pass();
    };
    let (taken, ()) = join(Box::pin(take_over), commit_late).await;
    assert_eq!(taken.unwrap(), Err(TakeRefused::Held), "the holder is alive");
    assert_eq!(story.rows().await.lease, commit.lease, "its commit stands");
}

#[tokio::test]
async fn batches_of_what_is_read_together_are_requested_at_the_same_time() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    let paths: Vec<String> = (0..150).map(|n| format!("/{n}")).collect();
    let claim = story.claim(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    faulty.faults.plan("BatchGetItem", &[Fault::Held, Fault::Held]);
    let both_are_held = async {
        faulty.faults.until_held().await;
        while !faulty.faults.are_over() {
            tokio::task::yield_now().await;
        }
        faulty.faults.let_pass();
        faulty.faults.let_pass();
    };
    let both_are_held = tokio::time::timeout(Duration::from_secs(20), both_are_held);
    let (claims, held) = join(Box::pin(faulty.frontier.claim(&claim)), both_are_held).await;
    held.expect("the second does not wait for the first");
    assert_eq!(claims.unwrap().len(), 150);
}

#[tokio::test]
async fn an_index_that_lags_does_no_harm() {
    let faulty = Faulty::new().await;
    let story = Story::begin(&faulty.frontier).await;
    let commit = story.commit().await;
    let segment = Overdue::Segment(commit.segment.id.clone(), commit.segment.iteration);
    let overdue = || faulty.frontier.overdue(&story.origin.crawl, at(10_000), OverdueKinds::All, 10);
    let first = overdue().await.unwrap();
    assert!(first.contains(&segment), "{first:?}");
    faulty.faults.freeze_index();
    story.parse(&commit.segment).await.unwrap();
    let new = story.segment(&commit.lease).await;
    faulty.frontier.commit_segment(&new).await.unwrap();
    let late = overdue().await.unwrap();
    let new = Overdue::Segment(new.segment.id, new.segment.iteration);
    assert!(!late.contains(&new), "the index does not show new work: {late:?}");
    assert!(!late.contains(&segment), "for finished work that the index still shows, the row decides: {late:?}");
    faulty.frontier.postpone(&segment, at(20_000)).await.unwrap();
    let row = faulty.frontier.load_segment(&commit.segment.id).await.unwrap().unwrap();
    assert_eq!(row.due, None, "the row says that nothing is due");
    let seen = story.rows().await;
    assert_eq!(faulty.frontier.settle(&story.origin, &seen).await.unwrap(), SettleResult::Changed, "its lease is held");
}
