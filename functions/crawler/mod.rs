//! The crawler function, which works turns.

mod gathering;
mod handler;

use std::sync::Arc;

use dragline_http::{HttpConfig, HttpFetchers};
use dragline_lambda::{AwsWorld, Invocation, Reply, RunError, run};
use dragline_pipeline::World as _;
use dragline_ports::archive::Archive as _;

use crate::addresses::address_policy;
use handler::Crawler;

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
type Handler = (AwsWorld, Arc<Crawler<HttpFetchers>>);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    // Each definition has its own user agent.
    let config = HttpConfig {
        address_policy: address_policy(|name| std::env::var(name).ok())?,
        in_flight_bytes_max: IN_FLIGHT_BYTES_MAX,
        spool: world.archive().spool().limited_to(SPOOL_BYTES_MAX),
        ..HttpConfig::new("Dragline")
    };
    Ok((world, Arc::new(Crawler::new(HttpFetchers::new(config)))))
}

async fn invoke((world, crawler): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    Ok(crawler.handle(&world, invocation.event, invocation.deadline).await)
}
