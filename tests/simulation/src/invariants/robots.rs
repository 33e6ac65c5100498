//! 4: no request without a robots.txt that allows it.

use std::time::Duration;

use dragline_domain::time::{after, between};
use dragline_formats::robots::COPY_AGE_MAX;
use jiff::Timestamp;

use super::{Evidence, Invariant, Violation};
use crate::web::{Access, Answer, RobotsTxt, allows};

/// A turn reads robots.txt once, may be delayed before it stores it, and continues for a few
/// minutes.
const TURN_MAX: Duration = Duration::from_mins(15);

/// What the answer to a request for robots.txt says.
enum Reading {
    Readable(RobotsTxt),
    Unreadable,
}

/// 4: before each request the origin's robots.txt was read, within its lifetime, and allows the
/// request. One that expired before any page was requested is good for one turn. A failure forbids
/// all, unless an earlier answer still holds: a copy of the last day, or a 404 within its lifetime.
#[must_use]
pub fn robots_txt_allows_each_request(evidence: &Evidence<'_>) -> Vec<Violation> {
    let pages = evidence.accesses.iter().filter(|access| !access.is_robots_txt());
    let wrong = pages.filter_map(|page| Some((page, objection(evidence, page)?)));
    let violation = |(page, why): (&Access, &str)| Violation {
        invariant: Invariant::RobotsObeyed,
        what: format!("{} was asked for at {}: {why}", page.url, page.begun),
    };
    wrong.map(violation).collect()
}

/// Why a page should not have been requested.
fn objection(evidence: &Evidence<'_>, page: &Access) -> Option<&'static str> {
    let token = evidence.definition.user_agent.product_token();
    let (read_at, txt) = match in_force(evidence, page) {
        Ok(in_force) => in_force,
        Err(why) => return Some(why),
    };
    let dies_at = after(read_at, evidence.definition.politeness.robots_max_age);
    let first_used_at = first_page_after(evidence, page, read_at).min(after(read_at, COPY_AGE_MAX));
    // A refresh that fails renews a copy, also one that failed before anything reached the server:
    // that is in no log.
    let is_of_earlier_iteration =
        evidence.accesses.get(evidence.accesses_before).is_none_or(|first| read_at < first.begun);
    let lasts = if is_of_earlier_iteration { after(read_at, COPY_AGE_MAX) } else { dies_at.max(first_used_at) };
    if page.begun > after(lasts, TURN_MAX + evidence.clocks_wrong_by) {
        return Some("robots.txt had been read too long before");
    }
    (!allows(&txt, token, &page.url)).then_some("robots.txt forbids it")
}

/// When the first page of the same origin was requested after that.
fn first_page_after(evidence: &Evidence<'_>, page: &Access, read_at: Timestamp) -> Timestamp {
    let origin = page.url.origin();
    let pages = evidence.accesses.iter().filter(|access| !access.is_robots_txt() && access.url.origin() == origin);
    pages.map(|access| access.begun).filter(|begun| *begun >= read_at).min().unwrap_or(page.begun)
}

/// The robots.txt in force for a request, and when it was last requested.
fn in_force(evidence: &Evidence<'_>, page: &Access) -> Result<(Timestamp, RobotsTxt), &'static str> {
    let origin = page.url.origin();
    let earlier = evidence.accesses.iter().filter(|access| access.is_robots_txt() && access.url.origin() == origin);
    let mut ended: Vec<(Timestamp, Reading)> = earlier
        .filter_map(|access| Some((access.ended.as_ref()?.at, reading(access)?)))
        .filter(|(at, _)| *at <= page.begun)
        .collect();
    ended.sort_by_key(|(at, _)| *at);
    let Some((asked_at, last)) = ended.pop() else { return Err("robots.txt was never read") };
    match last {
        Reading::Readable(txt) => Ok((asked_at, txt)),
        Reading::Unreadable => {
            let before = ended.into_iter().rev().find_map(|(at, reading)| match reading {
                Reading::Readable(RobotsTxt::Missing) => Some((at, RobotsTxt::Missing)),
                // A failed refresh has renewed it.
                Reading::Readable(txt) => (between(at, page.begun) <= COPY_AGE_MAX).then_some((asked_at, txt)),
                Reading::Unreadable => None,
            });
            before.ok_or("robots.txt could not be read")
        }
    }
}

/// What an answer means by RFC 9309 section 2.3.1; `None` while there is no answer.
fn reading(access: &Access) -> Option<Reading> {
    Some(match &access.ended.as_ref()?.answer {
        // Connections end before the body, so no rule of it came.
        Answer::Response(response) => match response.status {
            200..=299 if response.truncated.is_some() => Reading::Unreadable,
            200..=299 => Reading::Readable(RobotsTxt::Text(String::from_utf8_lossy(&response.body).into_owned())),
            429 | 500.. => Reading::Unreadable,
            _ => Reading::Readable(RobotsTxt::Missing),
        },
        Answer::Nothing(_) | Answer::Unprocessed(_) => Reading::Unreadable,
    })
}

/// The `Crawl-delay` in force for a request, read by the simplest means: generated files have one
/// group.
pub(super) fn crawl_delay(evidence: &Evidence<'_>, page: &Access) -> Duration {
    let Ok((_, RobotsTxt::Text(text))) = in_force(evidence, page) else { return Duration::ZERO };
    let seconds = text.lines().find_map(|line| line.strip_prefix("Crawl-delay:")?.trim().parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}
