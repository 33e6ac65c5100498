//! The pace of requests to an origin, and when it is given up.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::time::after;

/// The longest delay between two requests that a robots.txt or an overloaded origin can impose.
pub const DELAY_MAX: Duration = Duration::from_secs(180);

/// The longest `Retry-After` that is obeyed within an iteration; after it, the next request is sent
/// in any case.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// The limit on the exponent: 2^10 times the last response time is beyond [`DELAY_MAX`] for any
/// origin that answers in 0.2 s.
const BACK_OFF_EXPONENT_MAX: u8 = 10;

/// The shortest response time on which the back-off is based: 2 s after the first refusal, however
/// quick it was, then 4 s and so on.
const BACK_OFF_MIN: Duration = Duration::from_secs(1);

/// The back-off exponent up to which refusals are forgiven. By then, the waits add up to some four
/// minutes.
const REFUSALS_FORGIVEN: u8 = 7;

/// The number of refusals among the last eight answers at which a host slows down. A single one
/// concerns only the URL.
const REFUSALS_TELLING: u32 = 2;

/// An answer's information about the load of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// The server works: it answered, if only that there is nothing there.
    Bearable,
    /// The server [refused](Outcome::is_refusal) a URL for the first time, or demanded proof that a
    /// person is asking.
    Refused,
    /// The server refused a URL again.
    RefusedAgain,
    /// Nothing: there was no answer, or one that is unrelated to load.
    Unknown,
}

/// The time to keep between the starts of two requests to one origin.
///
/// While the back-off exponent p is above 0, the delay is also at least the last response time ×
/// 2^p, and at least 2^p seconds. p shrinks by 1 with each good answer. It grows by 1 with each
/// [refusal](Outcome::is_refusal) if two of the last eight answers were refusals, so that the host
/// slows down by their share; a URL that is refused alone only waits for its own next try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pace {
    /// The larger of the definition's delay and robots.txt's Crawl-delay.
    #[serde(with = "crate::frontier::millis")]
    pub base_delay: Duration,
    /// How long the last response took.
    #[serde(with = "crate::frontier::millis")]
    pub last_response: Duration,
    /// The back-off exponent p.
    pub back_off_exponent: u8,
    /// The refusals among the last eight answers: a bit for each, the latest in the lowest.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub recent_refusals: u8,
}

impl Pace {
    /// Creates the pace of an origin without any request so far.
    #[must_use]
    pub const fn new(base_delay: Duration) -> Self {
        Self { base_delay, last_response: Duration::ZERO, back_off_exponent: 0, recent_refusals: 0 }
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

    /// Whether the host refuses so often that single URLs are not the reason.
    #[must_use]
    pub const fn is_refusing(&self) -> bool {
        self.recent_refusals.count_ones() >= REFUSALS_TELLING
    }

    /// Returns the pace after an answer that took this long.
    #[must_use]
    pub fn after_answer(self, load: Load, elapsed: Duration) -> Self {
        let Self { back_off_exponent, recent_refusals, .. } = self;
        let answered = Self { last_response: elapsed, ..self };
        match load {
            Load::Bearable => Self {
                back_off_exponent: back_off_exponent.saturating_sub(1),
                recent_refusals: recent_refusals << 1,
                ..answered
            },
            // A URL that is always refused reveals nothing new about its host the second time.
            Load::RefusedAgain if back_off_exponent == 0 => answered,
            Load::Refused | Load::RefusedAgain => {
                let refused = Self { recent_refusals: recent_refusals << 1 | 1, ..answered };
                let step = u8::from(refused.is_refusing());
                Self { back_off_exponent: (back_off_exponent + step).min(BACK_OFF_EXPONENT_MAX), ..refused }
            }
            Load::Unknown => answered,
        }
    }
}

/// A request's information about whether its origin is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OriginSign {
    /// It answered.
    Answered,
    /// It asked for a pause ([`Outcome::is_refusal`]).
    Refused,
    /// There was no connection, or nothing came on it.
    Silent,
}

/// How much of the crawler's patience an origin has used up in this iteration. When its failures
/// reach the limit (`politeness.failures`), it is given up, unless a URL that worked before is
/// still answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Patience {
    /// Failures for which later answers have not made up.
    failures: u8,
    /// How often only robots.txt was answered since the last answered page: it stands in for a page
    /// that worked until there is one.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    probes: u8,
}

impl Patience {
    /// Full patience: nothing has failed.
    pub const FULL: Self = Self { failures: 0, probes: 0 };

    /// Whether patience is used up with this limit on failures.
    #[must_use]
    pub const fn is_exhausted(self, failures_max: u8) -> bool {
        self.failures >= failures_max
    }

