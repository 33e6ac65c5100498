//! `dragline mcp`: tools for agents, over standard input and output.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use dragline_domain::ids::CrawlId;
use dragline_engine::run::Until;
use dragline_engine::{LocalWorld, local_world};
use dragline_local::{DATABASE, LocalStore, OpenError, SystemClock, SystemRng};
use dragline_pipeline::crawl::StopSignal;
use dragline_ports::clock::Clock as _;
use dragline_service::{Access, Agents, Api, ApiError, ApiResponse, Caller, Crawling, HostCheck, serve_stdio};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::client::Client;
use super::{DirectoryCrawls, LOOK_EVERY, api, api_for_reading, backend, engine};
use crate::args::{McpArgs, NetworkArgs, data_flag};
use crate::crawl::{Floor, Interrupts, SpaceGuard};
use crate::error::{Failure, while_doing};
use crate::exit::Exit;
use crate::network::Network;
use crate::notify::CliNotifier;
use crate::rendering;
use crate::terminal::Console;

/// How often a call tries to open a directory that another process has, which takes a moment each
/// time: some two seconds in all.
const TRIES_MAX: u32 = 8;
const TRY_AGAIN: Duration = Duration::from_millis(50);

/// The free space of the disk at which crawls of agents stop, in bytes: that of `--keep-free`.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// Answers an agent until its input ends.
///
/// # Errors
/// The agent does not speak the protocol.
pub(crate) async fn mcp(args: &McpArgs, console: &Console) -> Result<Exit, Failure> {
    let mut interrupts = Interrupts::listen().map_err(while_doing("listening for Ctrl-C"))?;
    let directory = Arc::new(AgentDirectory {
        data: args.data().to_owned(),
        network: args.network.clone(),
        crawling: args.agents.crawling(),
        console: console.clone(),
        state: Mutex::default(),
    });
    let agents = Agents::new(Arc::clone(&directory) as _, directory.crawling.clone(), Arc::new(SystemRng));
    let (served, exit) = tokio::select! {
        served = serve_stdio(agents) => (served, Exit::Done),
        () = interrupts.next() => (Ok(()), Exit::Interrupted),
    };
    directory.end().await;
    served.map_err(|error| {
        Failure::from_error(&error).with_hint("`dragline mcp` is started by an agent: see docs/reference/mcp.md")
    })?;
    Ok(exit)
}

/// The crawls of a data directory, as an agent calls them. An agent is there for days, so it reads
/// the directory beside other commands, and has it to itself only while it begins a crawl and while
/// that runs.
struct AgentDirectory {
    data: PathBuf,
    network: NetworkArgs,
    crawling: Crawling,
    console: Console,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What reads the directory; `None` before the first call.
    reading: Option<Arc<Client>>,
    /// The directory that is open for writing, as long as a call is under way or a crawl runs.
    open: Weak<OpenDirectory>,
    /// The crawl that runs in this process; it may be over.
    running: Option<Running>,
}

/// A directory that this process has to itself.
struct OpenDirectory {
    client: Client,
    world: Arc<LocalWorld<CliNotifier>>,
    store: LocalStore,
}

/// A crawl that runs in this process.
struct Running {
    crawl: CrawlId,
    stop: StopSignal,
    engine: JoinHandle<()>,
}

/// Who answers.
enum Answering {
    /// A server, or what reads the directory.
    Client(Arc<Client>),
    /// The directory, which is open for writing.
    Directory(Arc<OpenDirectory>),
}

impl Api for AgentDirectory {
    fn send<'a>(&'a self, request: Request<Body>, _caller: &'a Caller) -> ApiResponse<'a> {
        Box::pin(async move {
            let directory = match self.answering(request.method()).await.map_err(unanswered)? {
                Answering::Client(client) => return client.send(request).await.map_err(unanswered),
                Answering::Directory(directory) => directory,
            };
            let begun = begun_crawl(&request);
            if let Some(crawl) = &begun {
                self.refuse_second(crawl).await.map_err(unanswered)?;
            }
            let response = directory.client.send(request).await.map_err(unanswered)?;
            if let (Some(crawl), true) = (begun, response.status().is_success()) {
                self.run(crawl, &directory).await.map_err(unanswered)?;
            }
            Ok(response)
        })
    }
}

/// Returns the crawl of which a request begins an iteration.
fn begun_crawl(request: &Request<Body>) -> Option<CrawlId> {
    let name = request.uri().path().strip_prefix("/crawls/")?.strip_suffix("/iterations")?;
    if *request.method() == Method::POST { name.parse().ok() } else { None }
}

