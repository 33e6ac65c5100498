//! The scheduler function, which handles commands and schedules.

mod handler;

use std::sync::Arc;

use dragline_lambda::{AwsWorld, DynamoRetained, Invocation, Reply, RunError, run};
use dragline_pipeline::World as _;
use dragline_ports::clock::Clock as _;

use crate::defaults::{stack_browsers, stack_defaults};
use handler::Scheduler;

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("scheduler", set_up, invoke).await
}

type Handler = (AwsWorld, Arc<DynamoRetained>, Arc<Scheduler>);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    let variable = |name: &str| std::env::var(name).ok();
    let defaults = stack_defaults(variable)?;
    let retained = DynamoRetained::new(world.frontier.clone(), world.documents.clone());
    Ok((world, Arc::new(retained), Arc::new(Scheduler::new(defaults, stack_browsers(variable)))))
}

/// The commands of a batch are handled concurrently, so that each has the full time.
async fn invoke((world, retained, scheduler): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    let walk = invocation.deadline.walk(world.clock().now(), 1);
    Ok(scheduler.handle(&Arc::new(world.with_walk(walk)), &retained, invocation.event).await?)
}
