//! Which crawl a data directory holds.

use std::path::Path;

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::{LocalStore, query};

use crate::error::CliError;

/// The crawl that a data directory holds, as each has its own, and its latest iteration. Absent before the first one began.
///
/// # Errors
/// There is no data directory, or it cannot be read.
pub(crate) fn latest_iteration(data: &Path) -> Result<Option<(CrawlId, Iteration)>, CliError> {
    let connection = LocalStore::open_read_only(data)?;
    let crawls = query::crawls(&connection).map_err(|source| CliError::Query { data: data.to_owned(), source })?;
    let Some((name, number)) = crawls.into_iter().next() else { return Ok(None) };
    let crawl = name.parse().map_err(|_| CliError::damaged(data, "the name of a crawl"))?;
    let iteration = Iteration::new(number).ok_or_else(|| CliError::damaged(data, "the number of an iteration"))?;
    Ok(Some((crawl, iteration)))
}
