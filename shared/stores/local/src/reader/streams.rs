//! The streams: each is a query that continues after a position and stops when the batch is full.

use dragline_domain::content::Content;
use dragline_domain::ids::Iteration;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, LinkRow, LogRow, PageRow, Rest, SeenPageRow, StoredSegment,
};
use rusqlite::{Params, Row, params};

use super::WantedRows;
use super::rows::ViewRow;
use crate::db::crawls::iteration_number;
use crate::db::values::{Text, Time};
use crate::db::{Db, OriginRowId, StoreError};
use crate::documents;

/// The size of texts and URLs at which a batch is full, however few rows it has: a page may contain
/// megabytes of either.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Returns an empty batch at the reader's position.
pub(super) fn none<T>(after: Option<Cursor>) -> Batch<T> {
    Batch { rows: Vec::new(), cursor: after, rest: Rest::Nothing }
}

pub(super) fn log(db: &Db, wanted: &WantedRows) -> Result<Batch<LogRow>, StoreError> {
    visit_rows(db, &view_sql::<LogRow>("log"), wanted, |row| read_view(row, 1))
}

pub(super) fn pages(db: &Db, wanted: &WantedRows) -> Result<Batch<PageRow>, StoreError> {
    visit_rows(db, &view_sql::<PageRow>("page"), wanted, |row| read_view(row, 1))
}

pub(super) fn links(db: &Db, wanted: &WantedRows) -> Result<Batch<LinkRow>, StoreError> {
    visit_rows(db, &links_sql("link"), wanted, |row| read_view(row, 1))
}

pub(super) fn seen_pages(db: &Db, wanted: &WantedRows) -> Result<Batch<SeenPageRow>, StoreError> {
    visit_rows(db, &view_sql::<SeenPageRow>("seen_page"), wanted, |row| read_view(row, 1))
}

pub(super) fn seen_links(db: &Db, wanted: &WantedRows) -> Result<Batch<LinkRow>, StoreError> {
    visit_rows(db, &links_sql("seen_link"), wanted, |row| read_view(row, 1))
}

pub(super) fn documents(db: &Db, wanted: &WantedRows) -> Result<Batch<DocumentRow>, StoreError> {
    visit_rows(db, &documents_sql(""), wanted, read_document)
}

pub(super) fn shown_documents(db: &Db, wanted: &WantedRows) -> Result<Batch<DocumentRow>, StoreError> {
    visit_rows(db, &documents_sql(SHOWN), wanted, read_document)
}

fn read_document(row: &Row<'_>) -> Result<(DocumentRow, usize), StoreError> {
    let Text(origin): Text<Origin> = row.get("of_origin")?;
    let document = documents::read(row, &origin)?;
    let of_links: usize = document.links.iter().map(|link| link.target.as_str().len()).sum();
    let of_main = |content: &Content| content.main.as_ref().map_or(0, |main| main.text.len() + main.markdown.len());
    let of_content = document.content.as_deref().map_or(0, of_main);
    let bytes = document.page.as_ref().map_or(0, |page| page.text.len()) + of_links + of_content;
    Ok((DocumentRow { iteration: iteration_number(row.get("of_iteration")?)?, document }, bytes))
}

/// Whether a document belongs to the current state of the site, and is not a copy.
const SHOWN: &str = "AND EXISTS (SELECT 1 FROM known_url k WHERE k.origin_id = w.id AND k.path_query = v.url AND k.document_id = v.id AND k.standing = 'shown')
           AND NOT coalesce((SELECT x.is_copy FROM shown_canonical x WHERE x.id = v.id), 0)";

pub(super) fn candidates(db: &Db, wanted: &WantedRows) -> Result<Batch<CandidateRow>, StoreError> {
    let path = wanted.filter.url.as_ref().map(CrawlUrl::path_and_query);
    let (origin, after) = match &wanted.after {
        None => (0, String::new()),
        Some(cursor) => parsed(cursor, |text| {
            let (origin, path) = text.split_once(' ')?;
            Some((origin.parse().ok()?, path.to_owned()))
        })?,
    };
    let sql = candidates_sql(match (wanted.origin, path) {
        (None, _) => Among::All,
        (Some(_), None) => Among::OfOrigin,
        (Some(_), Some(_)) => Among::Url,
    });
    let values = params![wanted.name.as_str(), origin, after, wanted.origin, path, iteration(wanted)];
    let place = |row: &Row<'_>| {
        let (OriginRowId(origin), path): (OriginRowId, String) = (row.get(0)?, row.get(1)?);
        Ok(format!("{origin} {path}"))
    };
    batch(db, &sql, values, wanted, place, |row| read_view(row, 2))
}

