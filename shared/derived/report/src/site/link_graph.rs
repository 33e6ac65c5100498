//! The parts of a report that come from the link graph of the current site.

use std::ops::ControlFlow;

use dragline_graph::{Graph, GraphError};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::accepted::AcceptedFindings;
use super::findings::{Kind, LIMITS};
use super::rows::{Rows, RowsKept};
use super::shape::{Bar, Cell, Column, Finding, Listing, Shade, Table, Unit};

/// Groups of URLs with the same content. Equal bodies have equal texts, which are not listed again.
const ALIKE: &str = "
CREATE TEMP TABLE alike AS
SELECT 'body' AS of_what, min(url) OVER (PARTITION BY body_sha1) AS same_as, url, canonical FROM node
WHERE state IN ('page', 'file', 'copy')
  AND body_sha1 IN (SELECT body_sha1 FROM node WHERE state IN ('page', 'file', 'copy') GROUP BY body_sha1 HAVING count(*) > 1)
UNION ALL
SELECT 'text', min(url) OVER (PARTITION BY text_sha1), url, canonical FROM node
WHERE state IN ('page', 'copy') AND words > 0
  AND text_sha1 IN (SELECT text_sha1 FROM node WHERE state IN ('page', 'copy') AND words > 0 GROUP BY text_sha1
                    HAVING count(DISTINCT coalesce(body_sha1, url)) > 1);
CREATE INDEX temp.alike_group ON alike (of_what, same_as, url);
CREATE TEMP VIEW noindex AS
SELECT * FROM node WHERE outcome_name = 'blocked_at_request_of_remote' AND status BETWEEN 200 AND 299;";

/// Returns the findings of every kind without those that are accepted, of which it returns the
/// number.
pub(crate) fn findings(
    graph: &Graph,
    accepted: &AcceptedFindings,
    kept: RowsKept,
) -> Result<(Vec<Finding>, u64), GraphError> {
    graph.prepare(ALIKE)?;
    if !accepted.is_empty() {
        graph.prepare(&accepted.tables())?;
    }
    let (mut findings, mut left_out) = (Vec::new(), 0);
    for kind in Kind::all() {
        let all = format!("{} WHERE {}", kind.from, kind.condition);
        let Some(unaccepted) = accepted.exclude(kind) else {
            findings.push(finding(graph, kind, &all, kept)?);
            continue;
        };
        let finding =
            finding(graph, kind, &format!("{} WHERE ({}) AND {unaccepted}", kind.from, kind.condition), kept)?;
        left_out +=
            number(graph, &format!("SELECT count(*) FROM {}", with_limits(&all)))?.saturating_sub(finding.count);
        findings.push(finding);
    }
    Ok((findings, left_out))
}

fn finding(graph: &Graph, kind: &Kind, from: &str, kept: RowsKept) -> Result<Finding, GraphError> {
    let Kind { id, group, title, about, severity, of, columns, select, order, .. } = *kind;
    let table = table(graph, Rows::new(columns).keeping(kept), &[select, from, order])?;
    let of = if table.rows_all == 1 { of.strip_suffix('s').unwrap_or(of) } else { of };
    Ok(Finding { id, group, title, about, severity, of, count: table.rows_all, table })
}

/// Returns the first rows of a query, and the number of all.
fn table(graph: &Graph, mut rows: Rows, [select, from, order]: &[&str; 3]) -> Result<Table, GraphError> {
    let (count, columns) = (number(graph, &format!("SELECT count(*) FROM {}", with_limits(from)))?, rows.columns());
    let sql = format!("SELECT {select} FROM {} ORDER BY {order} {}", with_limits(from), rows.limit());
    graph.each(
        &sql,
        [],
        |row| cells(row, columns),
        |row| {
            rows.add(row);
            ControlFlow::Continue(())
        },
    )?;
    Ok(rows.finish(count))
}

/// Inserts the limits into a query. They are not bound, as not every query uses all of them.
fn with_limits(from: &str) -> String {
    let numbered = LIMITS.iter().zip(["?1", "?2", "?3", "?4"]);
    numbered.fold(from.to_owned(), |from, (limit, name)| from.replace(name, &limit.to_string()))
}

fn cells(row: &Row<'_>, columns: &[Column]) -> rusqlite::Result<Vec<Cell>> {
    columns.iter().enumerate().map(|(place, column)| Ok(cell(row.get_ref(place)?, column.unit))).collect()
}

