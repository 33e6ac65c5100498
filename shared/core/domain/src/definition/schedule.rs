//! The schedule of a crawl.

use std::time::Duration;

use cronexpr::{Crontab, MakeTimestamp};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The calendar times at which an iteration begins: a cron expression, read in a time zone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Schedule {
    cron: String,
    time_zone: String,
    times: Times,
}

/// How the times of an expression follow each other when the clocks change.
#[derive(Clone, Debug)]
enum Times {
    /// Every hour, or every few: the time between them stays the same.
    EachHour(Crontab),
    /// At certain hours: once a day. A time that does not exist comes as much later as the clocks
    /// are put forward, and one that exists twice comes the first time.
    AtHours {
        /// Of clock readings, as if they were of UTC.
        readings: Crontab,
        zone: TimeZone,
    },
}

/// The reason why a text is not a valid schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The expression does not parse, or does not have five fields.
    #[error("`{cron}` is not a valid cron expression: {why}")]
    Cron {
        /// The expression.
        cron: String,
        /// The mistake in it.
        why: String,
    },
    /// The time zone is not in the IANA database.
    #[error("`{0}` is not a known time zone")]
    TimeZone(String),
    /// Times follow each other too closely.
    #[error("the schedule repeats after {after:?}, but the minimum is 5 minutes")]
    TooOften {
        /// The shortest interval between them.
        after: Duration,
    },
    /// No date matches, such as the 30th of February.
    #[error("the schedule never comes due")]
    Never,
}

impl Schedule {
    /// The default time zone.
    pub const TIME_ZONE: &str = "UTC";
    /// The least time between two iterations.
    pub const INTERVAL_MIN: Duration = Duration::from_mins(5);

    /// The longest expression, in bytes: each minute, hour, day and month by itself has some 400.
    const CRON_BYTES_MAX: usize = 1_000;

    /// More than clocks are put back by: two hours at most.
    const PUT_BACK_MAX: SignedDuration = SignedDuration::from_hours(3);

    /// How many consecutive times to check for the shortest interval: an hour has at most 60.
    const TIMES_LOOKED_AT: usize = 64;

    /// Reads a cron expression of five fields (minute, hour, day of month, month, day of week) in a
    /// time zone of the IANA database.
    ///
    /// # Errors
    /// The expression or the time zone is not valid, its times are too close together, or it never
    /// comes due.
    pub fn new(cron: &str, time_zone: &str) -> Result<Self, ScheduleError> {
        let (cron, time_zone) = (cron.trim().to_owned(), time_zone.trim().to_owned());
        if cron.len() > Self::CRON_BYTES_MAX {
            let start = cron.chars().take(40).chain("…".chars()).collect();
            return Err(ScheduleError::Cron {
                cron: start,
                why: format!("it has more than {} bytes", Self::CRON_BYTES_MAX),
            });
        }
        let refused = |why: String| ScheduleError::Cron { cron: cron.clone(), why };
        let fields = cron.split_ascii_whitespace().count();
        if fields != 5 {
            return Err(refused(format!("it has {fields} fields, not 5")));
        }
        let Ok(zone) = TimeZone::get(&time_zone) else { return Err(ScheduleError::TimeZone(time_zone)) };
        let parse = |zone: &str| {
            cronexpr::parse_crontab(&format!("{cron} {zone}")).map_err(|error| refused(reason(&error.to_string())))
        };
        let is_each_hour = cron.split_ascii_whitespace().nth(1).is_some_and(|hours| hours.starts_with('*'));
        let times = match is_each_hour {
            true => Times::EachHour(parse(&time_zone)?),
            false => Times::AtHours { readings: parse("UTC")?, zone },
        };
        let schedule = Self { cron, time_zone, times };
        match schedule.shortest_interval() {
            None => Err(ScheduleError::Never),
            Some(after) if after < Self::INTERVAL_MIN => Err(ScheduleError::TooOften { after }),
            Some(_) => Ok(schedule),
        }
    }

    /// Returns the expression as written.
    #[must_use]
    pub fn cron(&self) -> &str {
        &self.cron
    }

    /// Returns the name of the time zone.
    #[must_use]
    pub fn time_zone(&self) -> &str {
        &self.time_zone
    }