/// The candidates to search.
#[derive(Clone, Copy)]
enum Among {
    All,
    OfOrigin,
    Url,
}

/// `?1` is the crawl's name, `?2` and `?3` the key to continue after, `?4` the origin and `?5` the
/// path if given, `?6` the iteration.
fn candidates_sql(among: Among) -> String {
    let place = match among {
        Among::All => "(v.origin_id, v.path_query) > (?2, ?3)",
        Among::OfOrigin => "v.origin_id = ?4 AND v.path_query > ?3",
        Among::Url => "v.origin_id = ?4 AND v.path_query = ?5 AND v.path_query > ?3",
    };
    // If the crawl were looked up first, its rows would have to be sorted.
    format!(
        "SELECT v.origin_id, v.path_query, {} FROM candidate v
         WHERE {place} AND +v.crawl = ?1 AND (?6 IS NULL OR v.last_iteration = ?6) ORDER BY v.origin_id, v.path_query",
        CandidateRow::columns()
    )
}

/// `?1` is the crawl, `?2` the id to continue after, `?3` the iteration and `?4` the origin, if
/// given.
pub(super) const SEGMENTS: &str = "SELECT g.id, g.iteration, w.origin, g.object, g.object_bytes, g.committed_at
     FROM segment g CROSS JOIN origin w
     WHERE g.id > ?2 AND (?3 IS NULL OR g.iteration = ?3) AND (?4 IS NULL OR g.origin_id = ?4) AND g.is_stored
       AND w.id = g.origin_id AND w.crawl_id = ?1
     ORDER BY g.id";

pub(super) fn segments(db: &Db, wanted: &WantedRows) -> Result<Batch<StoredSegment>, StoreError> {
    let after: i64 = wanted.after.as_ref().map_or(Ok(0), |cursor| parsed(cursor, |text| text.parse().ok()))?;
    let values = params![wanted.crawl, after, iteration(wanted), wanted.origin];
    batch(
        db,
        SEGMENTS,
        values,
        wanted,
        |row| row.get::<_, i64>(0),
        |row| {
            let (Text(origin), Text(object), Time(committed_at)) = (row.get(2)?, row.get(3)?, row.get(5)?);
            let iteration = iteration_number(row.get(1)?)?;
            Ok((StoredSegment { iteration, origin, object, object_bytes: row.get(4)?, committed_at }, 0))
        },
    )
}

fn view_sql<T: ViewRow>(view: &str) -> String {
    visit_rows_sql(&at_place::<T>(), &format!("{view} v"), "(?5 IS NULL OR v.url = ?5)")
}

fn links_sql(view: &str) -> String {
    visit_rows_sql(&at_place::<LinkRow>(), &format!("{view} v"), "(?5 IS NULL OR v.from_url = ?5)")
}

fn documents_sql(more: &str) -> String {
    // The first column of these is the id.
    let columns = format!("{}, g.iteration AS of_iteration, w.origin AS of_origin", documents::COLUMNS);
    let of_url = "(?5 IS NULL OR iif(v.url LIKE '/%', w.origin || v.url, v.url) = ?5)";
    visit_rows_sql(&columns, documents::FROM, &format!("{of_url} {more}"))
}

/// Returns the id of a visit, and the columns of a row that belongs to it.
fn at_place<T: ViewRow>() -> String {
    format!("v.id, {}", T::columns())
}

/// Selects rows that belong to visits, from the table or view `v`, in the order of their ids.
/// Unwanted segments are skipped as a whole. `?1` is the crawl, `?2` the id to continue after, `?3`
/// the iteration, `?4` the origin and `?5` the URL, if given. The first column is the id.
fn visit_rows_sql(columns: &str, from: &str, more: &str) -> String {
    format!(
        "SELECT {columns} FROM segment g CROSS JOIN origin w CROSS JOIN {from}
         WHERE g.id >= ?2 >> 24 AND (?3 IS NULL OR g.iteration = ?3) AND (?4 IS NULL OR g.origin_id = ?4)
           AND w.id = g.origin_id AND w.crawl_id = ?1 AND v.id > max(?2, (g.id << 24) - 1) AND v.id < (g.id + 1) << 24 AND {more}
         ORDER BY g.id, v.id"
    )
}