fn cell(value: ValueRef<'_>, unit: Unit) -> Cell {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Cell::Nothing,
        ValueRef::Integer(number) => u64::try_from(number).map_or(Cell::Nothing, Cell::Whole),
        ValueRef::Real(number) => Cell::Number(number),
        ValueRef::Text(text) if unit == Unit::Urls => Cell::Texts(serde_json::from_slice(text).unwrap_or_default()),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

/// Returns the result of a query for one number.
fn number(graph: &Graph, sql: &str) -> Result<u64, GraphError> {
    let mut number = 0;
    graph.each(
        sql,
        [],
        |row| row.get(0),
        |counted| {
            number = counted;
            ControlFlow::Break(())
        },
    )?;
    Ok(number)
}

/// Returns the tables derived from the graph.
pub(crate) fn tables(graph: &Graph) -> Result<Vec<Listing>, GraphError> {
    const PAGES: Column = Column { id: "pages", title: "Pages", unit: Unit::Count };
    let listing = |id, title, about, columns, question: [&str; 3]| {
        Ok::<_, GraphError>(Listing { id, title, about, table: table(graph, Rows::new(columns), &question)? })
    };
    Ok(vec![
        listing(
            "languages",
            "Languages",
            "The languages that pages name.",
            &[Column { id: "language", title: "Language", unit: Unit::Text }, PAGES],
            [
                "n.language, n.pages",
                "(SELECT lower(language) AS language, count(*) AS pages FROM document GROUP BY 1) n",
                "n.pages DESC, n.language",
            ],
        )?,
        listing(
            "content_types",
            "Content types",
            "What the site's URLs hold.",
            &[
                Column { id: "content_type", title: "Content type", unit: Unit::Text },
                Column { id: "urls", title: "URLs", unit: Unit::Count },
                Column { id: "body_bytes", title: "Size", unit: Unit::Bytes },
            ],
            [
                "n.content_type, n.urls, n.body_bytes",
                "(SELECT content_type, count(*) AS urls, sum(body_bytes) AS body_bytes FROM node WHERE state IN ('page', 'file', 'copy') GROUP BY 1) n",
                "n.urls DESC, n.content_type",
            ],
        )?,
        listing(
            "largest",
            "Largest",
            "The largest answers, as they were received.",
            &[
                Column { id: "url", title: "URL", unit: Unit::Url },
                Column { id: "content_type", title: "Content type", unit: Unit::Text },
                Column { id: "body_bytes", title: "Size", unit: Unit::Bytes },
            ],
            [
                "n.url, n.content_type, n.body_bytes",
                "node n WHERE n.body_bytes IS NOT NULL",
                "n.body_bytes DESC, n.url",
            ],
        )?,
        listing(
            "outside_hosts",
            "Hosts linked to",
            "Hosts that pages link to and the crawl did not visit.",
            &[
                Column { id: "host", title: "Host", unit: Unit::Text },
                Column { id: "urls", title: "URLs", unit: Unit::Count },
                PAGES,
            ],
            ["n.host, n.urls, n.pages", "outside_host n", "n.pages DESC, n.host"],
        )?,
        listing(
            "most_linked",
            "Most linked to",
            "The pages that the site leads to most, by PageRank, of which 1 is the average.",
            &[
                Column { id: "url", title: "URL", unit: Unit::Url },
                Column { id: "title", title: "Title", unit: Unit::Text },
                Column { id: "linked_from", title: "Pages that link to it", unit: Unit::Count },
                Column { id: "rank", title: "Rank", unit: Unit::Number },
            ],
            [
                "n.url, n.title, n.linked_from, round(n.rank, 2)",
                "node n WHERE n.rank IS NOT NULL",
                "n.rank DESC, n.url",
            ],
        )?,
    ])
}

/// Returns the number of pages by their distance from a start, in clicks.
pub(crate) fn depths(graph: &Graph) -> Result<Vec<Bar>, GraphError> {
    let sql = "SELECT depth, count(*) FROM node WHERE state = 'page' GROUP BY depth ORDER BY depth IS NULL, depth";
    /// Larger distances are counted together.
    const SHOWN: u32 = 20;
    let mut bars: Vec<Bar> = Vec::new();
    let read = |row: &Row<'_>| Ok((row.get::<_, Option<u32>>(0)?, row.get::<_, u64>(1)?));
    let mut deeper = 0;
    let bar = |title, value, shade| Bar { title, value, shade };
    let mut unreachable = 0;
    graph.each(sql, [], read, |(depth, pages)| {
        match depth {
            Some(depth) if depth < SHOWN => bars.push(bar(depth.to_string(), pages, Shade::Neutral)),
            Some(_) => deeper += pages,
            None => unreachable += pages,
        }
        ControlFlow::Continue(())
    })?;
    if deeper > 0 {
        bars.push(bar(format!("{SHOWN} and more"), deeper, Shade::Notice));
    }
    if unreachable > 0 {
        bars.push(bar("no way leads there".to_owned(), unreachable, Shade::Warning));
    }
    Ok(bars)
}

/// Returns the start URLs of the crawl.
pub(crate) fn starts(graph: &Graph) -> Result<Vec<String>, GraphError> {
    let mut starts = Vec::new();
    graph.each(
        "SELECT url FROM node WHERE is_start ORDER BY url LIMIT 20",
        [],
        |row| row.get(0),
        |url| {
            starts.push(url);
            ControlFlow::Continue(())
        },
    )?;
    Ok(starts)
}
