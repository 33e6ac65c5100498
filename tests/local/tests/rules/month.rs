//! A month of schedules, whose results a database has: the clock is moved, and the process dies
//! each day.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::definition::Schedule;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::time::after;
use dragline_engine::run::{Engine, Until};
use dragline_local::{
    DirectoryArchive, LocalStore, MemoryQueue, OpenError, SqliteDocuments, SqliteFrontier, SystemClock, SystemRng,
};
use dragline_pipeline::{Adapters, DeadLeases, Timing};
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{Crawls, Iterations, NoticeKey, PutCrawl};
use dragline_ports::notifier::{Notice, Notifier};
use dragline_sink::{Destination, SchemaName, Start, Target, keep};
use dragline_testkit::postgres::{Database, OWNER, assert_equal};
use dragline_testkit::site::{GeneratedSite, Site};
use dragline_testkit::whole_crawls::{Network, definition};
use jiff::Timestamp;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const DAYS: u32 = 30;

/// How much faster than the machine's the clock runs.
const TIMES: u32 = 40;

/// The machine's clock, faster, and moved ahead by hand.
#[derive(Clone)]
struct MovedClock {
    inner: SystemClock,
    ahead_s: Arc<AtomicU64>,
}

impl MovedClock {
    fn ahead(&self) -> Duration {
        Duration::from_secs(self.ahead_s.load(Ordering::Relaxed))
    }
}

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        after(Timestamp::UNIX_EPOCH, self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        self.inner.monotonic() * TIMES + self.ahead()
    }

    async fn sleep(&self, wait: Duration) {
        self.inner.sleep(wait / TIMES).await;
    }
}

/// Takes two of three notices, and remembers them by what identifies them.
#[derive(Clone, Default)]
struct Receiver {
    tries: Arc<AtomicU64>,
    taken: Arc<Mutex<Vec<(String, Timestamp)>>>,
}

impl Notifier for Receiver {
    async fn notify(&self, notice: Notice, since: Timestamp) -> PortResult<()> {
        if self.tries.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            return Err(PortError::new(PortErrorKind::Unavailable, "notify", notice.kind(), "it is away"));
        }
        let id = format!("{} {}", notice.crawl(), NoticeKey::from_notice(&notice));
        if let Notice::IterationClosed(_) = notice {
            self.taken.lock().unwrap().push((id, since));
        }
        Ok(())
    }
}

type World = Adapters<
    SqliteFrontier,
    DirectoryArchive,
    SqliteDocuments,
    MemoryQueue<MovedClock>,
    Receiver,
    MovedClock,
    SystemRng,
>;

async fn open(data: &Path, clock: &MovedClock, receiver: &Receiver) -> Arc<World> {
    // What a killed process had handed to other threads is still ending here.
    let store = loop {
        match LocalStore::open(data, clock.now()) {
            Err(OpenError::InUse(_)) => tokio::time::sleep(Duration::from_millis(2)).await,
            opened => break opened.unwrap(),
        }
    };
    let queue = MemoryQueue::new(clock, 1_000);
    let ports = (store.frontier(), store.archive(), store.documents());
    let world = Adapters::new(ports.0, ports.1, ports.2, queue, receiver.clone(), (clock.clone(), SystemRng));
    Arc::new(world.with_timing(Timing { dead_leases: DeadLeases::AreVoid, ..Timing::default() }))
}

/// The database of all crawls.
#[derive(Clone)]
struct Results {
    target: Target,
}

impl Results {
    fn new(database: &Database) -> Self {
        let target = Target {
            address: database.address(OWNER).parse().unwrap(),
            schema: SchemaName::default(),
            reader: None,
            start: Start::Continue,
            patience: Duration::ZERO,
            batch_rows: Some(5),
        };
        Self { target }
    }

    /// Keeps the results of a crawl up to date.
    async fn keep(self, data: PathBuf, crawl: CrawlId, clock: MovedClock) {
        let reader = LocalStore::open_read_only(&data).unwrap().into_reader(crawl.clone());
        let destination = Destination::Database(Box::new(self.target));
        keep(&reader, &crawl, &destination, (&clock, &Semaphore::new(1)), &|_| {}).await;
    }