    /// Whether more than one failure is not made up for.
    #[must_use]
    pub const fn has_failed_again(self) -> bool {
        self.failures > 1
    }

    /// Counts a failure.
    #[must_use]
    pub const fn lose_one(self) -> Self {
        Self { failures: self.failures.saturating_add(1), ..self }
    }

    /// Returns how long to wait for an unreachable host: there are as many waits as failures below
    /// the limit, each of the first ones is eight times as long as the one before, and together
    /// they last `in_all`. Zero once patience is exhausted.
    #[must_use]
    pub fn wait(self, in_all: Duration, failures_max: u8) -> Duration {
        let weight = |failure: u8| 8_u32.pow(u32::from(failure.saturating_sub(1).min(3)));
        let sum: u32 = (1..failures_max).map(weight).sum();
        if self.failures == 0 || self.is_exhausted(failures_max) {
            return Duration::ZERO;
        }
        in_all.saturating_mul(weight(self.failures)) / sum
    }

    /// Returns the patience after a request at this pace: one less for a failure that could
    /// persist, one more for an answer. A refusal costs nothing as long as waiting longer may help.
    ///
    /// Answers restore patience, or a site of a hundred thousand pages would be given up for a few
    /// stray failures.
    #[must_use]
    pub const fn after(self, sign: OriginSign, pace: &Pace) -> Self {
        match sign {
            OriginSign::Refused if pace.back_off_exponent <= REFUSALS_FORGIVEN => self,
            OriginSign::Refused | OriginSign::Silent => self.lose_one(),
            OriginSign::Answered => Self { failures: self.failures.saturating_sub(1), probes: 0 },
        }
    }

    /// Whether an answer to this probe could still save the origin. An answered page can do so any
    /// number of times. robots.txt is often answered where nothing else is, so it can do so only as
    /// often as failures are forgiven.
    #[must_use]
    pub const fn may_be_saved_by(self, probe: Probe, failures_max: u8) -> bool {
        match probe {
            Probe::Page => true,
            Probe::RobotsTxt => self.probes < failures_max,
        }
    }

    /// Returns the patience after probing a URL that had worked before, once patience was
    /// exhausted; `None` if the origin must be given up. `pace` is the one after that answer.
    #[must_use]
    pub const fn after_probe(self, probe: Probe, sign: OriginSign, pace: &Pace) -> Option<Self> {
        let answers = match sign {
            OriginSign::Answered => true,
            OriginSign::Refused => pace.back_off_exponent <= REFUSALS_FORGIVEN,
            OriginSign::Silent => false,
        };
        match probe {
            _ if !answers => None,
            Probe::Page => Some(Self::FULL),
            Probe::RobotsTxt => Some(Self { failures: 0, probes: self.probes + 1 }),
        }
    }
}

/// The request that is made before an origin is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// The first page of this iteration that worked.
    Page,
    /// robots.txt, if no page has worked yet.
    RobotsTxt,
}

/// How many times at least one URL is requested while its host refuses more than single URLs,
/// including the first time: more than a minute in all, as limits per minute are common.
pub const TRIES_REFUSED_MIN: u8 = 6;

/// Returns how many times a URL with this outcome is requested at most, if the definition allows
/// this many retries (`fetch.retries`).
#[must_use]
pub const fn tries_max(outcome: Outcome, retries: u8, pace: &Pace) -> u8 {
    let tries = retries.saturating_add(1);
    match outcome {
        // Once more: it is more often a broken page than a passing problem.
        Outcome::ServerInternalError if tries > 2 => 2,
        _ if !outcome.may_be_fluke() => 1,
        _ if outcome.is_refusal() && pace.is_refusing() && tries > 1 && tries < TRIES_REFUSED_MIN => TRIES_REFUSED_MIN,
        _ => tries,
    }
}

/// Returns how long to wait before the next try of a URL, after this many tries and this outcome: 2
/// s, 8 s, 32 s and so on; after refusals 2 s, 4 s, 8 s; and at least the origin's delay.
#[must_use]
pub fn retry_wait(tries: u8, outcome: Outcome, pace: &Pace) -> Duration {
    let factor: u32 = if outcome.is_refusal() { 2 } else { 4 };
    let wait = Duration::from_secs(2).saturating_mul(factor.saturating_pow(u32::from(tries.saturating_sub(1))));
    wait.max(pace.delay()).min(DELAY_MAX.max(pace.base_delay))
}

/// Returns how long to wait before an unreadable robots.txt is requested again, with this much
/// patience left: 0.5, 1, 2, 4 s, or 1 to 8 times the delay if that is longer, and at least the
/// back-off.
#[must_use]
pub fn robots_wait(patience: Patience, pace: &Pace) -> Duration {
    let doublings = u32::from(patience.failures.saturating_sub(1));
    let wait = Duration::from_millis(500).max(pace.base_delay).saturating_mul(1 << doublings.min(8));
    wait.max(pace.delay()).min(DELAY_MAX)
}

