//! Reading a summary from a data directory, whether a crawl runs in it or not.

use std::path::Path;

use dragline_domain::frontier::IterationStatus;
use dragline_local::LocalStore;
use dragline_local::query::{self, QueryError};
use jiff::Timestamp;

use super::Summary;
use crate::error::CliError;
use crate::stored::latest_iteration;

/// Where an iteration stands, by its row and those of its origins. `docs/database.md` describes the table and the view.
const STANDING: &str = "
    SELECT i.status, i.started_at, i.closed_at, coalesce(p.waiting, 0), coalesce(p.stuck, 0)
    FROM iteration i
    JOIN crawl c ON c.id = i.crawl_id
    LEFT JOIN (
        SELECT crawl, iteration, sum(max(added - taken, 0) + retries_waiting) AS waiting, sum(stuck) AS stuck
        FROM progress GROUP BY crawl, iteration
    ) p ON p.crawl = c.name AND p.iteration = i.number
    WHERE c.name = ?1 AND i.number = ?2";

/// Reads the summary of the latest iteration.
///
/// # Errors
/// There is no data directory, no iteration yet, or it cannot be read.
pub(crate) fn read(data: &Path) -> Result<Summary, CliError> {
    let failed = |source: QueryError| CliError::Query { data: data.to_owned(), source };
    let (crawl, iteration) = latest_iteration(data)?.ok_or_else(|| CliError::NotBegun { data: data.to_owned() })?;
    let connection = LocalStore::open_read_only(data)?;
    let (status, started_at, closed_at, waiting, stuck) = connection
        .query_row(STANDING, (crawl.as_str(), iteration.number()), |row| {
            let closed_at: Option<String> = row.get(2)?;
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, closed_at, row.get(3)?, row.get(4)?))
        })
        .map_err(|error| failed(error.into()))?;
    let time =
        |text: String| text.parse::<Timestamp>().map_err(|_| CliError::damaged(data, "the time of an iteration"));
    Ok(Summary {
        crawl: crawl.to_string(),
        iteration: iteration.number(),
        status: status_named(&status).ok_or_else(|| CliError::damaged(data, "the status of an iteration"))?,
        started_at: time(started_at)?,
        closed_at: closed_at.map(time).transpose()?,
        data: data.to_owned(),
        waiting,
        stuck,
        log: query::summary(&connection, &crawl, iteration).map_err(failed)?,
    })
}

fn status_named(name: &str) -> Option<IterationStatus> {
    use IterationStatus::{Closed, Open, Paused, Stopping};
    [Open, Paused, Stopping, Closed].into_iter().find(|status| status.name() == name)
}
