//! What a person wants to know when an iteration ends.

use dragline_domain::ids::{CrawlId, Iteration};
use rusqlite::{Connection, Params, Row, params};
use serde::{Serialize, Serializer};

use super::QueryError;

/// How many of the slowest URLs are named.
pub const SLOWEST: usize = 5;

/// How many reasons for not crawling are named, those of the most URLs first.
pub const REASONS_MAX: usize = 20;

/// An iteration in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Final outcomes by count, the most frequent first.
    pub outcomes: Vec<OutcomeCount>,
    /// Requests that were logged, those that were tried again included.
    pub requests: u64,
    /// URLs that ended with an answer.
    pub pages: u64,
    /// Bytes of all bodies as received.
    pub body_bytes: u64,
    /// The requests that took longest.
    pub slowest: Vec<Slow>,
    /// Why URLs that were found were not asked for, the most frequent reason first.
    pub not_crawled: Vec<NotCrawled>,
    /// URLs that were queued and never had their turn, by reason.
    #[serde(serialize_with = "as_objects")]
    pub leftovers: Vec<(String, u64)>,
    /// Links that were left alone, as more waited than the budget of pages lets the iteration ask for.
    pub links_beyond_budget: u64,
    /// URLs that were found with parameters that were taken out.
    pub urls_stripped: u64,
}

/// How many URLs ended so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeCount {
    /// The outcome's number.
    pub outcome: i16,
    /// Its name.
    pub name: String,
    /// Its class: `content`, `redirect`, `missing`, `failed`, `blocked` or `dismissed`.
    pub class: String,
    /// How many.
    pub urls: u64,
}

/// A request that took long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slow {
    /// The URL.
    pub url: String,
    /// From the request's start to its end.
    pub duration_ms: u64,
}

/// URLs that were not asked for, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotCrawled {
    /// The outcome's number.
    pub outcome: i16,
    /// Its name.
    pub name: String,
    /// The rule that decided; absent where the outcome says it all.
    pub detail: Option<String>,
    /// How many.
    pub urls: u64,
    /// One of them.
    pub example: String,
}

/// Leftovers as objects with names, as everything else of a summary is.
fn as_objects<S: Serializer>(leftovers: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Leftover<'a> {
        reason: &'a str,
        urls: u64,
    }
    serializer.collect_seq(leftovers.iter().map(|(reason, urls)| Leftover { reason, urls: *urls }))
}

/// Sums up an iteration from its log.
///
/// # Errors
/// [`QueryError`].
pub fn summary(connection: &Connection, crawl: &CrawlId, iteration: Iteration) -> Result<Summary, QueryError> {
    let of = params![crawl.as_str(), iteration.number()];
    // What each outcome comes to is asked for once: it takes its time where pages call others canonical.
    let counted = all(
        connection,
        "SELECT outcome, outcome_name, outcome_class, count(*) FILTER (WHERE is_final), count(duration_ms),
                count(object) FILTER (WHERE is_final), coalesce(sum(body_bytes), 0)
         FROM log WHERE crawl = ?1 AND iteration = ?2 GROUP BY outcome ORDER BY 4 DESC, outcome",
        of,
        |row| Ok((read_outcome(row)?, row.get::<_, u64>(4)?, row.get::<_, u64>(5)?, row.get::<_, u64>(6)?)),
    )?;
    let (requests, pages, body_bytes) = counted.iter().fold((0, 0, 0), |(requests, pages, body_bytes), counted| {
        (requests + counted.1, pages + counted.2, body_bytes + counted.3)
    });
    let outcomes = counted.into_iter().map(|(outcome, ..)| outcome).filter(|outcome| outcome.urls > 0).collect();
    let slowest = all(
        connection,
        "SELECT url, duration_ms FROM log WHERE crawl = ?1 AND iteration = ?2 AND duration_ms IS NOT NULL
         ORDER BY duration_ms DESC, url LIMIT ?3",
        params![crawl.as_str(), iteration.number(), SLOWEST],
        |row| Ok(Slow { url: row.get(0)?, duration_ms: row.get(1)? }),
    )?;
    let not_crawled = all(
        connection,
        "SELECT outcome, outcome_name, detail, count(*), min(url) FROM log
         WHERE crawl = ?1 AND iteration = ?2 AND is_final AND duration_ms IS NULL
         GROUP BY outcome, detail ORDER BY count(*) DESC, outcome, detail LIMIT ?3",
        params![crawl.as_str(), iteration.number(), REASONS_MAX],
        |row| {
            let (outcome, name, detail) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(NotCrawled { outcome, name, detail, urls: row.get(3)?, example: row.get(4)? })
        },
    )?;
    let leftovers = all(
        connection,
        "SELECT reason, sum(urls) FROM (
             SELECT f.origin_id, f.iteration, f.reason, f.urls FROM leftover f
             UNION ALL SELECT b.origin_id, b.iteration, 'segment_unreadable', ifnull(json_extract(b.record, '$.counters.unreadable'), 0) FROM inbox b) f
         JOIN origin o ON o.id = f.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND f.iteration = ?2 GROUP BY reason HAVING sum(urls) > 0 ORDER BY sum(urls) DESC, reason",
        of,
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (links_beyond_budget, urls_stripped) = connection.query_row(
        "SELECT coalesce(sum(json_extract(b.record, '$.counters.links_beyond_budget')), 0),
                coalesce(sum(json_extract(b.record, '$.counters.found_stripped')), 0)
         FROM inbox b JOIN origin o ON o.id = b.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND b.iteration = ?2",
        of,
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(Summary {
        outcomes,
        requests,
        pages,
        body_bytes,
        slowest,
        not_crawled,
        leftovers,
        links_beyond_budget,
        urls_stripped,
    })
}

fn read_outcome(row: &Row<'_>) -> rusqlite::Result<OutcomeCount> {
    Ok(OutcomeCount { outcome: row.get(0)?, name: row.get(1)?, class: row.get(2)?, urls: row.get(3)? })
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, QueryError> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map(params, read)?.collect::<Result<_, _>>()?;
    Ok(rows)
}
