//! Policies of URLs, and when they are due again.

use super::*;
use crate::definition::{Draft, RecrawlRule, TextTest};
use crate::url::UrlRules;

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const MAX: Duration = Duration::from_hours(90 * 24);

const ALWAYS: RecrawlPolicy = RecrawlPolicy::Always { max: MAX };
const FIXED: RecrawlPolicy = RecrawlPolicy::Fixed { interval: Duration::from_hours(7 * 24), max: MAX };
const ADAPTIVE: RecrawlPolicy = RecrawlPolicy::Adaptive { interval: DAY, min: HOUR, max: MAX };

fn days(days: u32) -> Duration {
    DAY * days
}

/// Returns the time this many days after some beginning.
fn day(day: u32) -> Timestamp {
    after(Timestamp::UNIX_EPOCH, days(day))
}

fn url(path: &str) -> CrawlUrl {
    CrawlUrl::parse(&format!("https://example.org{path}"), &UrlRules::default()).unwrap()
}

fn rule(path: &str) -> RecrawlRule {
    let when = Condition::Path(TextTest::Prefix(path.to_owned()));
    RecrawlRule { when, policy: None, interval: None, min: None, max: None }
}

fn edited_rules(edit: fn(&mut Draft)) -> RecrawlRules {
    let mut draft = Draft::for_seeds(vec![url("/")]);
    edit(&mut draft);
    RecrawlRules::new(&Definition::new(draft).unwrap())
}

#[test]
fn the_first_rule_that_covers_a_url_decides() {
    let with_rules = edited_rules(|draft| {
        draft.recrawl.interval = Some(DAY);
        draft.recrawl.rules = vec![
            RecrawlRule { interval: Some(HOUR), policy: Some(RecrawlWord::Fixed), ..rule("/news/") },
            RecrawlRule { policy: Some(RecrawlWord::Always), ..rule("/news/live") },
            RecrawlRule { min: Some(days(1) / 2), max: Some(days(30)), ..rule("/docs/") },
            RecrawlRule { policy: Some(RecrawlWord::Always), ..rule("/front") },
        ];
    });
    for (path, expected, why) in [
        ("/", ADAPTIVE, "no rule covers it: an interval without a policy is adaptive"),
        ("/news/1", RecrawlPolicy::Fixed { interval: HOUR, max: MAX }, "what a rule leaves out is as for all"),
        ("/news/live", RecrawlPolicy::Fixed { interval: HOUR, max: MAX }, "the first rule decides, not the closest"),
        (
            "/docs/a",
            RecrawlPolicy::Adaptive { interval: DAY, min: DAY / 2, max: days(30) },
            "the policy and the interval are as for all",
        ),
        ("/front", ALWAYS, "the interval for all is not for it"),
    ] {
        assert_eq!(with_rules.policy_for(&url(path)), expected, "{path}: {why}");
    }
    assert_eq!(
        edited_rules(|_| {}).policy_for(&url("/")),
        ALWAYS,
        "without an interval, everything in every iteration"
    );
    let only_in_rule = edited_rules(|draft| {
        draft.recrawl.rules = vec![RecrawlRule { interval: Some(DAY), ..rule("/docs/") }];
    });
    assert_eq!(only_in_rule.policy_for(&url("/docs/")), ADAPTIVE, "an interval without a policy is adaptive in rules");
    assert_eq!(only_in_rule.policy_for(&url("/")), ALWAYS);
}

#[test]
fn the_ending_of_a_visit_follows_from_its_outcome() {
    for (outcome, expected, why) in [
        (Outcome::FileIngested, VisitEnd::Changed, "another body"),
        (Outcome::StoredNotRead, VisitEnd::Changed, "it is there, whatever it is"),
        (Outcome::TemporaryRedirect, VisitEnd::Changed, "a redirect is an answer"),
        (Outcome::NotCanonical, VisitEnd::Changed, "the page is there, though another stands for it"),
        (Outcome::FileDidNotChange, VisitEnd::Unchanged, "304, or the same body"),
        (Outcome::FileNotFound, VisitEnd::Gone, "404"),
        (Outcome::FileGone, VisitEnd::Gone, "410"),
        (Outcome::ServerInternalError, VisitEnd::Failed, "500 says nothing about the page"),
        (Outcome::RequestTimeout, VisitEnd::Failed, "nothing was learned"),
        (Outcome::BlockedByRobotsTxt, VisitEnd::Failed, "it may be allowed again"),
    ] {
        assert_eq!(VisitEnd::from_outcome(outcome), expected, "{outcome:?}: {why}");
    }
}

