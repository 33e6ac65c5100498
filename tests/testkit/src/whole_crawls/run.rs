//! Running one iteration to its end.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::address::AddressPolicy;
use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, Draft, UserAgent};
use dragline_domain::frontier::{CrawlPut, IterationStatus};
use dragline_domain::ids::TriggerId;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_engine::local_world;
use dragline_engine::run::{Engine, RunEnd, RunOptions, Until};
use dragline_http::{Certificate, HttpConfig, HttpFetcher, NameLookup};
use dragline_local::{LocalStore, MemoryQueue, SystemClock};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::schedule::{CommandResult, Defaults, handle};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{Fetcher, Fetchers};
use dragline_ports::frontier::{Crawls, Iterations, Progress, PutCrawl};
use dragline_ports::notifier::{Notice, Notifier};

/// Drops all notices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Notifier for Silent {
    async fn notify(&self, _notice: Notice, _since: jiff::Timestamp) -> PortResult<()> {
        Ok(())
    }
}

/// Resolves every name to this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loopback;

impl NameLookup for Loopback {
    fn lookup(&self, _host: &str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

/// How a crawl opens connections.
#[derive(Clone)]
pub struct Network {
    /// Which addresses are allowed.
    pub address_policy: AddressPolicy,
    /// How names are resolved.
    pub lookup: Arc<dyn NameLookup>,
    /// Trusted roots besides the platform's.
    pub extra_roots: Vec<Certificate>,
}

impl Default for Network {
    /// Every name resolves to this machine, which is allowed.
    fn default() -> Self {
        Self { address_policy: AddressPolicy::AllowPrivate, lookup: Arc::new(Loopback), extra_roots: Vec::new() }
    }
}

impl Network {
    /// Makes the production fetcher over this network.
    ///
    /// # Panics
    /// If it cannot be set up.
    #[must_use]
    pub fn fetcher(self) -> HttpFetcher {
        let Self { address_policy, lookup, extra_roots } = self;
        let config = HttpConfig { address_policy, extra_roots, ..HttpConfig::new("Dragline/test") };
        HttpFetcher::with_lookup(&config, lookup).unwrap()
    }
}

/// A definition for fast crawls: no delay, eight requests at once.
///
/// # Panics
/// If a seed is not a URL, or the change makes the definition invalid.
pub fn definition(seeds: &[String], change: impl FnOnce(&mut Draft)) -> Definition {
    let seeds = seeds.iter().map(|seed| CrawlUrl::parse(seed, &UrlRules::default()).unwrap()).collect();
    let mut draft = Draft::for_seeds(seeds);
    draft.politeness.delay = Duration::ZERO;
    draft.politeness.concurrency = 8;
    draft.politeness.patience = Duration::from_secs(1);
    change(&mut draft);
    Definition::new(draft).unwrap()
}

/// Runs one iteration to its end. Every name resolves to this machine, which is allowed.
///
/// # Panics
/// As [`crawl_over`] does.
pub async fn crawl(data: &Path, definition: &Definition) -> Progress {
    crawl_over(Network::default(), data, definition).await
}

/// Runs one iteration to its end, over the test's own network.
///
/// # Panics
/// As [`crawl_by`] does.
pub async fn crawl_over(network: Network, data: &Path, definition: &Definition) -> Progress {
    crawl_by(network.fetcher(), data, definition).await
}

/// Runs one iteration to its end, with the test's own fetcher.
///
/// # Panics
/// If it does not end: a port failed, or the iteration did not close.
pub async fn crawl_by(fetcher: impl Fetcher + 'static, data: &Path, definition: &Definition) -> Progress {
    crawl_with(Arc::new(fetcher), data, definition).await
}

/// Runs one iteration to its end, with the test's own fetchers, which may render pages.
///
/// # Panics
/// As [`crawl_by`] does.
pub async fn crawl_with(fetchers: impl Fetchers, data: &Path, definition: &Definition) -> Progress {
    let store = LocalStore::open(data, SystemClock::new().now()).unwrap();
    let world = Arc::new(local_world(&store, Silent));
    let messages = world.queue.clone();
    put(&*world, definition).await;
    let command = Command::Start { crawl: definition.name.clone(), trigger: None };
    run_command(RunOptions::default(), world, messages, fetchers, &command).await
}

/// Runs one iteration to its end over these adapters and their queue.
///
/// # Panics
/// As [`crawl_by`] does.
pub async fn crawl_in<W: World<Clock: Clone>>(
    world: W,
    messages: MemoryQueue<W::Clock>,
    fetcher: impl Fetcher + 'static,
    definition: &Definition,
) -> Progress {
    crawl_at_once(RunOptions::default(), world, messages, fetcher, definition).await
}

/// Runs one iteration to its end over these adapters and their queue, and no more of it at once
/// than these options say.
///
/// # Panics
/// As [`crawl_by`] does.
pub async fn crawl_at_once<W: World<Clock: Clone>>(
    options: RunOptions,
    world: W,
    messages: MemoryQueue<W::Clock>,
    fetcher: impl Fetcher + 'static,
    definition: &Definition,
) -> Progress {
    let world = Arc::new(world);
    put(&*world, definition).await;
    let command = Command::Start { crawl: definition.name.clone(), trigger: None };
    run_command(options, world, messages, Arc::new(fetcher), &command).await
}

/// Stores a definition in a data directory.
///
/// # Panics
/// If it cannot be stored.
pub async fn store(data: &Path, definition: &Definition) {
    let store = LocalStore::open(data, SystemClock::new().now()).unwrap();
    put(&local_world(&store, Silent), definition).await;
}

async fn put(world: &impl World, definition: &Definition) {
    let frontier = world.frontier();
    let seen = frontier.load_crawl(&definition.name).await.unwrap().map(|row| row.version);
    let put = frontier.put_crawl(&PutCrawl { definition: definition.clone(), seen, next: None }).await.unwrap();
    assert!(matches!(put, CrawlPut::Stored(_)), "nothing else changes the crawl");
}

/// Carries out a command over these adapters and their queue, and runs the crawl's latest iteration
/// to its end.
///
/// # Panics
/// If the command is refused, or the iteration does not end.
pub async fn command_in<W: World<Clock: Clone>>(
    world: W,
    messages: MemoryQueue<W::Clock>,
    fetcher: impl Fetcher + 'static,
    command: &Command,
) -> Progress {
    run_command(RunOptions::default(), Arc::new(world), messages, Arc::new(fetcher), command).await
}

/// Carries out a command in a data directory, and runs the crawl's latest iteration to its end.
/// Every name resolves to this machine, which is allowed.
///
/// # Panics
/// As [`command_in`] does.
pub async fn command(data: &Path, command: &Command) -> Progress {
    let store = LocalStore::open(data, SystemClock::new().now()).unwrap();
    let world = local_world(&store, Silent);
    let messages = world.queue.clone();
    command_in(world, messages, Network::default().fetcher(), command).await
}

async fn run_command<W: World<Clock: Clone>>(
    options: RunOptions,
    world: Arc<W>,
    messages: MemoryQueue<W::Clock>,
    fetchers: impl Fetchers,
    command: &Command,
) -> Progress {
    let (name, trigger) = (&command.crawl(), TriggerId(format!("test-{}", world.clock().now())));
    let defaults = Defaults { user_agent: UserAgent::default(), url_pages_max: 1_000, ignore_robots: Vec::new() };
    let handled = handle(&*world, &Contexts::default(), &defaults, command, &trigger).await.unwrap();
    assert!(matches!(handled, CommandResult::Started(_) | CommandResult::Joined(_)), "{handled:?}");

    let engine = Engine { options, ..Engine::new(Arc::clone(&world), fetchers, messages) };
    let end = engine.run(Until::Closed(name.clone())).await.unwrap();
    let RunEnd::Closed(row) = end else { panic!("nobody stopped it") };
    assert_eq!((row.status, row.open), (IterationStatus::Closed, 0));
    world.frontier().progress(name, row.number).await.unwrap()
}