    /// Returns the first time after this one; `None` beyond the end of the calendar, or if the
    /// expression names a date that does not exist.
    #[must_use]
    pub fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        let find = |crontab: &Crontab, after| Some(crontab.find_next(MakeTimestamp(after)).ok()?.timestamp());
        match &self.times {
            Times::EachHour(crontab) => find(crontab, time),
            Times::AtHours { readings, zone } => {
                // Earlier, as the clocks may have been put back meanwhile.
                let mut reading = TimeZone::UTC.to_timestamp(zone.to_datetime(time)).ok()?;
                reading = reading.checked_sub(Self::PUT_BACK_MAX).ok()?;
                let mut read = || {
                    reading = find(readings, reading)?;
                    let at = zone.to_timestamp(TimeZone::UTC.to_datetime(reading)).ok()?;
                    Some((reading, at))
                };
                let mut first = loop {
                    let (_, at) = read()?;
                    if at > time {
                        break at;
                    }
                };
                // A time that does not exist comes later, perhaps after some that follow it.
                let shown = TimeZone::UTC.to_timestamp(zone.to_datetime(first)).ok()?;
                while let Some((reading, at)) = read()
                    && reading < shown
                {
                    if at > time {
                        first = first.min(at);
                    }
                }
                Some(first)
            }
        }
    }

    /// Returns the shortest interval; `None` if it never comes due. A schedule that comes due only
    /// every few years has a long one.
    fn shortest_interval(&self) -> Option<Duration> {
        let first = self.next_after(Timestamp::UNIX_EPOCH)?;
        let times = std::iter::successors(Some(first), |time| self.next_after(*time)).take(Self::TIMES_LOOKED_AT);
        let times: Vec<_> = times.collect();
        let gaps = times.windows(2).map(|pair| crate::time::between(pair[0], pair[1]));
        Some(gaps.min().unwrap_or(Duration::MAX))
    }
}

/// Compares the texts: the same text yields the same times.
impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        (&self.cron, &self.time_zone) == (&other.cron, &other.time_zone)
    }
}

/// Returns only the reason, which the parser prints after a marker below the expression.
fn reason(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    last.split_once('^').map_or(last, |(_, reason)| reason).trim().to_owned()
}

#[derive(Serialize, Deserialize)]
struct Stored {
    cron: String,
    time_zone: String,
}

impl TryFrom<Stored> for Schedule {
    type Error = ScheduleError;

    fn try_from(stored: Stored) -> Result<Self, ScheduleError> {
        Self::new(&stored.cron, &stored.time_zone)
    }
}

