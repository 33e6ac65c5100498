//! The visits of an iteration, as logged.

use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;

use super::Evidence;

/// What a row of the log is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A visit that ended.
    Ended,
    /// One that is tried again.
    TriedAgain,
    /// None: only a document was made again.
    MadeAgain,
}

/// A row of the log.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub(super) url: CrawlUrl,
    pub(super) entry: Entry,
    pub(super) outcome: i64,
    pub(super) depth: u32,
    pub(super) change: Option<String>,
    /// The names of the parts that changed, separated by commas.
    pub(super) parts: String,
    pub(super) was_sent: bool,
    pub(super) status: Option<u16>,
    pub(super) is_stuck: bool,
    /// The object of its segment, if parses of that were given back: it may have been logged before
    /// the object was lost, and become known after.
    object_given_back: Option<String>,
}

impl Visit {
    /// Whether its capture was lost after its document was put. What is left says neither that it
    /// was sent nor what was known before.
    pub(super) fn is_stand_in(&self, evidence: &Evidence<'_>) -> bool {
        let outcome = i16::try_from(self.outcome).ok().and_then(Outcome::from_code);
        let is_decision = outcome
            .is_some_and(|outcome| matches!(outcome, Outcome::BlockedByRobotsTxt | Outcome::BlockedUrlByLocalPolicy));
        let was_lost_later = || self.object_given_back.as_ref().is_some_and(|object| evidence.lost.contains(object));
        let is_unknown = !evidence.lost.is_empty() && (!self.was_sent || was_lost_later());
        is_unknown && self.entry == Entry::Ended && !is_decision
    }
}

/// The rows of the iteration, in order.
pub(super) fn visits(evidence: &Evidence<'_>) -> rusqlite::Result<Vec<Visit>> {
    let sql =
        "SELECT l.url, l.is_final, l.crawl_type = 'reparse', l.outcome, l.depth, l.change, ifnull(l.changed_parts, ''),
                      r.id IS NOT NULL, r.status, ifnull(d.state = 'stuck', 0), iif(s.attempts > 0, s.object, NULL)
               FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
               LEFT JOIN segment s ON s.id = l.id >> 24
               LEFT JOIN request r ON r.id = l.id LEFT JOIN document d ON d.id = l.id
               WHERE c.name = ?1 AND l.iteration = ?2 ORDER BY l.id";
    let mut statement = evidence.database.prepare(sql)?;
    let rows = statement.query_map(evidence.crawl_and_iteration(), |row| {
        Ok(Visit {
            url: CrawlUrl::try_from(row.get::<_, String>(0)?).expect("a logged URL"),
            entry: match (row.get(1)?, row.get(2)?) {
                (true, _) => Entry::Ended,
                (false, true) => Entry::MadeAgain,
                (false, false) => Entry::TriedAgain,
            },
            outcome: row.get(3)?,
            depth: row.get(4)?,
            change: row.get(5)?,
            parts: row.get(6)?,
            was_sent: row.get(7)?,
            status: row.get(8)?,
            is_stuck: row.get(9)?,
            object_given_back: row.get(10)?,
        })
    })?;
    rows.collect()
}
