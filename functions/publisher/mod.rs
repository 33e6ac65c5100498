//! The publisher function, which publishes data derived from closed iterations.

mod handler;

use std::path::PathBuf;
use std::sync::Arc;

use dragline_domain::ids::CrawlId;
use dragline_lambda::{AwsWorld, DynamoReader, Invocation, Reply, RunError, S3Editions, S3Publications, run};
use dragline_pipeline::World as _;
use dragline_ports::clock::Clock as _;
use dragline_ports::queue::Publishing;

use crate::folder::process_folder;
use handler::Publisher;

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

type Handler = (AwsWorld, S3Publications, S3Editions, PathBuf);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    let (publications, editions) = (S3Publications::beside(&world.documents), S3Editions::beside(&world.documents));
    Ok((world, publications, editions, process_folder("publisher")))
}

async fn invoke((world, publications, editions, folder): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    let reader = {
        let (frontier, documents) = (world.frontier.clone(), world.documents.clone());
        move |crawl: &CrawlId, what: &Publishing| {
            let documents = match what {
                Publishing::Items(_) => documents.clone(),
                Publishing::Site(_) => documents.with_cache(KEPT_BYTES_MAX),
            };
            DynamoReader::new(frontier.clone(), documents, crawl.clone())
        }
    };
    let walk = invocation.deadline.walk(world.clock().now(), 1);
    let publisher = Publisher { world: world.with_walk(walk), reader, publications, editions, folder };
    Ok(Arc::new(publisher).handle(invocation.event).await)
}
