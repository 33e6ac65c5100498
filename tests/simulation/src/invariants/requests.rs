//! 2 and 3: the servers' log against what was committed, and against the delay.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dragline_domain::definition::Soft404;
use dragline_domain::politeness::TRIES_REFUSED_MIN;
use dragline_domain::time::{after, between};
use dragline_domain::url::{DomainKey, HostKey};
use dragline_formats::http_fields::{Headers, retry_after};
use jiff::Timestamp;

use super::robots::crawl_delay;
use super::{Checked, Evidence, Invariant, Violation};
use crate::web::{Access, Response};

/// Whether workers died in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deaths {
    /// None did, and no effect failed: every request is in the log.
    None,
    /// Some did: requests of turns that died before their commit are not in the log.
    Some,
}

/// What the log holds of one URL.
#[derive(Default)]
struct Visits {
    /// Those that were sent again in the same try included.
    requests: usize,
    /// Requests that a server must have seen, as it answered them.
    answered: usize,
    /// Requests that had a connection. A host that is out of reach is asked in vain as long as
    /// patience lasts.
    connected: usize,
    finals: usize,
    /// When the final one was committed; `None` before that.
    ended_at: Option<Timestamp>,
}

/// 2: no URL is requested once its outcome is committed, none more often than tries are allowed,
/// and where nothing died every request is in the log. An address that cannot exist is asked for
/// only if that is wanted, and where nothing died once an iteration and origin.
///
/// # Errors
/// The database cannot be read.
pub fn visited_once(evidence: &Evidence<'_>, deaths: Deaths) -> Checked {
    let visits = visits(evidence)?;
    let mut asked: BTreeMap<&str, Vec<&Access>> = BTreeMap::new();
    let since = evidence.accesses.iter().skip(evidence.accesses_before);
    let mut wrong = Vec::new();
    let mut for_missing: BTreeMap<&str, usize> = BTreeMap::new();
    for access in since.filter(|access| !access.is_robots_txt() && !access.is_of_page()) {
        if access.is_for_missing() {
            *for_missing.entry(access.url.as_str()).or_default() += 1;
            continue;
        }
        asked.entry(access.url.as_str()).or_default().push(access);
    }
    let urls: BTreeSet<&str> = asked.keys().copied().chain(visits.keys().map(String::as_str)).collect();
    let none = Visits::default();
    let is_wanted = evidence.definition.soft_404 == Soft404::Detect;
    let too_often = |times: usize| !is_wanted || (deaths == Deaths::None && times > 1);
    for (url, times) in for_missing.into_iter().filter(|(_, times)| too_often(*times)) {
        wrong.push(format!("{url}, which cannot exist, was asked for {times} times"));
    }
    for url in urls {
        let mut asked = asked.remove(url).unwrap_or_default();
        let is_probe = |access: &&Access| is_probe(evidence, access);
        let probes: Vec<&Access> = asked.extract_if(.., |access| is_probe(access)).collect();
        let logged = visits.get(url).unwrap_or(&none);
        let late = |access: &&&Access| {
            logged.ended_at.is_some_and(|end| access.begun > after(end, TICK + evidence.clocks_wrong_by))
        };
        if let Some(access) = asked.iter().find(late) {
            wrong.push(format!("{url} was asked for at {} although its outcome was committed", access.begun));
        }
        if logged.finals > 1 || logged.connected > usize::from(TRIES_REFUSED_MIN) + FOLLOW_UPS_MAX {
            wrong.push(format!("{url} has {} requests in the log, {} of them final", logged.requests, logged.finals));
        }
        wrong.extend(unasked(&asked).map(|access| format!("{url} was asked for as {access:?}, as no answer asked")));
        // A page for which no browser had room is asked for again after it was answered, so it may
        // look like a probe.
        let (asked, probes) = (asked.len(), probes.len());
        if asked + probes < logged.answered || (deaths == Deaths::None && asked > logged.requests) {
            let requests = logged.requests;
            wrong.push(format!("{url} was asked for {asked} times, the log has {requests}; {probes} more were probes"));
        }
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::VisitedOnce, what }).collect())
}

