//! Reading a summary from a data directory, whether a crawl runs in it or not.

use std::path::Path;

use dragline_local::LocalStore;
use dragline_local::query::{self, QueryError, Standing};

use super::Summary;
use crate::error::CliError;
use crate::place::Place;
use crate::stored::latest_iteration;

/// Reads the summary of the latest iteration.
///
/// # Errors
/// There is no data directory, no iteration yet, or it cannot be read.
pub(crate) fn read(data: &Path) -> Result<Summary, CliError> {
    let failed = |source: QueryError| CliError::Query { data: data.to_owned(), source };
    let not_begun = || CliError::NotBegun { data: data.to_owned() };
    let (crawl, iteration) = latest_iteration(data)?.ok_or_else(not_begun)?;
    let connection = LocalStore::open_read_only(data)?;
    let standing = query::standing(&connection, &crawl, iteration).map_err(failed)?.ok_or_else(not_begun)?;
    let Standing { status, started_at, closed_at, waiting, stuck } = standing;
    Ok(Summary {
        crawl: crawl.to_string(),
        iteration: iteration.number(),
        status,
        started_at,
        closed_at,
        place: Place::Data(data.to_owned()),
        waiting,
        stuck,
        log: query::summary(&connection, &crawl, iteration).map_err(failed)?,
    })
}
