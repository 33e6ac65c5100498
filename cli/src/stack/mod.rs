//! A deployed stack: commands are sent to it, and what it crawled is read.

mod canonical;
mod commands;
mod error;
mod message;
mod reading;
mod rows;
mod summary;
mod tally;

use std::sync::Arc;

use dragline_aws::{DynamoFrontier, S3Documents, Stack};
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::SystemChance;
use dragline_ports::frontier::{Crawls, Iterations};

use crate::args::{StackArgs, StackName, What};
use crate::error::CliError;
use crate::export::Rows;
pub(crate) use commands::{change, put, remove, start};
pub(crate) use error::DeployedError;
use reading::Reading;
pub(crate) use summary::summary;

/// A stack that was found.
struct Deployed {
    name: StackName,
    stack: Stack,
}

/// A crawl of a stack.
struct DeployedCrawl {
    stack: StackName,
    crawl: CrawlId,
    frontier: DynamoFrontier,
    documents: S3Documents,
}

impl Deployed {
    async fn find(args: &StackArgs) -> Result<Self, DeployedError> {
        let name = args.name()?;
        let stack = Stack::find(name.as_str()).await?;
        Ok(Self { name, stack })
    }

    /// A crawl that the stack knows.
    async fn crawl(&self, crawl: &CrawlId) -> Result<DeployedCrawl, DeployedError> {
        let (frontier, documents) =
            (self.stack.frontier(Arc::new(SystemChance)), self.stack.documents(Arc::new(SystemChance)));
        let (stack, crawl) = (self.name.clone(), crawl.clone());
        match frontier.load_crawl(&crawl).await? {
            Some(_) => Ok(DeployedCrawl { stack, crawl, frontier, documents }),
            None => Err(DeployedError::NoCrawl { crawl, stack }),
        }
    }
}

impl DeployedCrawl {
    /// An iteration of it; where none is named, the latest.
    async fn iteration(&self, wanted: Option<Iteration>) -> Result<IterationRow, DeployedError> {
        let crawl = self.crawl.clone();
        let Some(latest) = self.frontier.latest_iteration(&crawl).await? else {
            return Err(DeployedError::NotBegun { crawl, stack: self.stack.clone() });
        };
        let Some(wanted) = wanted.filter(|wanted| *wanted != latest.number) else { return Ok(latest) };
        let latest = latest.number;
        let row = self.frontier.load_iteration(&crawl, wanted).await?;
        row.ok_or(DeployedError::NoIteration { crawl, wanted, latest })
    }

    fn reading(&self) -> Reading<'_> {
        Reading { frontier: &self.frontier, documents: &self.documents, crawl: &self.crawl }
    }
}

/// Writes a crawl's rows, as long as somebody reads them.
///
/// # Errors
/// There is no such crawl or iteration, or it cannot be read.
pub(crate) async fn export(
    crawl: &CrawlId,
    stack: &StackArgs,
    what: What,
    iteration: Option<Iteration>,
    rows: &mut Rows,
) -> Result<(), CliError> {
    let crawl = Deployed::find(stack).await?.crawl(crawl).await?;
    let iteration = crawl.iteration(iteration).await?.number;
    let reading = crawl.reading();
    let read = match what {
        What::Pages => reading.pages(iteration, &mut |row| rows.write(&row)).await,
        What::Links => reading.links(iteration, &mut |row| rows.write(&row)).await,
        What::Log => reading.log(iteration, &mut |row| rows.write(&row)).await,
        What::Candidates => reading.candidates(&mut |row| rows.write(&row)).await,
    };
    Ok(read.map_err(DeployedError::from)?)
}