/// Whether a request only asked whether its server is still there: for a page that had been
/// answered, after as many failures as patience bears.
fn is_probe(evidence: &Evidence<'_>, access: &Access) -> bool {
    let origin = access.url.origin();
    let since = evidence.accesses.iter().skip(evidence.accesses_before);
    let before = || since.clone().filter(|earlier| earlier.url.origin() == origin && earlier.begun < access.begun);
    let failed =
        before().filter(|earlier| earlier.response().is_none_or(|response| matches!(response.status, 429 | 503)));
    let has_worked = before().any(|earlier| {
        let is_good = |response: &Response| matches!(response.status, 200 | 304) && response.truncated.is_none();
        earlier.url == access.url && earlier.response().is_some_and(is_good)
    });
    has_worked && failed.count() >= usize::from(evidence.definition.politeness.failures)
}

/// How often a URL is asked for once more because its answer asks for that.
const FOLLOW_UPS_MAX: usize = 1;

/// Finds requests that are spelled otherwise than their URL, or have a cookie, although no answer
/// for the URL had said so.
fn unasked<'a>(asked: &'a [&'a Access]) -> impl Iterator<Item = &'a Access> {
    let is_asked_for = |access: &Access, before: &[&Access]| {
        let responses = || before.iter().filter_map(|earlier| earlier.response());
        let is_spelled = access.target == access.url.path_and_query()
            || responses().any(|response| response.field("location") == Some(&*access.target));
        let is_set = |cookie: &str| {
            let set = |response: &Response| response.field("set-cookie").is_some_and(|set| set.starts_with(cookie));
            responses().any(set)
        };
        is_spelled && access.cookie.as_deref().is_none_or(is_set)
    };
    let numbered = asked.iter().enumerate();
    numbered.filter(move |(place, access)| !is_asked_for(access, &asked[..*place])).map(|(_, access)| *access)
}

/// Stored instants are truncated to milliseconds.
const TICK: Duration = Duration::from_millis(1);

fn visits(evidence: &Evidence<'_>) -> rusqlite::Result<BTreeMap<String, Visits>> {
    let sql =
        "SELECT l.url, l.is_final, s.committed_at, r.status IS NOT NULL, r.remote IS NOT NULL, r.resends FROM crawl_log l JOIN request r ON r.id = l.id
               JOIN segment s ON s.id = l.id >> 24 JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
               WHERE c.name = ?1 AND l.iteration = ?2";
    let mut statement = evidence.database.prepare(sql)?;
    let rows = statement.query_map(evidence.crawl_and_iteration(), |row| {
        let (is_final, answered, connected) = (row.get::<_, bool>(1)?, row.get::<_, bool>(3)?, row.get::<_, bool>(4)?);
        Ok((
            row.get::<_, String>(0)?,
            is_final,
            row.get::<_, String>(2)?,
            [answered, connected],
            row.get::<_, usize>(5)?,
        ))
    })?;
    let mut visits: BTreeMap<String, Visits> = BTreeMap::new();
    for row in rows {
        let (url, is_final, committed_at, [was_answered, was_connected], resends) = row?;
        let visits = visits.entry(url).or_default();
        visits.requests += 1 + resends;
        visits.answered += usize::from(was_answered);
        visits.connected += usize::from(was_connected);
        if is_final {
            visits.finals += 1;
            visits.ended_at = visits.ended_at.max(committed_at.parse().ok());
        }
    }
    Ok(visits)
}

/// 3: two requests to one host, whatever the scheme and the port, never start closer together than
/// the definition's delay, the Crawl-delay in force, and the wait that a committed 429 or 503 asked
/// for; after two of these for different URLs in a row, at least 2 s apart. Requests are timed when
/// they set out, not when they reach the server.
///
/// Answers to a worker that died before its commit are lost, so only committed ones bind later
/// requests. No more are under way at a host at once than the definition allows.
///
/// # Errors
/// The database cannot be read.
pub fn the_delay_is_kept(evidence: &Evidence<'_>) -> Checked {
    let committed: BTreeSet<String> = evidence
        .texts(
            "SELECT l.url || ' ' || r.sent_at FROM request r JOIN crawl_log l ON l.id = r.id
             JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id WHERE c.name = ?1 AND l.iteration <= ?2",
        )?
        .into_iter()
        .collect();
    let is_committed = |access: &Access| committed.contains(&format!("{} {:.3}", access.url, access.shown));
    let mut by_host: BTreeMap<HostKey, Vec<&Access>> = BTreeMap::new();
    for access in evidence.accesses {
        by_host.entry(HostKey::from_origin(&access.url.origin())).or_default().push(access);
    }
    let mut wrong = Vec::new();
    for accesses in by_host.values() {
        for (n, next) in accesses.iter().enumerate() {
            let is_under_way = |one: &&&Access| one.ended.as_ref().is_some_and(|end| next.set_out < end.at);
            let under_way = accesses[..n].iter().filter(is_under_way).count();
            if under_way >= usize::from(evidence.definition.politeness.concurrency) {
                wrong.push(format!("{} was asked for while {under_way} others of its host were", next.url));
            }
        }
        for (n, (one, next)) in accesses.iter().zip(accesses.iter().skip(1)).enumerate() {
            let delay = if next.is_robots_txt() { Duration::ZERO } else { crawl_delay(evidence, next) };
            let delay = evidence.definition.politeness.delay.max(delay);
            let earliest = after(one.set_out, delay)
                .max(asked_wait(evidence, one).filter(|_| is_committed(one)).unwrap_or(one.begun))
                .max(
                    n.checked_sub(1)
                        .and_then(|n| backed_off(accesses[n], one))
                        .filter(|_| is_committed(one))
                        .unwrap_or(one.begun),
                );
            if after(next.begun, evidence.clocks_apart) < earliest {
                wrong.push(format!(
                    "{} was asked for {:?} after {}, {:?} too early",
                    next.url,
                    between(one.begun, next.begun),
                    one.url,
                    between(next.begun, earliest)
                ));
            }
        }
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::DelayKept, what }).collect())
}

