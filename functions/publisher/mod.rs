//! The publisher function, which publishes data derived from closed iterations, and keeps a
//! database of results up to date.

mod handler;
mod results;

use std::path::PathBuf;
use std::sync::Arc;

use dragline_domain::ids::CrawlId;
use dragline_lambda::{
    AwsWorld, DynamoReader, Event, Invocation, Reply, RunError, S3Editions, S3Publications, SecretsManager, run,
};
use dragline_pipeline::World as _;
use dragline_ports::clock::Clock as _;
use dragline_ports::queue::Publishing;
use dragline_ports::system::SystemClock;

use crate::folder::process_folder;
use handler::Publisher;
use results::Database;

/// The variable with the name of the secret that is the address of the database for results; empty
/// for none.
const SINK_SECRET: &str = "DRAGLINE_SINK_SECRET";

/// The cache size for a crawl's documents, compressed, in bytes: the graph, the index and the
/// report each read all of them. A quarter of the least memory that the template allows.
const KEPT_BYTES_MAX: usize = 128 << 20;

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("publisher", set_up, invoke).await
}

type Handler = (AwsWorld, S3Publications, S3Editions, PathBuf, Option<Arc<Database>>);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    let (publications, editions) = (S3Publications::beside(&world.documents), S3Editions::beside(&world.documents));
    let secret = std::env::var(SINK_SECRET).ok().filter(|name| !name.is_empty());
    let database = secret.map(|name| {
        let secrets = SecretsManager::with_prefix(&name, SystemClock::new());
        Arc::new(Database::by_secret(name, Arc::new(secrets)))
    });
    Ok((world, publications, editions, process_folder("publisher"), database))
}

async fn invoke(
    (world, publications, editions, folder, database): Handler,
    invocation: Invocation,
) -> Result<Reply, RunError> {
    let crawls = match (&database, &invocation.event) {
        (Some(_), Event::Tick) => world.frontier.crawls().await?,
        _ => Vec::new(),
    };
    let reader = {
        let (frontier, documents) = (world.frontier.clone(), world.documents.clone());
        move |crawl: &CrawlId, what: &Publishing| {
            let documents = match what {
                Publishing::Items(_) | Publishing::Results => documents.clone(),
                Publishing::Site(_) => documents.with_cache(KEPT_BYTES_MAX),
            };
            DynamoReader::new(frontier.clone(), documents, crawl.clone())
        }
    };
    let walk = invocation.deadline.walk(world.clock().now(), 1);
    let publisher = Publisher { world: world.with_walk(walk), reader, publications, editions, folder, database };
    match invocation.event {
        Event::Tick => publisher.tick(crawls).await.map(|()| Reply::default()).map_err(RunError::from),
        event => Ok(Arc::new(publisher).handle(event).await),
    }
}
