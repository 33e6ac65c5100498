//! Lists and sums.

use std::collections::HashSet;

use dragline_domain::frontier::{CrawlerCounters, OriginKey, PartKind};
use dragline_domain::url::Origin;
use dragline_ports::frontier::{Frontier, Overdue, OverdueKinds, Progress};

use super::super::lag::{assert_comes_to, until};
use super::super::samples::{at, crawl, key, origin};
use super::super::world::{UNLIMITED, World};

/// The origins of a crawl are listed in order, page by page, without those that were never opened.
pub async fn origins_are_listed_in_pages(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    for host in ["c.example", "a.example", "d.example", "b.example"] {
        world.seed(&key(host), &["/"]).await;
    }
    let hosts = ["a.example", "b.example", "c.example", "d.example"].map(origin);
    let list = |after: Option<Origin>, limit| async move {
        frontier.list_origins(&crawl(), after.as_ref(), limit).await.unwrap()
    };
    assert_eq!(list(None, 10).await, hosts);
    assert_eq!(list(None, 3).await, hosts[..3]);
    assert_eq!(list(Some(hosts[2].clone()), 3).await, hosts[3..]);
    assert_eq!(list(Some(hosts[3].clone()), 3).await, []);
    assert_eq!(list(Some(origin("bb.example")), 1).await, hosts[2..3], "after one that does not exist");
    let other = frontier.list_origins(&"other".parse().unwrap(), None, 10).await.unwrap();
    assert_eq!(other, [], "of another crawl");
}

/// Lists what is due by then, without this origin's inbox: the origin is not idle, so a store may
/// list the inbox or not.
async fn overdue(frontier: &impl Frontier, second: i64, not_idle: &OriginKey) -> Vec<Overdue> {
    let mut work = frontier.overdue(&crawl(), at(second), OverdueKinds::All, 10).await.unwrap();
    work.retain(|work| *work != Overdue::Inbox(not_idle.clone()));
    work
}

/// Overdue work of every kind is found, but not before it is due, nor once it is done.
pub async fn overdue_work_is_found(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (ready, idle) = (key("a.example"), key("b.example"));
    world.seed(&ready, &["/"]).await;
    world.seed(&idle, &["/"]).await;
    let segment = world.crawl_until_idle(&idle, 1, 0).await;
    let due_by = |second| overdue(frontier, second, &ready);
    assert_eq!(due_by(-1).await, [], "nothing yet");
    let expected = HashSet::from([
        Overdue::Token(crawl(), world.iteration),
        Overdue::Lease(ready.clone()),
        Overdue::Segment(segment.id.clone(), world.iteration),
        Overdue::Inbox(idle.clone()),
    ]);
    let all = async || due_by(10_000).await.into_iter().collect::<HashSet<_>>();
    assert_comes_to(all, expected, "every kind, except an idle lease, which is never due").await;
    frontier.return_token(&crawl(), world.iteration).await.unwrap();
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    frontier.settle(&idle, &world.origin(&idle).await).await.unwrap();
    assert_comes_to(async || due_by(10_000).await, vec![Overdue::Lease(ready.clone())], "the rest is done").await;
}

/// However many origins wait for a turn, and however long they are overdue, a lost parse is seen;
/// and no more of each are listed than asked for.
pub async fn ready_origins_do_not_hide_lost_parses(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let crawled = key("z.example");
    let hosts = ["a.example", "b.example", "c.example", "d.example", "e.example", "f.example"];
    for host in hosts {
        world.seed(&key(host), &["/"]).await;
    }
    world.seed(&crawled, &["/"]).await;
    frontier.return_token(&crawl(), world.iteration).await.unwrap();
    let segment = world.crawl_until_idle(&crawled, 1, 300).await;
    let lost = Overdue::Segment(segment.id.clone(), world.iteration);
    for limit in [1, 3] {
        let listed = async || {
            let work = frontier.overdue(&crawl(), at(10_000), OverdueKinds::All, limit).await.unwrap();
            (work.len(), work.last() == Some(&lost))
        };
        assert_comes_to(listed, (limit + 1, true), "as many origins, and then the parse, which was due last").await;
    }
}

