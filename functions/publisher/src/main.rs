//! The Lambda function of what is made of iterations that are over.

mod handler;

use std::env;
use std::sync::Arc;

use dragline_domain::ids::CrawlId;
use dragline_lambda::{AwsWorld, DynamoReader, Invocation, Reply, RunError, S3Editions, S3Publications, run};
use dragline_pipeline::World as _;
use dragline_ports::clock::Clock as _;

use crate::handler::Publisher;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    run("publisher", set_up, invoke).await
}

type Handler = (AwsWorld, S3Publications, S3Editions);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    let (publications, editions) = (S3Publications::beside(&world.documents), S3Editions::beside(&world.documents));
    Ok((world, publications, editions))
}

async fn invoke((world, publications, editions): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    let reader = {
        let (frontier, documents) = (world.frontier.clone(), world.documents.clone());
        move |crawl: &CrawlId| DynamoReader::new(frontier.clone(), documents.clone(), crawl.clone())
    };
    let walk = invocation.deadline.walk(world.clock().now(), 1);
    // Processes that share a folder, as on an emulator, have parts of their own.
    let folder = env::temp_dir().join(format!("dragline-publisher-{}", std::process::id()));
    let publisher = Publisher { world: world.with_walk(walk), reader, publications, editions, folder };
    Ok(Arc::new(publisher).handle(invocation.event).await)
}
