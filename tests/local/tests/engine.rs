//! The four steps in one process, over HTTP, on test sites.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::definition::Schedule;
use dragline_domain::frontier::{LeftoverReason, Switch};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::outcome::Outcome;
use dragline_engine::local_world;
use dragline_engine::run::{Engine, RunEnd, Until};
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::BodyLimit;
use dragline_ports::frontier::{Crawls, Iterations, OwedNotices, Progress, PutCrawl};
use dragline_ports::notifier::{Notice, Notifier};
use dragline_ports::queue::{Message, Queue, StartCommand};
use dragline_testkit::site::{GeneratedSite, Site};
use dragline_testkit::whole_crawls::{Network, Silent, crawl, crawl_in, definition};
use jiff::Timestamp;

use crate::rules::replies::{html, links};

fn outcomes(progress: &Progress) -> BTreeMap<Outcome, u64> {
    progress.parser.outcomes.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_a_site_is_visited_once() {
    let data = tempfile::tempdir().unwrap();
    let pages = GeneratedSite { pages: 300, links_per_page: 10, bytes_per_page: 3_000, seed: 1 };
    let site = Site::builder().generated(pages).start().await.unwrap();
    let progress = crawl(data.path(), &definition(&[site.url()], |_| {})).await;
    assert_eq!(outcomes(&progress), BTreeMap::from([(Outcome::FileIngested, 300)]));
    assert_eq!(site.log().len(), 301, "the pages and robots.txt");
    assert_eq!((progress.origins, progress.origins_open, progress.waiting()), (1, 0, 0));

    let progress = crawl(data.path(), &definition(&[site.url()], |_| {})).await;
    assert_eq!(outcomes(&progress), BTreeMap::from([(Outcome::FileDidNotChange, 300)]), "the second iteration");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_budget_is_spent_and_never_exceeded() {
    let data = tempfile::tempdir().unwrap();
    let pages = GeneratedSite { pages: 300, links_per_page: 10, bytes_per_page: 3_000, seed: 1 };
    let site = Site::builder().generated(pages).start().await.unwrap();
    let progress = crawl(data.path(), &definition(&[site.url()], |draft| draft.budget.pages = Some(50))).await;
    assert_eq!(progress.finished(), 50);
    assert_eq!(site.log().len(), 51, "50 pages and robots.txt");
    let left: u64 = progress.leftovers.iter().map(|(_, count)| count).sum();
    assert_eq!(progress.added, 50 + left, "URLs found but not visited are counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_depth_limit_gives_the_same_pages_however_the_work_is_cut() {
    let pages = GeneratedSite { pages: 400, links_per_page: 4, bytes_per_page: 2_000, seed: 2 };
    let site = Site::builder().generated(pages).start().await.unwrap();
    let mut seen = Vec::new();
    for concurrency in [1, 16] {
        let data = tempfile::tempdir().unwrap();
        let definition = definition(&[site.url()], |draft| {
            draft.scope.max_depth = Some(3);
            draft.politeness.concurrency = concurrency;
        });
        let before = site.log().len();
        crawl(data.path(), &definition).await;
        let mut paths: Vec<_> = site.log().split_off(before).into_iter().map(|access| access.target).collect();
        paths.sort();
        seen.push(paths);
    }
    assert!(seen[0].len() > 10 && seen[0].len() < 400, "{} pages within three links", seen[0].len());
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn robots_txt_is_obeyed() {
    let data = tempfile::tempdir().unwrap();
    let pages = GeneratedSite { pages: 50, links_per_page: 10, bytes_per_page: 2_000, seed: 1 };
    let site =
        Site::builder().generated(pages).robots("User-agent: *\nDisallow: /\nAllow: /$\n").start().await.unwrap();
    let progress = crawl(data.path(), &definition(&[site.url()], |_| {})).await;
    assert_eq!(site.log().len(), 2, "robots.txt and the first page");
    assert_eq!(progress.count(Outcome::FileIngested), 1);
    let blocked = progress.count(Outcome::BlockedByRobotsTxt);
    assert_eq!(
        (progress.finished(), blocked > 5),
        (1 + blocked, true),
        "what it links to is recorded as blocked: {blocked}"
    );
}

/// The cursor once left a turn waiting endlessly for candidates that links had queued before it
/// reached them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_iteration_goes_on_with_what_the_one_before_left_over() {
    let data = tempfile::tempdir().unwrap();
    let pages = GeneratedSite { pages: 300, links_per_page: 10, bytes_per_page: 3_000, seed: 1 };
    let site = Site::builder().generated(pages).start().await.unwrap();
    crawl(data.path(), &definition(&[site.url()], |draft| draft.budget.pages = Some(50))).await;
    let progress = crawl(data.path(), &definition(&[site.url()], |_| {})).await;
    let expected = BTreeMap::from([(Outcome::FileIngested, 250), (Outcome::FileDidNotChange, 50)]);
    assert_eq!((outcomes(&progress), progress.waiting()), (expected, 0));
}

/// A notifier that always fails.
struct Away;

impl Notifier for Away {
    async fn notify(&self, notice: Notice, _since: Timestamp) -> PortResult<()> {
        Err(PortError::new(PortErrorKind::Unavailable, "notify", notice.kind(), "nobody is there"))
    }
}

/// A notifier that remembers what it was told.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<Notice>>>);

impl Notifier for Listener {
    async fn notify(&self, notice: Notice, _since: Timestamp) -> PortResult<()> {
        self.0.lock().unwrap().push(notice);
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_origins_that_end_alike_are_one_notice_of_each_kind() {
    let data = tempfile::tempdir().unwrap();
    let ports: Vec<_> = (0..10).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let seeds: Vec<_> = ports.iter().map(|port| format!("http://{}/", port.local_addr().unwrap())).collect();
    drop(ports);
    let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
    let listener = Listener::default();
    let world = local_world(&store, listener.clone());
    let messages = world.queue.clone();
    let progress = crawl_in(world, messages, Network::default().fetcher(), &definition(&seeds, |_| {})).await;
    let heard = listener.0.lock().unwrap();
    let mut kinds: Vec<_> = heard.iter().map(Notice::kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["iteration_closed", "origin_ended", "robots_unreadable"]);
    let Some(Notice::IterationClosed(closed)) = heard.last() else { panic!("{heard:?}") };
    assert_eq!(closed.leftovers, BTreeMap::from([(LeftoverReason::RobotsUnreadable, 0)]));
    let expected = BTreeMap::from([(Outcome::ConnectionFailed, 10)]);
    assert_eq!(outcomes(&progress), expected, "each of them has its outcome");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_cut_for_their_size_are_one_notice_for_each_limit() {
    let data = tempfile::tempdir().unwrap();
    let long = || html(&"x".repeat(200_000));
    let site = Site::builder()
        .reply("/", html(&links(["/a", "/b"])))
        .reply("/a", long())
        .reply("/b", long())
        .start()
        .await
        .unwrap();
    let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
    let listener = Listener::default();
    let world = local_world(&store, listener.clone());
    let messages = world.queue.clone();
    let limited = definition(&[site.url()], |draft| {
        draft.fetch.body_bytes_max = 100_000;
        draft.politeness.concurrency = 1;
    });
    crawl_in(world, messages, Network::default().fetcher(), &limited).await;
    let heard = listener.0.lock().unwrap();
    let [Notice::BodyCut { url, limit, .. }, Notice::IterationClosed(closed)] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!((url, *limit), (&format!("{}a", site.url()), BodyLimit::Received), "the first, and what to raise");
    assert_eq!(closed.bodies_cut, 2, "the other is counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_ends_though_nobody_can_be_told_and_they_are_told_by_the_next() {
    let data = tempfile::tempdir().unwrap();
    let pages = GeneratedSite { pages: 30, links_per_page: 10, bytes_per_page: 2_000, seed: 1 };
    let site = Site::builder().generated(pages).start().await.unwrap();
    let limited = definition(&[site.url()], |draft| draft.budget.pages = Some(5));
    for (is_away, expected) in [(true, vec!["iteration_closed", "origin_ended"]), (false, vec![])] {
        let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
        if is_away {
            let world = local_world(&store, Away);
            let messages = world.queue.clone();
            crawl_in(world, messages, Network::default().fetcher(), &limited).await;
        } else {
            let world = local_world(&store, Silent);
            let messages = world.queue.clone();
            crawl_in(world, messages, Network::default().fetcher(), &limited).await;
        }
        let owed = store.frontier().owed_notices(Timestamp::MAX, 10).await.unwrap();
        let mut kinds: Vec<_> = owed.iter().map(|owed| owed.notice.kind()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, expected, "away: {is_away}");
    }
}

/// A resident process begins what is requested and what is scheduled, until it is stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_crawls_of_one_directory_run_until_they_are_stopped() {
    let data = tempfile::tempdir().unwrap();
    let pages = |seed| GeneratedSite { pages: 40, links_per_page: 10, bytes_per_page: 2_000, seed };
    let (asked, due) = (
        Site::builder().generated(pages(1)).start().await.unwrap(),
        Site::builder().generated(pages(2)).start().await.unwrap(),
    );
    let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
    let world = Arc::new(local_world(&store, Silent));
    let now = world.clock.now();
    let names: [CrawlId; 2] = ["asked".parse().unwrap(), "due".parse().unwrap()];
    for (name, site, next) in [(&names[0], &asked, None), (&names[1], &due, Some(now))] {
        let definition = definition(&[site.url()], |draft| {
            draft.name = name.clone();
            draft.schedule = next.map(|_| Schedule::new("0 0 1 1 *", "UTC").unwrap());
        });
        world.frontier.put_crawl(&PutCrawl { definition, seen: None, next }).await.unwrap();
    }
    let command = StartCommand { crawl: names[0].clone(), trigger: TriggerId("asked".to_owned()) };
    world.queue.send(Message::Start(command), Duration::ZERO).await.unwrap();

    let engine = Engine::new(Arc::clone(&world), Arc::new(Network::default().fetcher()), world.queue.clone());
    let stop = engine.stop.clone();
    let running = tokio::spawn(engine.run(Until::Stopped));
    for name in &names {
        while world.frontier.latest_iteration(name).await.unwrap().is_none_or(|row| row.closed_at.is_none()) {
            assert!(!running.is_finished(), "it runs until it is stopped");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let progress = world.frontier.progress(name, Iteration::FIRST).await.unwrap();
        assert_eq!(outcomes(&progress), BTreeMap::from([(Outcome::FileIngested, 40)]), "{name}");
    }
    stop.stop();
    assert_eq!(running.await.unwrap().unwrap(), RunEnd::Interrupted);
    let row = world.frontier.load_crawl(&names[1]).await.unwrap().unwrap();
    assert!(
        matches!(row.switch, Switch::On { next: Some(next) } if next > now),
        "its schedule has moved on: {:?}",
        row.switch
    );
}

/// A resident process says that a start was skipped, and begins nothing of a crawl that was removed
/// after its schedule had sent a start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resident_process_skips_a_start_aloud_and_begins_nothing_that_was_removed() {
    let data = tempfile::tempdir().unwrap();
    let pages = GeneratedSite { pages: 40, links_per_page: 10, bytes_per_page: 2_000, seed: 1 };
    let site = Site::builder().generated(pages).start().await.unwrap();
    let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
    let listener = Listener::default();
    let world = Arc::new(local_world(&store, listener.clone()));
    let names: [CrawlId; 2] = ["busy".parse().unwrap(), "removed".parse().unwrap()];
    for name in &names {
        let definition = definition(&[site.url()], |draft| draft.name = name.clone());
        world.frontier.put_crawl(&PutCrawl { definition, seen: None, next: None }).await.unwrap();
    }
    world.frontier.switch_off(&names[1]).await.unwrap();
    for (name, trigger) in [(&names[1], "late"), (&names[0], "one"), (&names[0], "other")] {
        let command = StartCommand { crawl: name.clone(), trigger: TriggerId(trigger.to_owned()) };
        world.queue.send(Message::Start(command), Duration::ZERO).await.unwrap();
    }

    let engine = Engine::new(Arc::clone(&world), Arc::new(Network::default().fetcher()), world.queue.clone());
    let stop = engine.stop.clone();
    let running = tokio::spawn(engine.run(Until::Stopped));
    while world.frontier.latest_iteration(&names[0]).await.unwrap().is_none_or(|row| row.closed_at.is_none()) {
        assert!(!running.is_finished(), "it runs until it is stopped");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.stop();
    assert_eq!(running.await.unwrap().unwrap(), RunEnd::Interrupted);
    let is_skipped =
        |notice: &Notice| matches!(notice, Notice::StartSkipped { running, .. } if running.crawl == names[0]);
    assert_eq!(listener.0.lock().unwrap().iter().filter(|notice| is_skipped(notice)).count(), 1);
    assert_eq!(world.frontier.latest_iteration(&names[1]).await.unwrap(), None, "it was removed");
}
