//! Reading a summary from a data directory, whether a crawl runs in it or not.

use std::path::Path;

use dragline_domain::frontier::IterationStatus;
use dragline_local::query::{self, Ending, QueryError, Standing};
use dragline_local::{Allowance, LocalStore};

use super::{Causes, Certificates, Summary, has_content};
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
    let log = query::summary(&connection, &crawl, iteration).map_err(failed)?;
    let mut causes = Causes::default();
    if status == IterationStatus::Closed && !has_content(&log) {
        let mut add = |ending| match ending {
            Ending::Visit(visit) => causes.add_visit(*visit),
            Ending::Left(left) => causes.add_left(left),
        };
        query::endings(&connection, &crawl, iteration, &mut add).map_err(failed)?;
    }
    let allowed = query::allowed(&connection).map_err(failed)?;
    let is_unchecked = allowed.contains(&Allowance::UncheckedCertificates);
    Ok(Summary {
        crawl: crawl.to_string(),
        iteration: iteration.number(),
        status,
        started_at,
        closed_at,
        place: Place::Data(data.to_owned()),
        waiting,
        stuck,
        certificates: if is_unchecked { Certificates::NotChecked } else { Certificates::Checked },
        causes: causes.counted(),
        log,
    })
}
