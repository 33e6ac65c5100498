//! What each origin waits for and why, as text and as JSON objects.

use std::time::Duration;

use dragline_domain::time::between;
use dragline_domain::url::Origin;
use dragline_ports::observer::{Delay, DelayReason, Stage, Wait};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::watch::OriginStage;
use crate::terminal::{duration, time_of_day};

/// The number of origins that are named. Others are only counted.
pub(super) const ORIGINS_SHOWN: usize = 3;

/// The shortest wait that is shown. Shorter ones end before anybody can read them.
const WAIT_SHOWN_MIN: Duration = Duration::from_secs(1);

/// Describes the origins and their waits; empty if there are none. A single origin is shown with
/// its delay.
pub(super) fn words(places: &[OriginStage], now: Timestamp, zone: &TimeZone) -> String {
    if let [place] = places {
        // The wait comes first, as terminals are narrow.
        let parts = [wait_words(place.stage, now, zone), delay_words(place.stage)];
        return joined(place, &parts.into_iter().flatten().collect::<Vec<_>>().join("; "));
    }
    let shown: Vec<String> = places
        .iter()
        .take(ORIGINS_SHOWN)
        .map(|place| joined(place, &wait_words(place.stage, now, zone).unwrap_or_default()))
        .collect();
    match places.len().saturating_sub(ORIGINS_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn joined(place: &OriginStage, words: &str) -> String {
    if words.is_empty() { place.origin.to_string() } else { format!("{} ({words})", place.origin) }
}

/// Describes the current delay and its reason.
fn delay_words(stage: Stage) -> Option<String> {
    let (Stage::Waiting { delay, .. } | Stage::Parsing { delay }) = stage else { return None };
    let Delay { time, reason } = delay;
    Some(match reason {
        DelayReason::Definition if time.is_zero() => "no delay".to_owned(),
        DelayReason::Definition => format!("a request every {}", duration(time)),
        DelayReason::CrawlDelay => format!("a request every {}, as set by its Crawl-delay", duration(time)),
        DelayReason::BackOff => format!("a request every {}, because it refused some", duration(time)),
    })
}

/// Describes a wait that is long enough to be shown.
fn wait_words(stage: Stage, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let (until, why, delay) = match stage {
        Stage::Robots => return Some("fetching robots.txt".to_owned()),
        Stage::Parsing { .. } => return Some("being parsed".to_owned()),
        Stage::Called { .. } | Stage::Done => return None,
        Stage::Waiting { until, why, delay } => (until, why, delay),
    };
    let wait = between(now, until);
    if wait < WAIT_SHOWN_MIN {
        return None;
    }
    let clock = time_of_day(until, zone);
    Some(match why {
        Wait::Delay if delay.reason == DelayReason::BackOff => format!("backing off until {clock}"),
        Wait::Delay => format!("next request in {}", duration(Duration::from_secs(wait.as_secs()))),
        Wait::RetryAfter => format!("waiting until {clock}, as asked by its Retry-After"),
        Wait::OutOfReach => format!("unreachable, next attempt at {clock}"),
        Wait::Robots => format!("robots.txt cannot be read, next attempt at {clock}"),
        Wait::Retry => format!("retrying at {clock}"),
        Wait::Host => format!("its host is busy until {clock} at the latest"),
    })
}

/// One origin, as a JSON object.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct OriginState<'a> {
    origin: &'a Origin,
    /// Its activity: `robots_txt`, `parsing`, or the reason for its wait.
    waits_for: &'static str,
    until: Option<Timestamp>,
    delay_ms: Option<u64>,
    delay_reason: Option<&'static str>,
}

/// Returns in one word what an origin waits for.
pub(super) const fn waits_for(stage: Stage) -> &'static str {
    match stage {
        Stage::Robots => "robots_txt",
        Stage::Parsing { .. } => "parsing",
        Stage::Waiting { why, .. } => why.name(),
        Stage::Called { .. } => Wait::Delay.name(),
        Stage::Done => "nothing",
    }
}

/// Returns the first origins as JSON objects, and the number of others.
pub(super) fn origin_states(places: &[OriginStage]) -> (Vec<OriginState<'_>>, u64) {
    let states = places.iter().take(ORIGINS_SHOWN).map(|OriginStage { origin, stage }| {
        let (until, delay) = match *stage {
            Stage::Robots | Stage::Done => (None, None),
            Stage::Parsing { delay } => (None, Some(delay)),
            Stage::Waiting { until, delay, .. } => (Some(until), Some(delay)),
            Stage::Called { until } => (Some(until), None),
        };
        let delay_ms = delay.and_then(|delay| u64::try_from(delay.time.as_millis()).ok());
        OriginState {
            origin,
            waits_for: waits_for(*stage),
            until,
            delay_ms,
            delay_reason: delay.map(|delay| delay.reason.name()),
        }
    });
    (states.collect(), places.len().saturating_sub(ORIGINS_SHOWN) as u64)
}

