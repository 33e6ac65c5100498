//! When schedules come due: a reader of cron expressions of its own, as the crawler's is under
//! test.

use std::collections::BTreeSet;

use dragline_domain::definition::Schedule;
use jiff::civil::time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

/// The times of a schedule: minutes of hours, every day, by the clocks of a zone.
pub(super) struct Calendar {
    minutes: BTreeSet<i8>,
    hours: BTreeSet<i8>,
    zone: TimeZone,
    pace: Pace,
}

/// What a clock that is changed does to the times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Nothing: whenever the clock shows one, it is time.
    Steady,
    /// A time that the clock leaves out comes as much later, and one that it shows twice comes
    /// once.
    Daily,
}

impl Calendar {
    /// Reads a schedule whose expressions say nothing of days.
    pub(super) fn of(schedule: &Schedule) -> Self {
        let fields: Vec<&str> = schedule.cron().split(' ').collect();
        assert_eq!(fields[2..], ["*"; 3], "{}", schedule.cron());
        Self {
            minutes: numbers(fields[0], 60),
            hours: numbers(fields[1], 24),
            zone: TimeZone::get(schedule.time_zone()).unwrap(),
            pace: if fields[1].starts_with('*') { Pace::Steady } else { Pace::Daily },
        }
    }

    /// The first time after this one.
    pub(super) fn first_after(&self, at: Timestamp) -> Timestamp {
        *self.times(at, SignedDuration::from_hours(50)).first().expect("it comes every day")
    }

    /// The times after `from`, for at least this long.
    pub(super) fn times(&self, from: Timestamp, length: SignedDuration) -> BTreeSet<Timestamp> {
        let day = SignedDuration::from_hours(24);
        let (mut date, last) = (self.zone.to_datetime(from - day).date(), self.zone.to_datetime(from + length).date());
        let mut times = BTreeSet::new();
        while date <= last {
            for (hour, minute) in
                self.hours.iter().flat_map(|hour| self.minutes.iter().map(move |minute| (hour, minute)))
            {
                let reading = self.zone.to_ambiguous_timestamp(date.to_datetime(time(*hour, *minute, 0, 0)));
                let is_shown =
                    |at: &Timestamp| self.zone.to_datetime(*at) == date.to_datetime(time(*hour, *minute, 0, 0));
                match self.pace {
                    Pace::Daily => times.extend(reading.compatible()),
                    Pace::Steady => {
                        let both = [reading.earlier(), reading.later()].into_iter().flatten();
                        times.extend(both.filter(is_shown));
                    }
                }
            }
            date = date.checked_add(Span::new().days(1)).unwrap();
        }
        times.split_off(&(from + SignedDuration::from_nanos(1)))
    }
}

/// The numbers of a field below a limit: `*`, `*/n`, or a list.
fn numbers(field: &str, limit: i8) -> BTreeSet<i8> {
    let number = |text: &str| text.parse::<i8>().unwrap();
    match field.strip_prefix('*') {
        None => field.split(',').map(number).collect(),
        Some("") => (0..limit).collect(),
        Some(step) => (0..limit).step_by(step[1..].parse().unwrap()).collect(),
    }
}
