//! Where an iteration stands.

use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::{CrawlId, Iteration};
use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Row};

use super::QueryError;

/// Where an iteration stands, by its row and those of its origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its status.
    pub status: IterationStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; absent while it goes on.
    pub closed_at: Option<Timestamp>,
    /// URLs that wait for their turn.
    pub waiting: u64,
    /// URLs that could not be parsed.
    pub stuck: u64,
}

/// Where an iteration stands; `None` if there is no such iteration.
///
/// # Errors
/// [`QueryError`], also when a value is none that was ever written.
pub fn standing(
    connection: &Connection,
    crawl: &CrawlId,
    iteration: Iteration,
) -> Result<Option<Standing>, QueryError> {
    let mut statement = connection.prepare(
        "SELECT i.status, i.started_at, i.closed_at, coalesce(p.waiting, 0), coalesce(p.stuck, 0)
         FROM iteration i
         JOIN crawl c ON c.id = i.crawl_id
         LEFT JOIN (
             SELECT crawl, iteration, sum(max(added - taken, 0) + retries_waiting) AS waiting, sum(stuck) AS stuck
             FROM progress GROUP BY crawl, iteration
         ) p ON p.crawl = c.name AND p.iteration = i.number
         WHERE c.name = ?1 AND i.number = ?2",
    )?;
    let mut rows = statement.query((crawl.as_str(), iteration.number()))?;
    Ok(rows.next()?.map(read).transpose()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Standing> {
    let status: String = row.get(0)?;
    let closed_at: Option<String> = row.get(2)?;
    Ok(Standing {
        status: IterationStatus::named(&status).ok_or_else(|| damaged(0, "no status"))?,
        started_at: instant(1, &row.get::<_, String>(1)?)?,
        closed_at: closed_at.map(|text| instant(2, &text)).transpose()?,
        waiting: row.get(3)?,
        stuck: row.get(4)?,
    })
}

fn instant(column: usize, text: &str) -> rusqlite::Result<Timestamp> {
    text.parse().map_err(|_| damaged(column, "no instant"))
}

fn damaged(column: usize, what: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into())
}