/// 15: no more hosts of a registered domain are visited at once than the definition allows.
#[must_use]
pub fn few_hosts_of_a_domain_are_asked_at_once(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut by_domain: BTreeMap<DomainKey, Vec<(HostKey, &Access)>> = BTreeMap::new();
    for access in evidence.accesses {
        let host = HostKey::from_origin(&access.url.origin());
        if let Some(domain) = host.domain() {
            by_domain.entry(domain).or_default().push((host, access));
        }
    }
    let places = usize::from(evidence.definition.politeness.hosts_per_domain);
    let mut wrong = Vec::new();
    for (domain, accesses) in by_domain {
        for (place, (host, next)) in accesses.iter().enumerate() {
            let is_under_way = |access: &Access| access.ended.as_ref().is_some_and(|end| next.set_out < end.at);
            let others = accesses[..place].iter().filter(|(other, access)| other != host && is_under_way(access));
            let others: BTreeSet<&HostKey> = others.map(|(other, _)| other).collect();
            if others.len() >= places {
                wrong.push(format!("{} was asked for while {others:?} of {domain} were", next.url));
            }
        }
    }
    wrong.into_iter().map(|what| Violation { invariant: Invariant::DomainKept, what }).collect()
}

/// When a host that refused two URLs in a row may be asked again.
fn backed_off(one: &Access, next: &Access) -> Option<Timestamp> {
    let is_refused = |access: &Access| access.response().is_some_and(|response| matches!(response.status, 429 | 503));
    let one_ended = one.ended.as_ref()?.at;
    let in_a_row = one.url != next.url && is_refused(one) && is_refused(next) && one_ended <= next.begun;
    (in_a_row && !one.is_robots_txt()).then(|| after(next.begun, Duration::from_secs(2)))
}

/// When a server that answered 429 or 503 with Retry-After may be asked again.
fn asked_wait(evidence: &Evidence<'_>, access: &Access) -> Option<Timestamp> {
    let ended = access.ended.as_ref()?;
    let response = access.response().filter(|response| matches!(response.status, 429 | 503))?;
    let field = response.field("retry-after").unwrap_or_default();
    let said = retry_after(&Headers::from_iter([("retry-after", field)]), ended.at)?;
    // A date is compared with the reader's clock.
    let said = if field.parse::<u64>().is_ok() { said } else { said.saturating_sub(evidence.clocks_wrong_by) };
    Some(after(ended.at, said))
}
