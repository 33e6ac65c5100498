//! `dragline serve`: the engine as a resident process, with the API and the page.

mod client;
mod links;
mod listen;
mod mcp;
mod printer;
mod schedules;
mod tls;
mod tokens;

use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use dragline_browser::BrowserRenderer;
use dragline_domain::definition::{Draft, RunsWhere, UserAgent};
use dragline_domain::ids::CrawlId;
use dragline_engine::room::Room;
use dragline_engine::run::{Engine, RunEnd, Until};
use dragline_engine::{LocalWorld, local_world};
use dragline_http::{HttpConfig, HttpFetchers};
use dragline_local::{LocalStore, SlottedFetchers, SqliteReader, SystemClock, SystemRng, raise_open_files};
use dragline_pipeline::crawl::StopSignal;
use dragline_pipeline::schedule::Defaults;
use dragline_ports::archive::Archive as _;
use dragline_ports::clock::Rng as _;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::{Fetchers, RenderingFetchers};
use dragline_ports::frontier::CrawlRow;
use dragline_ports::reader::Reader as _;
use dragline_search::Index;
use dragline_service::{
    Access, AddCrawl, Backend, Crawling, Freshness, HostCheck, Link, Output, PortsBackend, Printout, Problem, Service,
    Stores, router,
};
use serde::Serialize;
use tokio::task::JoinHandle;

use client::Listening;
use links::DefinitionLinks;
use listen::{Listeners, refuse_strangers};
use printer::Printer;

use crate::args::ServeArgs;
use crate::crawl::{Floor, Interrupts, SpaceGuard, open_slots};
use crate::crawl_handle;
use crate::derived_files;
use crate::error::{Failure, while_doing};
use crate::exit::Exit;
use crate::network::Network;
use crate::notify::{CliNotifier, Sender};
use crate::output_file::cannot_write;
use crate::rendering;
use crate::sink::{Sinks, keep_all};
use crate::telemetry::{Telemetry, end_measuring};
use crate::terminal::Console;

pub(crate) use client::Client;
pub(crate) use mcp::mcp;
pub(crate) use schedules::schedule;
pub(crate) use tokens::tokens;

/// The page budget of a crawl that a URL alone began.
const URL_PAGES_MAX: u64 = 10_000;

/// The requests to a site at the same time for which there is room with as many sites as possible.
const CONCURRENCY: usize = 4;

/// How often the free space is checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs the crawls of a data directory, and answers requests, until it is interrupted.
///
/// # Errors
/// The directory cannot be opened, the address cannot be listened on, or the engine failed.
pub(crate) async fn serve(args: &ServeArgs, console: &Console) -> Result<Exit, Failure> {
    let data = args.data();
    let access = Access::with_tokens(tokens::read(data)?);
    refuse_strangers(args.listen, &access, data)?;
    let network = Network::from_args(&args.network)?;
    let sinks = Sinks::for_server(&args.sink, data)?;
    let store = args.disk.waiting.open(data, console).await?;
    let mut interrupts = Interrupts::listen().map_err(while_doing("listening for Ctrl-C"))?;
    let listeners = Listeners::bind(args).await?;
    let url = listeners.url()?;

    let draft = Draft::for_seeds(Vec::new());
    let sender = Sender::new(&args.notify, data, network.config(&draft, None))?;
    let telemetry = Telemetry::from_environment(&network.config(&draft, None), console);
    let world = local_world(&store, CliNotifier::serving(console, &sender));
    let world = Arc::new(match telemetry.observer() {
        Some(observer) => world.watched_by(observer),
        None => world,
    });
    let telling = sender.watch(Arc::clone(&world), data, args.disk.keep_free);
    let keeping = keep_all(sinks, Arc::clone(&world), console);
    let browsers = rendering::browsers();
    let engine = engine(&world, &store, (&network, args.disk.origins, &browsers), console);
    let stop = engine.stop.clone();

    let listening =
        Listening { address: listeners.own_address()?.to_string(), secret: format!("{:032x}", SystemRng.bits()) };
    let access = access.with_secret(&listening.secret);
    let _announced = listening.announce(data)?;
    Printer::clean_up(data).map_err(while_doing("removing unfinished archives"))?;
    let crawls = DirectoryCrawls::new(data, args.network.arguments(), console);
    let backend = backend(Arc::clone(&world), crawls);
    let measuring = telemetry.measure(|| Arc::clone(&backend));
    let allowed = (access, HostCheck::new(args.hosts.clone()), args.agents.crawling());
    let mut servers = listeners.serve(telemetry.watch_calls(api(Arc::clone(&backend), allowed)));
    console.say(&format!("serving {} at {url}; Ctrl-C stops it, and starting it again goes on", data.display()));

    let refreshing = tokio::spawn(links::refresh_all(backend, data.to_owned(), console.clone()));
    let engine = tokio::spawn(engine.run(Until::Stopped));
    let guard = SpaceGuard::new(Floor { data, free_bytes_min: args.disk.keep_free }, console);
    let ended = run(engine, &stop, guard, &mut interrupts, console).await;
    browsers.close().await;
    // What holds the directory ends before it is closed.
    servers.shutdown().await;
    refreshing.abort();
    let _ = refreshing.await;
    end_measuring(measuring).await;
    telling.end().await;
    keeping.end().await;
    telemetry.end().await;
    ended
}

