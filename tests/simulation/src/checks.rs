//! The invariants, recomputed from the log's rows, the objects' bytes and the servers' own log of requests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use dragline_domain::outcome::Outcome;
use dragline_local::LocalStore;
use rusqlite::Connection;

use crate::faults::Struck;
use crate::run::DELAY;
use crate::site::{Asked, HOSTS, Site};

/// What must hold after every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every URL that was claimed, and every URL that an ingested page leads to, has an outcome or is counted as left over.
    NoUrlLost,
    /// No URL has two final outcomes; where nothing failed, none is asked for more often than the log says.
    NoUrlTwice,
    /// Two requests to one origin are at least its delay apart.
    DelayKept,
    /// Nothing forbidden is asked for, and nothing before robots.txt was read.
    RobotsObeyed,
    /// The counters of origins are those of the log.
    ProgressEqualsLog,
    /// The iteration closes, and only when nothing is queued, leased or unparsed.
    ClosesWhenDone,
    /// Every capture in the log lies in its object.
    CapturesReadable,
}

/// An invariant that does not hold, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// What shows it.
    pub evidence: String,
}

impl Violation {
    pub(crate) fn never_closes() -> Self {
        Self { invariant: Invariant::ClosesWhenDone, evidence: "the iteration stays open".to_owned() }
    }
}

/// Checks all of them after an iteration that closed.
pub(crate) fn check(directory: &Path, site: &Site, struck: &Struck) -> Vec<Violation> {
    let db = LocalStore::open_read_only(directory).unwrap();
    let asked = site.asked();
    let mut found = Found::default();
    urls(&db, site, &mut found);
    requests(&db, &asked, struck, &mut found);
    delays(&asked, &mut found);
    robots(&asked, &mut found);
    progress(&db, &mut found);
    rest(&db, &mut found);
    captures(&db, directory, &mut found);
    found.violations
}

#[derive(Default)]
struct Found {
    violations: Vec<Violation>,
}

impl Found {
    fn unless(&mut self, holds: bool, invariant: Invariant, evidence: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { invariant, evidence: evidence() });
        }
    }
}

fn number(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// URLs with a number each.
fn numbers(db: &Connection, sql: &str) -> BTreeMap<String, i64> {
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn urls(db: &Connection, site: &Site, found: &mut Found) {
    let finals = numbers(db, "SELECT url, count(*) FROM crawl_log WHERE is_final GROUP BY url");
    for (url, count) in finals.iter().filter(|(_, count)| **count > 1) {
        found.unless(false, Invariant::NoUrlTwice, || format!("{url} has {count} final outcomes"));
    }
    let claimed =
        numbers(db, "SELECT o.origin || c.path_query, 1 FROM crawl_candidate c JOIN origin o ON o.id = c.origin_id");
    let ingested = format!("SELECT url, 1 FROM crawl_log WHERE outcome = {}", Outcome::FileIngested.code());
    let linked = numbers(db, &ingested).into_keys().flat_map(|url| site.links_of(&url));
    let seeds = HOSTS.iter().map(|host| format!("{host}/"));
    let due: BTreeSet<String> = claimed.into_keys().chain(linked).chain(seeds).collect();
    let lost: Vec<_> = due.iter().filter(|url| !finals.contains_key(*url)).collect();
    let left = number(db, "SELECT coalesce(sum(urls), 0) FROM leftover");
    found.unless(i64::try_from(lost.len()) == Ok(left), Invariant::NoUrlLost, || {
        format!("{left} are counted as left over, and these have no outcome: {lost:?}")
    });
}

fn requests(db: &Connection, asked: &[Asked], struck: &Struck, found: &mut Found) {
    if !struck.faults.is_empty() {
        return;
    }
    let logged = numbers(db, "SELECT l.url, count(*) FROM crawl_log l JOIN request r ON r.id = l.id GROUP BY l.url");
    let mut sent: BTreeMap<String, i64> = BTreeMap::new();
    for request in asked.iter().filter(|request| !request.url.ends_with("/robots.txt")) {
        *sent.entry(request.url.clone()).or_default() += 1;
    }
    found.unless(sent == logged, Invariant::NoUrlTwice, || format!("sent {sent:?}, logged {logged:?}"));
}

fn delays(asked: &[Asked], found: &mut Found) {
    for host in HOSTS {
        let own: Vec<&Asked> = asked.iter().filter(|request| request.url.starts_with(host)).collect();
        for pair in own.windows(2) {
            let gap = pair[1].at - pair[0].at;
            found.unless(gap >= DELAY, Invariant::DelayKept, || {
                format!("{} and {} are {gap:?} apart, at {:?}", pair[0].url, pair[1].url, pair[1].at)
            });
        }
    }
}

fn robots(asked: &[Asked], found: &mut Found) {
    let mut read = BTreeSet::new();
    for request in asked {
        let host = HOSTS.into_iter().find(|host| request.url.starts_with(host)).unwrap();
        if request.url.ends_with("/robots.txt") {
            if request.status == 200 {
                read.insert(host);
            }
            continue;
        }
        let (is_private, is_read) = (request.url.contains("/private/"), read.contains(host));
        found.unless(is_read && !is_private, Invariant::RobotsObeyed, || {
            format!(
                "{} was asked for; robots.txt was {} before",
                request.url,
                if is_read { "read" } else { "not read" }
            )
        });
    }
}

fn progress(db: &Connection, found: &mut Found) {
    let counted = "SELECT coalesce(sum(e.value), 0) FROM inbox b, json_each(b.record, '$.counters.outcomes') e";
    let logged = "SELECT count(*) FROM crawl_log WHERE is_final";
    let (counted, logged) = (number(db, counted), number(db, logged));
    found.unless(counted == logged, Invariant::ProgressEqualsLog, || format!("counted {counted}, logged {logged}"));
    let counted = number(db, "SELECT coalesce(sum(requests), 0) FROM lease");
    let logged = number(db, "SELECT count(*) FROM request");
    found.unless(counted == logged, Invariant::ProgressEqualsLog, || {
        format!("requests: counted {counted}, logged {logged}")
    });
}

fn rest(db: &Connection, found: &mut Found) {
    let left = number(db, "SELECT count(*) FROM leftover");
    for (what, sql, is_checked) in [
        ("origins are not closed", "SELECT count(*) FROM lease WHERE state <> 'closed'", true),
        ("segments are not parsed", "SELECT count(*) FROM segment WHERE lower(state) <> 'processed'", true),
        ("todo chunks wait", "SELECT count(*) FROM todo", left == 0),
    ] {
        let count = number(db, sql);
        found.unless(count == 0 || !is_checked, Invariant::ClosesWhenDone, || format!("{count} {what}"));
    }
}

fn captures(db: &Connection, directory: &Path, found: &mut Found) {
    let sql = "SELECT s.object, f.offset, f.length FROM file f JOIN segment s ON s.id = f.id >> 24";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    for row in rows {
        let (object, offset, length): (String, usize, usize) = row.unwrap();
        let bytes = fs::read(directory.join(&object)).unwrap_or_default();
        let record = bytes.get(offset..offset + length).unwrap_or_default();
        // Each record is a gzip member of its own.
        found.unless(record.starts_with(&[0x1f, 0x8b]), Invariant::CapturesReadable, || {
            format!("{object} has no record at {offset}")
        });
    }
}
