//! The Lambda function of what is made of iterations that are over.

mod handler;

use std::sync::Arc;

use dragline_domain::ids::CrawlId;
use dragline_lambda::{AwsWorld, DynamoReader, Invocation, Reply, RunError, S3Publications, run};
use dragline_pipeline::World as _;
use dragline_ports::clock::Clock as _;

use crate::handler::Publisher;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    run("publisher", set_up, invoke).await
}

type Handler = (AwsWorld, S3Publications);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    let publications = S3Publications::beside(&world.documents);
    Ok((world, publications))
}

async fn invoke((world, publications): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    let reader = {
        let (frontier, documents) = (world.frontier.clone(), world.documents.clone());
        move |crawl: &CrawlId| DynamoReader::new(frontier.clone(), documents.clone(), crawl.clone())
    };
    let walk = invocation.deadline.walk(world.clock().now(), 1);
    let publisher = Publisher { world: world.with_walk(walk), reader, publications };
    Ok(Arc::new(publisher).handle(invocation.event).await)
}
