//! The Lambda function of segments.

mod handler;

use std::sync::Arc;

use dragline_lambda::{AwsWorld, Invocation, Reply, RunError, run};

use crate::handler::Parser;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    run("parser", set_up, invoke).await
}

async fn set_up(world: AwsWorld) -> Result<Arc<Parser<AwsWorld>>, RunError> {
    Ok(Arc::new(Parser::new(world)))
}

async fn invoke(parser: Arc<Parser<AwsWorld>>, invocation: Invocation) -> Result<Reply, RunError> {
    Ok(parser.handle(invocation.event).await)
}
