//! The sweeper function, which looks for overdue work.

mod handler;

use std::time::Duration;

use dragline_lambda::{AwsWorld, Invocation, Reply, RunError, SettingError, days, run};

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("sweeper", set_up, invoke).await
}

/// The variable with the number of days to keep bodies and documents; 0 means forever.
const ARCHIVE_DAYS: &str = "DRAGLINE_ARCHIVE_DAYS";

type Handler = (AwsWorld, Option<Duration>);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    Ok((world, archive_kept(std::env::var(ARCHIVE_DAYS).ok().as_deref())?))
}

fn archive_kept(text: Option<&str>) -> Result<Option<Duration>, SettingError> {
    days(ARCHIVE_DAYS, text.filter(|text| !text.is_empty()).ok_or(SettingError::Missing(ARCHIVE_DAYS))?)
}

async fn invoke((world, archive_kept): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    let in_time = |walk: Duration| world.with_walk(walk);
    Ok(handler::handle(&world, in_time, invocation.event, invocation.deadline, archive_kept).await?)
}