    /// Waits until the database has this many whole iterations. Their logs are written last.
    async fn wait(database: &Database, iterations: usize) {
        let whole = "SELECT count(*) FROM dragline.sink_progress
                     WHERE kind LIKE 'log/%' AND source LIKE '%, closed %' AND finished_at IS NOT NULL";
        while database.value(whole).await != Some(iterations.to_string()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// A process, which dies when this is dropped.
struct Process {
    world: Arc<World>,
    running: tokio::task::JoinHandle<()>,
    keeping: JoinSet<()>,
}

impl Process {
    async fn start(
        data: &Path,
        clock: &MovedClock,
        receiver: &Receiver,
        (results, crawls): (&Results, &[CrawlId]),
    ) -> Self {
        let world = open(data, clock, receiver).await;
        let engine = Engine::new(Arc::clone(&world), Arc::new(Network::default().fetcher()), world.queue.clone());
        let running = tokio::spawn(async move {
            engine.run(Until::Stopped).await.unwrap();
        });
        let keeping =
            crawls.iter().map(|crawl| results.clone().keep(data.to_owned(), crawl.clone(), clock.clone())).collect();
        Self { world, running, keeping }
    }

    /// Waits until this holds for the latest iteration of each crawl: its number, and whether it is
    /// over.
    async fn wait(&self, crawls: &[CrawlId], holds: impl Fn(u32, bool) -> bool) {
        for crawl in crawls {
            loop {
                assert!(!self.running.is_finished(), "it runs until it is stopped");
                let latest = self.world.frontier.latest_iteration(crawl).await.unwrap();
                if latest.is_some_and(|row| holds(row.number.number(), row.closed_at.is_some())) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }

    /// Kills it, and waits until it holds nothing any more.
    async fn kill(mut self) {
        self.running.abort();
        self.keeping.shutdown().await;
        let _ = self.running.await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_month_of_daily_crawls_with_a_crash_a_day_has_one_iteration_a_day() {
    let (data, database) = (tempfile::tempdir().unwrap(), Database::create().await);
    let results = Results::new(&database);
    let clock = MovedClock { inner: SystemClock::new(), ahead_s: Arc::new(AtomicU64::new(1_800_000_000)) };
    let receiver = Receiver::default();
    let mut crawls = Vec::new();
    let mut sites = Vec::new();
    {
        let world = open(data.path(), &clock, &receiver).await;
        // Three daily crawls, and one that comes due four times a day: what was missed begins once.
        for (n, cron) in (1..).zip(["0 3 * * *", "30 3 * * *", "0 4 * * *", "0 */6 * * *"]) {
            let pages = GeneratedSite { pages: 12, links_per_page: 4, bytes_per_page: 500, seed: n };
            let site = Site::builder().generated(pages).start().await.unwrap();
            let name: CrawlId = format!("crawl{n}").parse().unwrap();
            let schedule = Schedule::new(cron, "Europe/Berlin").unwrap();
            let next = schedule.next_after(clock.now());
            let definition = definition(&[site.url()], |draft| {
                draft.name = name.clone();
                draft.schedule = Some(schedule);
            });
            world.frontier.put_crawl(&PutCrawl { definition, seen: None, next }).await.unwrap();
            crawls.push(name);
            sites.push(site);
        }
    }
    let mut process = Process::start(data.path(), &clock, &receiver, (&results, &crawls)).await;
    for day in 1..=DAYS {
        // It sees the night pass.
        clock.ahead_s.fetch_add(24 * 3_600, Ordering::Relaxed);
        process.wait(&crawls, |number, _| number == day).await;
        // The moment differs from day to day.
        tokio::time::sleep(Duration::from_millis(u64::from(day % 7) * 3)).await;
        process.kill().await;
        process = Process::start(data.path(), &clock, &receiver, (&results, &crawls)).await;
        process.wait(&crawls, |number, is_over| number == day && is_over).await;
        // On other days it may be killed before it has written anything, or in the middle.
        if day.is_multiple_of(10) {
            Results::wait(&database, crawls.len() * day as usize).await;
        }
    }
    // What is owed is told in the end, as the receiver is away only at times.
    let told = || receiver.taken.lock().unwrap().iter().cloned().collect::<BTreeSet<_>>();
    for _look in 0..2_000 {
        if told().len() == crawls.len() * DAYS as usize {
            break;
        }
        clock.ahead_s.fetch_add(60, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut by_id: BTreeMap<String, BTreeSet<Timestamp>> = BTreeMap::new();
    for (id, since) in told() {
        by_id.entry(id).or_default().insert(since);
    }
    assert_eq!(by_id.len(), crawls.len() * DAYS as usize, "the end of each iteration is told");
    assert!(by_id.values().all(|times| times.len() == 1), "with the same id, however often: {by_id:?}");
    for crawl in &crawls {
        let latest = process.world.frontier.latest_iteration(crawl).await.unwrap().unwrap();
        assert_eq!(latest.number.number(), DAYS, "{crawl}: one a day");
        for number in (1..=DAYS).filter_map(Iteration::new) {
            let row = process.world.frontier.load_iteration(crawl, number).await.unwrap().unwrap();
            assert!(row.closed_at.is_some(), "{crawl}: iteration {number} is over");
            let progress = process.world.frontier.progress(crawl, number).await.unwrap();
            assert_eq!(progress.finished(), 12, "{crawl}: each page in iteration {number}");
        }
    }
    Results::wait(&database, crawls.len() * DAYS as usize).await;
    process.kill().await;
    for crawl in &crawls {
        let reader = LocalStore::open_read_only(data.path()).unwrap().into_reader(crawl.clone());
        assert_equal(&database, &reader, crawl.as_str()).await;
    }
    let iterations = database.value("SELECT count(*) FROM dragline.iteration_progress WHERE status = 'closed'").await;
    assert_eq!(iterations, Some((crawls.len() * DAYS as usize).to_string()));
}
