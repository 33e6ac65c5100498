//! How everything ended that an iteration asked for or decided on: what tells why it got nothing.

use std::ops::ControlFlow;

use dragline_domain::ids::{CrawlId, Iteration};
use rusqlite::{Connection, params};

use super::{Iterations, LogRow, QueryError, Selection, export_log};

/// URLs of an origin that were queued and never had their turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginLeft {
    /// The origin.
    pub origin: String,
    /// Why it ended.
    pub reason: String,
    /// How many URLs.
    pub urls: u64,
    /// The error that its robots.txt was met with last; absent if it was answered.
    pub robots_error: Option<String>,
}

/// How URLs ended in an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// One was visited, or decided on, for the last time.
    Visit(Box<LogRow>),
    /// These were not.
    Left(OriginLeft),
}

/// Calls back with every final visit of an iteration, and then with what each origin left over.
///
/// # Errors
/// [`QueryError`].
pub fn endings(
    connection: &Connection,
    crawl: &CrawlId,
    iteration: Iteration,
    ended: &mut dyn FnMut(Ending),
) -> Result<(), QueryError> {
    let selection = Selection { crawl: Some(crawl.clone()), iterations: Iterations::Number(iteration) };
    export_log(connection, &selection, &mut |row| {
        if row.r#final {
            ended(Ending::Visit(Box::new(row)));
        }
        ControlFlow::Continue(())
    })?;
    let mut statement = connection.prepare(
        "SELECT o.origin, f.reason, sum(f.urls) AS urls,
                coalesce(r.record ->> '$.unreadable.failed.detail', 'status ' || (r.record ->> '$.unreadable.status')) AS robots_error
         FROM leftover f
         JOIN origin o ON o.id = f.origin_id
         JOIN crawl c ON c.id = o.crawl_id
         LEFT JOIN robots r ON r.origin_id = o.id
         WHERE c.name = ?1 AND f.iteration = ?2 GROUP BY f.origin_id, f.reason HAVING sum(f.urls) > 0 ORDER BY o.origin",
    )?;
    let mut rows = statement.query(params![crawl.as_str(), iteration.number()])?;
    while let Some(row) = rows.next()? {
        ended(Ending::Left(OriginLeft {
            origin: row.get("origin")?,
            reason: row.get("reason")?,
            urls: row.get("urls")?,
            robots_error: row.get("robots_error")?,
        }));
    }
    Ok(())
}