/// Leases that cannot be taken do not hide other work, however long they are overdue.
pub async fn leases_do_not_hide_the_rest(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let crawled = key("z.example");
    for host in ["a.example", "b.example", "c.example"] {
        world.seed(&key(host), &["/"]).await;
    }
    world.seed(&crawled, &["/"]).await;
    frontier.return_token(&crawl(), world.iteration).await.unwrap();
    let segment = world.crawl_until_idle(&crawled, 1, 300).await;
    let rest = async || {
        let mut work = frontier.overdue(&crawl(), at(10_000), OverdueKinds::AllButLeases, 3).await.unwrap();
        work.retain(|work| !matches!(work, Overdue::Inbox(_)));
        work
    };
    let expected = vec![Overdue::Segment(segment.id.clone(), world.iteration)];
    assert_comes_to(rest, expected, "without any lease").await;
}

/// Postponed work is overdue again at its new time. Work is never brought forward.
pub async fn postponed_work_waits(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (ready, parsed) = (key("a.example"), key("b.example"));
    world.seed(&ready, &["/"]).await;
    world.seed(&parsed, &["/"]).await;
    let segment = world.crawl_until_idle(&parsed, 1, 0).await;
    let due_by = |second| overdue(frontier, second, &ready);
    let all = until(async || due_by(10_000).await, |all| all.len() == 4).await;
    assert_eq!(all.len(), 4, "a token, a lease, an inbox and a segment: {all:?}");
    for work in all.iter().chain([&Overdue::Inbox(ready.clone())]) {
        frontier.postpone(work, at(20_000)).await.unwrap();
        frontier.postpone(work, at(15_000)).await.unwrap();
    }
    assert_comes_to(async || due_by(19_999).await, Vec::new(), "none of it").await;
    assert_comes_to(async || due_by(20_000).await.len(), 4, "all of it").await;
    let rows = (world.origin(&parsed).await.inbox.due, world.row().await.due);
    assert_eq!(rows, (Some(at(20_000)), Some(at(20_000))), "the rows say so too");
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    frontier.postpone(&Overdue::Segment(segment.id.clone(), world.iteration), at(30_000)).await.unwrap();
    let row = frontier.load_segment(&segment.id).await.unwrap().expect("it is there");
    assert_eq!(row.due, None, "a segment that is not due stays so");
}

/// The sums add up the counts of the origins, of this iteration alone.
pub async fn progress_is_the_sum_of_the_origins(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (first, second) = (key("a.example"), key("b.example"));
    world.seed(&first, &["/", "/a"]).await;
    world.seed(&second, &["/"]).await;
    let lease = world.take(&first, 1, 0).await;
    let mut commit = world.segment(&first, &lease, 1).await;
    commit.lease.counters = CrawlerCounters { requests: 3, pages: 2, retries: 1, body_bytes: 500, bodies_cut: 2 };
    frontier.commit_segment(&commit).await.unwrap();
    let lease = world.take(&second, 2, 0).await;
    let mut other = world.segment(&second, &lease, 1).await;
    other.lease.counters = CrawlerCounters { requests: 1, pages: 1, retries: 0, body_bytes: 40, bodies_cut: 1 };
    frontier.commit_segment(&other).await.unwrap();
    world.parse(&commit.segment, (0, PartKind::Last), &[]).await;
    let mut expected = Progress {
        origins: 2,
        origins_open: 2,
        added: 3,
        taken: 3,
        segments: 2,
        parsed: 1,
        crawler: CrawlerCounters { requests: 4, pages: 3, retries: 1, body_bytes: 540, bodies_cut: 3 },
        ..Progress::default()
    };
    expected.parser.processed = 2;
    let sums = async |iteration| frontier.progress(&crawl(), iteration).await.unwrap();
    assert_comes_to(async || sums(world.iteration).await, expected, "the sums").await;
    assert_eq!(sums(world.iteration.next()).await, Progress::default(), "of an iteration that has not begun");
}