#[test]
fn an_existing_page_is_due_by_its_policy() {
    use VisitEnd::{Changed, Unchanged};
    let at = day(100);
    for (policy, interval, ended, expected, why) in [
        (ALWAYS, None, Changed, None, "every iteration visits it"),
        (ALWAYS, Some(DAY), Unchanged, None, "an interval of an earlier definition is forgotten"),
        (FIXED, None, Changed, Some(days(7)), "the first visit"),
        (FIXED, Some(days(7)), Changed, Some(days(7)), "a change is no reason"),
        (FIXED, Some(days(7)), Unchanged, Some(days(7)), "nor is no change"),
        (FIXED, Some(DAY), Unchanged, Some(days(7)), "an interval of an earlier definition is forgotten"),
        (ADAPTIVE, None, Changed, Some(DAY), "the first visit"),
        (ADAPTIVE, None, Unchanged, Some(DAY), "the first one by this policy"),
        (ADAPTIVE, Some(days(10)), Changed, Some(days(8)), "× 0.8"),
        (ADAPTIVE, Some(days(10)), Unchanged, Some(days(14)), "× 1.4"),
        (ADAPTIVE, Some(days(80)), Unchanged, Some(MAX), "no longer than the maximum"),
        (ADAPTIVE, Some(HOUR), Changed, Some(HOUR), "no shorter than the minimum"),
        (ADAPTIVE, Some(days(200)), Changed, Some(MAX), "the maximum was lowered since"),
        (ADAPTIVE, Some(Duration::MAX), Unchanged, Some(MAX), "whatever was stored"),
    ] {
        let next = next_visit(&policy, &LastVisits { interval, away: None }, ended, at);
        let due_at = expected.map(|interval| after(at, interval));
        assert_eq!(next, NextVisit { interval: expected, due_at, away: None }, "{policy:?} {interval:?}: {why}");
    }
}

#[test]
fn a_page_that_is_gone_is_requested_less_and_less_often() {
    let wait = |policy, away, day_now| {
        let next = next_visit(&policy, &LastVisits { interval: Some(days(3)), away }, VisitEnd::Gone, day(day_now));
        (next.due_at.map(|due| between(day(day_now), due)), next.away, next.interval)
    };
    let gone = |since| Some(Absence::Gone { since: day(since) });
    for (policy, away, now, expected, why) in [
        (ALWAYS, None, 10, (None, gone(10)), "gone for the first time: it may be a mistake"),
        (ALWAYS, gone(10), 11, (Some(days(1)), gone(10)), "as long as it has been gone"),
        (ALWAYS, gone(10), 14, (Some(days(4)), gone(10)), "as long as it has been gone"),
        (ALWAYS, gone(10), 300, (Some(MAX), gone(10)), "not longer than the maximum"),
        (FIXED, None, 10, (Some(days(7)), gone(10)), "like a new page"),
        (
            FIXED,
            gone(10),
            12,
            (Some(days(7)), gone(10)),
            "not before a new page, if it was a seed that was visited early",
        ),
        (FIXED, gone(10), 17, (Some(days(7)), gone(10)), "as long as it has been gone"),
        (FIXED, gone(10), 24, (Some(days(14)), gone(10)), "as long as it has been gone"),
        (ADAPTIVE, None, 10, (Some(days(1)), gone(10)), "like a new page, whatever its interval was"),
        (
            ADAPTIVE,
            Some(Absence::Failing { since: day(1) }),
            10,
            (Some(days(1)), gone(10)),
            "only now it is known to be gone",
        ),
        (ADAPTIVE, gone(10), 9, (Some(days(1)), gone(10)), "the clock was set back"),
    ] {
        let (waited, stored, interval) = wait(policy, away, now);
        assert_eq!((waited, stored), expected, "{policy:?} on day {now}: {why}");
        assert_eq!(interval, None, "{why}");
    }
}

#[test]
fn a_page_that_fails_is_retried_soon_and_then_less_often() {
    let failing = |since| Some(Absence::Failing { since: day(since) });
    let gone = |since| Some(Absence::Gone { since: day(since) });
    for (policy, interval, away, now, expected, why) in [
        (ALWAYS, None, None, 10, (None, failing(10)), "most failures pass"),
        (ADAPTIVE, Some(days(5)), None, 10, (None, failing(10)), "most failures pass"),
        (ADAPTIVE, Some(days(5)), failing(10), 12, (Some(days(2)), failing(10)), "as long as it has been failing"),
        (ADAPTIVE, Some(days(5)), failing(10), 18, (Some(days(5)), failing(10)), "as if it had not failed"),
        (ADAPTIVE, None, failing(10), 18, (Some(days(1)), failing(10)), "never reached: it has the first interval"),
        (FIXED, Some(days(7)), failing(10), 30, (Some(days(7)), failing(10)), "as if it had not failed"),
        (ALWAYS, None, failing(10), 30, (Some(FAILING_WAIT_MAX), failing(10)), "at least daily"),
        (ALWAYS, None, gone(10), 30, (Some(days(20)), gone(10)), "a failure does not bring a page back"),
    ] {
        let next = next_visit(&policy, &LastVisits { interval, away }, VisitEnd::Failed, day(now));
        let waited = next.due_at.map(|due| between(day(now), due));
        assert_eq!((waited, next.away), expected, "{policy:?} on day {now}: {why}");
        let kept = interval.filter(|_| !matches!(away, Some(Absence::Gone { .. })));
        assert_eq!(next.interval, kept, "{why}");
    }
}

#[test]
fn the_interval_of_a_page_that_was_gone_starts_over() {
    let since = day(10);
    for (away, expected, why) in [
        (Absence::Gone { since }, DAY, "what it was like before says nothing"),
        (Absence::Failing { since }, days(8), "it was there all the time"),
    ] {
        let last = LastVisits { interval: Some(days(10)), away: Some(away) };
        let next = next_visit(&ADAPTIVE, &last, VisitEnd::Changed, day(50));
        assert_eq!((next.interval, next.away), (Some(expected), None), "{why}");
    }
}

#[test]
fn away_is_stored_by_name() {
    let away = Absence::Gone { since: day(0) };
    let json = serde_json::to_string(&away).unwrap();
    assert_eq!(json, r#"{"gone":{"since":"1970-01-01T00:00:00Z"}}"#);
    assert_eq!(serde_json::from_str::<Absence>(&json).unwrap(), away);
}