/// Returns the delay of an origin and the time until its next request; `None` if that depends on
/// more than the time.
pub(super) fn origin_pace(place: &OriginStage, now: Timestamp) -> Option<(Duration, Duration)> {
    match place.stage {
        Stage::Waiting { until, why: Wait::Delay | Wait::RetryAfter | Wait::Retry, delay } => {
            Some((delay.time, between(now, until)))
        }
        // The time of the next request is not known.
        Stage::Waiting { why: Wait::OutOfReach | Wait::Robots | Wait::Host, .. }
        | Stage::Robots
        | Stage::Parsing { .. }
        | Stage::Called { .. }
        | Stage::Done => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::crawl) fn place(host: &str, stage: Stage) -> OriginStage {
        OriginStage { origin: format!("https://{host}.example.org").parse().unwrap(), stage }
    }

    pub(in crate::crawl) fn waiting(wait_s: i64, why: Wait, delay_s: u64, reason: DelayReason) -> Stage {
        let delay = Delay { time: Duration::from_secs(delay_s), reason };
        Stage::Waiting { until: Timestamp::from_second(wait_s).unwrap(), why, delay }
    }

    pub(in crate::crawl) fn parsing(delay_s: u64) -> Stage {
        Stage::Parsing { delay: Delay { time: Duration::from_secs(delay_s), reason: DelayReason::Definition } }
    }

    #[test]
    fn one_origin_is_shown_with_its_wait_and_its_delay() {
        use DelayReason::{BackOff, CrawlDelay, Definition};
        for (stage, expected, why) in [
            (Stage::Robots, " (fetching robots.txt)", "before anything else"),
            (parsing(1), " (being parsed; a request every 1s)", "nothing to fetch"),
            (waiting(0, Wait::Delay, 0, Definition), " (no delay)", "one's own site"),
            (waiting(0, Wait::Delay, 1, Definition), " (a request every 1s)", "one is under way"),
            (waiting(20, Wait::Delay, 30, Definition), " (next request in 20s; a request every 30s)", "a long delay"),
            (
                waiting(0, Wait::Delay, 10, CrawlDelay),
                " (a request every 10s, as set by its Crawl-delay)",
                "the site asks for it",
            ),
            (
                waiting(3_661, Wait::Delay, 128, BackOff),
                " (backing off until 01:01:01; a request every 2m 8s, because it refused some)",
                "overloaded",
            ),
            (
                waiting(86_399, Wait::RetryAfter, 2, BackOff),
                " (waiting until 23:59:59, as asked by its Retry-After; a request every 2s, because it refused some)",
                "it says when",
            ),
            (
                waiting(12, Wait::OutOfReach, 1, Definition),
                " (unreachable, next attempt at 00:00:12; a request every 1s)",
                "perhaps restarting",
            ),
            (
                waiting(4, Wait::Robots, 1, Definition),
                " (robots.txt cannot be read, next attempt at 00:00:04; a request every 1s)",
                "nothing may be fetched",
            ),
            (waiting(8, Wait::Retry, 0, Definition), " (retrying at 00:00:08; no delay)", "all else is done"),
            (
                waiting(9, Wait::Host, 1, Definition),
                " (its host is busy until 00:00:09 at the latest; a request every 1s)",
                "another port",
            ),
        ] {
            let words = words(&[place("a", stage)], Timestamp::UNIX_EPOCH, &TimeZone::UTC);
            assert_eq!(words, format!("https://a.example.org{expected}"), "{why}");
        }
    }

    #[test]
    fn the_first_of_several_origins_are_named_with_their_waits() {
        let idle = waiting(0, Wait::Delay, 1, DelayReason::Definition);
        let backs_off = waiting(60, Wait::Delay, 64, DelayReason::BackOff);
        let places = [place("a", idle), place("b", backs_off), place("c", idle), place("d", idle), place("e", idle)];
        assert_eq!(
            words(&places, Timestamp::UNIX_EPOCH, &TimeZone::UTC),
            "https://a.example.org, https://b.example.org (backing off until 00:01:00), https://c.example.org and 2 more"
        );
        assert_eq!(words(&[], Timestamp::UNIX_EPOCH, &TimeZone::UTC), "");
        let (states, more) = origin_states(&places);
        assert_eq!(more, 2);
        assert_eq!(
            serde_json::to_value(&states[1]).unwrap(),
            serde_json::json!({
                "origin": "https://b.example.org", "waits_for": "delay", "until": "1970-01-01T00:01:00Z",
                "delay_ms": 64_000, "delay_reason": "back_off",
            })
        );
    }
}
