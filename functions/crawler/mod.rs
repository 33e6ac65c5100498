//! The crawler function, which works turns. The renderer is the same function with a browser and a
//! queue of its own.

mod browser;
mod gathering;
mod handler;

use std::sync::Arc;

use dragline_browser::BrowserRenderer;
use dragline_http::{HttpConfig, HttpFetchers};
use dragline_lambda::{AwsWorld, Invocation, Reply, RunError, SecretsManager, SqsQueue, run};
use dragline_pipeline::World as _;
use dragline_ports::archive::Archive as _;
use dragline_ports::fetcher::{Fetchers as _, RenderingFetchers};
use dragline_ports::queue::CONVOY_MAX;
use dragline_ports::system::SystemClock;

use crate::defaults::renders_url;
use crate::network::fetchers;
use browser::browsers;
use handler::Crawler;

/// The variable with the prefix of the secrets that rules for access may name; empty for none.
const ACCESS_SECRETS: &str = "DRAGLINE_ACCESS_SECRETS";

/// The maximum size of all bodies that a client is receiving, in bytes. The function has little
/// memory, as it mostly waits.
const IN_FLIGHT_BYTES_MAX: usize = 24 << 20;

/// The maximum disk usage for new bodies, of 512 MB in all. Bodies that have arrived may need as
/// much again for their objects.
const SPOOL_BYTES_MAX: u64 = 240 << 20;

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("crawler", set_up, invoke).await
}

/// The ports and the crawler. An invocation's ports have turns of their own length.
type Handler = (AwsWorld, Arc<Crawler<CrawlerFetchers, SqsQueue>>);

/// What sites are reached by, and pages rendered.
type CrawlerFetchers = RenderingFetchers<HttpFetchers, Option<BrowserRenderer>>;

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    // Each definition has its own user agent.
    let config = HttpConfig {
        in_flight_bytes_max: IN_FLIGHT_BYTES_MAX,
        spool: world.archive().spool().limited_to(SPOOL_BYTES_MAX),
        ..HttpConfig::new("Dragline")
    };
    let secrets = std::env::var(ACCESS_SECRETS).unwrap_or_default();
    let secrets = SecretsManager::with_prefix(&secrets, SystemClock::new());
    let variable = |name: &str| std::env::var(name).ok();
    let fetchers = fetchers(config, variable)?.with_secrets(Arc::new(secrets));
    let browsers = browsers(variable)?;
    // A function with a browser keeps the tickets that come to it.
    let renders = renders_url(variable).filter(|_| browsers.is_none());
    let renders = renders.map(|url| world.queue.with_turns(url));
    let turns_max = browsers.as_ref().map_or(CONVOY_MAX, BrowserRenderer::browsers_max);
    Ok((world, Arc::new(Crawler::new(fetchers.rendering_by(Arc::new(browsers)), renders, turns_max))))
}

async fn invoke((world, crawler): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    Ok(crawler.handle(&world, invocation.event, invocation.deadline).await)
}
