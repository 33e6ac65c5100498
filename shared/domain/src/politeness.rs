//! How fast an origin may be asked, and when it is given up.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::time::after;

/// The longest delay between two requests that a robots.txt or an overloaded origin can impose.
pub const DELAY_MAX: Duration = Duration::from_secs(180);

/// The longest `Retry-After` that is obeyed within an iteration; a server that asks for more is asked again after this.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// The exponent stops here: 2^10 times the last response time is beyond [`DELAY_MAX`] for any origin that answers in 0.2 s.
const BACK_OFF_EXPONENT_MAX: u8 = 10;

/// The least response time to back off from: 2 s after the first refusal, however quick it was, then 4 s and so on.
const BACK_OFF_MIN: Duration = Duration::from_secs(1);

/// The back-off exponent up to which refusals are forgiven. By then, the waits add up to some four minutes.
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

    /// Returns the current delay, from request start to request start.
    #[must_use]
    pub fn delay(&self) -> Duration {
        if self.back_off_exponent == 0 {
            return self.base_delay;
        }
        let response = self.last_response.max(BACK_OFF_MIN);
        let backed_off = response.saturating_mul(1 << self.back_off_exponent.min(BACK_OFF_EXPONENT_MAX));
        self.base_delay.max(backed_off.min(DELAY_MAX))
    }

    /// Returns the pace after a request that ended with this status (`None` without a response) after this time.
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
    /// Full patience, at which it starts and beyond which it never rises.
    pub const FULL: Self = Self(5);

    /// Whether none is left.
    #[must_use]
    pub const fn is_exhausted(self) -> bool {
        self.0 == 0
    }

    /// Forgives one failure fewer.
    #[must_use]
    pub const fn lose_one(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Returns how long to wait for a host that could not be reached, with this much patience left: four waits, each eight times as long as the one
    /// before, and together as long as `in_all`. Zero once it is exhausted.
    #[must_use]
    pub fn wait(self, in_all: Duration) -> Duration {
        const WAITS: u32 = 1 + 8 + 64 + 512;
        let failures = u32::from(Self::FULL.0.saturating_sub(self.0));
        match failures {
            1..=4 => in_all.saturating_mul(8_u32.pow(failures - 1)) / WAITS,
            _ => Duration::ZERO,
        }
    }

    /// Returns what is left after an outcome at this pace: one less for a failure that could persist, one more for an answer. A refusal costs nothing
    /// as long as waiting longer may help.
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

/// How many times one URL is requested in one iteration, the first included, unless the server refuses it.
pub const TRIES_MAX: u8 = 3;

/// The same if the server refuses it: more than a minute in all, as limits per minute are common.
pub const TRIES_REFUSED_MAX: u8 = 6;

/// Returns how many times a URL that ended with this outcome is requested at most.
#[must_use]
pub const fn tries_max(outcome: Outcome) -> u8 {
    if outcome.is_refusal() { TRIES_REFUSED_MAX } else { TRIES_MAX }
}

/// Returns how long to wait before the next try of a URL, after this many tries and this outcome: 2 s, then 8 s, and at least the origin's delay.
/// After a refusal, only the delay counts.
#[must_use]
pub fn retry_wait(tries: u8, outcome: Outcome, pace: &Pace) -> Duration {
    if outcome.is_refusal() {
        return pace.delay();
    }
    let wait = Duration::from_secs(2).saturating_mul(4_u32.saturating_pow(u32::from(tries.saturating_sub(1))));
    wait.max(pace.delay()).min(DELAY_MAX)
}

/// Returns how long to wait before an unreadable robots.txt is requested again, with this much patience left: 0.5, 1, 2, 4 s, or 1 to 8 times the
/// delay if that is longer, and no less than the back-off.
#[must_use]
pub fn robots_wait(patience_left: Patience, pace: &Pace) -> Duration {
    let doublings = u32::from(Patience::FULL.0.saturating_sub(patience_left.0).saturating_sub(1));
    let wait = Duration::from_millis(500).max(pace.base_delay).saturating_mul(1 << doublings.min(8));
    wait.max(pace.delay()).min(DELAY_MAX)
}

/// Whether a page was requested since robots.txt was last fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsUse {
    /// One was, or it is not known.
    #[default]
    Used,
    /// None was: the delay after the request for robots.txt outlasted the turn.
    Unused,
}

impl RobotsUse {
    /// Whether this is the default, which is not stored.
    #[must_use]
    pub const fn is_used(&self) -> bool {
        matches!(self, Self::Used)
    }
}

/// How long a robots.txt stays valid if no page was requested under it. RFC 9309 section 2.4 allows no longer use of a copy.
const ROBOTS_UNUSED_MAX: Duration = Duration::from_hours(24);

/// Whether a stored robots.txt is valid for another turn.
///
/// One that was not used yet is, whatever age the definition allows: if the delay is longer than that, each turn would fetch robots.txt, and none a
/// page.
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
            (pace(600_000, 1, 1), ms(600_000), "the user chose a base beyond the cap"),
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
            (Some(502), 3, "a gateway without its server"),
            (Some(200), 1, "a good response"),
            (Some(304), 1, "also good"),
            (Some(404), 1, "the server works, the page is missing"),
            (Some(500), 2, "a broken page says nothing about load"),
            (None, 2, "no answer says nothing about load"),
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
        assert_eq!(after(Outcome::BlockedByRobotsTxt), patience, "nothing was requested");
    }

    #[test]
    fn waits_for_a_host_that_is_away_add_up_to_the_total() {
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
    fn rules_are_valid_until_they_expire_and_for_one_turn_at_least() {
        let second = |s| Timestamp::from_second(s).unwrap();
        let day = 24 * 3_600;
        for (robots_use, now, expected, why) in [
            (RobotsUse::Used, 59, true, "not expired"),
            (RobotsUse::Used, 60, false, "expired"),
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
        assert_eq!(refused.map(|wait| wait.as_secs()), [2, 4, 8, 16, 32], "this outlasts a limit per minute");
        assert_eq!(
            [4, 3, 2, 1].map(|left| robots_wait(Patience(left), &Pace::default())),
            [500, 1000, 2000, 4000].map(ms)
        );
    }
}
