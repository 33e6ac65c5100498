//! How an iteration of a deployed crawl stands or ended.

use std::ops::ControlFlow;

use dragline_domain::ids::CrawlId;
use dragline_pipeline::ports::frontier::Frontier;

use super::tally::Tally;
use super::{Deployed, DeployedError};
use crate::args::StackArgs;
use crate::error::CliError;
use crate::place::Place;
use crate::summary::Summary;

/// Reads the summary of a crawl's latest iteration.
///
/// # Errors
/// There is no such crawl, no iteration yet, or it cannot be read.
pub(crate) async fn summary(crawl: &CrawlId, stack: &StackArgs) -> Result<Summary, CliError> {
    let crawl = Deployed::find(stack).await?.crawl(crawl).await?;
    let row = crawl.iteration(None).await?;
    let progress = crawl.frontier.progress(&crawl.crawl, row.number).await.map_err(DeployedError::from)?;
    let mut tally = Tally::default();
    let mut add = |visit| {
        tally.add(visit);
        ControlFlow::Continue(())
    };
    crawl.reading().log(row.number, &mut add).await.map_err(DeployedError::from)?;
    Ok(Summary {
        crawl: crawl.crawl.to_string(),
        iteration: row.number.number(),
        status: row.status,
        started_at: row.started_at,
        closed_at: row.closed_at,
        place: Place::Stack(crawl.stack),
        waiting: progress.waiting(),
        stuck: progress.parser.stuck,
        log: tally.summary(&progress),
    })
}