/// Returns the API and the page over an open data directory.
fn api(backend: Arc<dyn Backend>, (access, hosts, crawling): (Access, HostCheck, Crawling)) -> Router {
    router(Service { backend, access, hosts, crawling, rng: Arc::new(SystemRng) })
}

/// Returns the crawls of an open data directory, as the API needs them.
pub(crate) fn backend(world: Arc<LocalWorld<CliNotifier>>, crawls: DirectoryCrawls) -> Arc<dyn Backend> {
    let defaults =
        Defaults { user_agent: UserAgent::default(), url_pages_max: URL_PAGES_MAX, ignore_robots: Vec::new() };
    Arc::new(PortsBackend::new(world, crawls, defaults))
}

/// Returns the API over a data directory that another process may be writing to: it only reads.
fn api_for_reading(crawls: DirectoryCrawls) -> Router {
    let backend = Arc::new(PortsBackend::<LocalWorld<CliNotifier>, _>::read_only(crawls));
    api(backend, (Access::open(), HostCheck::default(), Crawling::Refused))
}

/// The engine of a data directory.
type DirectoryEngine =
    Engine<LocalWorld<CliNotifier>, RenderingFetchers<SlottedFetchers<HttpFetchers, SystemClock>, BrowserRenderer>>;

/// Returns the engine that runs all crawls of an open data directory. It visits this many sites at
/// the same time, or as many as there is room for.
fn engine(
    world: &Arc<LocalWorld<CliNotifier>>,
    store: &LocalStore,
    (network, origins, browsers): (&Network, Option<NonZeroUsize>, &Arc<BrowserRenderer>),
    console: &Console,
) -> DirectoryEngine {
    let room = Room::divide(raise_open_files(), CONCURRENCY, origins);
    let spool = store.archive().spool();
    let config = network.config(&Draft::for_seeds(Vec::new()), Some(&room));
    let fetchers = network.fetchers(HttpConfig { spool, ..config });
    let fetchers =
        SlottedFetchers::new(fetchers, open_slots(console), SystemClock::new()).rendering_by(Arc::clone(browsers));
    Engine { options: room.options, ..Engine::new(Arc::clone(world), fetchers, world.queue.clone()) }
}

