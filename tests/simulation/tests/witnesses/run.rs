//! A whole crawl of a generated site by the local engine, in time that runs twenty times as fast.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::ids::{Iteration, TriggerId};
use dragline_domain::time::after;
use dragline_local::engine::{Activity, RunEnd, RunOptions, run};
use dragline_local::{
    DirectoryArchive, LocalStore, MemoryQueue, SqliteDocuments, SqliteFrontier, SystemChance, SystemClock,
};
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::StopSignal;
use dragline_pipeline::ports::clock::Clock;
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::frontier::{Frontier, Progress, PutCrawl};
use dragline_pipeline::ports::notifier::{Notice, Notifier};
use dragline_pipeline::ports::queue::StartCommand;
use dragline_pipeline::schedule::start;
use dragline_pipeline::{Timing, World};
use dragline_simulation::invariants::Evidence;
use dragline_simulation::web::{Access, Servers, SimulatedWeb, Site};
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

const SPEED: u32 = 20;

/// A clock that runs fast, from a fixed day on.
#[derive(Clone, Copy)]
struct FastClock(SystemClock);

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        after(beginning(), self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        self.0.monotonic() * SPEED
    }

    async fn sleep(&self, wait: Duration) {
        self.0.sleep(wait / SPEED).await;
    }
}

fn beginning() -> Timestamp {
    "2026-11-01T00:00:00Z".parse().unwrap()
}

struct Silent;

impl Notifier for Silent {
    async fn notify(&self, _notice: Notice) -> PortResult<()> {
        Ok(())
    }
}

struct FastWorld {
    frontier: SqliteFrontier,
    archive: DirectoryArchive,
    documents: SqliteDocuments,
    queue: MemoryQueue<FastClock>,
    clock: FastClock,
    timing: Timing,
}

impl World for FastWorld {
    type Frontier = SqliteFrontier;
    type Archive = DirectoryArchive;
    type Documents = SqliteDocuments;
    type Queue = MemoryQueue<FastClock>;
    type Notifier = Silent;
    type Clock = FastClock;
    type Chance = SystemChance;

    fn frontier(&self) -> &SqliteFrontier {
        &self.frontier
    }

    fn archive(&self) -> &DirectoryArchive {
        &self.archive
    }

    fn documents(&self) -> &SqliteDocuments {
        &self.documents
    }

    fn queue(&self) -> &MemoryQueue<FastClock> {
        &self.queue
    }

    fn notifier(&self) -> &Silent {
        &Silent
    }

    fn clock(&self) -> &FastClock {
        &self.clock
    }

    fn chance(&self) -> &SystemChance {
        &SystemChance
    }

    fn timing(&self) -> &Timing {
        &self.timing
    }
}

/// What a crawl left behind.
pub(crate) struct Ran {
    pub(crate) data: TempDir,
    pub(crate) database: Connection,
    pub(crate) accesses: Vec<Access>,
    pub(crate) definition: Definition,
    pub(crate) progress: Progress,
    pub(crate) servers: Arc<Servers>,
    pub(crate) iteration: Iteration,
}

impl Ran {
    /// Crawls the site of this seed so many times.
    pub(crate) async fn of_seed(seed: u64, iterations: u32) -> Self {
        let site = Site::generate(seed);
        let mut draft = Draft::for_seeds(site.seeds.clone());
        draft.politeness.delay = Duration::from_millis(300);
        let definition = Definition::new(draft).unwrap();
        let servers = Arc::new(Servers::new(site, beginning()));
        let data = tempfile::tempdir().unwrap();
        let clock = FastClock(SystemClock::new());
        let mut progress = Progress::default();
        for number in 1..=iterations {
            progress = crawl(data.path(), &definition, &servers, clock, Iteration::new(number).unwrap()).await;
            servers.publish_next_edition();
        }
        let database = Connection::open(data.path().join(dragline_local::DATABASE)).unwrap();
        // Damage is done row by row.
        database.pragma_update(None, "foreign_keys", false).unwrap();
        let iteration = Iteration::new(iterations).unwrap();
        Self { accesses: servers.accesses(), data, database, definition, progress, servers, iteration }
    }

    pub(crate) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            database: &self.database,
            directory: self.data.path(),
            accesses: &self.accesses,
            definition: &self.definition,
            iteration: self.iteration,
        }
    }
}

async fn crawl(
    data: &Path,
    definition: &Definition,
    servers: &Arc<Servers>,
    clock: FastClock,
    iteration: Iteration,
) -> Progress {
    let store = LocalStore::open(data, clock.now()).unwrap();
    let queue = MemoryQueue::new(&clock, 10_000);
    let world = Arc::new(FastWorld {
        frontier: store.frontier(),
        archive: store.archive(),
        documents: store.documents(),
        queue: queue.clone(),
        clock,
        timing: Timing::default(),
    });
    let (frontier, name) = (world.frontier(), &definition.name);
    let seen = frontier.load_crawl(name).await.unwrap().map(|row| row.version);
    frontier.put_crawl(&PutCrawl { definition: definition.clone(), seen, next: None }).await.unwrap();
    let command = StartCommand { crawl: name.clone(), trigger: TriggerId(format!("run-{iteration}")) };
    start(&*world, &Contexts::default(), &command).await.unwrap();
    let fetcher = Arc::new(SimulatedWeb::new(Arc::clone(servers), clock));
    let (options, stop) = (RunOptions::default(), StopSignal::default());
    let end = run(Arc::clone(&world), fetcher, queue, name, options, stop, Arc::new(Activity::default())).await;
    assert!(matches!(end.unwrap(), RunEnd::Closed(_)), "nobody stopped it");
    world.frontier().progress(name, iteration).await.unwrap()
}
