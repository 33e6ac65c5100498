//! The parser function, which parses segments.

mod handler;

use std::sync::Arc;

use dragline_lambda::{AwsWorld, Invocation, Reply, RunError, run};

use handler::Parser;

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("parser", set_up, invoke).await
}

async fn set_up(world: AwsWorld) -> Result<Arc<Parser<AwsWorld>>, RunError> {
    Ok(Arc::new(Parser::new(world)))
}

async fn invoke(parser: Arc<Parser<AwsWorld>>, invocation: Invocation) -> Result<Reply, RunError> {
    Ok(parser.handle(invocation.event).await)
}
