//! How an iteration of a deployed crawl stands or ended.

use std::ops::ControlFlow;

use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::CrawlId;
use dragline_local::query::{LogRow, OriginLeft};
use dragline_ports::frontier::Iterations;

use super::tally::Tally;
use super::{Deployed, DeployedError};
use crate::args::StackArgs;
use crate::error::CliError;
use crate::place::Place;
use crate::summary::{Causes, Certificates, Summary, has_content};

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
    let log = tally.summary(&progress);
    let mut causes = Causes::default();
    if row.status == IterationStatus::Closed && !has_content(&log) {
        let mut add = |visit: LogRow| {
            if visit.r#final {
                causes.add_visit(visit);
            }
            ControlFlow::Continue(())
        };
        crawl.reading().log(row.number, &mut add).await.map_err(DeployedError::from)?;
        // What kept each robots.txt from being read is not looked up: there may be as many as origins.
        let left = log.leftovers.iter().map(|(reason, urls)| left(&crawl.crawl, reason, *urls));
        left.for_each(|left| causes.add_left(left));
    }
    Ok(Summary {
        crawl: crawl.crawl.to_string(),
        iteration: row.number.number(),
        status: row.status,
        started_at: row.started_at,
        closed_at: row.closed_at,
        place: Place::Stack(crawl.stack),
        waiting: progress.waiting(),
        stuck: progress.parser.stuck,
        certificates: Certificates::Checked,
        causes: causes.counted(),
        log,
    })
}

/// What an iteration left over for one reason. Whose it is, only the origins' rows tell.
fn left(crawl: &CrawlId, reason: &str, urls: u64) -> OriginLeft {
    OriginLeft { origin: crawl.to_string(), reason: reason.to_owned(), urls, robots_error: None }
}
