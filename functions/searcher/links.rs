//! Definitions that are files in the stack's bucket: they are read again at each tick.

use dragline_lambda::{DynamoFrontier, RunError};
use dragline_service::{Backend, LinkState, refresh_definition};

/// Gives each crawl whose definition is a file what has changed in it. One that cannot be read, or
/// is not valid, is an error in the log, and its crawl stays as it is.
///
/// # Errors
/// It is not known which crawls have a file.
pub(crate) async fn refresh_all(backend: &dyn Backend, frontier: &DynamoFrontier) -> Result<(), RunError> {
    for crawl in frontier.linked_crawls().await? {
        match refresh_definition(backend, &crawl).await {
            Ok(LinkState::Changed) => tracing::info!(%crawl, "its definition has changed"),
            Ok(LinkState::Unchanged | LinkState::Unlinked) => {}
            Err(problem) => tracing::error!(%crawl, error = problem.detail, "its definition stays as it is"),
        }
    }
    Ok(())
}
