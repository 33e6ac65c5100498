//! Reads a summary, whether the crawl is running or not.

use std::path::Path;

use dragline_domain::ids::CrawlId;
use dragline_ports::reader::Reader;

use super::Summary;
use crate::error::CliError;
use crate::found::{self, Found};

/// Reads the summary of a crawl's latest iteration.
///
/// # Errors
/// There is no iteration yet, or it cannot be read.
pub(crate) async fn read(found: &Found<impl Reader>) -> Result<Summary, CliError> {
    let latest = found.iteration(None).await?;
    let summed_up = dragline_report::summary(&found.reader, latest).await;
    let dragline_report::Summary { standing, figures } = summed_up.map_err(|error| found.failed(error))?;
    Ok(Summary { standing, place: found.place.clone(), certificates: found.certificates, figures })
}

/// Reads the summary of the crawl of this name in a data directory.
///
/// # Errors
/// There is no data directory, no such crawl or no iteration yet, or it cannot be read.
pub(crate) async fn of_directory(data: &Path, crawl: &CrawlId) -> Result<Summary, CliError> {
    match found::in_directory(data, Some(crawl))? {
        Some(found) => read(&found).await,
        None => Err(found::nothing_begun(data)),
    }
}
