//! Access to a deployed stack: sending commands to it, and reading its crawls.

mod commands;
mod error;
mod message;
mod past;

use std::sync::Arc;

use dragline_aws::{DynamoFrontier, DynamoReader, DynamoRetained, S3Archive, S3Editions, Stack};
use dragline_domain::ids::CrawlId;
use dragline_local::SystemRng;
use dragline_ports::frontier::{CrawlRow, Crawls};
use jiff::Timestamp;

use crate::args::StackName;
use crate::crawl_handle::{Certificates, CrawlHandle};
use crate::error::Failure;
use crate::location::CrawlLocation;
pub(crate) use commands::{change, prune, put, remove, reparse, start};
use error::DeployedError;
pub(crate) use past::remake_all;

/// A deployed stack.
struct Deployed {
    name: StackName,
    stack: Stack,
}

/// A crawl of a stack, and its retained data.
pub(crate) struct StackCrawl {
    pub(crate) found: CrawlHandle<DynamoReader>,
    pub(crate) retained: DynamoRetained,
    pub(crate) archive: S3Archive,
    /// The scheduled start of its next iteration; `None` without a schedule.
    pub(crate) next_start: Option<Timestamp>,
}

impl Deployed {
    async fn find(name: StackName) -> Result<Self, DeployedError> {
        let stack = Stack::find(name.as_str()).await?;
        Ok(Self { name, stack })
    }

    /// Returns a crawl of the stack.
    async fn crawl(&self, crawl: &CrawlId) -> Result<CrawlHandle<DynamoReader>, DeployedError> {
        let (stack, crawl) = (self.name.clone(), crawl.clone());
        match self.stack.frontier(Arc::new(SystemRng)).load_crawl(&crawl).await? {
            Some(row) => Ok(CrawlHandle {
                reader: self.stack.reader(&crawl, Arc::new(SystemRng)),
                crawl,
                place: CrawlLocation::Stack(stack),
                certificates: Certificates::Checked,
                ignored_robots: row.definition.ignore_robots.clone(),
                nofollow: row.definition.nofollow,
                noindex: row.definition.noindex,
            }),
            None => Err(DeployedError::NoCrawl { crawl, stack }),
        }
    }
}

/// Finds a crawl of a stack, and the stack's WARC objects.
///
/// # Errors
/// There is no such stack or crawl, or AWS did not answer.
pub(crate) async fn find_with_archive(
    crawl: &CrawlId,
    stack: StackName,
) -> Result<(CrawlHandle<DynamoReader>, S3Archive), Failure> {
    let deployed = Deployed::find(stack).await?;
    Ok((deployed.crawl(crawl).await?, deployed.stack.archive(Arc::new(SystemRng))))
}

/// Finds a crawl of a stack, and the stack's published word indexes.
///
/// # Errors
/// There is no such stack or crawl, or AWS did not answer.
pub(crate) async fn find_with_editions(
    crawl: &CrawlId,
    stack: StackName,
) -> Result<(CrawlHandle<DynamoReader>, S3Editions), Failure> {
    let deployed = Deployed::find(stack).await?;
    Ok((deployed.crawl(crawl).await?, S3Editions::beside(&deployed.stack.documents(Arc::new(SystemRng)))))
}

/// Finds a crawl of a stack, and its retained data.
///
/// # Errors
/// There is no such stack or crawl, or AWS did not answer.
pub(crate) async fn find_retained(crawl: &CrawlId, stack: StackName) -> Result<StackCrawl, Failure> {
    let deployed = Deployed::find(stack).await?;
    let (found, rng) = (deployed.crawl(crawl).await?, || Arc::new(SystemRng));
    let row = deployed.stack.frontier(rng()).load_crawl(crawl).await.map_err(|error| found.read_error(error))?;
    let next_start = row.and_then(|row| row.switch.next());
    Ok(StackCrawl {
        found,
        retained: deployed.stack.retained(rng()),
        archive: deployed.stack.archive(rng()),
        next_start,
    })
}

/// Finds a crawl of a stack, the rows of its definition, and the newest version number.
///
/// # Errors
/// There is no such stack or crawl, or AWS did not answer.
pub(crate) async fn find_with_definition(
    crawl: &CrawlId,
    stack: StackName,
) -> Result<(CrawlHandle<DynamoReader>, DynamoFrontier, CrawlRow), Failure> {
    let deployed = Deployed::find(stack).await?;
    let found = deployed.crawl(crawl).await?;
    let frontier = deployed.stack.frontier(Arc::new(SystemRng));
    let loaded = frontier.load_crawl(crawl).await.map_err(DeployedError::from)?;
    let missing = || DeployedError::NoCrawl { crawl: crawl.clone(), stack: deployed.name.clone() };
    Ok((found, frontier, loaded.ok_or_else(missing)?))
}

/// Finds a crawl of a stack.
///
/// # Errors
/// There is no such stack or crawl, or AWS did not answer.
pub(crate) async fn find(crawl: &CrawlId, stack: StackName) -> Result<CrawlHandle<DynamoReader>, Failure> {
    Ok(Deployed::find(stack).await?.crawl(crawl).await?)
}