/// Whether a page was requested since robots.txt was last fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsUse {
    /// One was, or it is unknown.
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

/// How long a robots.txt stays valid if no page was requested under it. RFC 9309 section 2.4 does
/// not allow a longer use of a copy.
const ROBOTS_UNUSED_MAX: Duration = Duration::from_hours(24);

/// Returns how long a robots.txt stays valid where all that is asked of its origin is whether this
/// many URLs are there: a day, as RFC 9309 section 2.4 asks for, but a week if it is one, as
/// reading the rules would double the requests.
#[must_use]
pub const fn robots_age_max_for_checks(urls: usize) -> Duration {
    if urls <= 1 { Duration::from_hours(7 * 24) } else { ROBOTS_UNUSED_MAX }
}

/// Whether a stored robots.txt is valid for another turn.
///
/// An unused one is valid, whatever age the definition allows: if the delay is longer than that
/// age, each turn would fetch only robots.txt, and never a page.
#[must_use]
pub fn is_robots_good(robots_use: RobotsUse, fetched_at: Timestamp, expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at > now || (robots_use == RobotsUse::Unused && after(fetched_at, ROBOTS_UNUSED_MAX) > now)
}

/// Returns how long bytes take at this rate, which is not zero.
#[must_use]
pub fn transfer_time(bytes: u64, bytes_per_second: u64) -> Duration {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
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
            |base, last, exponent| Pace { last_response: ms(last), back_off_exponent: exponent, ..Pace::new(ms(base)) };
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

    /// Returns the exponent after each of these answers: `.` for a good one, `R` for a refusal, `r`
    /// for another one of the same URL, `5` for a broken page.
    fn exponents(answers: &str) -> Vec<u8> {
        let load = |answer| match answer {
            '.' => Load::Bearable,
            'R' => Load::Refused,
            'r' => Load::RefusedAgain,
            _ => Load::Unknown,
        };
        let mut pace = Pace::default();
        let mut after = |answer| {
            pace = pace.after_answer(load(answer), ms(1));
            pace.back_off_exponent
        };
        answers.chars().map(&mut after).collect()
    }

    #[test]
    fn a_host_slows_down_by_its_share_of_refusals() {
        for (answers, expected, why) in [
            ("....", vec![0, 0, 0, 0], "good answers"),
            ("R...r...r", vec![0; 9], "a URL that is refused alone"),
            ("Rrrrrr", vec![0; 6], "however often, with nothing else to ask for"),
            ("RR", vec![0, 1], "two are no accident"),
            ("RRRR", vec![0, 1, 2, 3], "nothing but refusals"),
            ("R......R", vec![0, 0, 0, 0, 0, 0, 0, 1], "two of eight"),
            ("R.......R", vec![0; 9], "two of nine"),
            ("RRrr..", vec![0, 1, 2, 3, 2, 1], "while the host refuses, each URL tells"),
            ("RR555.", vec![0, 1, 1, 1, 1, 0], "a broken page says nothing about load"),
        ] {
            assert_eq!(exponents(answers), expected, "{answers}: {why}");
        }
    }

    #[test]
    fn patience_ends_after_the_last_failure_in_a_row_and_comes_back_with_answers() {
        let pace = Pace::default();
        let mut patience = Patience::FULL;
        for _ in 0..4 {
            patience = patience.after(OriginSign::Silent, &pace);
        }
        assert!(!patience.is_exhausted(5), "four failures are forgiven");
        assert!(patience.after(OriginSign::Silent, &pace).is_exhausted(5), "the fifth ends it");
        assert!(
            !patience.after(OriginSign::Answered, &pace).after(OriginSign::Silent, &pace).is_exhausted(5),
            "one was made up for"
        );
        assert_eq!(Patience::FULL.after(OriginSign::Answered, &pace), Patience::FULL, "never more than full");
    }

    #[test]
    fn a_url_that_worked_is_probed_before_an_origin_is_given_up() {
        let patient = Pace::default();
        let refusing = Pace { back_off_exponent: REFUSALS_FORGIVEN + 1, ..patient };
        let exhausted = (0..5).fold(Patience::FULL, |patience, _| patience.lose_one());
        for (probe, sign, pace, is_saved, why) in [
            (Probe::Page, OriginSign::Answered, patient, true, "it is there"),
            (Probe::RobotsTxt, OriginSign::Answered, patient, true, "it is there, as far as is known"),
            (Probe::Page, OriginSign::Silent, patient, false, "it is away"),
            (Probe::Page, OriginSign::Refused, patient, true, "it asks for a pause, which is an answer"),
            (Probe::Page, OriginSign::Refused, refusing, false, "it has asked for pauses for minutes"),
        ] {
            assert_eq!(exhausted.after_probe(probe, sign, &pace).is_some(), is_saved, "{why}");
        }
        let (mut patience, mut probes) = (exhausted, 0);
        while patience.may_be_saved_by(Probe::RobotsTxt, 5) {
            patience = patience.after_probe(Probe::RobotsTxt, OriginSign::Answered, &patient).unwrap();
            probes += 1;
        }
        assert_eq!(probes, 5, "where no page ever works, robots.txt speaks for them five times");
        assert!(patience.may_be_saved_by(Probe::Page, 5), "a page does for ever");
    }

    #[test]
    fn waits_for_an_unreachable_host_add_up_to_the_total() {
        let after = |failures: u8| (0..failures).fold(Patience::FULL, |patience, _| patience.lose_one());
        let waits = |failures_max: u8| -> Vec<u64> {
            (0..=failures_max).map(|n| after(n).wait(Duration::from_mins(15), failures_max).as_secs()).collect()
        };
        assert_eq!(waits(5), [0, 1, 12, 98, 787, 0], "none before the first, none after the last");
        assert_eq!(waits(2), [0, 900, 0], "one wait");
        assert_eq!(waits(1), [0, 0], "given up at once");
        let many: u64 = waits(100).iter().sum();
        assert!((800..=900).contains(&many), "{many} s in all, in whole seconds");
    }

    #[test]
    fn refusals_cost_patience_only_after_minutes() {
        let (mut pace, mut patience, mut waited, mut refusals) = (Pace::default(), Patience::FULL, Duration::ZERO, 0);
        while !patience.is_exhausted(5) {
            pace = pace.after_answer(Load::Refused, ms(1));
            patience = patience.after(OriginSign::Refused, &pace);
            waited += pace.delay();
            refusals += 1;
        }
        let minutes = waited.as_secs() / 60;
        assert!((refusals, minutes) == (13, 19), "{refusals} refusals over {waited:?}");
    }

    #[test]
    fn robots_rules_are_valid_until_they_expire_and_for_at_least_one_turn() {
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
    fn retries_follow_the_definition_and_are_more_if_the_host_refuses() {
        let refusing = Pace { recent_refusals: 0b1001, ..Pace::default() };
        for (outcome, retries, pace, expected, why) in [
            (Outcome::ConnectionFailed, 2, Pace::default(), 3, "twice again"),
            (Outcome::ConnectionFailed, 0, Pace::default(), 1, "never"),
            (Outcome::FileNotFound, 2, Pace::default(), 1, "it is not there the next time either"),
            (Outcome::ServerInternalError, 2, Pace::default(), 2, "a broken page, most likely"),
            (Outcome::ServerInternalError, 0, Pace::default(), 1, "never"),
            (Outcome::ServerUnavailable, 2, Pace::default(), 3, "refused alone"),
            (Outcome::RateLimited, 2, refusing, 6, "the host refuses: this outlasts a limit per minute"),
            (Outcome::RateLimited, 9, refusing, 10, "more were asked for"),
            (Outcome::RateLimited, 0, refusing, 1, "never"),
            (Outcome::ConnectionFailed, 2, refusing, 3, "that is no refusal"),
        ] {
            assert_eq!(tries_max(outcome, retries, &pace), expected, "{outcome}, {retries}: {why}");
        }
    }

    #[test]
    fn waits_grow_and_keep_the_delay() {
        let slow = Pace::new(Duration::from_secs(10));
        let waits = |outcome, pace: &Pace| [1, 2, 3, 4, 5].map(|tries| retry_wait(tries, outcome, pace).as_secs());
        assert_eq!(waits(Outcome::ConnectionFailed, &Pace::default()), [2, 8, 32, 128, 180]);
        assert_eq!(waits(Outcome::ConnectionFailed, &slow), [10, 10, 32, 128, 180]);
        assert_eq!(waits(Outcome::RateLimited, &Pace::default()), [2, 4, 8, 16, 32], "62 s in all");
        let refusing = Pace { back_off_exponent: 4, ..Pace::default() };
        assert_eq!(waits(Outcome::RateLimited, &refusing), [16, 16, 16, 16, 32], "not before its host may be asked");
        let after = |failures: u8| (0..failures).fold(Patience::FULL, |patience, _| patience.lose_one());
        assert_eq!(
            [1, 2, 3, 4].map(|failures| robots_wait(after(failures), &Pace::default())),
            [500, 1000, 2000, 4000].map(ms)
        );
    }
}
