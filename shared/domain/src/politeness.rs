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

/// How long the delay is at least at exponent 0, were it a back-off: 2 s after the first refusal, however quick it was, then 4 s and so on.
const BACK_OFF_MIN: Duration = Duration::from_secs(1);

/// Refusals that are forgiven, less one for each good answer since. Until then some four minutes were waited.
const REFUSALS_FORGIVEN: u8 = 7;

/// The time to keep between the starts of two requests to one origin.
///
/// While the back-off exponent p is above 0, the delay is also at least the last response time × 2^p, and at least 2^p seconds. p grows by 1 with
/// each [refusal](Outcome::is_refusal) and shrinks by 1 with each good response.
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
        let response = self.last_response.max(BACK_OFF_MIN);
        let backed_off = response.saturating_mul(1 << self.back_off_exponent.min(BACK_OFF_EXPONENT_MAX));
        self.base_delay.max(backed_off.min(DELAY_MAX))
    }

    /// The pace after a request ended with this status (absent: no response) in this time.
    #[must_use]
    pub fn after_response(self, status: Option<u16>, elapsed: Duration) -> Self {
        let exponent = self.back_off_exponent;
        let back_off_exponent = match status {
            Some(status) if Outcome::of_status(status).is_refusal() => (exponent + 1).min(BACK_OFF_EXPONENT_MAX),
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

    /// How long to wait for a host that could not be reached, with so much left after it: four waits, each eight times as long as the one before, and
    /// together as long as `in_all`. Nothing once it is exhausted.
    #[must_use]
    pub fn wait(self, in_all: Duration) -> Duration {
        const WAITS: u32 = 1 + 8 + 64 + 512;
        let failures = u32::from(Self::FULL.0.saturating_sub(self.0));
        match failures {
            1..=4 => in_all.saturating_mul(8_u32.pow(failures - 1)) / WAITS,
            _ => Duration::ZERO,
        }
    }

    /// What is left after an outcome, at the pace of then: one less for a failure that could persist, one more for an answer. A refusal costs
    /// nothing while waiting longer and longer may still help.
    ///
    /// Answers give patience back, or a site of a hundred thousand pages would be given up for five stray failures.
    #[must_use]
    pub const fn after(self, outcome: Outcome, pace: &Pace) -> Self {
        if outcome.is_refusal() && pace.back_off_exponent <= REFUSALS_FORGIVEN {
            self
        } else if outcome.costs_patience() {
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

/// How many times one URL is asked for in one iteration, the first included, unless it is refused.
pub const TRIES_MAX: u8 = 3;

/// The same where the server refuses it: over a minute, as limits a minute are common.
pub const TRIES_REFUSED_MAX: u8 = 6;

/// How many times one URL is asked for, the last of them with this outcome.
#[must_use]
pub const fn tries_max(outcome: Outcome) -> u8 {
    if outcome.is_refusal() { TRIES_REFUSED_MAX } else { TRIES_MAX }
}

/// How long to wait before the next try of a URL that has been tried so many times, and ended so: 2 s, then 8 s, at least the origin's delay,
/// which alone counts where it was refused.
#[must_use]
pub fn retry_wait(tries: u8, outcome: Outcome, pace: &Pace) -> Duration {
    if outcome.is_refusal() {
        return pace.delay();
    }
    let wait = Duration::from_secs(2).saturating_mul(4_u32.saturating_pow(u32::from(tries.saturating_sub(1))));
    wait.max(pace.delay()).min(DELAY_MAX)
}

/// How long to wait before an unreadable robots.txt is asked for again, with so much patience left: 0.5, 1, 2, 4 s, or 1 to 8 times the
/// delay where that is longer; and no sooner than the back-off allows.
#[must_use]
pub fn robots_wait(patience_left: Patience, pace: &Pace) -> Duration {
    let doublings = u32::from(Patience::FULL.0.saturating_sub(patience_left.0).saturating_sub(1));
    let wait = Duration::from_millis(500).max(pace.base_delay).saturating_mul(1 << doublings.min(8));
    wait.max(pace.delay()).min(DELAY_MAX)
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
            (pace(3000, 100, 1), ms(3000), "2 s of back-off are below the base"),
            (pace(1000, 1600, 1), ms(3200), "twice the response time"),
            (pace(0, 1800, 3), ms(14_400), "eight times, with no base"),
            (pace(0, 1, 1), ms(2000), "however quick the refusal was"),
            (pace(0, 1, 7), ms(128_000), "doubled with each"),
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
            (Some(502), 3, "a gateway alone"),
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
        let pace = Pace::default();
        let mut patience = Patience::FULL;
        for _ in 0..4 {
            patience = patience.after(Outcome::ConnectionFailed, &pace);
        }
        let after = |outcome| patience.after(outcome, &pace);
        assert!(!patience.is_exhausted(), "four failures are forgiven");
        assert!(after(Outcome::RequestTimeout).is_exhausted(), "the fifth ends it");
        assert_eq!(after(Outcome::FileNotFound), after(Outcome::FileIngested), "a 404 is an answer");
        assert_eq!(Patience::FULL.after(Outcome::FileIngested, &pace), Patience::FULL, "never more than full");
        assert_eq!(after(Outcome::BlockedByRobotsTxt), patience, "nothing was asked");
    }

    #[test]
    fn waits_for_a_host_that_is_away_come_to_all_that_is_granted() {
        let waits = [5, 4, 3, 2, 1, 0].map(|left| Patience(left).wait(Duration::from_mins(15)));
        assert_eq!(
            waits.map(|wait| wait.as_secs()),
            [0, 1, 12, 98, 787, 0],
            "none before the first, none after the last"
        );
        assert_eq!(waits.iter().sum::<Duration>().as_secs(), 15 * 60 - 1);
    }

    #[test]
    fn refusals_cost_patience_after_minutes_of_them() {
        let (mut pace, mut patience, mut waited, mut refusals) = (Pace::default(), Patience::FULL, Duration::ZERO, 0);
        while !patience.is_exhausted() {
            pace = pace.after_response(Some(503), ms(1));
            patience = patience.after(Outcome::ServerUnavailable, &pace);
            waited += pace.delay();
            refusals += 1;
        }
        let minutes = waited.as_secs() / 60;
        assert!((refusals, minutes) == (12, 19), "{refusals} refusals over {waited:?}");
        assert_eq!(
            Patience::FULL.after(Outcome::RateLimited, &Pace::default().after_response(Some(429), ms(1))),
            Patience::FULL
        );
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
        let failed = |tries, pace: &Pace| retry_wait(tries, Outcome::ConnectionFailed, pace);
        assert_eq!([1, 2].map(|tries| failed(tries, &Pace::default())), [ms(2000), ms(8000)]);
        assert_eq!(failed(1, &slow), Duration::from_secs(10));
        let mut pace = Pace::default();
        let refused = [1, 2, 3, 4, 5].map(|tries| {
            pace = pace.after_response(Some(429), ms(1));
            retry_wait(tries, Outcome::RateLimited, &pace)
        });
        assert_eq!(refused.map(|wait| wait.as_secs()), [2, 4, 8, 16, 32], "a limit a minute is outlasted");
        assert_eq!(
            [4, 3, 2, 1].map(|left| robots_wait(Patience(left), &Pace::default())),
            [500, 1000, 2000, 4000].map(ms)
        );
    }
}