impl From<Schedule> for Stored {
    fn from(schedule: Schedule) -> Self {
        Self { cron: schedule.cron, time_zone: schedule.time_zone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_is_computed_in_the_time_zone() {
        for (cron, time_zone, after, next, why) in [
            ("0 8 * * *", "UTC", "2026-11-21T07:59:59Z", "2026-11-21T08:00:00Z", "today"),
            ("0 8 * * *", "UTC", "2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z", "later than now, never now"),
            ("0 8 * * *", "Europe/Berlin", "2026-11-21T00:00:00Z", "2026-11-21T07:00:00Z", "winter time"),
            ("0 8 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z", "2026-07-01T06:00:00Z", "summer time"),
            (
                "30 2 * * *",
                "Europe/Berlin",
                "2026-03-28T12:00:00Z",
                "2026-03-29T01:30:00Z",
                "03:30 instead of 02:30, which does not exist on the day that springs forward",
            ),
            (
                "30 2 * * *",
                "Europe/Berlin",
                "2026-10-24T12:00:00Z",
                "2026-10-25T00:30:00Z",
                "the first 02:30 of the day that falls back",
            ),
            ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "and not the second one"),
            ("0 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "each hour of that day"),
            ("0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "and of the other one"),
            ("0 8 * * *", "Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T18:00:00Z", "a day that was left out"),
            ("0 0 * * MON", "UTC", "2026-11-21T00:00:00Z", "2026-11-23T00:00:00Z", "weekdays by name"),
            ("*/5 * * * *", "UTC", "2026-11-21T00:01:00Z", "2026-11-21T00:05:00Z", "as often as may be"),
            ("0 0 29 2 *", "UTC", "2026-11-21T00:00:00Z", "2028-02-29T00:00:00Z", "a day that comes every four years"),
        ] {
            let schedule = Schedule::new(cron, time_zone).unwrap_or_else(|error| panic!("{cron}: {error}"));
            let next: Timestamp = next.parse().unwrap();
            assert_eq!(schedule.next_after(after.parse().unwrap()), Some(next), "{cron} {time_zone}: {why}");
        }
    }

    #[test]
    fn no_time_is_left_out_where_clocks_are_put_forward() {
        // Whatever clocks show after it: half an hour, an hour, at midnight, a whole day.
        for (cron, time_zone, from, expected) in [
            (
                "20,35 2 * * *",
                "Australia/Lord_Howe",
                "2026-10-03T00:00:00Z",
                ["2026-10-03T15:35:00Z", "2026-10-03T15:50:00Z", "2026-10-04T15:20:00Z"],
            ),
            (
                "5,40 2,3 * * *",
                "Australia/Lord_Howe",
                "2026-10-03T00:00:00Z",
                ["2026-10-03T15:35:00Z", "2026-10-03T15:40:00Z", "2026-10-03T16:05:00Z"],
            ),
            (
                "40 2 * * *",
                "Australia/Lord_Howe",
                "2026-10-03T00:00:00Z",
                ["2026-10-03T15:40:00Z", "2026-10-04T15:40:00Z", "2026-10-05T15:40:00Z"],
            ),
            (
                "30,45 2,3 * * *",
                "Europe/Berlin",
                "2026-03-28T12:00:00Z",
                ["2026-03-29T01:30:00Z", "2026-03-29T01:45:00Z", "2026-03-30T00:30:00Z"],
            ),
            (
                "50 0 * * *",
                "America/Havana",
                "2027-03-13T12:00:00Z",
                ["2027-03-14T05:50:00Z", "2027-03-15T04:50:00Z", "2027-03-16T04:50:00Z"],
            ),
            (
                "0 8,20 * * *",
                "Pacific/Apia",
                "2011-12-29T20:00:00Z",
                ["2011-12-30T06:00:00Z", "2011-12-30T18:00:00Z", "2011-12-31T06:00:00Z"],
            ),
        ] {
            let schedule = Schedule::new(cron, time_zone).unwrap();
            let from: Timestamp = from.parse().unwrap();
            let times = std::iter::successors(schedule.next_after(from), |time| schedule.next_after(*time));
            let times: Vec<_> = times.take(3).map(|time| time.to_string()).collect();
            assert_eq!(times, expected, "{cron} {time_zone}");
            // Nor does it matter from when one looks.
            let later = (0..2 * 24 * 60).map(|minutes| from + SignedDuration::from_mins(minutes));
            let next: Vec<_> = later.map(|time| schedule.next_after(time).unwrap()).collect();
            assert!(next.is_sorted(), "{cron} {time_zone}: a later look finds no earlier time");
        }
    }

    #[test]
    fn an_invalid_schedule_is_refused_with_the_reason() {
        for (cron, time_zone, message) in [
            ("0 8 * *", "UTC", "`0 8 * *` is not a valid cron expression: it has 4 fields, not 5"),
            ("0 8 * * * UTC", "UTC", "`0 8 * * * UTC` is not a valid cron expression: it has 6 fields, not 5"),
            ("0 8 * * *", "Europe/Bonn", "`Europe/Bonn` is not a known time zone"),
            ("*/4 * * * *", "UTC", "the schedule repeats after 240s, but the minimum is 5 minutes"),
            ("58,2 * * * *", "UTC", "the schedule repeats after 240s, but the minimum is 5 minutes"),
            ("0 0 30 2 *", "UTC", "the schedule never comes due"),
            (
                "0 24 * * *",
                "UTC",
                "`0 24 * * *` is not a valid cron expression: value must be in range 0..=23; found 24",
            ),
            ("0 8 * * FOO", "UTC", "`0 8 * * FOO` is not a valid cron expression: malformed expression"),
        ] {
            assert_eq!(Schedule::new(cron, time_zone).unwrap_err().to_string(), message);
        }
        let long = Schedule::new(&"0,".repeat(200_000), "UTC").unwrap_err().to_string();
        assert!(long.len() < 150 && long.ends_with("it has more than 1000 bytes"), "{long}");
    }

    #[test]
    fn the_stored_form_is_the_written_text() {
        let schedule = Schedule::new("0 8 * * 1-5", "America/New_York").unwrap();
        let stored = serde_json::to_string(&schedule).unwrap();
        assert_eq!(stored, r#"{"cron":"0 8 * * 1-5","time_zone":"America/New_York"}"#);
        assert_eq!(serde_json::from_str::<Schedule>(&stored).unwrap(), schedule);
        assert!(serde_json::from_str::<Schedule>(r#"{"cron":"* * * * *","time_zone":"UTC"}"#).is_err());
    }
}
