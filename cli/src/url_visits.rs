//! The visits of one URL.

use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_ports::reader::{LogRow, Reader};
use dragline_report::visits::{is_known, read, resolve};

use crate::crawl_handle::CrawlHandle;
use crate::definition_source::parse_url;
use crate::error::Failure;
use crate::location::CrawlLocation;

/// Returns the URL that an argument means: as written if the crawl knows it, otherwise without the
/// parameters that are stripped by default.
///
/// # Errors
/// It is not a URL, or the crawl cannot be read.
pub(crate) async fn resolve_url(found: &CrawlHandle<impl Reader>, text: &str) -> Result<CrawlUrl, Failure> {
    resolve(&found.reader, text, parse_url(text)?).await.map_err(|error| found.read_error(error))
}

/// Returns all visits of a URL over all iterations, the oldest first. There is at least one.
///
/// All are in memory at once: as many as iterations, times their tries.
///
/// # Errors
/// The crawl does not know the URL, has not visited it yet, or cannot be read.
pub(crate) async fn read_visits(found: &CrawlHandle<impl Reader>, url: &CrawlUrl) -> Result<Vec<LogRow>, Failure> {
    let visits = read(&found.reader, url).await.map_err(|error| found.read_error(error))?;
    if !visits.is_empty() {
        return Ok(visits);
    }
    let is_known = is_known(&found.reader, url).await.map_err(|error| found.read_error(error))?;
    Err(if is_known { not_visited_error(&found.crawl, url) } else { not_known_error(&found.place, &found.crawl, url) })
}

/// Returns whether the crawl has visits of the URL that an argument means.
///
/// # Errors
/// It is not a URL, or the crawl cannot be read.
pub(crate) async fn is_visited(found: &CrawlHandle<impl Reader>, text: &str) -> Result<bool, Failure> {
    let url = resolve_url(found, text).await?;
    let visits = read(&found.reader, &url).await.map_err(|error| found.read_error(error))?;
    Ok(!visits.is_empty())
}

pub(crate) fn not_visited_error(crawl: &CrawlId, url: &CrawlUrl) -> Failure {
    Failure::new(format!("the crawl `{crawl}` knows {url}, but has not visited it yet"))
}

/// Returns the error for a URL that a crawl does not know.
pub(crate) fn not_known_error(place: &CrawlLocation, crawl: &CrawlId, url: &CrawlUrl) -> Failure {
    let export = format!("dragline export --what candidates{}", place.arguments(crawl));
    Failure::new(format!("the crawl `{crawl}` does not know {url}"))
        .with_hint(format!("to list the URLs that it knows: `{export}`"))
}
