//! Reading a data directory for people: what was got, what it links to, what happened, what is known.
//!
//! Rows come one by one, so that a large crawl takes no more memory than a small one. While a crawl runs they are as of the start of the
//! query. Texts are as stored: whoever shows them makes them safe for where they are shown.

mod causes;
mod rows;
mod standing;
mod summary;

use std::ops::ControlFlow;

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::outcome::Outcome;
use rusqlite::{Connection, Row, params};

use crate::store::Allowance;

pub use self::causes::{Ending, OriginLeft, endings};
pub use self::rows::{CandidateRow, LinkRow, LogRow, PageRow};
pub use self::standing::{Standing, standing};
pub use self::summary::{NotCrawled, OutcomeCount, REASONS_MAX, SLOWEST, Slow, Summary, summary};

/// The database could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the database: {0}")]
pub struct QueryError(#[from] rusqlite::Error);

/// Which rows are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Of which crawl; absent: of all.
    pub crawl: Option<CrawlId>,
    /// Of which iterations.
    pub iterations: Iterations,
}

/// Of which iterations rows are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Iterations {
    /// Of the newest one of each crawl.
    #[default]
    Latest,
    /// Of every one.
    All,
    /// Of this one.
    Number(Iteration),
}

impl Selection {
    /// The condition on a view's `crawl` and `iteration`, with the crawl as `?1`.
    fn condition(&self) -> String {
        let iteration = match self.iterations {
            Iterations::Latest => {
                "v.iteration = (SELECT i.iteration FROM latest_iteration i WHERE i.crawl = v.crawl)".to_owned()
            }
            Iterations::All => "true".to_owned(),
            Iterations::Number(number) => format!("v.iteration = {number}"),
        };
        format!("(?1 IS NULL OR v.crawl = ?1) AND {iteration}")
    }

    fn crawl(&self) -> Option<&str> {
        self.crawl.as_ref().map(CrawlId::as_str)
    }
}

/// A page that is a copy of another one: its text is that one's to show.
const NOT_CANONICAL: i16 = Outcome::NotCanonical.code();

/// What the crawl of the data directory was ever allowed.
///
/// # Errors
/// [`QueryError`].
pub fn allowed(connection: &Connection) -> Result<Vec<Allowance>, QueryError> {
    let mut statement = connection.prepare("SELECT name FROM setting")?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    Ok(Allowance::ALL.into_iter().filter(|allowance| names.iter().any(|name| name == allowance.name())).collect())
}

/// Calls back with each row until told to stop.
fn each<T>(
    connection: &Connection,
    sql: &str,
    crawl: Option<&str>,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
    visit: &mut dyn FnMut(T) -> ControlFlow<()>,
) -> Result<(), QueryError> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params![crawl])?;
    while let Some(row) = rows.next()? {
        if visit(read(row)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// Every URL that ended with an answer, in the order in which they were got.
///
/// # Errors
/// [`QueryError`].
pub fn export_pages(
    connection: &Connection,
    selection: &Selection,
    visit: &mut dyn FnMut(PageRow) -> ControlFlow<()>,
) -> Result<(), QueryError> {
    let sql = format!(
        "SELECT v.*, t.title, t.description, t.language, t.charset, t.canonical,
                iif(v.outcome = {NOT_CANONICAL}, substr(t.text, 1, 0), t.text) AS text
         FROM log v LEFT JOIN file_text t ON t.id = v.document_id
         WHERE v.is_final AND v.object IS NOT NULL AND {} ORDER BY v.id",
        selection.condition()
    );
    each(connection, &sql, selection.crawl(), PageRow::read, visit)
}

/// Every link, page by page, in the order in which they stand there.
///
/// # Errors
/// [`QueryError`].
pub fn export_links(
    connection: &Connection,
    selection: &Selection,
    visit: &mut dyn FnMut(LinkRow) -> ControlFlow<()>,
) -> Result<(), QueryError> {
    let sql = format!("SELECT v.* FROM link v WHERE {}", selection.condition());
    each(connection, &sql, selection.crawl(), LinkRow::read, visit)
}

/// Every visit that was logged, those that were tried again included.
///
/// # Errors
/// [`QueryError`].
pub fn export_log(
    connection: &Connection,
    selection: &Selection,
    visit: &mut dyn FnMut(LogRow) -> ControlFlow<()>,
) -> Result<(), QueryError> {
    let sql = format!("SELECT v.* FROM log v WHERE {} ORDER BY v.id", selection.condition());
    each(connection, &sql, selection.crawl(), LogRow::read, visit)
}

/// Every URL that is known, by origin and path. Candidates outlive iterations: of the selection only the crawl matters.
///
/// # Errors
/// [`QueryError`].
pub fn export_candidates(
    connection: &Connection,
    selection: &Selection,
    visit: &mut dyn FnMut(CandidateRow) -> ControlFlow<()>,
) -> Result<(), QueryError> {
    let sql = "SELECT * FROM candidate WHERE ?1 IS NULL OR crawl = ?1 ORDER BY origin_id, path_query";
    each(connection, sql, selection.crawl(), CandidateRow::read, visit)
}

/// The crawls of the data directory, each with its newest iteration, by name. Crawls that never began are not among them.
///
/// # Errors
/// [`QueryError`].
pub fn crawls(connection: &Connection) -> Result<Vec<(String, u32)>, QueryError> {
    let mut statement = connection.prepare("SELECT crawl, iteration FROM latest_iteration ORDER BY crawl")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
