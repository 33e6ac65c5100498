//! Which crawl a data directory holds.

use std::path::Path;

use dragline_domain::ids::CrawlId;
use dragline_local::{LocalStore, query};

use crate::error::CliError;

/// The crawl that a data directory holds: each has its own. Absent before the first definition was stored.
///
/// # Errors
/// There is no data directory, or it cannot be read.
pub(crate) fn stored_crawl(data: &Path) -> Result<Option<CrawlId>, CliError> {
    let connection = LocalStore::open_read_only(data)?;
    let crawls = query::crawls(&connection).map_err(|source| CliError::Query { data: data.to_owned(), source })?;
    Ok(crawls.into_iter().next())
}