fn unanswered(failure: Failure) -> ApiError {
    ApiError { detail: failure.message, hints: failure.hints }
}

impl AgentDirectory {
    /// Returns who answers: the server that runs over the directory or, if none does, the directory
    /// itself, which is opened for writing for a request that changes something.
    async fn answering(&self, method: &Method) -> Result<Answering, Failure> {
        let mut state = self.state.lock().await;
        if let Some(open) = state.open.upgrade() {
            return Ok(Answering::Directory(open));
        }
        if let Some(server) = Client::for_server(&self.data) {
            return Ok(Answering::Client(Arc::new(server)));
        }
        let crawls = DirectoryCrawls::new(&self.data, self.network.arguments(), &self.console);
        let (is_there, reads) = (self.data.join(DATABASE).is_file(), *method == Method::GET);
        if !is_there && self.crawling == Crawling::Refused {
            let hint = format!("`dragline crawl URL{}` makes one", data_flag(&self.data));
            return Err(Failure::new(format!("there is no crawl in {} yet", self.data.display())).with_hint(hint));
        }
        if is_there && reads {
            // Says, too, why it cannot be read, as in the version of another Dragline.
            LocalStore::open_read_only(&self.data)?;
            let reading = state.reading.get_or_insert_with(|| Arc::new(Client::Directory(api_for_reading(crawls))));
            return Ok(Answering::Client(Arc::clone(reading)));
        }
        // Another call that is ending may still hold it, and so may a short command.
        let mut more_tries = 1..TRIES_MAX;
        let store = loop {
            match LocalStore::open(&self.data, SystemClock::new().now()) {
                Ok(store) => break store,
                Err(OpenError::InUse(_)) if more_tries.next().is_some() => sleep(TRY_AGAIN).await,
                Err(error) => return Err(error.into()),
            }
        };
        let world = Arc::new(local_world(&store, CliNotifier::printing(&self.console)));
        let allowed = (Access::open(), HostCheck::default(), Crawling::Refused);
        let client = Client::Directory(api(backend(Arc::clone(&world), crawls), allowed));
        let open = Arc::new(OpenDirectory { client, world, store });
        state.open = Arc::downgrade(&open);
        Ok(Answering::Directory(open))
    }

    /// Refuses to begin a crawl while another one runs in this process.
    async fn refuse_second(&self, crawl: &CrawlId) -> Result<(), Failure> {
        let state = self.state.lock().await;
        match &state.running {
            Some(running) if running.crawl != *crawl && !running.engine.is_finished() => {
                let failure = Failure::new(format!(
                    "`{}` is running, and without a server one crawl runs at a time",
                    running.crawl
                ));
                let hint = format!("wait until it is over, or have `dragline serve{}` run", data_flag(&self.data));
                Err(failure.with_hint(hint))
            }
            _ => Ok(()),
        }
    }

    /// Runs a crawl until its iteration is over. The directory stays open until then.
    async fn run(&self, crawl: CrawlId, directory: &Arc<OpenDirectory>) -> Result<(), Failure> {
        let mut state = self.state.lock().await;
        if state.running.as_ref().is_some_and(|running| !running.engine.is_finished()) {
            return Ok(());
        }
        let network = Network::from_args(&self.network)?;
        let browsers = rendering::browsers();
        let engine = engine(&directory.world, &directory.store, (&network, None, &browsers), &self.console);
        let stop = engine.stop.clone();
        let (stopping, console, data) = (stop.clone(), self.console.clone(), self.data.clone());
        let (directory, until) = (Arc::clone(directory), Until::Closed(crawl.clone()));
        let engine = tokio::spawn(async move {
            let _open = directory;
            let mut guard = SpaceGuard::new(Floor { data: &data, free_bytes_min: FREE_BYTES_MIN }, &console);
            let mut running = pin!(engine.run(until));
            let ended = loop {
                tokio::select! {
                    ended = &mut running => break ended,
                    () = sleep(LOOK_EVERY) => guard.check(&stopping),
                }
            };
            browsers.close().await;
            if let Err(error) = ended {
                let failure = Failure::from(error);
                console.error(&failure.message, &failure.hints);
            }
        });
        state.running = Some(Running { crawl, stop, engine });
        Ok(())
    }

    /// Lets the requests of a running crawl end.
    async fn end(&self) {
        let Some(Running { crawl, stop, engine }) = self.state.lock().await.running.take() else { return };
        if engine.is_finished() {
            return;
        }
        stop.stop();
        // A panic of the engine was reported by its thread.
        let _ = engine.await;
        self.console.say(&format!("`{crawl}` is not over: `dragline crawl{}` goes on with it", data_flag(&self.data)));
    }
}
