//! How fast an origin may be asked, and when it is given up.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::time::after;

/// The longest time between two requests that a robots.txt or an overloaded origin can make us keep.
pub const DELAY_MAX: Duration = Duration::from_secs(180);

/// The longest wait that a `Retry-After` is obeyed for within an iteration; a server that asks for more is asked again after this.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// The exponent stops here: 2^10 times the last response time is beyond [`DELAY_MAX`] for any origin that answers in 0.2 s.
const BACK_OFF_EXPONENT_MAX: u8 = 10;

/// The time to keep between the starts of two requests to one origin.
///
/// While the back-off exponent p is above 0, the delay is also at least the last response time × 2^p. p grows by 1 with each 429 or
/// 503 and shrinks by 1 with each good response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pace {
    /// The larger of the definition's delay and robots.txt's Crawl-delay.
    #[serde(with = "crate::frontier::millis")]
    pub base_delay: Duration,
    /// How long the last response took.
    #[serde(with = "crate::frontier::millis")]
    pub last_response: Duration,
    /// p.
    pub back_off_exponent: u8,
}

impl Pace {
    /// The pace of an origin that has not been asked yet.
    #[must_use]
    pub const fn new(base_delay: Duration) -> Self {
        Self { base_delay, last_response: Duration::ZERO, back_off_exponent: 0 }
    }

    /// The delay of now, from request start to request start.
    #[must_use]
    pub fn delay(&self) -> Duration {
        if self.back_off_exponent == 0 {
            return self.base_delay;
        }
        let backed_off = self.last_response.saturating_mul(1 << self.back_off_exponent.min(BACK_OFF_EXPONENT_MAX));
        self.base_delay.max(backed_off.min(DELAY_MAX))
    }

    /// The pace after a request ended with this status (absent: no response) in this time.
    #[must_use]
    pub fn after_response(self, status: Option<u16>, elapsed: Duration) -> Self {
        let exponent = self.back_off_exponent;
        let back_off_exponent = match status {
            Some(429 | 503) => (exponent + 1).min(BACK_OFF_EXPONENT_MAX),
            Some(200..=499) => exponent.saturating_sub(1),
            _ => exponent,
        };
        Self { last_response: elapsed, back_off_exponent, ..self }
    }
}

/// How many more failures an origin is forgiven in this iteration. Starts at 5; at 0 the origin is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patience(u8);

impl Patience {
    /// Where it starts, and the most it comes back to.
    pub const FULL: Self = Self(5);

    /// Whether nothing is left of it.
    #[must_use]
    pub const fn is_exhausted(self) -> bool {
        self.0 == 0
    }

