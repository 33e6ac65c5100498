//! Servers that are down for a while, or want fewer requests, during a crawl.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::definition::Draft;
use dragline_domain::outcome::Outcome;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, Fetcher};
use dragline_testkit::whole_crawls::{crawl_in, definition};

use super::ahead::{Ahead, answered, open_ahead};

/// The pages of the site, its first one included.
const PAGES: usize = 61;

/// How much faster the clock runs than the machine's.
const TIMES: u32 = 50;

const THINK: Duration = Duration::from_millis(20);

/// Decides on the answer to a request, by the time since the first one and how many pages were
/// served before.
type Mood = fn(&mut Site, Duration) -> Option<u16>;

/// The server's state.
#[derive(Default)]
struct Site {
    began: Option<Duration>,
    /// When it served pages.
    given: Vec<Duration>,
    /// When it went down.
    gone: Option<Duration>,
    pages: BTreeMap<String, usize>,
    requests: usize,
}

impl Site {
    /// Whether it is down: from its tenth page on, for this long.
    fn is_away(&mut self, since: Duration, wait: Duration) -> bool {
        self.given.len() >= 10 && since - *self.gone.get_or_insert(since) < wait
    }
}

#[derive(Clone)]
struct Server {
    clock: Ahead,
    mood: Mood,
    site: Arc<Mutex<Site>>,
}

impl Fetcher for Server {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let path = request.url.path_and_query().to_owned();
        self.clock.sleep(THINK).await;
        let status = {
            let site = &mut *self.site.lock().unwrap();
            let now = self.clock.monotonic();
            let since = now - *site.began.get_or_insert(now);
            let status = (self.mood)(site, since);
            let status = if path == "/robots.txt" { status.map(|_| 404) } else { status };
            site.requests += 1;
            if status == Some(200) {
                site.given.push(since);
                *site.pages.entry(path.clone()).or_default() += 1;
            }
            status
        };
        let Some(status) = status else {
            return FetchOutcome::failed(FetchFailureKind::Connect, "connection refused", THINK);
        };
        let body: String = match path.as_str() {
            "/" => (1..PAGES).map(|page| format!("<a href=/{page}>{page}</a> ")).collect(),
            _ => format!("page {path}"),
        };
        answered(status, body, THINK)
    }
}