fn visit_rows<T>(
    db: &Db,
    sql: &str,
    wanted: &WantedRows,
    read: impl Fn(&Row<'_>) -> Result<(T, usize), StoreError>,
) -> Result<Batch<T>, StoreError> {
    let after: i64 = wanted.after.as_ref().map_or(Ok(0), |cursor| parsed(cursor, |text| text.parse().ok()))?;
    let url = wanted.filter.url.as_ref().map(CrawlUrl::as_str);
    let values = params![wanted.crawl, after, iteration(wanted), wanted.origin, url];
    batch(db, sql, values, wanted, |row| row.get::<_, i64>(0), read)
}

/// Returns a batch of a query's rows. It ends with the last row of a position, so that the next
/// batch continues after that.
pub(super) fn batch<T, P: PartialEq + ToString>(
    db: &Db,
    sql: &str,
    values: impl Params,
    wanted: &WantedRows,
    place: impl Fn(&Row<'_>) -> rusqlite::Result<P>,
    read: impl Fn(&Row<'_>) -> Result<(T, usize), StoreError>,
) -> Result<Batch<T>, StoreError> {
    let mut statement = db.statement(sql)?;
    let mut found = statement.query(values)?;
    let (mut rows, mut bytes, mut last) = (Vec::new(), 0, None);
    let mut rest = Rest::Nothing;
    while let Some(row) = found.next()? {
        let here = Some(place(row)?);
        let is_full = rows.len() >= wanted.limit.max(1) || bytes >= TEXT_BYTES_MAX;
        if is_full && here != last {
            rest = Rest::More;
            break;
        }
        let (value, more) = read(row)?;
        rows.push(value);
        (bytes, last) = (bytes + more, here);
    }
    let cursor = last.map(|place| Cursor::new(place.to_string())).or_else(|| wanted.after.clone());
    Ok(Batch { rows, cursor, rest })
}

fn read_view<T: ViewRow>(row: &Row<'_>, first: usize) -> Result<(T, usize), StoreError> {
    let value = T::read(row, first)?;
    let bytes = value.text_bytes();
    Ok((value, bytes))
}

/// Returns the iteration of the filter.
pub(super) fn iteration(wanted: &WantedRows) -> Option<u32> {
    wanted.filter.iteration.map(Iteration::number)
}

/// Parses a cursor; fails if this stream did not return it.
fn parsed<T>(cursor: &Cursor, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
    parse(cursor.as_str()).ok_or_else(|| StoreError::Damaged(format!("`{cursor}` is not a cursor of this stream")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::leftovers;

    /// Whatever the filter, rows come in stored order, and none before the position is read.
    #[test]
    fn a_batch_scans_no_table_and_sorts_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let (connection, _lock) = crate::open::for_writing(directory.path()).unwrap();
        for (stream, sql) in [
            ("log", view_sql::<LogRow>("log")),
            ("pages", view_sql::<PageRow>("page")),
            ("links", links_sql("link")),
            ("seen pages", view_sql::<SeenPageRow>("seen_page")),
            ("seen links", links_sql("seen_link")),
            ("documents", documents_sql("")),
            ("shown documents", documents_sql(SHOWN)),
            ("candidates", candidates_sql(Among::All)),
            ("candidates of an origin", candidates_sql(Among::OfOrigin)),
            ("one candidate", candidates_sql(Among::Url)),
            ("leftovers", leftovers::SQL.to_owned()),
        ] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let plan: Vec<String> = statement.raw_query().mapped(|row| row.get(3)).map(Result::unwrap).collect();
            // A chain of canonical links has at most twenty steps, a fingerprint 64 bits, and the
            // links of a page are one text.
            let short = [
                "MATERIALIZE way",
                "SCAN w",
                "SCAN way",
                "SCAN CONSTANT ROW",
                "SCAN 64 CONSTANT ROWS",
                "SCAN bit",
                "SCAN t",
                "USE TEMP B-TREE FOR count(DISTINCT)",
                "SCAN e VIRTUAL TABLE INDEX 1:",
            ];
            let is_slow = |step: &str| {
                step.starts_with("SCAN") || step.starts_with("MATERIALIZE") || step.contains("TEMP B-TREE")
            };
            let slow = |step: &&String| is_slow(step) && !short.contains(&step.as_str());
            assert_eq!(plan.iter().filter(slow).collect::<Vec<_>>(), Vec::<&String>::new(), "{stream}: {plan:#?}");
        }
    }
}