    /// One failure less to forgive.
    #[must_use]
    pub const fn lose_one(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// What is left after an outcome: one less for a failure that could persist, one more for an answer.
    ///
    /// Answers give patience back, or a site of a hundred thousand pages would be given up for five stray failures.
    #[must_use]
    pub const fn after(self, outcome: Outcome) -> Self {
        if outcome.costs_patience() {
            self.lose_one()
        } else if self.0 < Self::FULL.0
            && !matches!(outcome, Outcome::BlockedByRobotsTxt | Outcome::BlockedPrivateAddress)
        {
            Self(self.0 + 1)
        } else {
            self
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self::FULL
    }
}

/// How many times one URL is asked for in one iteration, the first included.
pub const TRIES_MAX: u8 = 3;

/// How long to wait before the next try of a URL that has been tried so many times: 2 s, then 8 s, at least the origin's delay.
#[must_use]
pub fn retry_wait(tries: u8, pace: &Pace) -> Duration {
    let wait = Duration::from_secs(2).saturating_mul(4_u32.saturating_pow(u32::from(tries.saturating_sub(1))));
    wait.max(pace.delay()).min(DELAY_MAX)
}

/// How long to wait before an unreadable robots.txt is asked for again, with so much patience left: 0.5, 1, 2, 4 s, or 1 to 8 times the
/// delay where that is longer.
#[must_use]
pub fn robots_wait(patience_left: Patience, pace: &Pace) -> Duration {
    let doublings = u32::from(Patience::FULL.0.saturating_sub(patience_left.0).saturating_sub(1));
    let wait = Duration::from_millis(500).max(pace.delay()).saturating_mul(1 << doublings.min(8));
    wait.min(DELAY_MAX)
}

/// Whether a page was asked for since robots.txt was fetched last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsUse {
    /// One was, or that is not known.
    #[default]
    Used,
    /// None was: the delay after the request for robots.txt outlasted the turn.
    Unused,
}

impl RobotsUse {
    /// Whether this is what is meant where nothing is said.
    #[must_use]
    pub const fn is_used(&self) -> bool {
        matches!(self, Self::Used)
    }
}

/// A robots.txt that no page was asked for by is good for so long. RFC 9309 section 2.4 has no copy used for longer.
const ROBOTS_UNUSED_MAX: Duration = Duration::from_hours(24);

/// Whether a kept robots.txt is good for another turn.
///
/// One that was not used yet is, whatever the definition says of its age: where the delay is longer than that, each turn would fetch
/// robots.txt and none would ask for a page.
#[must_use]
pub fn is_robots_good(robots_use: RobotsUse, fetched_at: Timestamp, expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at > now || (robots_use == RobotsUse::Unused && after(fetched_at, ROBOTS_UNUSED_MAX) > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_delay_backs_off_by_the_response_time() {
        let pace =
            |base, last, exponent| Pace { base_delay: ms(base), last_response: ms(last), back_off_exponent: exponent };
        for (pace, delay, why) in [
            (pace(1000, 5000, 0), ms(1000), "no back-off: the base, however slow the answers"),
            (pace(1000, 100, 1), ms(1000), "200 ms of back-off is below the base"),
            (pace(1000, 800, 1), ms(1600), "twice the response time"),
            (pace(0, 800, 3), ms(6400), "eight times, with no base"),
            (pace(0, 60_000, 10), DELAY_MAX, "never beyond the cap"),
            (pace(600_000, 1, 1), ms(600_000), "a base beyond the cap was the user's own wish"),
        ] {
            assert_eq!(pace.delay(), delay, "{why}");
        }
    }

    #[test]
    fn the_exponent_follows_the_answers() {
        let start = Pace { back_off_exponent: 2, ..Pace::default() };
        for (status, exponent, why) in [
            (Some(429), 3, "asked to slow down"),
            (Some(503), 3, "overloaded"),
            (Some(200), 1, "a good response"),
            (Some(304), 1, "also good"),
            (Some(404), 1, "the server is well, the page is missing"),
            (Some(500), 2, "a broken page says nothing of load"),
            (None, 2, "no answer says nothing of load"),
        ] {
            assert_eq!(start.after_response(status, ms(1)).back_off_exponent, exponent, "{status:?}: {why}");
        }
        assert_eq!(Pace::default().after_response(Some(200), ms(1)).back_off_exponent, 0, "never below zero");
    }

    #[test]
    fn patience_ends_after_five_failures_in_a_row_and_comes_back_with_answers() {
        let mut patience = Patience::FULL;
        for _ in 0..4 {
            patience = patience.after(Outcome::ConnectionFailed);
        }
        assert!(!patience.is_exhausted(), "four failures are forgiven");
        assert!(patience.after(Outcome::RequestTimeout).is_exhausted(), "the fifth ends it");
        assert_eq!(patience.after(Outcome::FileNotFound), patience.after(Outcome::FileIngested), "a 404 is an answer");
        assert_eq!(Patience::FULL.after(Outcome::FileIngested), Patience::FULL, "never more than full");
        assert_eq!(patience.after(Outcome::BlockedByRobotsTxt), patience, "nothing was asked");
    }

    #[test]
    fn rules_are_good_until_they_expire_and_for_one_turn_at_least() {
        let second = |s| Timestamp::from_second(s).unwrap();
        let day = 24 * 3_600;
        for (robots_use, now, expected, why) in [
            (RobotsUse::Used, 59, true, "not expired"),
            (RobotsUse::Used, 60, false, "expired, and gone by"),
            (RobotsUse::Unused, 60, true, "expired before any page was asked for"),
            (RobotsUse::Unused, day - 1, true, "the turn came late"),
            (RobotsUse::Unused, day, false, "too late"),
        ] {
            assert_eq!(is_robots_good(robots_use, second(0), second(60), second(now)), expected, "{why}");
        }
    }

    #[test]
    fn waits_grow_and_keep_the_delay() {
        let slow = Pace::new(Duration::from_secs(10));
        assert_eq!([1, 2].map(|tries| retry_wait(tries, &Pace::default())), [ms(2000), ms(8000)]);
        assert_eq!(retry_wait(1, &slow), Duration::from_secs(10));
        assert_eq!(
            [4, 3, 2, 1].map(|left| robots_wait(Patience(left), &Pace::default())),
            [500, 1000, 2000, 4000].map(ms)
        );
    }
}
