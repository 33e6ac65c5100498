//! More sites than are visited at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::time::between;
use dragline_engine::local_world;
use dragline_engine::run::RunOptions;
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, Fetcher};
use dragline_testkit::whole_crawls::{Silent, crawl_at_once, crawl_in, definition};
use tokio::sync::Barrier;

use super::ahead::{Ahead, answered, open_ahead};

/// How many sites are visited at once where there are to be more of them.
const PLACES: RunOptions = RunOptions { turns_max: 8, parsers_max: 2 };

const SLOW_SITES: usize = 10;
const QUICK_SITES: usize = 10;
const QUICK_PAGES: usize = 6;
const SLOW_PAGES: usize = 200;
const PATIENT_PAGES: usize = 2;

/// How much faster the clock runs than the machine's.
const TIMES: u32 = 20;

/// Hosts of one registered domain.
const RELATED_SITES: usize = 12;

/// Sites that take 2 s a page, sites of one domain that take 1 s, and sites that take almost no
/// time. Seeds are in the order of their names.
#[derive(Clone)]
struct Sites {
    clock: Ahead,
    pages: Arc<Mutex<BTreeMap<String, usize>>>,
    /// How many requests are under way, and the maximum so far.
    under_way: Arc<Mutex<(usize, usize)>>,
}

impl Sites {
    fn new(clock: Ahead) -> Self {
        Self { clock, pages: Arc::default(), under_way: Arc::default() }
    }

    /// How many pages each site of this kind has served.
    fn pages(&self, kind: &str) -> Vec<usize> {
        let pages = self.pages.lock().unwrap();
        pages.iter().filter(|(host, _)| host.starts_with(kind)).map(|(_, pages)| *pages).collect()
    }
}

impl Fetcher for Sites {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let (host, path) = (request.url.host().to_owned(), request.url.path_and_query().to_owned());
        let (think, links) = match host.split(['-', '.']).nth(1) {
            // Longer than the delay, so that a host is almost never held without a request.
            Some("domain") => (Duration::from_secs(1), QUICK_PAGES),
            Some("patient") => (Duration::from_millis(20), PATIENT_PAGES),
            _ if host.starts_with("dawdling") => (Duration::from_secs(2), SLOW_PAGES),
            _ => (Duration::from_millis(20), QUICK_PAGES),
        };
        {
            let (now, most) = &mut *self.under_way.lock().unwrap();
            *now += 1;
            *most = (*most).max(*now);
        }
        self.clock.sleep(think).await;
        self.under_way.lock().unwrap().0 -= 1;
        let is_robots = path == "/robots.txt";
        let body: String = match path.as_str() {
            "/" => (1..links).map(|page| format!("<a href=/{page}>{page}</a> ")).collect(),
            _ => format!("page {path} of {host}"),
        };
        if !is_robots {
            *self.pages.lock().unwrap().entry(host).or_default() += 1;
        }
        answered(if is_robots { 404 } else { 200 }, body, think)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quick_sites_are_not_held_up_by_slow_ones_that_came_first() {
    let data = tempfile::tempdir().unwrap();
    let world = open_ahead(data.path(), Duration::ZERO, TIMES);
    let sites = Sites::new(world.clock);
    let names = |kind: &'static str, count| (0..count).map(move |site| format!("https://{kind}-{site}.example/"));
    let seeds: Vec<String> = names("dawdling", SLOW_SITES).chain(names("quick", QUICK_SITES)).collect();
    let definition = definition(&seeds, |draft| draft.politeness.concurrency = 1);
    let quick = async {
        while sites.pages("quick").iter().sum::<usize>() < QUICK_SITES * QUICK_PAGES {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let messages = world.queue.clone();
    tokio::select! {
        _ = crawl_at_once(PLACES, world, messages, sites.clone(), &definition) => {
            panic!("slow sites take longer than this")
        }
        () = quick => {}
    }
    let slow = sites.pages("dawdling").into_iter().max();
    assert!(slow < Some(60), "{slow:?} pages of a slow site came first: two minutes");
}

/// Far more sites than a machine has cores, all of which answer only once each of them has been
/// asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_origins_are_visited_at_once() {
    const SITES: usize = 200;
    let data = tempfile::tempdir().unwrap();
    let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
    let world = local_world(&store, Silent);
    let (messages, together) = (world.queue.clone(), Together(Arc::new(Barrier::new(SITES))));
    let seeds: Vec<String> = (0..SITES).map(|site| format!("https://www.site-{site}.example/")).collect();
    let definition = definition(&seeds, |draft| draft.politeness.concurrency = 1);
    let crawl = crawl_at_once(RunOptions::default(), world, messages, together, &definition);
    let ended = tokio::time::timeout(Duration::from_secs(300), crawl).await;
    let progress = ended.expect("if some wait for others to be done, this would never end");
    assert_eq!(progress.finished(), SITES as u64);
}

/// Sites whose pages are answered once all sites have been asked for theirs.
#[derive(Clone)]
struct Together(Arc<Barrier>);

impl Fetcher for Together {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        if request.url.path_and_query() == "/robots.txt" {
            return answered(404, String::new(), Duration::from_millis(1));
        }
        self.0.wait().await;
        answered(200, "all that there is".to_owned(), Duration::from_millis(1))
    }
}

/// Places are few and the delay is long: a site that waits for its next request leaves its place to
/// others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sites_that_wait_keep_no_place_that_others_wait_for() {
    const SITES: usize = 64;
    const DELAY: Duration = Duration::from_secs(15);
    let data = tempfile::tempdir().unwrap();
    let world = open_ahead(data.path(), Duration::ZERO, TIMES / 2);
    let sites = Sites::new(world.clock);
    let seeds: Vec<String> = (0..SITES).map(|site| format!("https://www.patient-{site}.example/")).collect();
    let definition = definition(&seeds, |draft| {
        draft.politeness.delay = DELAY;
        draft.politeness.concurrency = 1;
    });
    let (messages, clock) = (world.queue.clone(), world.clock);
    let began = clock.monotonic();
    crawl_at_once(PLACES, world, messages, sites.clone(), &definition).await;
    let took = clock.monotonic() - began;
    assert_eq!(sites.pages("www"), [PATIENT_PAGES; SITES], "every page of every site");
    // If each kept its place until others need it, they would take five times as long.
    let bound = DELAY * u32::try_from(PATIENT_PAGES).unwrap();
    assert!(took >= bound, "too fast: {took:?}");
    assert!(took < bound * 3, "they wait for places: {took:?} instead of {bound:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_hosts_of_one_domain_are_asked_at_once() {
    for (places, most) in [(1, 1), (4, 4)] {
        let data = tempfile::tempdir().unwrap();
        let world = open_ahead(data.path(), Duration::ZERO, TIMES);
        let sites = Sites::new(world.clock);
        let seeds: Vec<String> = (0..RELATED_SITES).map(|site| format!("https://s{site}.domain.example/")).collect();
        let definition = definition(&seeds, |draft| {
            draft.politeness.delay = Duration::from_millis(500);
            draft.politeness.hosts_per_domain = places;
            draft.politeness.concurrency = 1;
        });
        let (messages, clock) = (world.queue.clone(), world.clock);
        let began = clock.now();
        crawl_in(world, messages, sites.clone(), &definition).await;
        let took = between(began, clock.now());
        assert_eq!(sites.pages("s"), [QUICK_PAGES; RELATED_SITES], "every page of every host");
        assert_eq!(sites.under_way.lock().unwrap().1, most, "exactly the {places} places are used");
        assert!(took < Duration::from_secs(380), "no site waits for the maximum length of a turn: {took:?}");
    }
}