/// Waits until the engine has ended: at an interruption, or as the disk is nearly full.
async fn run(
    mut engine: JoinHandle<PortResult<RunEnd>>,
    stop: &StopSignal,
    mut guard: SpaceGuard<'_>,
    interrupts: &mut Interrupts,
    console: &Console,
) -> Result<Exit, Failure> {
    loop {
        tokio::select! {
            ended = &mut engine => {
                let failed = |error| PortError::new(PortErrorKind::Other, "run", "the engine", error);
                ended.map_err(failed)??;
                return Ok(if guard.is_reached() { Exit::LowSpace } else { Exit::Done });
            }
            () = interrupts.next() => {
                if stop.is_stopped() {
                    engine.abort();
                    return Ok(Exit::Interrupted);
                }
                console.say("finishing the requests under way; press Ctrl-C again to stop at once");
                stop.stop();
            }
            () = tokio::time::sleep(LOOK_EVERY) => guard.check(stop),
        }
    }
}

/// Writes a file of a data directory as JSON, readable for its owner alone. It is there at once.
fn write_private(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut file = tempfile::Builder::new().tempfile_in(path.parent().unwrap_or(path))?;
        serde_json::to_writer_pretty(&mut file, value)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(cannot_write(path))
}

/// The crawls of a data directory, read beside the process that writes them.
pub(crate) struct DirectoryCrawls {
    data: PathBuf,
    console: Console,
    printer: Printer,
    links: DefinitionLinks,
}

impl DirectoryCrawls {
    /// Returns the crawls of a data directory. Explanations have these flags for the network.
    pub(crate) fn new(data: &Path, network: Vec<OsString>, console: &Console) -> Self {
        Self {
            data: data.to_owned(),
            console: console.clone(),
            printer: Printer::new(data, network),
            links: DefinitionLinks::new(data),
        }
    }

    fn error(&self, error: impl std::error::Error + Send + Sync + 'static) -> PortError {
        PortError::new(PortErrorKind::Other, "open", self.data.display().to_string(), error)
    }
}

impl Stores for DirectoryCrawls {
    type Reader = SqliteReader;

    async fn crawls(&self) -> PortResult<Vec<CrawlId>> {
        LocalStore::open_read_only(&self.data).map_err(|error| self.error(error))?.crawls()
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        LocalStore::open_read_only(&self.data).map_err(|error| self.error(error))?.load_crawl(crawl)
    }

    /// It is brought up to date each time.
    async fn index(&self, crawl: &CrawlId, _: Freshness) -> Result<Option<Arc<Index>>, Problem> {
        let (data, crawl, console) = (self.data.clone(), crawl.clone(), self.console.clone());
        // It reads and sorts all that is new.
        let runtime = tokio::runtime::Handle::current();
        let opened = tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                if !crawl_handle::crawls(&data)?.contains(&crawl) {
                    return Ok(None);
                }
                let Some(found) = crawl_handle::in_directory(&*data, Some(&crawl))? else { return Ok(None) };
                if found.reader.latest_iteration().await?.is_none() {
                    return Ok(None);
                }
                derived_files::index(&found, &console).await.map(|index| Some(Arc::new(index)))
            })
        });
        let failed = |why: String| Problem::internal(why);
        opened.await.map_err(|error| failed(error.to_string()))?.map_err(|failure: Failure| failed(failure.message))
    }

    async fn link(&self, crawl: &CrawlId) -> Result<Option<AddCrawl>, Problem> {
        self.links.find(crawl)
    }

    async fn keep_link(&self, crawl: &CrawlId, link: Link) -> Result<(), Problem> {
        self.links.keep(crawl, link.call)
    }

    async fn read_link(&self, url: &str) -> Result<String, Problem> {
        self.printer.read_live(url).await
    }

    async fn print(&self, crawl: &CrawlId, printout: Printout) -> Result<Output, Problem> {
        self.printer.print(crawl, printout).await
    }

    fn free_bytes(&self) -> Option<u64> {
        dragline_local::free_bytes(&self.data).ok()
    }

    fn runs(&self) -> RunsWhere {
        RunsWhere::Anywhere
    }

    fn reader(&self, crawl: &CrawlId) -> PortResult<SqliteReader> {
        let reading = LocalStore::open_read_only(&self.data).map_err(|error| self.error(error))?;
        Ok(reading.into_reader(crawl.clone()))
    }
}
