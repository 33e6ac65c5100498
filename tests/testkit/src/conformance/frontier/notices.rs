//! Notices that still have to be sent.

use dragline_domain::frontier::LeftoverReason;
use dragline_ports::frontier::{Fact, Frontier, IterationClosed, NoticeKept, NoticeState, OwedNotice};
use dragline_ports::notifier::Notice;
use futures_util::future::join_all;

use super::super::lag::assert_comes_to;
use super::super::samples::{at, crawl, key};
use super::super::world::{UNLIMITED, World};

/// A notice that is due from this second on.
fn ended(count: u64, second: i64) -> OwedNotice {
    let notice = Notice::OriginEnded { origin: key("a.example"), reason: LeftoverReason::Stopped, count };
    OwedNotice::new(notice, at(second), at(second))
}

/// Checks which notices are due at this second.
async fn assert_owed(frontier: &impl Frontier, second: i64, expected: &[&OwedNotice], why: &str) {
    let owed = async || frontier.owed_notices(at(second), 10).await.unwrap();
    assert_comes_to(owed, expected.iter().map(|&owed| owed.clone()).collect::<Vec<_>>(), why).await;
}

/// Closing an iteration stores its notice once, in the same transaction, as the closer may die
/// before sending it.
pub async fn the_end_of_an_iteration_is_owed_until_it_is_told(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    assert_owed(frontier, 1_000, &[], "it runs").await;
    frontier.return_token(&crawl(), world.iteration).await.unwrap();
    let closed = frontier.close_iteration(&crawl(), world.iteration, at(100)).await.unwrap();
    let IterationClosed::Now(row) = closed else { panic!("nothing is open: {closed:?}") };
    let owed = OwedNotice::iteration_closed(&row, at(100));
    assert_owed(frontier, 100, &[&owed], "from its end on").await;
    frontier.close_iteration(&crawl(), world.iteration, at(200)).await.unwrap();
    assert_owed(frontier, 1_000, &[&owed], "closing it again adds no notice").await;
    for why in ["sent", "sent twice"] {
        frontier.forget_notice(&owed).await.unwrap();
        assert_owed(frontier, 1_000, &[], why).await;
    }
}

/// A notice is kept until it is sent. The one due longest comes first; keeping one again changes
/// nothing.
pub async fn a_notice_is_kept_until_it_is_told(frontier: &impl Frontier) {
    let (late, early) = (ended(7, 60), ended(8, 30));
    assert_ne!(late.key, early.key, "their keys differ");
    for owed in [&late, &early, &late] {
        assert_eq!(frontier.owe_notice(owed).await.unwrap(), NoticeKept::Kept);
    }
    assert_owed(frontier, 29, &[], "neither is due").await;
    assert_owed(frontier, 59, &[&early], "one is").await;
    assert_owed(frontier, 60, &[&early, &late], "both are, in this order").await;
    frontier.forget_notice(&early).await.unwrap();
    assert_owed(frontier, 60, &[&late], "the other was sent").await;
}

/// Of many who mark a fact as told one is the first, in each crawl.
pub async fn a_fact_is_told_once_by_crawl(frontier: &impl Frontier) {
    let (fact, other) = (Fact::from_text("Game.hero is missing"), Fact::from_text("Game.price is missing"));
    let own = crawl();
    let marks = join_all((0..4).map(|second| frontier.mark_told(&own, &fact, at(second)))).await;
    let first = marks.into_iter().filter(|told| matches!(told, Ok(NoticeState::Now))).count();
    assert_eq!(first, 1, "one is the first");
    assert_eq!(frontier.mark_told(&own, &fact, at(90)).await.unwrap(), NoticeState::Before, "it stays");
    assert_eq!(frontier.mark_told(&own, &other, at(90)).await.unwrap(), NoticeState::Now, "another fact");
    let another = "another".parse().expect("a name");
    assert_eq!(frontier.mark_told(&another, &fact, at(90)).await.unwrap(), NoticeState::Now, "another crawl");
}

/// Of notices with the same key the first one is kept.
pub async fn notices_do_not_pile_up(frontier: &impl Frontier) {
    let first = ended(1, 0);
    let other = (2..).map(|count| ended(count, 0)).find(|other| other.key == first.key).expect("there are few keys");
    assert_eq!(frontier.owe_notice(&first).await.unwrap(), NoticeKept::Kept);
    assert_eq!(frontier.owe_notice(&other).await.unwrap(), NoticeKept::Crowded);
    assert_owed(frontier, 0, &[&first], "the first one").await;
}

/// A notice that could not be sent waits for its next try. One that was sent meanwhile does not
/// come back.
pub async fn a_postponed_notice_waits(frontier: &impl Frontier) {
    let owed = ended(7, 0);
    frontier.owe_notice(&owed).await.unwrap();
    frontier.postpone_notice(&owed, at(120)).await.unwrap();
    assert_owed(frontier, 119, &[], "too early").await;
    let postponed = OwedNotice { due: at(120), ..owed.clone() };
    assert_owed(frontier, 120, &[&postponed], "due again").await;
    frontier.postpone_notice(&owed, at(60)).await.unwrap();
    assert_owed(frontier, 119, &[], "it is not brought forward").await;
    frontier.forget_notice(&owed).await.unwrap();
    frontier.postpone_notice(&owed, at(300)).await.unwrap();
    assert_owed(frontier, 1_000, &[], "it was sent").await;
}
