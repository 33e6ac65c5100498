//! More sites than are visited at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::time::between;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchRequest, Fetched, Fetcher};
use dragline_whole_crawls::{crawl_in, definition};

use super::ahead::{Ahead, answered, open_ahead};

const SLOW_SITES: usize = 70;
const QUICK_SITES: usize = 10;
const QUICK_PAGES: usize = 6;
const SLOW_PAGES: usize = 200;

/// How much faster the clock runs than the machine's.
const TIMES: u32 = 20;

/// Hosts of one registered domain.
const RELATED_SITES: usize = 12;

/// Sites that take 2 s a page, sites of one domain that take 1 s, and sites that take almost no time. Seeds are in the order of their names.
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
    async fn fetch(&self, request: FetchRequest) -> Fetched {
        let (host, path) = (request.url.host().to_owned(), request.url.path_and_query().to_owned());
        let (think, links) = match host.split(['-', '.']).nth(1) {
            // Longer than the delay, so that a host is almost never held without a request.
            Some("domain") => (Duration::from_secs(1), QUICK_PAGES),
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
        _ = crawl_in(world, messages, sites.clone(), &definition) => panic!("slow sites take longer than this"),
        () = quick => {}
    }
    let slow = sites.pages("dawdling").into_iter().max();
    assert!(slow < Some(60), "{slow:?} pages of a slow site came first: two minutes");
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
