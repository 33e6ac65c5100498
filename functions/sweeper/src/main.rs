//! The Lambda function of overdue work.

mod handler;

use std::time::Duration;

use dragline_lambda::{AwsWorld, Invocation, Reply, RunError, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    run("sweeper", set_up, invoke).await
}

async fn set_up(world: AwsWorld) -> Result<AwsWorld, RunError> {
    Ok(world)
}

async fn invoke(world: AwsWorld, invocation: Invocation) -> Result<Reply, RunError> {
    let in_time = |walk: Duration| world.with_walk(walk);
    Ok(handler::handle(&world, in_time, invocation.event, invocation.deadline).await?)
}
