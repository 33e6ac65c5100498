//! The searcher function, which answers the API of a stack: searches, from the word indexes that
//! the publisher puts, what crawls left, and the commands to them.

mod access;
mod archive;
mod backlinks;
mod explain;
mod handler;
mod indexes;
mod links;
mod printouts;
mod stores;

use std::sync::Arc;
use std::time::Duration;

use dragline_http::HttpConfig;
use dragline_lambda::{
    AwsWorld, HttpReply, Invocation, RunError, S3Definitions, S3Editions, S3Publications, SettingError, run,
};
use dragline_ports::system::SystemRng;
use dragline_service::{Backend, Crawling, HostCheck, PortsBackend, Service, router};

use crate::defaults::{stack_browsers, stack_defaults};
use crate::folder::process_folder;
use crate::network::{address_policy, fetchers};
use access::access;
use handler::Api;
use indexes::OpenIndexes;
use stores::StackCrawls;

/// Lambda's variable with the function's memory in MiB.
const MEMORY: &str = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE";

/// The variable with the stack's name.
const STACK: &str = "DRAGLINE_TABLES";

/// The variable that says whom Lambda lets in: `iam` or `anyone`.
const SEARCH_ACCESS: &str = "DRAGLINE_SEARCH_ACCESS";

/// The variable with the role of those whom the account lets in.
const ROLE: &str = "DRAGLINE_API_ROLE";

/// The variable with the tokens that anyone else needs, as JSON; empty if there are none.
const TOKENS: &str = "DRAGLINE_API_TOKENS";

/// How long a command may add URLs while its caller waits. The scheduler adds the rest.
const WALK: Duration = Duration::from_secs(20);

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("searcher", set_up, invoke).await
}

async fn set_up(world: AwsWorld) -> Result<Api, RunError> {
    let memory_mib: u64 = variable(MEMORY)?.parse().map_err(|_| wrong(MEMORY, "not a number"))?;
    let tokens = std::env::var(TOKENS).unwrap_or_default();
    let access = access(&variable(SEARCH_ACCESS)?, &variable(ROLE)?, &tokens).map_err(|why| wrong(TOKENS, why))?;
    let defaults = stack_defaults(|name| std::env::var(name).ok())?;
    let addresses = address_policy(|name| std::env::var(name).ok())?;
    let fetchers = fetchers(HttpConfig::new("Dragline"), |name| std::env::var(name).ok())?;
    let (stack, frontier) = (variable(STACK)?, world.frontier.clone());
    let documents = &world.documents;
    let crawls = StackCrawls {
        stack: stack.clone(),
        frontier: frontier.clone(),
        // Half of the memory for blocks; open indexes and requests to S3 need the rest.
        indexes: OpenIndexes::new(S3Editions::beside(documents), (memory_mib << 20) / 2),
        publications: S3Publications::beside(documents),
        definitions: S3Definitions::beside(documents),
        documents: documents.clone(),
        archive: world.archive.clone(),
        fetchers: Arc::new(fetchers),
        addresses,
        browsers: stack_browsers(|name| std::env::var(name).ok()),
        folder: process_folder("searcher"),
        clock: world.clock,
    };
    let backend: Arc<dyn Backend> = Arc::new(PortsBackend::new(Arc::new(world.with_walk(WALK)), crawls, defaults));
    // Lambda finds the function by the host of its URL.
    let (hosts, crawling, rng) = (HostCheck::routed(), Crawling::Refused, Arc::new(SystemRng));
    let router = router(Service { backend: Arc::clone(&backend), access, hosts, crawling, rng });
    Ok(Api { router, backend, frontier, export_hint: format!("or print it by `dragline export NAME --stack {stack}`") })
}

fn variable(name: &'static str) -> Result<String, SettingError> {
    std::env::var(name).map_err(|_| SettingError::Missing(name))
}

fn wrong(name: &'static str, why: impl Into<String>) -> SettingError {
    SettingError::Wrong { name, why: why.into() }
}

async fn invoke(api: Api, invocation: Invocation) -> Result<HttpReply, RunError> {
    api.handle(invocation.event).await
}
