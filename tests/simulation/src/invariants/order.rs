//! 18: under a budget, what was never visited goes first, and then what waited longest.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;

use super::{Checked, Evidence, Invariant, Violation};
use crate::rules::Rules;

/// The URLs that were known before an iteration began, each with when it is due; `None`: in every
/// iteration.
#[derive(Clone, Debug, Default)]
pub struct KnownBefore(BTreeMap<CrawlUrl, Option<String>>);

/// Reads which URLs are known by now.
///
/// # Errors
/// The database cannot be read.
pub fn known_urls(evidence: &Evidence<'_>) -> rusqlite::Result<KnownBefore> {
    let sql = "SELECT o.origin || k.path_query, k.due_at FROM crawl_candidate k JOIN origin o ON o.id = k.origin_id
               JOIN crawl c ON c.id = o.crawl_id WHERE c.name = ?1";
    let mut statement = evidence.database.prepare(sql)?;
    let rows =
        statement.query_map([evidence.definition.name.to_string()], |row| Ok((url(row.get(0)?), row.get(1)?)))?;
    Ok(KnownBefore(rows.collect::<rusqlite::Result<_>>()?))
}

fn url(text: String) -> CrawlUrl {
    CrawlUrl::try_from(text).expect("a stored URL")
}

/// 18: where a budget may end the iteration, no known URL is visited again before another one of
/// its origin that was known before the iteration began and never visited; nor instead of one that
/// is due and was last visited in an earlier iteration, unless retries, new URLs or workers that
/// died took pages of a budget that seemed enough for all. Seeds are visited in any case, and what
/// a link of this iteration led to first.
///
/// # Errors
/// The database cannot be read.
pub fn never_visited_go_first(evidence: &Evidence<'_>, rules: &Rules, known: &KnownBefore) -> Checked {
    let budget = &evidence.definition.budget;
    if budget.pages.is_none() && budget.pages_per_origin.is_none() {
        return Ok(Vec::new());
    }
    let last = last_visits(evidence)?;
    let now = Visited::read(evidence, known)?;
    let began = evidence.texts(
        "SELECT i.started_at FROM iteration i JOIN crawl c ON c.id = i.crawl_id WHERE c.name = ?1 AND i.number = ?2",
    )?;
    let is_due = |due: &Option<String>| due.as_ref().is_none_or(|due| began.first().is_some_and(|began| due <= began));
    // A clock that is set between the beginning and a turn changes what is due.
    let are_clocks_set = evidence.clocks_wrong_by > evidence.clocks_apart;
    let waiting = known.0.iter().filter(|(url, due)| {
        let is_blocked = last.get(url).is_some_and(|last| last.is_blocked);
        !rules.is_seed(url)
            && !is_blocked
            && !now.by_links.contains(url)
            && (due.is_none() || is_due(due) && !are_clocks_set)
    });
    let waiting: Vec<&CrawlUrl> = waiting.map(|(url, _)| url).collect();
    let mut wrong = Vec::new();
    for (again, place) in now.again.iter().filter(|(url, _)| !rules.is_seed(url)) {
        let Some(before) = last.get(again) else { continue };
        for other in waiting.iter().copied().filter(|other| other.origin() == again.origin() && *other != again) {
            let others = now.places.get(other);
            match last.get(other) {
                None if others.is_none_or(|others| others > place) && !now.asked_early(other, others) => {
                    wrong.push(format!("{again} was visited again before {other}, which never was"));
                }
                Some(last) if last.iteration < before.iteration && others.is_none() && !now.has_surprises => {
                    wrong.push(format!("{again} was visited again instead of {other}, which waited longer"));
                }
                _ => {}
            }
        }
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::NeverVisitedGoFirst, what }).collect())
}

struct Last {
    iteration: u32,
    /// Whether the rules forbade it.
    is_blocked: bool,
}

/// How each URL last ended before this iteration.
fn last_visits(evidence: &Evidence<'_>) -> rusqlite::Result<BTreeMap<CrawlUrl, Last>> {
    let sql = "SELECT l.url, max(l.iteration), l.outcome FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
               WHERE c.name = ?1 AND l.iteration < ?2 AND l.is_final GROUP BY l.url";
    let mut statement = evidence.database.prepare(sql)?;
    let rows = statement.query_map(evidence.crawl_and_iteration(), |row| {
        let is_blocked = row.get::<_, i16>(2)? == Outcome::BlockedUrlByLocalPolicy.code();
        Ok((url(row.get(0)?), Last { iteration: row.get(1)?, is_blocked }))
    })?;
    rows.collect()
}

/// What an iteration visited. Places are in the order of commits, and comparable within an origin.
struct Visited {
    /// The place of each URL's first visit.
    places: BTreeMap<CrawlUrl, i64>,
    /// Known URLs that were requested because they were due, by their first request.
    again: BTreeMap<CrawlUrl, i64>,
    /// URLs that a link of the iteration led to.
    by_links: BTreeSet<CrawlUrl>,
    /// URLs that were requested, also by workers that died before their commit.
    asked: BTreeSet<CrawlUrl>,
    /// Whether there were requests that nobody could foresee when the iteration began.
    has_surprises: bool,
}

impl Visited {
    fn read(evidence: &Evidence<'_>, known: &KnownBefore) -> rusqlite::Result<Self> {
        let sql = "SELECT l.url, min(l.id), max(r.id IS NOT NULL), ifnull(k.claimed_by = 'recrawl', 0)
                   FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
                   LEFT JOIN request r ON r.id = l.id
                   LEFT JOIN crawl_candidate k ON k.origin_id = o.id AND o.origin || k.path_query = l.url AND k.queued_in = ?2
                   WHERE c.name = ?1 AND l.iteration = ?2 AND l.crawl_type <> 'reparse' GROUP BY l.url";
        let mut statement = evidence.database.prepare(sql)?;
        let rows = statement.query_map(evidence.crawl_and_iteration(), |row| {
            Ok((url(row.get(0)?), row.get::<_, i64>(1)?, row.get::<_, bool>(2)? && row.get::<_, bool>(3)?))
        })?;
        let (mut places, mut again) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            let (url, place, is_again) = row?;
            if is_again {
                again.insert(url.clone(), place);
            }
            places.insert(url, place);
        }
        let by_links = evidence.texts(
            "SELECT o.origin || k.path_query FROM crawl_candidate k JOIN origin o ON o.id = k.origin_id JOIN crawl c ON c.id = o.crawl_id
             WHERE c.name = ?1 AND k.queued_in = ?2 AND k.claimed_by <> 'recrawl'",
        )?;
        let since = evidence.accesses.iter().skip(evidence.accesses_before);
        let since = since.filter(|access| !access.is_robots_txt() && !access.is_of_page());
        let (mut asked, mut has_surprises) = (BTreeSet::new(), false);
        for access in since {
            // Of a URL that is asked for again, the first request failed or was lost.
            has_surprises |= !asked.insert(access.url.clone()) || !known.0.contains_key(&access.url);
        }
        has_surprises |= asked.iter().any(|url| !places.contains_key(url));
        Ok(Self { places, again, by_links: by_links.into_iter().map(url).collect(), asked, has_surprises })
    }

    /// Whether a URL was requested without a trace in the log, by a worker that died, so that its
    /// place says nothing.
    fn asked_early(&self, url: &CrawlUrl, place: Option<&i64>) -> bool {
        place.is_none() && self.asked.contains(url)
    }
}
