//! Leftovers of origins.

use dragline_domain::frontier::LeftoverReason;
use dragline_domain::ids::Iteration;
use dragline_domain::url::Origin;
use dragline_formats::robots::RobotsRecord;
use dragline_ports::reader::{Batch, LeftoverRow};
use rusqlite::{Row, params};

use super::WantedRows;
use super::streams::{batch, iteration};
use crate::db::crawls::iteration_number;
use crate::db::values::{Json, Text};
use crate::db::{Db, StoreError};

/// `?1` is the crawl, `?2` the origin to continue after, `?3` the iteration and `?4` the origin, if
/// given.
pub(super) const SQL: &str =
    "SELECT o.origin, f.iteration, f.reason, f.urls, r.record AS robots, b.iteration AS lost_in,
           coalesce(b.record ->> '$.counters.unreadable', 0) AS lost
    FROM origin o
    LEFT JOIN inbox b ON b.origin_id = o.id AND (?3 IS NULL OR b.iteration = ?3)
    LEFT JOIN leftover f ON f.origin_id = o.id AND f.urls > 0 AND (?3 IS NULL OR f.iteration = ?3)
    LEFT JOIN robots r ON r.origin_id = o.id
    WHERE o.crawl_id = ?1 AND o.origin > ?2 AND (?4 IS NULL OR o.id = ?4) AND (f.origin_id IS NOT NULL OR lost > 0)
    ORDER BY o.origin, f.iteration, f.turn";

/// An ending of an origin with leftover work, and the URLs that parsers lost of it, which its inbox
/// counts.
struct Ending {
    origin: Origin,
    lost: Option<LeftoverCount>,
    left: Option<LeftoverCount>,
    robots_error: Option<String>,
}

/// URLs left over in an iteration, with the reason.
struct LeftoverCount {
    iteration: Iteration,
    reason: LeftoverReason,
    urls: u64,
}

/// Returns leftovers by origin.
pub(super) fn leftovers(db: &Db, wanted: &WantedRows) -> Result<Batch<LeftoverRow>, StoreError> {
    let after = wanted.after.as_ref().map_or("", |cursor| cursor.as_str());
    let values = params![wanted.crawl, after, iteration(wanted), wanted.origin];
    let place = |row: &Row<'_>| row.get::<_, String>("origin");
    let Batch { rows, cursor, rest } = batch(db, SQL, values, wanted, place, |row| Ok((read(row)?, 0)))?;
    Ok(Batch { rows: by_reason(rows), cursor, rest })
}

fn read(row: &Row<'_>) -> Result<Ending, StoreError> {
    let Text(origin) = row.get("origin")?;
    let left = |number: Option<u32>, reason, urls| {
        Ok::<_, StoreError>(match (number.map(iteration_number).transpose()?, urls) {
            (None, _) | (_, 0) => None,
            (Some(iteration), urls) => Some(LeftoverCount { iteration, reason, urls }),
        })
    };
    let lost = left(row.get("lost_in")?, LeftoverReason::SegmentUnreadable, row.get("lost")?)?;
    let left = match row.get::<_, Option<String>>("reason")? {
        None => None,
        Some(name) => {
            let reason = LeftoverReason::from_name(&name)
                .ok_or_else(|| StoreError::Damaged("a leftover has an unknown reason".to_owned()))?;
            left(row.get("iteration")?, reason, row.get("urls")?)?
        }
    };
    let robots: Option<Json<RobotsRecord>> = row.get("robots")?;
    let robots_error = robots.and_then(|Json(robots)| LeftoverRow::robots_error(&robots));
    Ok(Ending { origin, lost, left, robots_error })
}

/// Returns a row for each reason for leftovers of an origin in an iteration. All endings of an
/// origin are present and adjacent.
fn by_reason(endings: Vec<Ending>) -> Vec<LeftoverRow> {
    let mut rows: Vec<LeftoverRow> = Vec::new();
    for Ending { origin, lost, left, robots_error } in endings {
        // Each ending repeats the lost URLs.
        let is_first = rows.last().is_none_or(|last| last.origin != origin);
        for LeftoverCount { iteration, reason, urls } in lost.filter(|_| is_first).into_iter().chain(left) {
            let mut of_origin = rows.iter_mut().rev().take_while(|row| row.origin == origin);
            match of_origin.find(|row| (row.iteration, row.reason) == (iteration, reason)) {
                Some(same) => same.urls += urls,
                None => {
                    let (origin, robots_error) = (origin.clone(), robots_error.clone());
                    rows.push(LeftoverRow { iteration, origin, reason, urls, robots_error });
                }
            }
        }
    }
    rows
}
