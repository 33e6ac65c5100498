//! Reads a summary, whether the crawl is running or not.

use std::path::Path;

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::reader::Reader;

use super::{Age, Summary};
use crate::crawl_handle::{self, CrawlHandle};
use crate::error::Failure;

/// Reads the summary of an iteration of a crawl; of the latest if none is given.
///
/// # Errors
/// There is no such iteration, none has begun yet, or it cannot be read.
pub(crate) async fn read(found: &CrawlHandle<impl Reader>, wanted: Option<Iteration>) -> Result<Summary, Failure> {
    let latest = found.iteration(None).await?.number;
    let iteration = found.whole_iteration(wanted).await?;
    let age = if iteration.number == latest { Age::Latest } else { Age::Earlier };
    let summed_up = dragline_report::summary(&found.reader, iteration).await;
    let dragline_report::Summary { standing, figures } = summed_up.map_err(|error| found.read_error(error))?;
    Ok(Summary {
        standing,
        place: found.place.clone(),
        age,
        certificates: found.certificates,
        ignored_robots: found.ignored_robots.clone(),
        nofollow: found.nofollow,
        noindex: found.noindex,
        figures,
    })
}

/// Reads the summary of the latest iteration of the crawl of this name in a data directory.
///
/// # Errors
/// There is no data directory, no such crawl or no iteration yet, or it cannot be read.
pub(crate) async fn read_latest(data: &Path, crawl: &CrawlId) -> Result<Summary, Failure> {
    match crawl_handle::in_directory(data, Some(crawl))? {
        Some(found) => read(&found, None).await,
        None => Err(crawl_handle::no_crawl_error(data)),
    }
}
