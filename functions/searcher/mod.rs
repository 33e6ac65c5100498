//! The searcher function, which answers HTTP searches from the word indexes that the publisher
//! puts.

mod handler;
mod indexes;
mod request;

use std::sync::Arc;

use dragline_lambda::{AwsWorld, HttpReply, Invocation, RunError, S3Editions, SettingError, run};
use dragline_pipeline::World as _;
use dragline_ports::clock::Clock as _;

use handler::Searcher;
use indexes::OpenIndexes;

/// Lambda's variable with the function's memory in MiB.
const MEMORY: &str = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE";

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("searcher", set_up, invoke).await
}

type Handler = (AwsWorld, Arc<Searcher<S3Editions>>);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    let memory_mib = std::env::var(MEMORY).map_err(|_| SettingError::Missing(MEMORY))?;
    let memory_mib: u64 =
        memory_mib.parse().map_err(|_| SettingError::Wrong { name: MEMORY, why: "not a number".to_owned() })?;
    // Half of it for blocks; open indexes and requests to S3 need the rest.
    let opened = OpenIndexes::new(S3Editions::beside(&world.documents), (memory_mib << 20) / 2);
    Ok((world, Arc::new(Searcher { opened })))
}

async fn invoke((world, searcher): Handler, invocation: Invocation) -> Result<HttpReply, RunError> {
    searcher.handle(invocation.event, world.clock().monotonic()).await
}