/// Crawls the site, and returns how many pages were fetched, and what the server saw.
async fn crawled(mood: Mood, change: impl FnOnce(&mut Draft)) -> (u64, Server) {
    let data = tempfile::tempdir().unwrap();
    let world = open_ahead(data.path(), Duration::ZERO, TIMES);
    let server = Server { clock: world.clock, mood, site: Arc::default() };
    let definition = definition(&["https://a.example/".to_owned()], |draft| {
        draft.politeness.delay = Duration::from_millis(100);
        draft.politeness.patience = Duration::from_mins(15);
        change(draft);
    });
    let messages = world.queue.clone();
    let progress = crawl_in(world, messages, server.clone(), &definition).await;
    (progress.count(Outcome::FileIngested), server)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_restarts_is_crawled_whole() {
    let moods: [(Mood, &str); 2] = [
        (|site, since| (!site.is_away(since, Duration::from_secs(3))).then_some(200), "3 s"),
        (|site, since| (!site.is_away(since, Duration::from_secs(60))).then_some(200), "a minute"),
    ];
    for (mood, away) in moods {
        for concurrency in [1, 8] {
            let (pages, server) = crawled(mood, |draft| draft.politeness.concurrency = concurrency).await;
            assert_eq!(pages, PAGES as u64, "away for {away}, {concurrency} at once");
            let most = server.site.lock().unwrap().pages.values().copied().max();
            assert_eq!(most, Some(1), "no page is requested again because of it");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_when_its_robots_txt_is_too_old_may_be_restarting_too() {
    let mood: Mood = |site, since| (!site.is_away(since, Duration::from_mins(2))).then_some(200);
    for concurrency in [1, 8] {
        let (pages, _) = crawled(mood, |draft| {
            draft.politeness.concurrency = concurrency;
            draft.politeness.patience = Duration::from_mins(4);
            draft.politeness.robots_max_age = Duration::from_mins(1);
        })
        .await;
        assert_eq!(pages, PAGES as u64, "{concurrency} at once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stays_away_is_given_up_after_as_long_as_it_is_granted() {
    let mood: Mood = |site, since| (!site.is_away(since, Duration::MAX)).then_some(200);
    let (pages, server) = crawled(mood, |draft| draft.politeness.patience = Duration::from_mins(5)).await;
    assert!((10..18).contains(&pages), "{pages}");
    let site = server.site.lock().unwrap();
    let since = server.clock.monotonic() - site.began.unwrap();
    assert!(since >= Duration::from_mins(5), "not before: {since:?}");
    assert!(site.requests <= 60, "{} requests: at most five rounds of eight while it was down", site.requests);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_gives_so_many_pages_a_while_is_crawled_whole() {
    // Then 429 without Retry-After.
    let mood: Mood = |site, since| {
        let lately = site.given.iter().filter(|given| since - **given < Duration::from_secs(30)).count();
        Some(if lately >= 20 { 429 } else { 200 })
    };
    for concurrency in [1, 8] {
        let (pages, server) = crawled(mood, |draft| draft.politeness.concurrency = concurrency).await;
        let site = server.site.lock().unwrap();
        assert_eq!(pages, PAGES as u64, "{concurrency} at once, {} requests", site.requests);
        assert!(site.requests < 3 * PAGES, "{} requests: it is left alone for longer and longer", site.requests);
    }
}

/// A distant server that takes longer to answer than the delay. Every request opens a new
/// connection.
#[derive(Clone)]
struct Far {
    clock: Ahead,
    /// When requests arrived.
    arrived: Arc<Mutex<Vec<Duration>>>,
    asked: Arc<Mutex<u32>>,
}

impl Fetcher for Far {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let began = self.clock.monotonic();
        let is_new = {
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            *asked % 2 == 1
        };
        if is_new {
            let watch = request.watch.as_ref();
            watch.inspect(|watch| watch.connecting());
            self.clock.sleep(Duration::from_millis(900)).await;
            watch.inspect(|watch| watch.connected());
        }
        self.arrived.lock().unwrap().push(self.clock.monotonic());
        self.clock.sleep(Duration::from_secs(3)).await;
        let first_byte = self.clock.monotonic() - began;
        let path = request.url.path_and_query().to_owned();
        let body: String = match path.as_str() {
            "/" => (1..20).map(|page| format!("<a href=/{page}>{page}</a> ")).collect(),
            _ => format!("page {path}"),
        };
        answered(if path == "/robots.txt" { 404 } else { 200 }, body, first_byte)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_at_once_come_a_delay_apart_whether_or_not_they_open_connections() {
    const DELAY: Duration = Duration::from_secs(1);
    let data = tempfile::tempdir().unwrap();
    // Slower than in the other tests, as the fast clock multiplies the machine's lateness.
    let world = open_ahead(data.path(), Duration::ZERO, 4);
    let far = Far { clock: world.clock, arrived: Arc::default(), asked: Arc::default() };
    let definition = definition(&["https://a.example/".to_owned()], |draft| {
        draft.politeness.delay = DELAY;
        draft.politeness.concurrency = 8;
    });
    let messages = world.queue.clone();
    let progress = crawl_in(world, messages, far.clone(), &definition).await;
    assert_eq!(progress.count(Outcome::FileIngested), 20);
    let arrived = far.arrived.lock().unwrap();
    let gaps: Vec<Duration> = arrived.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let shortest = gaps.iter().min().unwrap();
    // It would be a tenth without waiting for connections. The machine's lateness takes less than
    // half.
    assert!(*shortest >= DELAY / 2, "{gaps:?}");
}
