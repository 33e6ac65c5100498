//! The four steps in one process, over HTTP, on sites made for the purpose.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::{Definition, Draft};
use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::TriggerId;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_http::{HttpConfig, HttpFetcher};
use dragline_local::LocalStore;
use dragline_local::engine::{Activity, LocalWorld, RunEnd, RunOptions, run};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::StopSignal;
use dragline_pipeline::ports::clock::Clock;
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::frontier::{CrawlRow, Frontier, Progress};
use dragline_pipeline::ports::notifier::{Notice, Notifier};
use dragline_pipeline::ports::queue::StartCommand;
use dragline_pipeline::schedule::start;
use dragline_testkit::site::{GeneratedSite, Site};

struct Silent;

impl Notifier for Silent {
    async fn notify(&self, _notice: Notice) -> PortResult<()> {
        Ok(())
    }
}

fn definition(seeds: &[String], change: impl FnOnce(&mut Draft)) -> Definition {
    let seeds = seeds.iter().map(|seed| CrawlUrl::parse(seed, &UrlRules::default()).unwrap()).collect();
    let mut draft = Draft::for_seeds(seeds);
    draft.politeness.delay = std::time::Duration::ZERO;
    draft.politeness.concurrency = 8;
    change(&mut draft);
    Definition::new(draft).unwrap()
}

/// Runs one iteration to its end.
async fn crawl(data: &Path, definition: &Definition) -> Progress {
    let store = LocalStore::open(data, dragline_local::SystemClock::new().now()).unwrap();
    let world = Arc::new(LocalWorld::new(&store, Silent));
    let messages = world.messages();
    let row = CrawlRow { definition: definition.clone(), version: 1, joined: Vec::new() };
    world.frontier().put_crawl(&row).await.unwrap();
    let trigger = TriggerId(format!("test-{}", world.clock().now()));
    let command = StartCommand { crawl: definition.name.clone(), trigger };
    start(&*world, &Contexts::default(), &command).await.unwrap();
    let config = HttpConfig { address_policy: AddressPolicy::AllowPrivate, ..HttpConfig::new("Dragline/test") };
    let fetcher = Arc::new(HttpFetcher::new(&config).unwrap());
    let name = &definition.name;
    let options = RunOptions::default();
    let end =
        run(Arc::clone(&world), fetcher, messages, name, options, StopSignal::default(), Arc::new(Activity::default()));
    let RunEnd::Closed(row) = end.await.unwrap() else { panic!("nobody stopped it") };
    assert_eq!((row.status, row.open), (IterationStatus::Closed, 0));
    world.frontier().progress(name, row.number).await.unwrap()
}

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
    assert_eq!(progress.added, 50 + left, "what was found and not visited is counted");
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

/// The cursor once left a turn waiting for ever for candidates that links had queued before it came to them.
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
